"""FP8 and groups for PyTorch: a part of tcq.torch. The functions have the names and conventions of torch.nn.functional and of
DeepGEMM, and write by two operators, _torch_operator.py. Factors of blocks, a byte each: _torch_blocks.py.

FP8 operands are row-major (K contiguous; what PyTorch calls a column-major B is its transpose), factors are float32 tensors in
any strides: nothing is transposed, and what has other strides is copied. A product of FP8 keeps 13 bits behind the point of its
largest summand; promoted, sums of 128 of K are added in float32. Factors of 128 of K always promote.
"""

from __future__ import annotations

import torch

from . import _atoms, _gemm, _tensors, _torch_blocks, _torch_operator
from ._reply import UsageError
from ._torch_checks import FP8, WIDE, blocks, columns_of_d

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, Tuple

    from torch import Tensor

    from ._torch_blocks import Factors

    Scaled = Tuple[Tensor, Tensor]


def quantize(x: Tensor, *, block: str = "vector_128", dtype: torch.dtype = torch.float8_e4m3fn,
             power_of_two: bool = False) -> Tuple[Tensor, Tensor]:
    """FP8 of a matrix of float32, bfloat16 or float16, and the factors that give it back, about factor * FP8.

    block: what shares a factor: "row" ([M, 1]), "vector_128" ([M, K / 128]) or "block_128" ([M / 128, K / 128]), rounded up. A
    factor is the block's largest finite magnitude by the type's, or the next power of two; 1 if all are zero.
    """
    _tensors.expect(x.dim() == 2 and x.dtype in WIDE, "x", (x,), "a matrix of float32, bfloat16 or float16")
    if block not in _gemm.QUANTIZE_BLOCKS or dtype not in FP8:
        raise UsageError(f"block {block!r}, dtype {dtype}: expected {', '.join(_gemm.QUANTIZE_BLOCKS)}; float8_e4m3fn or "
                         "float8_e5m2")
    rows, columns = x.shape
    lines = blocks(rows) if block == "block_128" else rows
    target = x.new_empty((rows, columns), dtype=dtype)
    factors = x.new_empty((lines, 1 if block == "row" else blocks(columns)), dtype=torch.float32)
    _torch_operator.quantize.call(x if x.stride(1) == 1 or columns <= 1 else x.contiguous(), target, factors,
                 _gemm.QUANTIZE_BLOCKS[block], power_of_two)
    return target, factors


def scaled_mm(a: Tensor, b: Tensor, scale_a: Factors, scale_b: Factors, bias: Optional[Tensor] = None,
              out_dtype: torch.dtype = torch.bfloat16, use_fast_accum: bool = False) -> Tensor:
    """a @ b of FP8 matrices, scaled as torch's scaled_mm: factors of one element each, of rows and columns ([M, 1] and [1, N]), or
    of blocks of K: a's [M, K / 128], b's [K / 128, N / 128] or [K / 128, N]. use_fast_accum: without promotion.

    On tcgen05, by the factors' dtype: MXFP8 and MXFP4 (float8_e8m0fnu for 32 of K; float8_e4m3fn,
    float8_e5m2, or both float4_e2m1fn_x2) and NVFP4 (float8_e4m3fn for 16; float4_e2m1fn_x2). These factors are contiguous and
    of any shape, torch's SWIZZLE_32_4_4: of [M, K] ceil(M / 128) * 128 * ceil(blocks / 4) * 4 bytes, 0 behind the last of K. Each
    of scale_a and scale_b may be a pair of them and of one float32 on the device, by which all of the matrix is multiplied.
    """
    _tensors.expect(a.dim() == 2 and b.dim() == 2 and a.shape[1] == b.shape[0], "a and b", (a, b), "M x K and K x N")
    if _torch_blocks.are_codes(scale_a) or _torch_blocks.are_codes(scale_b):
        return _torch_blocks.scaled_mm(a, b.t(), scale_a, scale_b, bias, out_dtype, use_fast_accum)
    d = a.new_empty((a.shape[0], b.shape[1]), dtype=out_dtype)
    _run(a, b.t(), _as_lines(scale_a), _as_columns(scale_b), None, bias, None, d, "none",
         not use_fast_accum, 0)
    return d


def scaled_mm_quantized(a: Tensor, b: Tensor, scale_a: Optional[Factors] = None, scale_b: Optional[Factors] = None,
                        bias: Optional[Tensor] = None, *, activation: str = "none", offs: Optional[Tensor] = None,
                        dtype: Optional[torch.dtype] = None, power_of_two: bool = False, use_fast_accum: bool = False,
                        scale_dtype: Optional[torch.dtype] = None,
                        global_scale: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """What quantize makes of the float32 result of scaled_mm, or with offs of scaled_grouped_mm, in one kernel: FP8 [M, N], and
    factors [M, N / 128], rounded up, the next product's a and scale_a. Rows behind the last group are written in neither.

    a and b: float8_e4m3fn or float8_e5m2. bias: [N] of float32, bfloat16 or float16. activation: linear's; with "swiglu"
    columns 2 j and 2 j + 1 of b are gate and value of the result's column j, of which there are N / 2. Else, and of other
    shapes: a UsageError.

    scale_dtype: of the result's factors, by default the operands'. With float8_e8m0fnu (`dtype`: FP8 or float4_e2m1fn_x2) or
    float8_e4m3fn (float4_e2m1fn_x2) they are atoms as scaled_mm takes, one-dimensional, whose bytes for rows behind M are
    not written, of groups as scaled_grouped_mm takes them; a and b have such factors too, or are bfloat16 and have none.
    global_scale, for these: one float32 on the device, by which results are multiplied first. dtype: by default
    float8_e4m3fn; with atoms a's, or of bfloat16 the first that is named here.
    """
    grouped = offs is not None
    _tensors.expect(a.dim() == 2 and b.dim() == (3 if grouped else 2) and a.shape[1] == b.shape[-2], "a and b", (a, b),
                    "M x K and G x K x N" if grouped else "M x K and K x N")
    _gemm.expect_activation(activation)
    _tensors.expect(activation != "swiglu" or b.shape[-1] % 2 == 0, "b", (b,), "an even N, of gates and values, for swiglu")
    of_d = scale_dtype or _torch_blocks.dtype_of(scale_a)
    if of_d is not None and _atoms.code_of(of_d):
        return _torch_blocks.scaled_mm_quantized(a, b.transpose(-2, -1), scale_a, scale_b, bias, activation, dtype, of_d,
                                                 global_scale, offs=offs, power_of_two=power_of_two,
                                                 use_fast_accum=use_fast_accum)
    if scale_dtype not in (None, torch.float32) or global_scale is not None:
        known = _atoms.named((*_atoms.KINDS, torch.float32))
        raise UsageError(f"scale_dtype {scale_dtype}: expected {known}, of which float32 has no global_scale")
    return _quantized(a, b, _torch_blocks.alone(scale_a), _torch_blocks.alone(scale_b), bias, activation, offs, dtype or torch.float8_e4m3fn, power_of_two,
                      use_fast_accum)


def _quantized(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], bias: Optional[Tensor],
               activation: str, offs: Optional[Tensor], dtype: torch.dtype, power_of_two: bool,
               use_fast_accum: bool) -> Tuple[Tensor, Tensor]:
    """scaled_mm_quantized with factors of float32."""
    if scale_a is None or scale_b is None or a.dtype not in FP8 or b.dtype not in FP8:
        _tensors.refuse("a and b", (a, b), "float8_e4m3fn or float8_e5m2, with factors, or a scale_dtype that is not float32")
    if dtype not in FP8:
        raise UsageError(f"dtype {dtype}: expected float8_e4m3fn or float8_e5m2")
    d = a.new_empty((a.shape[0], columns_of_d(b.shape[-1], activation)), dtype=dtype)
    scale_d = a.new_empty((a.shape[0], blocks(d.shape[1])), dtype=torch.float32)
    of_b = _as_columns(scale_b) if offs is None else _as_columns_of_groups(scale_b)
    _run(a, b.transpose(-2, -1), _as_lines(scale_a), of_b, None, bias, offs, d, "none" if offs is None else "ends",
         not use_fast_accum, 0, scale_d, activation, power_of_two)
    return d, scale_d


def grouped_mm(a: Tensor, b: Tensor, offs: Tensor, *, bias: Optional[Tensor] = None,
               out_dtype: Optional[torch.dtype] = None) -> Tensor:
    """Rows of a [M, K] by matrices of b [G, K, N], of float16 or bfloat16, as torch's grouped_mm: group g ends before row offs[g]
    (int32, on the device). Rows behind the last group are not written.

    b [K, N]: groups along K, the gradients of their weights, [G, M, N]: group g ends before k = offs[g], 0 where it has none.
    a and b are read where they lie, rows or columns contiguous."""
    if b.dim() == 2:
        return _along_k(a, b, None, None, offs, bias, out_dtype or a.dtype, False)
    _tensors.expect(a.dim() == 2 and b.dim() == 3 and a.shape[1] == b.shape[1], "a and b", (a, b), "M x K and G x K x N")
    d = a.new_empty((a.shape[0], b.shape[2]), dtype=out_dtype or a.dtype)
    _run(a, b.transpose(1, 2), None, None, None, bias, offs, d, "ends", False, 0)
    return d


def scaled_grouped_mm(a: Tensor, b: Tensor, scale_a: Factors, scale_b: Factors, offs: Tensor, *,
                      bias: Optional[Tensor] = None, out_dtype: torch.dtype = torch.bfloat16,
                      use_fast_accum: bool = False) -> Tensor:
    """grouped_mm of FP8: factors of rows and columns ([M] and [G, N]) or of blocks of K: a's [M, K / 128], b's [G, K / 128, N / 128]
    or [G, K / 128, N]. Along K: of rows and columns of each group ([G * M] and [G * N], or [G, M] and [G, N]), or of blocks of K as
    scaled_mm's, of which each group begins with one.

    On tcgen05 factors of blocks as scaled_mm's: b's of one group behind those of another, a's rows of each group from an atom on,
    as torch has them; b's float32 may be one for each group. Atoms of M + 127 * (G - 1) rows, which any offs may want, are read where they lie; fewer are copied first."""
    if b.dim() == 2 and not (_torch_blocks.are_codes(scale_a) or _torch_blocks.are_codes(scale_b)):
        return _along_k(a, b, _torch_blocks.alone(scale_a), _torch_blocks.alone(scale_b), offs, bias, out_dtype,
                        not use_fast_accum)
    _tensors.expect(a.dim() == 2 and b.dim() == 3 and a.shape[1] == b.shape[1], "a and b", (a, b), "M x K and G x K x N")
    if _torch_blocks.are_codes(scale_a) or _torch_blocks.are_codes(scale_b):
        return _torch_blocks.scaled_mm(a, b.transpose(1, 2), scale_a, scale_b, bias, out_dtype, use_fast_accum, offs)
    d = a.new_empty((a.shape[0], b.shape[2]), dtype=out_dtype)
    _run(a, b.transpose(1, 2), _as_lines(scale_a), _as_columns_of_groups(scale_b), None, bias, offs, d, "ends",
         not use_fast_accum, 0)
    return d


def _along_k(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], offs: Tensor, bias: Optional[Tensor],
             out_dtype: torch.dtype, promotes: bool) -> Tensor:
    """[M, K] by [K, N] in groups along K."""
    _tensors.expect(a.dim() == 2 and b.dim() == 2 and a.shape[1] == b.shape[0], "a and b", (a, b), "M x K and K x N, or G x K x N")
    groups = offs.numel()
    of_k = blocks(a.shape[1])

    def of_groups(scale: Tensor, lines: int) -> Tensor:
        return scale.reshape(groups, lines, 1) if scale.numel() == groups * lines else scale

    if scale_a is not None and scale_b is not None:
        by_blocks = tuple(scale_a.shape) == (a.shape[0], of_k) and scale_b.dim() == 2 and scale_b.shape[0] == of_k
        scale_a = scale_a if by_blocks else of_groups(scale_a, a.shape[0])
        scale_b = scale_b.t() if by_blocks else of_groups(scale_b, b.shape[1])
    d = a.new_empty((groups, a.shape[0], b.shape[1]), dtype=out_dtype)
    _run(a, b.t(), scale_a, scale_b, None, bias, offs, d, "k_ends", promotes, 0)
    return d


def fp8_gemm_nt(a: Scaled, b: Scaled, d: Tensor, c: Optional[Tensor] = None, recipe: object = None,
                compiled_dims: str = "nk", disable_ue8m0_cast: bool = False) -> None:
    """DeepGEMM's: d = c + a @ b.T; a and b are FP8 matrices with factors of 1 x 128, and of 128 x 128 or 1 x 128. What recipe says
    is seen from the factors' shapes; factors stay what they are."""
    del recipe, compiled_dims, disable_ue8m0_cast
    _run(a[0], b[0], a[1], b[1], c, None, None, d, "none", True, 0)


def m_grouped_fp8_gemm_nt_contiguous(a: Scaled, b: Scaled, d: Tensor, grouped_layout: Tensor, recipe: object = None,
                                     compiled_dims: str = "nk", disable_ue8m0_cast: bool = False,
                                     use_psum_layout: bool = False) -> None:
    """DeepGEMM's: b has a matrix for each group; grouped_layout says the group of every row, -1 for none (a group begins at
    multiples of 128), or with use_psum_layout where each group ends, wherever that is."""
    del recipe, compiled_dims, disable_ue8m0_cast
    _run(a[0], b[0], a[1], b[1], None, None, grouped_layout, d, "ends" if use_psum_layout else "row_ids", True, 0)


def m_grouped_fp8_gemm_nt_masked(a: Scaled, b: Scaled, d: Tensor, masked_m: Tensor, expected_m: int,
                                 recipe: object = None, compiled_dims: str = "nk",
                                 disable_ue8m0_cast: bool = False) -> None:
    """DeepGEMM's: a and d have a matrix for each group, of which masked_m[g] rows count; expected_m of them are expected."""
    del recipe, compiled_dims, disable_ue8m0_cast
    _run(a[0], b[0], a[1], b[1], None, None, masked_m, d, "counts", True, expected_m)


# --- what is asked ----------------------------------------------------------------------------------


def _as_lines(scale: Tensor) -> Tensor:
    """Of rows of A: lines x blocks of K."""
    if scale.dim() == 2:
        return scale
    return scale.reshape(-1, 1) if scale.numel() == 1 or scale.dim() < 2 else scale


def _as_columns(scale: Tensor) -> Tensor:
    return scale.t() if scale.dim() == 2 else scale.reshape(-1, 1)


def _as_columns_of_groups(scale: Tensor) -> Tensor:
    return scale.transpose(1, 2) if scale.dim() == 3 else scale.unsqueeze(-1)


def _run(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], c: Optional[Tensor],
         bias: Optional[Tensor], sizes: Optional[Tensor], d: Tensor, grouping: str, promotes: bool, expected_rows: int,
         scale_d: Optional[Tensor] = None, activation: str = "none", power_of_two: bool = False) -> None:
    """With factors of float32, or none."""
    if (scale_a is not None and scale_a.dtype != torch.float32) or (scale_b is not None and scale_b.dtype != torch.float32):
        _tensors.refuse("factors", tuple(x for x in (scale_a, scale_b) if x is not None), f"float32 on {a.device}")
    _torch_operator.fp8_gemm.call(a, b, scale_a, scale_b, c, bias, sizes, d, promotes, _gemm.GROUPINGS[grouping], expected_rows,
                                  scale_d, _gemm.ACTIVATIONS[activation], power_of_two)
