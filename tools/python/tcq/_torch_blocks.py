"""Products with factors of blocks, a byte each, for PyTorch, and D with them: a part of tcq.torch, which checks the tensors. They
want tcgen05: another device's library refuses them. The factors are whole atoms, the same for what is read and what is written
(_atoms.py), or such and one float32 for all of a matrix; float4_e2m1fn_x2 has two elements to a byte along K, or along D's
columns, and its shapes count bytes.
"""

from __future__ import annotations

import torch

from . import _atoms, _gemm, _tensors, _torch_operator
from ._reply import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, Sequence, Tuple, Union

    from torch import Tensor

    Factors = Union[Tensor, Sequence[Tensor]]


def are_codes(scale: Optional[Factors]) -> bool:
    """Are they bytes, alone or with a float32?"""
    return scale is not None and (not isinstance(scale, torch.Tensor) or _atoms.code_of(scale.dtype) != 0)


def dtype_of(scale: Optional[Factors]) -> Optional[torch.dtype]:
    """Of the first where there is a pair."""
    first = scale if scale is None or isinstance(scale, torch.Tensor) else next(iter(scale), None)
    return first.dtype if isinstance(first, torch.Tensor) else None


def alone(scale: Optional[Factors]) -> Optional[Tensor]:
    """Factors that are float32: no pair."""
    if scale is not None and not isinstance(scale, torch.Tensor):
        raise UsageError("factors: expected a tensor, or a pair of factors of blocks, a byte each, and of one float32")
    return scale


def scaled_mm(a: Tensor, b: Tensor, scale_a: Factors, scale_b: Factors, bias: Optional[Tensor], out_dtype: torch.dtype,
              use_fast_accum: bool, offs: Optional[Tensor] = None) -> Tensor:
    """a [M, K] @ b.T of b [N, K], plus the bias, as [M, N] of out_dtype; with offs b is [G, N, K], and rows of a are groups'."""
    _expect_no_options(use_fast_accum=use_fast_accum)
    if out_dtype not in (torch.float32, torch.bfloat16, torch.float16):
        raise UsageError(f"a result of {str(out_dtype)[6:]}: expected float32, bfloat16 or float16")
    _expect_bias(bias, b, (out_dtype,))
    codes_a, codes_b, global_a, global_b = _levels(a, scale_a, scale_b, 1 if offs is None else b.shape[0])
    if offs is None:
        _expect_factors(a, b, codes_a, codes_b)
    else:
        _tensors.expect_sizes(offs, b.shape[0], a.device)
        codes_a = _expect_factors_of_groups(a, b, codes_a, codes_b)
    d = a.new_empty((a.shape[0], b.shape[-2]), dtype=out_dtype)
    _run(a, b, codes_a, codes_b, bias, d, None, "none", None, offs, global_a, global_b)
    return d


def scaled_mm_quantized(a: Tensor, b: Tensor, scale_a: Optional[Factors], scale_b: Optional[Factors], bias: Optional[Tensor],
                        activation: str, dtype: Optional[torch.dtype], scale_dtype: torch.dtype,
                        global_scale: Optional[Tensor], offs: Optional[Tensor], **options: object) -> Tuple[Tensor, Tensor]:
    """Of a [M, K] and b [N, K], or with offs [G, N, K]: D of `dtype`, by default a's or the usual one of its factors, which are of
    scale_dtype; of groups each one's begin with an atom, in as many atoms as any sizes want.

    `options` are those of other factors, none of which may be set."""
    _expect_no_options(**options)
    kind = _atoms.KINDS[scale_dtype]
    codes_a, codes_b, global_a, global_b = _levels(a, scale_a, scale_b, 1 if offs is None else b.shape[0])
    codes_a = _expect_operands_of_codes(a, b, codes_a, codes_b, scale_dtype, offs)
    dtype = dtype or (kind.elements[0] if codes_a is None else a.dtype)
    if dtype not in kind.elements:
        raise UsageError(f"dtype {dtype} with factors of {scale_dtype}: expected {_atoms.named(kind.elements)}")
    types = (torch.float32, torch.bfloat16) if codes_a is None else (torch.float32, torch.bfloat16, torch.float16)
    _expect_bias(bias, b, types)
    _expect_float32("global_scale", global_scale, a, 1)
    columns = b.shape[-2] // 2 if activation == "swiglu" else b.shape[-2]
    together = _atoms.per_byte(dtype)
    if columns % together != 0:
        raise UsageError(f"{columns} columns of {dtype}: expected an even number, as two share a byte")
    d = a.new_empty((a.shape[0], columns // together), dtype=dtype)
    size = (_atoms.size(a.shape[0], columns, kind) if offs is None else
            _atoms.size_of_groups(a.shape[0], b.shape[0], columns, kind))
    scale_d = a.new_empty((size,), dtype=scale_dtype)
    _run(a, b, codes_a, codes_b, bias, d, scale_d, activation, global_scale, offs, global_a, global_b)
    return d, scale_d


def _levels(a: Tensor, scale_a: Optional[Factors], scale_b: Optional[Factors], matrices_of_b: int
            ) -> Tuple[Optional[Tensor], Optional[Tensor], Optional[Tensor], Optional[Tensor]]:
    """Bytes of a and b, and their float32 if they have it: of both or of none, of b one or one for each matrix."""
    codes, globals_ = [], []
    for name, scale, matrices in (("scale_a", scale_a, 1), ("scale_b", scale_b, matrices_of_b)):
        levels = (scale,) if scale is None or isinstance(scale, torch.Tensor) else tuple(scale)
        if len(levels) not in (1, 2) or (len(levels) == 2 and not all(isinstance(x, torch.Tensor) for x in levels)):
            raise UsageError(f"{name}: expected factors of blocks, or a pair of them and of one float32")
        codes.append(levels[0])
        globals_.append(levels[1] if len(levels) == 2 else None)
        _expect_float32(f"the float32 of {name}", globals_[-1], a, matrices)
    if (globals_[0] is None) != (globals_[1] is None):
        raise UsageError("factors: expected float32 for each of a and b, or for neither")
    return codes[0], codes[1], globals_[0], globals_[1]


def _expect_float32(name: str, x: Optional[Tensor], a: Tensor, matrices: int) -> None:
    if x is None or (x.numel() in (1, matrices) and x.is_contiguous() and x.dtype == torch.float32 and x.device == a.device):
        return
    each = "" if matrices == 1 else f", or {matrices}, contiguous"
    _tensors.refuse(name, (x,), f"one float32 on {a.device}{each}")


def _expect_no_options(**options: object) -> None:
    for name, value in options.items():
        if value is not None and value is not False:
            raise UsageError(f"{name}: expected none with factors of blocks, a byte each")


def _expect_bias(bias: Optional[Tensor], b: Tensor, dtypes: Tuple[torch.dtype, ...]) -> None:
    if bias is not None:
        n = b.shape[-2]
        if not (tuple(bias.shape) == (n,) and bias.dtype in dtypes and bias.device == b.device):
            _tensors.refuse("the bias", (bias,), f"{[n]} of {_atoms.named(dtypes)} on {b.device}")


def _expect_operands_of_codes(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor],
                              scale_dtype: torch.dtype, offs: Optional[Tensor]) -> Optional[Tensor]:
    """bfloat16 without factors, or what has such factors as D gets: those of a, as the kernels want them."""
    if offs is not None:
        _tensors.expect_sizes(offs, b.shape[0], a.device)
    if scale_a is not None and scale_b is not None:
        if offs is None:
            _expect_factors(a, b, scale_a, scale_b)
        else:
            scale_a = _expect_factors_of_groups(a, b, scale_a, scale_b)
        if scale_a.dtype != scale_dtype:
            _tensors.refuse("factors", (scale_a, scale_b), f"{scale_dtype}, as of the result")
        return scale_a
    _tensors.expect(scale_a is None and scale_b is None and a.dtype == b.dtype == torch.bfloat16 and a.device == b.device,
                    "a and b", (a, b), "factors of both, or bfloat16 on one device without")
    return None


def _expect_kind(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> Tuple[_atoms.Kind, int]:
    """One kind of factors, which goes with the elements, and K."""
    factors = (scale_a, scale_b)
    kind = _atoms.KINDS.get(scale_a.dtype)
    if kind is None or scale_b.dtype != scale_a.dtype:
        _tensors.refuse("factors", factors, f"one dtype of {_atoms.named(tuple(_atoms.KINDS))}, or float32")
    if not (a.dtype in kind.elements and b.dtype in kind.elements and _atoms.per_byte(a.dtype) == _atoms.per_byte(b.dtype)):
        _tensors.refuse("a and b", (a, b), f"{_atoms.named(kind.elements)} with factors of {str(scale_a.dtype)[6:]}, float4_e2m1fn_x2 "
                        "only beside its like")
    _tensors.expect(a.device == b.device == scale_a.device == scale_b.device, "operands and factors", (a, b, *factors), "one device")
    return kind, _atoms.per_byte(a.dtype) * a.shape[1]


def _expect_factors(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> None:
    """In whole atoms."""
    kind, k = _expect_kind(a, b, scale_a, scale_b)
    factors = (scale_a, scale_b)
    wanted = [_atoms.size(x.shape[0], k, kind) for x in (a, b)]
    if [s.numel() for s in factors] != wanted or not (scale_a.is_contiguous() and scale_b.is_contiguous()):
        _tensors.refuse("factors", factors, f"{wanted[0]} and {wanted[1]} contiguous ones: whole atoms of 128 rows by four blocks of "
                        f"{kind.block} of K")


def _expect_factors_of_groups(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> Tensor:
    """As the kernels want a's: atoms for as many rows as any sizes of groups want. Fewer are copied."""
    kind, k = _expect_kind(a, b, scale_a, scale_b)
    factors, groups = (scale_a, scale_b), b.shape[0]
    of_128, of_b = _atoms.size_of_line(k, kind), groups * _atoms.size(b.shape[1], k, kind)
    if not (scale_a.numel() % max(of_128, 1) == 0 and scale_b.numel() == of_b and all(s.is_contiguous() for s in factors)):
        _tensors.refuse("factors", factors, f"multiples of {of_128}, each group's from one on, and {of_b}, contiguous: whole atoms of "
                        f"128 rows by four blocks of {kind.block} of K")
    missing = _atoms.size_of_groups(a.shape[0], groups, k, kind) - scale_a.numel()
    if missing <= 0:
        return scale_a
    return torch.nn.functional.pad(scale_a.view(torch.uint8).flatten(), (0, missing)).view(scale_a.dtype)


def _run(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], bias: Optional[Tensor], d: Tensor,
         scale_d: Optional[Tensor], activation: str, global_scale: Optional[Tensor], offs: Optional[Tensor],
         global_a: Optional[Tensor], global_b: Optional[Tensor]) -> None:
    grouping = _gemm.GROUPINGS["none" if offs is None else "ends"]
    _torch_operator.fp8_gemm.call(a, b, scale_a, scale_b, None, bias, offs, d, False, grouping, 0, scale_d,
                             _gemm.ACTIVATIONS[activation], False, global_scale, global_a, global_b)
