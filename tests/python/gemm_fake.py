"""The fake GEMM library of fake_gemm.c, compiled and put where the package looks for the real one."""

import contextlib
import ctypes
import pathlib
import shutil
import subprocess

import pytest

SOURCES = pathlib.Path(__file__).resolve().parents[2]


def compiled(folder):
    """The fake as a shared library in `folder`."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler, cc: the fake GEMM library is not built")
    path = folder / "libtcq_gemm.so.0"
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-I", SOURCES, "-o", path,
                    SOURCES / "tests/python/fake_gemm.c", "-lm"], check=True)
    return path


def on_the_cpu():
    """The operators of tcq.torch compute on CPU tensors, too."""
    import tcq.torch as tt
    from tcq import _torch_operator

    for operator in (tt._gemm_op, _torch_operator.fp8_gemm, _torch_operator.quantize):
        operator.register_kernel("CPU")


def stand_in(library, put):
    """This library for the real one, a stream of number 7 for the current one; put: setattr, or one that takes it back."""
    from tcq import _gemm, _tensors

    here = contextlib.nullcontext()
    put(_gemm, "_library", library)
    put(_tensors, "on", lambda device: here)
    put(_tensors, "stream_of", lambda device: 7)


class Fake:
    """Installed in the place of the real library; its counters and what it was asked last."""

    def __init__(self, path):
        from tcq import _gemm

        self.library = _gemm.Library(str(path))
        self.problem_type = _gemm.Problem

    def __getattr__(self, name):
        kind = {"stream": ctypes.c_void_p, "workspace": ctypes.c_void_p, "workspace_bytes": ctypes.c_size_t,
                "problem": self.problem_type}.get(name, ctypes.c_longlong)
        found = kind.in_dll(self.library._handle, "fake_" + name)
        return found if name == "problem" else found.value
