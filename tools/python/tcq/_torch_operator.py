"""The operators of FP8, of groups and of factors of blocks: torch.ops.tcq.fp8_gemm and torch.ops.tcq.quantize, which make problems
and pointers of tensors that are right, and write to tensors that they are given. Who checks: _torch_fp8.py, _torch_blocks.py.
"""

from __future__ import annotations

from ctypes import byref, sizeof

import torch
from torch.library import custom_op

from . import _atoms, _gemm, _tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Optional, Tuple

    from torch import Tensor


def _k_major(operand: Tensor) -> Tensor:
    """With K contiguous, and matrices that do not overlap."""
    inner = operand.stride(-1) == 1 or operand.shape[-1] <= 1
    rows = operand.shape[-2] <= 1 or operand.stride(-2) >= operand.shape[-1]
    apart = operand.dim() == 2 or operand.shape[0] <= 1 or operand.stride(0) >= 0
    if inner and rows and apart:
        return operand
    if operand.dtype in _tensors.IN:
        return operand.contiguous()
    return operand.view(torch.uint8).contiguous().view(operand.dtype)  # not all versions copy what shares bytes


def _strides(x: Tensor, major: int) -> _gemm.Strides:
    """Elements, also where two share a byte."""
    each = _atoms.per_byte(x.dtype)
    ld = x.stride(-2) if major == _gemm.K_MAJOR else x.stride(-1)
    batch = each * x.stride(0) if x.dim() == 3 and x.shape[0] > 1 else -1
    lines = x.shape[-2] if major == _gemm.K_MAJOR else x.shape[-1]
    return _gemm.Strides(each * ld if lines > 1 else -1, batch)


def _placed_factors(scale: Tensor) -> Tuple[Tensor, int]:
    """Lines x blocks of K, and their major."""
    lines, blocks = scale.shape[-2:]
    line, block = scale.stride()[-2:]
    if (blocks <= 1 or block == 1) and (lines <= 1 or line >= blocks):
        return scale, _gemm.K_MAJOR
    if (lines <= 1 or line == 1) and (blocks <= 1 or block >= lines):
        return scale, _gemm.MN_MAJOR
    return scale.contiguous(), _gemm.K_MAJOR


def _problem(a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor], d: Tensor,
             scale_d: Optional[Tensor]) -> _gemm.Problem:
    """Without factors of operands: what the shapes, strides and types of all else say."""
    out = d if scale_d is None else bias if c is None else c
    p = _gemm.Problem(m=a.shape[-2], n=b.shape[-2], k=_atoms.per_byte(a.dtype) * a.shape[-1],
                      batch=b.shape[0] if b.dim() == 3 else 1, in_=_gemm.TYPES[_atoms.TYPES[a.dtype]],
                      in_b=_gemm.TYPES[_atoms.TYPES[b.dtype]],
                      out=_gemm.TYPES["bf16" if out is None else _tensors.OUT[out.dtype]], alpha=1,
                      beta=0 if c is None else 1, has_bias=int(bias is not None), programmatic_launch=1,
                      quantized=_gemm.NOT_QUANTIZED)
    p.size = sizeof(p)
    p.a, p.b, p.d = (_strides(x, _gemm.K_MAJOR) for x in (a, b, d))
    p.c = p.scale_a = p.scale_b = p.scale_d = _gemm.Strides(-1, -1)
    if c is not None:
        p.c = _strides(c, _gemm.K_MAJOR)
    if scale_d is not None:
        p.quantized, p.block_scaling_d = _gemm.TYPES[_atoms.TYPES[d.dtype]], _atoms.code_of(scale_d.dtype)
        if not p.block_scaling_d:
            p.scale_d = _strides(scale_d, _gemm.K_MAJOR)
    return p


def compute(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], c: Optional[Tensor],
             bias: Optional[Tensor], sizes: Optional[Tensor], d: Tensor, scaling: int, promotes: bool, grouping: int,
             expected_rows: int, scale_d: Optional[Tensor], activation: int = 0, power_of_two: bool = False,
             global_scale: Optional[Tensor] = None, global_scale_a: Optional[Tensor] = None,
             global_scale_b: Optional[Tensor] = None) -> None:
    """Factors of float32 are as `scaling` says, of other dtypes atoms (_atoms.py), beside which a and b may have one float32 each,
    b of groups also one for each."""
    of_k = grouping == _gemm.GROUPINGS["k_ends"]  # whose operands may be MN-major
    placed = [_tensors.placed(x) for x in (a, b)] if of_k else [(_k_major(x), _gemm.K_MAJOR, 0) for x in (a, b)]
    (a, major_a, _), (b, major_b, _) = placed
    c = None if c is None else _k_major(c)
    p = _problem(a, b, c, bias, d, scale_d)
    if of_k and sizes is not None:
        p.batch, p.major_a, p.major_b = sizes.numel(), major_a, major_b
        p.a, p.b = _strides(a, major_a), _strides(b, major_b)
    p.scaling, p.promotes, p.grouping, p.expected_rows = scaling, promotes, grouping, expected_rows
    p.activation, p.scale_d_power_of_two = activation, power_of_two
    if scale_a is not None and scale_b is not None:
        p.block_scaling = _atoms.code_of(scale_a.dtype)
        if not p.block_scaling:
            scale_a, p.major_scale_a = _placed_factors(scale_a)
            scale_b, p.major_scale_b = _placed_factors(scale_b)
            p.scale_a, p.scale_b = _strides(scale_a, p.major_scale_a), _strides(scale_b, p.major_scale_b)
        elif global_scale_a is not None and global_scale_b is not None:
            p.scaling, p.scale_a = _gemm.SCALINGS["tensor"], _gemm.Strides(-1, 0)
            p.scale_b = _gemm.Strides(-1, 0 if global_scale_b.numel() == 1 else 1)
    bias = None if bias is None else bias.contiguous()
    sizes = None if sizes is None else sizes.contiguous()
    at = _tensors.at
    with _tensors.on(a.device):
        plan = _tensors.plan_cache.get((a.device, bytes(p)), lambda: _gemm.Plan(p, _gemm.library()))
        factors = _at_factors("ab", (scale_a, scale_b), p.block_scaling)
        if p.block_scaling:
            factors.update(_at_factors("ab", (global_scale_a, global_scale_b), 0))
        pointers = _gemm.pointers(at(a), at(b), at(c), at(d), at(bias), sizes=at(sizes), global_scale_d=at(global_scale),
                                  **factors, **_at_factors("d", (scale_d,), p.block_scaling_d))
        _tensors.run(plan, pointers, a.device)


def _at_factors(names: str, factors: Tuple[Optional[Tensor], ...], block_scaling: int) -> Dict[str, Optional[int]]:
    """Of operands, by the names that their pointers have."""
    prefix = "scale_codes_" if block_scaling else "scale_"
    return {prefix + name: _tensors.at(of) for name, of in zip(names, factors)}


# scale_d has no default: PyTorch 2.11 hands on no argument that is one, and then looks for all that are written.
fp8_gemm = custom_op(
    "tcq::fp8_gemm", compute, mutates_args=("d", "scale_d"), device_types="cuda",
    schema="(Tensor a, Tensor b, Tensor? scale_a, Tensor? scale_b, Tensor? c, Tensor? bias, Tensor? sizes, Tensor(d!) d, "
           "int scaling, bool promotes, int grouping, int expected_rows, Tensor(s!)? scale_d, int activation=0, "
           "bool power_of_two=False, Tensor? global_scale=None, Tensor? global_scale_a=None, "
           "Tensor? global_scale_b=None) -> ()")


@fp8_gemm.register_fake
def _fake(*call: object) -> None:
    del call  # d and its factors are there


def compute_quantized(x: Tensor, target: Tensor, factors: Tensor, block: int, power_of_two: bool) -> None:
    by = _gemm.library()
    q = _gemm.Quantizer(rows=x.shape[0], columns=x.shape[1],
                        in_=_gemm.TYPES["f32" if x.dtype == torch.float32 else _tensors.IN[x.dtype]],
                        out=_gemm.TYPES[_tensors.IN[target.dtype]], block=block, power_of_two=int(power_of_two),
                        ld_source=x.stride(0) if x.shape[0] > 1 else -1, ld_target=-1, ld_factors=-1)
    q.size = sizeof(q)
    with _tensors.on(x.device):
        by.check(by.quantize(byref(q), x.data_ptr(), target.data_ptr(), factors.data_ptr(), _tensors.stream_of(x.device)))


quantize = custom_op("tcq::quantize", compute_quantized, mutates_args=("target", "factors"), device_types="cuda",
                     schema="(Tensor x, Tensor(t!) target, Tensor(f!) factors, int block, bool power_of_two) -> ()")


@quantize.register_fake
def _fake_quantized(*call: object) -> None:
    del call
