"""Products with factors of blocks, a byte each, for PyTorch, and D with them: a part of tcq.torch, which checks the tensors. They
want tcgen05: another device's library refuses them. The factors are whole atoms, the same for what is read and what is written
(_atoms.py); float4_e2m1fn_x2 has two elements to a byte along K, or along D's columns, and its shapes count bytes.
"""

from __future__ import annotations

import torch

from . import _atoms, _gemm, _tensors, _torch_operator
from ._reply import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, Tuple

    from torch import Tensor


def scaled_mm(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, bias: Optional[Tensor], out_dtype: torch.dtype,
              use_fast_accum: bool) -> Tensor:
    """a [M, K] @ b.T of b [N, K], plus the bias, as [M, N] of out_dtype."""
    _expect_factors(a, b, scale_a, scale_b)
    _expect_no_options(use_fast_accum=use_fast_accum)
    if out_dtype not in (torch.float32, torch.bfloat16, torch.float16):
        raise UsageError(f"a result of {str(out_dtype)[6:]}: expected float32, bfloat16 or float16")
    _expect_bias(bias, b, (out_dtype,))
    d = a.new_empty((a.shape[0], b.shape[0]), dtype=out_dtype)
    _run(a, b, scale_a, scale_b, bias, d, None, "none", None)
    return d


def scaled_mm_quantized(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], bias: Optional[Tensor],
                        activation: str, dtype: Optional[torch.dtype], scale_dtype: torch.dtype,
                        global_scale: Optional[Tensor], **options: object) -> Tuple[Tensor, Tensor]:
    """Of a [M, K] and b [N, K]: D of `dtype`, by default a's or the usual one of its factors, which are of scale_dtype.

    `options` are those of other factors, none of which may be set."""
    _expect_no_options(**options)
    kind = _atoms.KINDS[scale_dtype]
    _expect_operands_of_codes(a, b, scale_a, scale_b, scale_dtype)
    dtype = dtype or (kind.elements[0] if scale_a is None else a.dtype)
    if dtype not in kind.elements:
        raise UsageError(f"dtype {dtype} with factors of {scale_dtype}: expected {_atoms.named(kind.elements)}")
    types = (torch.float32, torch.bfloat16) if scale_a is None else (torch.float32, torch.bfloat16, torch.float16)
    _expect_bias(bias, b, types)
    _tensors.expect(global_scale is None or (global_scale.numel() == 1 and global_scale.dtype == torch.float32 and
                                             global_scale.device == a.device), "global_scale",
                    () if global_scale is None else (global_scale,), f"one float32 on {a.device}")
    columns = b.shape[0] // 2 if activation == "swiglu" else b.shape[0]
    together = _atoms.per_byte(dtype)
    if columns % together != 0:
        raise UsageError(f"{columns} columns of {dtype}: expected an even number, as two share a byte")
    d = a.new_empty((a.shape[0], columns // together), dtype=dtype)
    scale_d = a.new_empty((_atoms.size(a.shape[0], columns, kind),), dtype=scale_dtype)
    _run(a, b, scale_a, scale_b, bias, d, scale_d, activation, global_scale)
    return d, scale_d


def _expect_no_options(**options: object) -> None:
    for name, value in options.items():
        if value is not None and value is not False:
            raise UsageError(f"{name}: expected none with factors of blocks, a byte each")


def _expect_bias(bias: Optional[Tensor], b: Tensor, dtypes: Tuple[torch.dtype, ...]) -> None:
    if bias is not None:
        _tensors.expect(tuple(bias.shape) == (b.shape[0],) and bias.dtype in dtypes and bias.device == b.device, "the bias",
                        (bias,), f"{[b.shape[0]]} of {_atoms.named(dtypes)} on {b.device}")


def _expect_operands_of_codes(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor],
                              scale_dtype: torch.dtype) -> None:
    """bfloat16 without factors, or what has such factors as D gets."""
    if scale_a is not None and scale_b is not None:
        _expect_factors(a, b, scale_a, scale_b)
        _tensors.expect(scale_a.dtype == scale_dtype, "factors", (scale_a, scale_b), f"{scale_dtype}, as of the result")
        return
    _tensors.expect(scale_a is None and scale_b is None and a.dtype == b.dtype == torch.bfloat16 and a.device == b.device,
                    "a and b", (a, b), "factors of both, or bfloat16 on one device without")


def _expect_factors(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> None:
    """One kind of them, which goes with the elements, in whole atoms."""
    expect, factors = _tensors.expect, (scale_a, scale_b)
    kind = _atoms.KINDS.get(scale_a.dtype)
    if kind is None or scale_b.dtype != scale_a.dtype:
        expect(False, "factors", factors, f"one dtype of {_atoms.named(tuple(_atoms.KINDS))}, or float32")
        return
    expect(a.dtype in kind.elements and b.dtype in kind.elements and _atoms.per_byte(a.dtype) == _atoms.per_byte(b.dtype),
           "a and b", (a, b), f"{_atoms.named(kind.elements)} with factors of {str(scale_a.dtype)[6:]}, float4_e2m1fn_x2 "
           "only beside its like")
    expect(a.device == b.device == scale_a.device == scale_b.device, "operands and factors", (a, b, *factors), "one device")
    k = _atoms.per_byte(a.dtype) * a.shape[1]
    wanted = [_atoms.size(x.shape[0], k, kind) for x in (a, b)]
    expect([s.numel() for s in factors] == wanted and scale_a.is_contiguous() and scale_b.is_contiguous(), "factors", factors,
           f"{wanted[0]} and {wanted[1]} contiguous ones: whole atoms of 128 rows by four blocks of {kind.block} of K")


def _run(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], bias: Optional[Tensor], d: Tensor,
         scale_d: Optional[Tensor], activation: str, global_scale: Optional[Tensor]) -> None:
    _torch_operator.fp8_gemm(a, b, scale_a, scale_b, None, bias, None, d, _gemm.SCALINGS["none"], False,
                             _gemm.GROUPINGS["none"], 0, scale_d, _gemm.ACTIVATIONS[activation], False, global_scale)
