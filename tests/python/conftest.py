"""For tests that have PyTorch: the operators of tcq.torch on CPU tensors over the fake library of fake_gemm.c, and a GPU."""

import pytest
from gemm_fake import Fake, compiled, on_the_cpu, stand_in

SEED = 20261


@pytest.fixture(scope="session")
def compiled_fake(tmp_path_factory):
    fake = Fake(compiled(tmp_path_factory.mktemp("fake")))
    on_the_cpu()
    return fake


@pytest.fixture
def fake(compiled_fake, monkeypatch):
    """The operators on CPU tensors, in a stream of number 7."""
    import torch

    import tcq.torch as tt

    stand_in(compiled_fake.library, monkeypatch.setattr)
    tt.plan_cache.clear()
    torch.manual_seed(SEED)
    yield compiled_fake
    tt.plan_cache.clear()  # whose plans are the fake's


@pytest.fixture
def device():
    """A Hopper GPU with the real library."""
    import torch

    from tcq import _gemm

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device: tcq.torch is NOT compared with hardware")
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip(f"{torch.cuda.get_device_name()} is no Hopper: tcq.torch is NOT compared with hardware")
    try:
        _gemm.library()
    except _gemm.LibraryNotFound as error:
        pytest.skip(f"{error}: tcq.torch is NOT compared with hardware")
    torch.manual_seed(SEED)
    return torch.device("cuda")
