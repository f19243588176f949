"""What the operator of FP8 and of groups asks of its tensors where factors are float32 or there are none, and the sentences of what is
not so: a part of tcq.torch. Asked once for tensors that lie alike (_torch_operator.py)."""

from __future__ import annotations

import torch

from . import _gemm, _tensors
from ._reply import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Tuple

    from torch import Tensor

FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
WIDE = (torch.float32, torch.bfloat16, torch.float16)

_BLOCK = 128
_NO_GROUPS, _COUNTS, _ROW_IDS, _K_ENDS = (_gemm.GROUPINGS[name] for name in ("none", "counts", "row_ids", "k_ends"))


def blocks(extent: int) -> int:
    return (extent + _BLOCK - 1) // _BLOCK


def columns_of_d(n: int, activation: str) -> int:
    return n // 2 if activation == "swiglu" else n


def is_fp8(a: Tensor) -> bool:
    return a.dtype.itemsize == 1 and a.dtype.is_floating_point


def expect_right(tensors: Sequence[Any], grouping: int, activation: int) -> int:
    """gemm_c.h's scaling. `tensors`: the operator's, of which d is FP8 if it has factors."""
    a, b, scale_a, scale_b, c, bias, sizes, d, scale_d = tensors[:9]
    expect, (m, k), n = _tensors.expect, a.shape[-2:], b.shape[-2]
    expect(b.shape[-1] == k and a.device == b.device and a.dtype in _tensors.IN and b.dtype in _tensors.IN, "a and b", (a, b),
           "one K, one device, and types of the GEMM")
    leading = (b.shape[0],) if grouping not in (_NO_GROUPS, _K_ENDS) else ()
    of_a = leading if grouping == _COUNTS else ()
    of_d = (sizes.numel(),) if sizes is not None and grouping == _K_ENDS else of_a
    expect(tuple(a.shape) == (*of_a, m, k) and tuple(b.shape) == (*leading, n, k), "a and b", (a, b),
           "matrices, of groups with a dimension before: b's, and a's where it has a matrix for each")
    shape = (*of_d, m, n // 2 if activation == _gemm.ACTIVATIONS["swiglu"] else n)
    expect(tuple(d.shape) == shape and d.dtype in (FP8 if scale_d is not None else _tensors.OUT) and d.device == a.device, "d", (d,),
           f"{[*shape]} of float32, bfloat16 or float16 on {a.device}")
    expect(d.stride(-1) == 1 or n <= 1, "d", (d,), "rows that are contiguous")
    expect(is_fp8(a) == (scale_a is not None), "a", (a,), "FP8 with factors, other types without")
    scaling = "none"
    if scale_a is not None and scale_b is not None:
        scaling = _scaling(a, b, scale_a, scale_b, of_a, leading, of_d if grouping == _K_ENDS else None)
    _expect_epilogue(c, bias, d, n, scale_d is not None)
    if sizes is not None:
        _tensors.expect_sizes(sizes, m if grouping == _ROW_IDS else (*leading, *of_d)[0], a.device)
    return _gemm.SCALINGS[scaling]


def _expect_epilogue(c: Optional[Tensor], bias: Optional[Tensor], d: Tensor, n: int, quantized: bool) -> None:
    if c is not None:
        _tensors.expect(c.shape == d.shape and c.dtype == d.dtype and c.device == d.device, "c", (c,), f"what d is: {list(d.shape)}")
    if bias is not None:
        types = WIDE if quantized else (d.dtype,)
        _tensors.expect(tuple(bias.shape) == (n,) and bias.dtype in types and bias.device == d.device, "the bias", (bias,),
                        f"{[n]} of {' or '.join(str(t)[6:] for t in types)} on {d.device}")


def _scaling(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, of_a: Tuple[int, ...], of_b: Tuple[int, ...],
             along_k: Optional[Tuple[int, ...]]) -> str:
    """of_a, of_b: how many matrices there are, as dimensions; along_k: how many groups along K."""
    factors, device = (scale_a, scale_b), a.device
    _tensors.expect(scale_a.dtype == scale_b.dtype == torch.float32 and scale_a.device == scale_b.device == device, "factors", factors,
                    f"float32 on {device}")
    name = _scaling_of(a.shape[-2], b.shape[-2], a.shape[-1], scale_a, scale_b)
    if along_k and name in ("tensor", "row_column"):
        of_a = of_b = along_k
    _tensors.expect(tuple(scale_a.shape[:-2]) == of_a and tuple(scale_b.shape[:-2]) == of_b, "factors", factors,
                    "a matrix of them for each of a's and of b's")
    return name


def _scaling_of(m: int, n: int, k: int, scale_a: Tensor, scale_b: Tensor) -> str:
    """By the lines and blocks that factors have."""
    shapes, of_k = (tuple(scale_a.shape[-2:]), tuple(scale_b.shape[-2:])), blocks(k)
    for name, known in (("tensor", ((1, 1), (1, 1))), ("row_column", ((m, 1), (n, 1))),
                        ("block_128", ((m, of_k), (blocks(n), of_k))), ("vector_128", ((m, of_k), (n, of_k)))):
        if shapes == known:
            return name
    raise UsageError(f"factors of {list(shapes[0])} and {list(shapes[1])}: expected [1, 1] and [1, 1], {[m, 1]} and {[n, 1]}, or "
                     f"{[m, of_k]} and {[blocks(n), of_k]} or {[n, of_k]}")
