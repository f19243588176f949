"""The fake GEMM library of fake_gemm.c, compiled and put where the package looks for the real one."""

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
