"""The GEMM's C interface (cuda/gemm/gemm_c.h) by ctypes: its structs, where the library is found, plans, errors.

Knows nothing of tensors; torch.py makes problems of them. What the library refuses is a GemmError with its sentence.
"""

from __future__ import annotations

import ctypes
import os
from collections import OrderedDict
from ctypes import POINTER, Structure, byref, c_char_p, c_float, c_int, c_int32, c_int64, c_size_t, c_void_p
from struct import Struct
from threading import Lock

from ._reply import Error, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Hashable, NamedTuple, Optional

    class CacheInfo(NamedTuple):
        hits: int
        misses: int
        maxsize: int
        currsize: int

SONAME = "libtcq_gemm.so.0"
VARIABLE = "TCQ_GEMM_LIBRARY"

TYPES = {"f16": 0, "bf16": 1, "tf32": 2, "s8": 3, "u8": 4, "f32": 5, "s32": 6, "e4m3": 7, "e5m2": 8,
         "e2m1": 9}
SCALINGS = {"none": 0, "tensor": 1, "row_column": 2, "block_128": 3, "vector_128": 4}
BLOCK_SCALINGS = {"none": 0, "ue8m0_block_32": 1, "ue4m3_block_16": 2}
GROUPINGS = {"none": 0, "ends": 1, "counts": 2, "row_ids": 3, "k_ends": 4}
QUANTIZE_BLOCKS = {"row": 0, "vector_128": 1, "block_128": 2}
ACTIVATIONS = {"none": 0, "relu": 1, "gelu": 2, "silu": 3, "gelu_erf": 4, "swiglu": 5}
K_MAJOR, MN_MAJOR = 0, 1
NOT_QUANTIZED = -1  # D's type where it is the problem's `out`


def expect_activation(name: str) -> None:
    if name not in ACTIVATIONS:
        raise UsageError(f"activation {name!r}: expected {', '.join(ACTIVATIONS)}")


class GemmError(Error, RuntimeError):
    """The GEMM library refused; `status` is gemm_c.h's, the sentence its own."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class LibraryNotFound(Error, ImportError):
    """There is no libtcq_gemm.so; the sentence says where it was looked for."""


class Strides(Structure):
    _fields_ = [("ld", c_int64), ("batch", c_int64)]


class Problem(Structure):
    _fields_ = [("size", c_size_t), ("m", c_int64), ("n", c_int64), ("k", c_int64), ("batch", c_int64),
                ("in_", c_int32), ("out", c_int32), ("major_a", c_int32), ("major_b", c_int32),
                ("a", Strides), ("b", Strides), ("c", Strides), ("d", Strides),
                ("alpha", c_float), ("beta", c_float), ("has_bias", c_int32), ("activation", c_int32),
                ("batch_invariant", c_int32), ("reserved", c_int32), ("sm_limit", c_int32),
                ("programmatic_launch", c_int32), ("in_b", c_int32), ("scaling", c_int32), ("promotes", c_int32),
                ("major_scale_a", c_int32), ("major_scale_b", c_int32), ("grouping", c_int32),
                ("scale_a", Strides), ("scale_b", Strides), ("expected_rows", c_int64),
                ("block_scaling", c_int32), ("reserved_tcgen05", c_int32), ("quantized", c_int32),
                ("scale_d_power_of_two", c_int32), ("major_scale_d", c_int32), ("block_scaling_d", c_int32),
                ("scale_d", Strides), ("dynamic_schedule", c_int32), ("reserved_schedule", c_int32)]


class Pointers(Structure):
    _fields_ = [("size", c_size_t), ("a", c_void_p), ("b", c_void_p), ("c", c_void_p), ("d", c_void_p),
                ("bias", c_void_p), ("scale_a", c_void_p), ("scale_b", c_void_p), ("sizes", c_void_p),
                ("scale_codes_a", c_void_p), ("scale_codes_b", c_void_p), ("scale_d", c_void_p),
                ("scale_codes_d", c_void_p), ("global_scale_d", c_void_p)]


class Quantizer(Structure):
    _fields_ = [("size", c_size_t), ("rows", c_int64), ("columns", c_int64), ("in_", c_int32), ("out", c_int32),
                ("block", c_int32), ("power_of_two", c_int32), ("major_factors", c_int32), ("waits_for_end", c_int32),
                ("ld_source", c_int64), ("ld_target", c_int64), ("ld_factors", c_int64)]


# As bytes, which nobody changes, and which are made in half of the time that ctypes takes to fill a struct.
_pack = Struct(f"N{len(Pointers._fields_) - 1}P").pack
_SIZE = ctypes.sizeof(Pointers)


def pointers(a: int, b: int, c: int, d: int, bias: int, scale_a: int = 0, scale_b: int = 0, sizes: int = 0,
             scale_codes_a: int = 0, scale_codes_b: int = 0, scale_d: int = 0, scale_codes_d: int = 0,
             global_scale_d: int = 0) -> bytes:
    """The struct Pointers; 0: none."""
    return _pack(_SIZE, a, b, c, d, bias, scale_a, scale_b, sizes, scale_codes_a, scale_codes_b, scale_d, scale_codes_d,
                 global_scale_d)


_FUNCTIONS = {
    "defaults": (c_int, [POINTER(Problem), c_size_t]),
    "sentence": (c_char_p, [c_int]),
    "make_plan": (c_int, [POINTER(Problem), POINTER(c_void_p)]),
    "destroy_plan": (None, [c_void_p]),
    "workspace_bytes_for": (c_size_t, [c_void_p, c_char_p]),
    "describe": (c_size_t, [c_void_p, c_char_p, c_size_t]),
    "quantize": (c_int, [POINTER(Quantizer), c_void_p, c_void_p, c_void_p, c_void_p]),
    "run": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t, c_void_p]),
}


class Library:
    """One loaded libtcq_gemm.so: its functions without their prefix."""

    def __init__(self, path: str) -> None:
        self._handle = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._handle, "tcq_gemm_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def check(self, status: int) -> None:
        if status != 0:
            raise GemmError(status, self.sentence(status).decode())

    def problem(self) -> Problem:
        """With the library's defaults."""
        problem = Problem()
        self.check(self.defaults(byref(problem), ctypes.sizeof(problem)))
        return problem


def find() -> Library:
    """By TCQ_GEMM_LIBRARY, else beside this package, else where the loader finds libraries."""
    named = os.environ.get(VARIABLE)
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), SONAME)
    path = named or (beside if os.path.exists(beside) else SONAME)
    try:
        return Library(path)
    except (OSError, AttributeError) as error:
        where = f"{VARIABLE} names" if named else f"no {VARIABLE} is set, there is no {beside}, and the loader says of"
        raise LibraryNotFound(f"{where} {path}: {error}; `cmake --build` with CUDA makes it, target gemm_c") from None


_library: Optional[Library] = None


def library() -> Library:
    """The one library of this process, found when it is first asked for."""
    global _library
    if _library is None:
        _library = find()
    return _library


class Plan:
    """A plan of the library for the device that was current when it was made; usable from several threads."""

    def __init__(self, problem: Problem, by: Library) -> None:
        self._by, self._handle = by, c_void_p()
        self._of_aligned: Optional[int] = None
        by.check(by.make_plan(byref(problem), byref(self._handle)))

    def __del__(self) -> None:
        if self._handle:
            self._by.destroy_plan(self._handle)

    def workspace_bytes(self, pointers: bytes, aligned: bool = False) -> int:
        """aligned: A, B and their factors begin at multiples of 16. All such pointers have one answer, which is asked for once."""
        if aligned and self._of_aligned is not None:
            return self._of_aligned
        size = self._by.workspace_bytes_for(self._handle, pointers)
        if aligned:
            self._of_aligned = size
        return size

    def describe(self) -> str:
        text = ctypes.create_string_buffer(self._by.describe(self._handle, None, 0) + 1)
        self._by.describe(self._handle, text, len(text))
        return text.value.decode()

    def run(self, pointers: bytes, workspace: int, workspace_bytes: int, stream: int) -> None:
        status = self._by.run(self._handle, pointers, workspace, workspace_bytes, stream)
        if status != 0:
            self._by.check(status)


class Plans:
    """The plans used last, with what else was found out for them, by whatever they depend on. One that is dropped lives on while
    somebody runs it."""

    def __init__(self, maxsize: int) -> None:
        self._lock, self._plans, self.maxsize = Lock(), OrderedDict(), maxsize  # type: ignore[var-annotated]
        self._hits = self._misses = 0

    def get(self, key: Hashable, make: Callable[..., Any], *of: Any) -> Any:
        """What make(*of) gave for this key."""
        with self._lock:
            plan = self._plans.get(key)
            if plan is not None:
                self._hits += 1
                self._plans.move_to_end(key)
                return plan
            self._misses += 1
        plan = make(*of)  # asks CUDA: others need not wait
        with self._lock:
            self._plans[key] = plan
            while len(self._plans) > self.maxsize:
                self._plans.popitem(last=False)
        return plan

    def clear(self) -> None:
        with self._lock:
            self._plans.clear()
            self._hits = self._misses = 0

    def info(self) -> CacheInfo:
        from collections import namedtuple

        with self._lock:
            return namedtuple("CacheInfo", "hits misses maxsize currsize")(
                self._hits, self._misses, self.maxsize, len(self._plans))
