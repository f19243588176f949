"""What stands between a call of tcq.torch and its kernel: PyTorch's dispatcher, whose modes, subclasses and transforms come first
wherever there are some, and what is remembered of operands that lied alike. On the CPU over the fake library of fake_gemm.c."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: tcq.torch's operators are NOT tested")
if not hasattr(torch.library, "custom_op"):
    pytest.skip(f"PyTorch {torch.__version__} has no torch.library.custom_op: tcq.torch is NOT tested", allow_module_level=True)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import tcq  # noqa: E402
import tcq.torch as tt  # noqa: E402
from tcq import _operator, _tensors  # noqa: E402

E4M3 = torch.float8_e4m3fn


def operands(m=4, n=6, k=8, dtype=torch.bfloat16):
    return torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)


def of_fp8():
    """Arguments of scaled_mm."""
    a, b = operands(4, 6, 16, E4M3)
    return a, b.t().contiguous().t(), torch.rand(4, 1), torch.rand(1, 6)


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))


class Wrapped(torch.Tensor):
    """Has no data of its own: a kernel that is handed it has been reached too early."""

    seen = []

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, strides=inner.stride())

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        cls.seen.append(str(function))
        return function(*(x.inner if isinstance(x, Wrapped) else x for x in args), **(kwargs or {}))


def test_a_mode_sees_every_operator_once(fake):
    (a, b), scaled, seen = operands(), of_fp8(), Seen()
    want, of_fp8_want = tt.mm(a, b), tt.scaled_mm(*scaled)
    with seen:
        got, of_fp8_got, (q, _) = tt.mm(a, b), tt.scaled_mm(*scaled), tt.quantize(a)
        tt.mm(a.requires_grad_(), b)
    ours = [name for name in seen.names if name.startswith("tcq.")]
    assert ours == ["tcq.gemm.default", "tcq.fp8_gemm.default", "tcq.quantize.default", "tcq.gemm.default"]
    assert torch.equal(got, want) and torch.equal(of_fp8_got, of_fp8_want)
    assert of_fp8_got._version == of_fp8_want._version == q._version == 1


def test_a_subclass_sees_every_operator(fake):
    (a, b), (x, y, scale_x, scale_y) = operands(), of_fp8()
    want, d = tt.mm(a, b), torch.zeros(4, 6)
    Wrapped.seen.clear()
    assert torch.equal(tt.mm(Wrapped(a), b), want)
    torch.ops.tcq.fp8_gemm(x, y.t(), Wrapped(scale_x), scale_y.t(), None, None, None, d, True, 0, 0, None)
    assert Wrapped.seen == ["tcq.gemm.default", "tcq.fp8_gemm.default"]
    assert torch.equal(d, tt.scaled_mm(x, y, scale_x, scale_y, out_dtype=torch.float32))


def test_what_is_negated_late_is_negated(fake):
    late = torch.randn(4, 8, dtype=torch.complex64).conj().imag
    assert late.is_neg()
    b = torch.randn(8, 6)
    torch.testing.assert_close(tt.mm(late, b, tf32=True), late.resolve_neg() @ b)


def test_gradients_are_there_where_they_are_asked_for(fake):
    a, b = (t.requires_grad_() for t in operands())
    assert tt.mm(a, b).requires_grad and tt.mm(a, b.detach()).requires_grad and tt.mm(a.detach(), b).requires_grad
    assert not tt.mm(a.detach(), b.detach()).requires_grad
    c, bias = torch.randn(4, 6), torch.randn(6)
    for of in ((c.clone().requires_grad_(), bias), (c, bias.clone().requires_grad_())):
        assert torch.ops.tcq.gemm(a.detach().float(), b.detach().float(), *of, 1.0, 1.0, "none", None, True, False, 0, True).requires_grad
    with torch.no_grad():
        assert not tt.mm(a, b).requires_grad
    with torch.inference_mode():
        x = torch.randn(4, 8)
        d = tt.mm(x, x.t(), tf32=True)
        q, factors = tt.quantize(x)
        assert d.is_inference() and q.is_inference() and factors.is_inference()
    assert torch.equal(tt.mm(x, x.t(), tf32=True), d)


def test_a_derivative_ahead_is_refused(fake):
    from torch.autograd import forward_ad

    a, b = operands()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(a, torch.ones_like(a))
        with pytest.raises((NotImplementedError, RuntimeError)):
            tt.mm(dual, b)
    with pytest.raises((NotImplementedError, RuntimeError)):
        torch.func.jvp(lambda x: tt.mm(x, b), (a,), (torch.ones_like(a),))
    assert tt.mm(a, b).shape == (4, 6)


@pytest.mark.skipif(torch._C.DispatchKeySet.__eq__ is object.__eq__, reason="PyTorch before 2.8 does not compare sets of keys")
def test_with_nothing_before_it_the_kernel_is_called_at_once(fake, monkeypatch):
    (a, b), seen = (t.requires_grad_() for t in operands()), []
    monkeypatch.setattr(tt._gemm_op, "call", SimpleNamespace(redispatch=lambda keys, *call: seen.append(keys)))
    call = (None, None, 1.0, 0.0, "none", None, False, False, 0, True)
    assert torch.ops.tcq.gemm(a, b, *call).requires_grad and torch.ops.tcq.gemm(a.detach(), b.detach(), *call).shape == (4, 6)
    assert not seen


def test_without_the_private_names_of_keys_gradients_are_the_same(fake, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_operator, "_BELOW", None)
        public = _operator.Operator("gemm_by_public_names", tt._SCHEMA, tt._compute, tt._fake)
        public.register_kernel("CPU")
        public.differentiate(tt._backward, tt._setup_context, tensors=4)
    of = [torch.randn(s, requires_grad=True) for s in ((5, 8), (8, 6), (5, 6), (6,))]
    options = (0.5, -3.0, "gelu", None, True, False, 0, True)
    d, want = public.call(*of, *options), torch.ops.tcq.gemm(*of, *options)
    g = torch.randn_like(d)
    assert torch.equal(d, want)
    assert all(map(torch.equal, torch.autograd.grad(d, of, g), torch.autograd.grad(want, of, g)))
    assert not public.call(*(x.detach() for x in of), *options).requires_grad


def test_it_runs_beside_a_break_in_the_graph(fake):
    a, b = operands()

    def step(x):
        y = tt.mm(x, b)
        torch._dynamo.graph_break()
        q, factors = tt.quantize(tt.mm(y, b.t()))
        return q.view(torch.uint8), factors

    got, want = torch.compile(step, backend="aot_eager")(a), step(a)
    assert all(torch.equal(x, y) for x, y in zip(got, want))


def test_what_is_refused_is_refused_however_often_it_went_well(fake):
    (a, b), (x, y, scale_x, scale_y), bias = operands(), of_fp8(), torch.randn(6)
    good = [lambda: tt.linear(a, b.t(), bias), lambda: tt.scaled_mm(x, y, scale_x, scale_y, bias.bfloat16())]
    bad = [(lambda: torch.ops.tcq.gemm(a, b, None, bias, 1.0, 0.0, "none", None, False, False, 0, True), "the bias"),
           (lambda: tt.mm(a, b.half()), "one type"), (lambda: tt.mm(a, b.to("meta")), "one device"), (lambda: tt.mm(a, b.t()), "M x K"),
           (lambda: tt.scaled_mm(x, y, scale_x, scale_y, bias), "the bias"),
           (lambda: tt.scaled_mm(x, y, scale_x.double(), scale_y), "float32 on"),
           (lambda: tt.scaled_mm(x, y, scale_x.to("meta"), scale_y), "float32 on"),
           (lambda: tt.scaled_mm(x, y, scale_x, scale_y.t()), "factors of"),
           (lambda: tt.fp8_gemm_nt((x, torch.rand(4, 1)), (y.t(), torch.rand(1, 1)), torch.empty(6, 4).t()), "rows that are contiguous")]
    for _ in range(2):
        for call in good:
            call()
        for call, sentence in bad:
            with pytest.raises(tcq.UsageError, match=sentence):
                call()


def test_tensors_that_lie_alike():
    def lies(shape, strides, dtype, device):
        return _tensors.lies(torch.empty_strided(shape, strides, dtype=dtype, device=device))

    with FakeTensorMode():
        x = lies((4, 8), (8, 1), torch.half, "cuda:0")
        assert x == lies((4, 8), (8, 1), torch.half, "cuda:0")
        for other in (((5, 8), (8, 1), torch.half, "cuda:0"), ((4, 8), (9, 1), torch.half, "cuda:0"),
                      ((4, 8), (8, 1), torch.bfloat16, "cuda:0"), ((4, 8), (8, 1), torch.half, "cuda:1"),
                      ((4, 8), (8, 1), torch.half, "cpu")):
            assert x != lies(*other)


def test_what_is_copied_is_copied_at_every_call(fake):
    a, b = operands(5, 6, 16)
    rows, bias = torch.randn(1, 16).bfloat16().expand(5, 16), torch.randn(12).bfloat16()[::2]
    c = torch.randn(6, 5).bfloat16().t()
    x, y, scale_x, scale_y = of_fp8()
    for _ in range(2):  # the second time from what is remembered
        assert torch.equal(tt.mm(a[:, ::2].contiguous(), b[::2]), tt.mm(a[:, ::2], b[::2]))
        assert torch.equal(tt.mm(rows.contiguous(), b.flip(0)[:, ::2].contiguous()), tt.mm(rows, b.flip(0)[:, ::2]))
        assert torch.equal(tt.linear(a, b.t(), bias.contiguous()), tt.linear(a, b.t(), bias))
        assert torch.equal(tt.addmm(c.contiguous(), a, b), tt.addmm(c, a, b))
        assert torch.equal(tt.scaled_mm(x, y, scale_x, scale_y), tt.scaled_mm(x.t().contiguous().t(), y, scale_x, scale_y))
        a, b, bias = a + 1, b - 1, torch.cat((bias, bias)).reshape(2, 6).t().flatten()[::2]


def test_a_workspace_goes_by_the_addresses(fake):
    a, b = operands(4, 6, 16)
    room = torch.zeros(4, 17).bfloat16()
    for start, bytes in ((0, 0), (1, 128), (0, 0)):
        of_room = torch.as_strided(room, (4, 16), (16, 1), start)
        of_room.copy_(a)
        assert torch.equal(tt.mm(of_room, b), tt.mm(a, b))
        tt.mm(of_room, b)
        assert (fake.workspace_bytes, fake.workspace is None) == (bytes, bytes == 0)


def test_threads_have_their_own_results(fake):
    def work(seed):
        draw = torch.Generator().manual_seed(seed)
        for i in range(60):
            m, n = 1 + (seed + i) % 7, 1 + i % 5
            a, b = torch.randint(-3, 4, (m, 8), generator=draw).half(), torch.randint(-3, 4, (8, n), generator=draw).half()
            q, factors = tt.quantize(b.t(), power_of_two=True)
            assert torch.equal(tt.mm(a, b), (a.float() @ b.float()).half())
            assert torch.equal(tt.scaled_mm(a.to(E4M3), q.t(), torch.ones(m, 1), factors.t(), out_dtype=torch.float32),
                               a.float() @ (q.float() * factors).t())
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    info = tt.plan_cache.info()
    assert info.hits > info.misses >= info.currsize == 70


def test_calls_can_be_timed():
    """tests/python/time_calls.py, without a GPU."""
    script = Path(__file__).with_name("time_calls.py")
    said = subprocess.run([sys.executable, script, "mm to float32", "quantize", "MXFP8"], capture_output=True, check=True, text=True,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}).stdout
    assert re.search(r"^mm to float32 +\d+\.\d", said, re.M) and re.search(r"^quantize +\d+\.\d", said, re.M), said
    assert "none" not in said and "grouped" not in said


def test_a_device_is_made_current_where_it_is_not(monkeypatch):
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    assert _tensors.on(torch.device("cuda", 1)) is _tensors._HERE
    guard = _tensors.on(torch.device("cuda", 0))
    assert isinstance(guard, torch.cuda.device) and guard.idx == 0


@pytest.mark.parametrize("private", [True, False])
def test_a_stream_is_the_current_one_of_the_device(monkeypatch, private):
    monkeypatch.setattr(_tensors, "_raw_stream", (lambda index: 100 + index) if private else None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=200 + device.index))
    assert _tensors.stream_of(torch.device("cuda", 3)) == (103 if private else 203)
