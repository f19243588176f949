"""The GEMM of libtcq_gemm.so by ctypes alone, bit for bit beside tcq.gemm in the order that each plan's text names: on a
Hopper GPU, without PyTorch and by CUDA's driver; and, so that the test itself is tested everywhere, on the CPU over the
fake library, with numbers whose sums are exact in any order."""

import ctypes

import numpy as np
import pytest
from gemm_fake import Fake, compiled

import tcq
from tcq import _gemm

SEED = 20262


class Host:
    """Memory of the CPU, for the fake library."""

    exact = True

    def __init__(self, folder):
        self.library = Fake(compiled(folder)).library

    def put(self, array):
        return array.copy()

    def at(self, array):
        return array.ctypes.data

    def get(self, array):
        return array


class Device:
    """Memory of device 0, whose primary context is current."""

    exact = False

    def __init__(self):
        try:
            self._cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            pytest.skip(f"there is no CUDA driver, {error}: libtcq_gemm.so is NOT compared with hardware")
        if self._cuda.cuInit(0) != 0:
            pytest.skip("no CUDA device: libtcq_gemm.so is NOT compared with hardware")
        context, version = ctypes.c_void_p(), [ctypes.c_int(), ctypes.c_int()]
        for number, attribute in zip(version, (75, 76)):  # COMPUTE_CAPABILITY_MAJOR, _MINOR
            self._call("cuDeviceGetAttribute", ctypes.byref(number), attribute, 0)
        if [number.value for number in version] != [9, 0]:
            pytest.skip(f"a device of {version}, no Hopper: libtcq_gemm.so is NOT compared with hardware")
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self._call("cuCtxSetCurrent", context)
        try:
            self.library = _gemm.library()
        except _gemm.LibraryNotFound as error:
            pytest.skip(f"{error}: libtcq_gemm.so is NOT compared with hardware")

    def _call(self, name, *arguments):
        status = getattr(self._cuda, name)(*arguments)
        assert status == 0, f"{name}: {status}"

    def put(self, array):
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(array.nbytes, 1)))
        self._call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        return address.value, array.shape, array.dtype

    def at(self, memory):
        return memory[0]

    def get(self, memory):
        address, shape, dtype = memory
        array = np.empty(shape, dtype)
        self._call("cuCtxSynchronize")
        self._call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(address),
                   ctypes.c_size_t(array.nbytes))
        self._call("cuMemFree_v2", ctypes.c_uint64(address))
        return array


@pytest.fixture(scope="module", params=["cpu", "gpu"])
def memory(request, tmp_path_factory):
    return Device() if request.param == "gpu" else Host(tmp_path_factory.mktemp("fake"))


DTYPES = {"f16": np.float16, "bf16": np.uint16, "tf32": np.float32, "f32": np.float32, "s8": np.int8, "s32": np.int32}


def elements(draw, shape, name, exact):
    """Small integers, whose sums no order rounds, or anything near 1."""
    if name in ("s8", "s32"):
        return draw.integers(-9, 9, shape).astype(DTYPES[name])
    values = (draw.integers(-3, 4, shape) if exact else draw.standard_normal(shape)).astype(np.float32)
    return (values.view(np.uint32) >> 16).astype(np.uint16) if name == "bf16" else values.astype(DTYPES[name])


def product(memory, a, b, c, bias, types, plan_file, **fields):
    """D by the library; its plan's text goes to a file, as the order that tcq.gemm takes."""
    problem = memory.library.problem()
    (problem.m, problem.k), problem.n = a.shape, b.shape[0]
    problem.in_, problem.out = (_gemm.TYPES[name] for name in types)
    problem.has_bias = int(bias is not None)
    problem.batch_invariant = 1  # the order is the same if operands are copied
    for name, value in fields.items():
        setattr(problem, name, value)
    plan = _gemm.Plan(problem, memory.library)
    plan_file.write_text(plan.describe())
    d = memory.put(np.full((problem.m, problem.n), 7, DTYPES[types[1]]))
    operands = [None if array is None else memory.put(array) for array in (a, b, c, bias)]
    at_a, at_b, at_c, at_bias = (0 if operand is None else memory.at(operand) for operand in operands)
    pointers = _gemm.pointers(at_a, at_b, at_c, memory.at(d), at_bias)
    size = plan.workspace_bytes(pointers)
    workspace = memory.put(np.zeros(size, np.uint8))
    plan.run(pointers, memory.at(workspace) if size else 0, size, 0)
    return memory.get(d)


@pytest.mark.parametrize("types", [("bf16", "bf16"), ("bf16", "f32"), ("f16", "f16"), ("tf32", "f32"), ("s8", "s32")])
@pytest.mark.parametrize("shape", [(5, 8, 16), (130, 72, 264), (33, 65, 77)])
def test_products(memory, types, shape, tmp_path):
    draw, (m, n, k) = np.random.default_rng(SEED), shape
    a, b = elements(draw, (m, k), types[0], memory.exact), elements(draw, (n, k), types[0], memory.exact)
    d = product(memory, a, b, None, None, types, tmp_path / "plan")
    order = "chain" if memory.exact else f"plan:{tmp_path / 'plan'}"
    want = tcq.gemm(a, b.T, type=types[0], out_type=types[1], order=order)
    assert d.tobytes() == np.asarray(want).tobytes()


@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "gelu_erf", "silu"])  # swiglu takes no C
@pytest.mark.parametrize("sm_limit, programmatic_launch", [(0, 1), (3, 0)])
def test_epilogues(memory, activation, sm_limit, programmatic_launch, tmp_path):
    if memory.exact and activation not in ("none", "relu"):
        pytest.skip("the fake's exp and tanh are libm's")
    draw, (m, n, k), types = np.random.default_rng(SEED), (40, 136, 72), ("bf16", "f32")
    a, b = elements(draw, (m, k), "bf16", memory.exact), elements(draw, (n, k), "bf16", memory.exact)
    c, bias = elements(draw, (m, n), "f32", memory.exact), elements(draw, (n,), "f32", memory.exact)
    d = product(memory, a, b, c, bias, types, tmp_path / "plan", alpha=0.5, beta=2.0,
                activation=_gemm.ACTIVATIONS[activation], sm_limit=sm_limit, programmatic_launch=programmatic_launch)
    want = tcq.gemm(a, b.T, type="bf16", out_type="f32", c=c, bias=bias, alpha=0.5, beta=2.0,
                    activation=activation, order="chain" if memory.exact else f"plan:{tmp_path / 'plan'}")
    assert d.tobytes() == np.asarray(want).tobytes()
