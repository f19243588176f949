"""The operators of FP8, of groups and of factors of blocks: torch.ops.tcq.fp8_gemm and torch.ops.tcq.quantize, which make problems
and pointers of tensors, and write to tensors that they are given. Who checks: _torch_checks.py, of factors of blocks _torch_blocks.py.
"""

from __future__ import annotations

from ctypes import byref, sizeof

import torch

from . import _atoms, _gemm, _operator, _tensors, _torch_checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Tuple

    from torch import Tensor

    Tensors = Sequence[Any]  # of the operator, None where there is none


def _packed(x: Tensor) -> Tensor:
    if x.dtype in _tensors.IN or x.dtype == torch.int32:
        return x.contiguous()
    return x.view(torch.uint8).contiguous().view(x.dtype)  # not all versions copy what shares bytes


def _k_major(operand: Tensor) -> Tensor:
    """With K contiguous, and matrices that do not overlap."""
    inner = operand.stride(-1) == 1 or operand.shape[-1] <= 1
    rows = operand.shape[-2] <= 1 or operand.stride(-2) >= operand.shape[-1]
    apart = operand.dim() == 2 or operand.shape[0] <= 1 or operand.stride(0) >= 0
    return operand if inner and rows and apart else _packed(operand)


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
    return _packed(scale), _gemm.K_MAJOR


def _problem(a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor], d: Tensor,
             scale_d: Optional[Tensor]) -> _gemm.Problem:
    """Without factors of operands and how these lie: what the shapes, strides and types of all else say."""
    out = d if scale_d is None else bias if c is None else c
    p = _gemm.Problem(m=a.shape[-2], n=b.shape[-2], k=_atoms.per_byte(a.dtype) * a.shape[-1],
                      batch=b.shape[0] if b.dim() == 3 else 1, in_=_gemm.TYPES[_atoms.TYPES[a.dtype]],
                      in_b=_gemm.TYPES[_atoms.TYPES[b.dtype]],
                      out=_gemm.TYPES["bf16" if out is None else _tensors.OUT[out.dtype]], alpha=1,
                      beta=0 if c is None else 1, has_bias=int(bias is not None), programmatic_launch=1,
                      quantized=_gemm.NOT_QUANTIZED)
    p.size = sizeof(p)
    p.d = _strides(d, _gemm.K_MAJOR)
    p.c = p.scale_a = p.scale_b = p.scale_d = _gemm.Strides(-1, -1)
    if c is not None:
        p.c = _strides(c, _gemm.K_MAJOR)
    if scale_d is not None:
        p.quantized, p.block_scaling_d = _gemm.TYPES[_atoms.TYPES[d.dtype]], _atoms.code_of(scale_d.dtype)
        if not p.block_scaling_d:
            p.scale_d = _strides(scale_d, _gemm.K_MAJOR)
    return p


def _on_hopper(x: Tensor) -> bool:
    return not x.is_cuda or torch.cuda.get_device_capability(x.device) == (9, 0)


def _placed(operand: Tensor, any_major: bool) -> Tuple[Tensor, int]:
    """As rows x K, and its major."""
    if not any_major:
        return _k_major(operand), _gemm.K_MAJOR
    copies, major, _ = _tensors.placed(operand)
    return _packed(operand) if copies else operand, major


class _Call:
    """What calls whose tensors lie alike have in common: the plan, and which tensors are copied first. Tensors are in the operator's
    order; scale_a, scale_b and scale_d are codes where their dtype says so."""

    def __init__(self, tensors: Tensors, promotes: bool, grouping: int, expected_rows: int, activation: int,
                 power_of_two: bool) -> None:
        scaling = 0 if _coded(tensors) else _torch_checks.expect_right(tensors, grouping, activation)
        a, b, scale_a, scale_b, c, bias, sizes, d, scale_d, global_scale, global_a, global_b = tensors
        of_k = grouping == _gemm.GROUPINGS["k_ends"]
        # As kernels have them: any along K; beside groups of rows B of 16 bits on Hopper.
        a, major_a = _placed(a, of_k)
        b, major_b = _placed(b, of_k or (sizes is not None and b.element_size() == 2 and _on_hopper(b)))
        c = None if c is None else _k_major(c)
        p = _problem(a, b, c, bias, d, scale_d)
        p.major_a, p.major_b = major_a, major_b
        p.a, p.b = _strides(a, major_a), _strides(b, major_b)
        if of_k and sizes is not None:
            p.batch = sizes.numel()
        p.scaling, p.promotes, p.grouping, p.expected_rows = scaling, promotes and _torch_checks.is_fp8(a), grouping, expected_rows
        p.activation, p.scale_d_power_of_two = activation, power_of_two
        if scale_a is not None and scale_b is not None:
            scale_a, scale_b = _scaled(p, scale_a, scale_b, global_a, global_b)
        bias = None if bias is None else _packed(bias)
        sizes = None if sizes is None else _packed(sizes)
        read = (a, b, scale_a, scale_b, c, bias, sizes, d, scale_d, global_scale, global_a, global_b)
        self._copies = tuple(place for place, (x, y) in enumerate(zip(tensors, read)) if x is not y)
        self._coded, self._coded_d, self._device = p.block_scaling != 0, p.block_scaling_d != 0, a.device
        with _tensors.on(self._device):
            self._plan = _gemm.Plan(p, _gemm.library())

    def run(self, tensors: Tensors) -> None:
        if self._copies:
            tensors = [_packed(x) if place in self._copies else x for place, x in enumerate(tensors)]
        a, b, scale_a, scale_b, c, bias, sizes, d, scale_d, global_scale, global_a, global_b = [
            0 if x is None else x.data_ptr() for x in tensors]
        factors = (global_a, global_b, sizes, scale_a, scale_b) if self._coded else (scale_a, scale_b, sizes, 0, 0)
        of_d = (0, scale_d) if self._coded_d else (scale_d, 0)
        with _tensors.on(self._device):
            _tensors.run(self._plan, self._device, a, b, c, d, bias, *factors, *of_d, global_scale)


def _coded(tensors: Tensors) -> bool:
    """Are factors bytes? Who has checked them and all that goes with them: _torch_blocks.py."""
    of_a, of_d = tensors[2], tensors[8]
    factors = of_a if of_d is None else of_d
    return factors is not None and _atoms.code_of(factors.dtype) != 0


def _scaled(p: _gemm.Problem, scale_a: Tensor, scale_b: Tensor, global_a: Optional[Tensor],
            global_b: Optional[Tensor]) -> Tuple[Tensor, Tensor]:
    """The problem with factors of operands, and these as they are read."""
    p.block_scaling = _atoms.code_of(scale_a.dtype)
    if not p.block_scaling:
        scale_a, p.major_scale_a = _placed_factors(scale_a)
        scale_b, p.major_scale_b = _placed_factors(scale_b)
        p.scale_a, p.scale_b = _strides(scale_a, p.major_scale_a), _strides(scale_b, p.major_scale_b)
    elif global_a is not None and global_b is not None:
        p.scaling, p.scale_a = _gemm.SCALINGS["tensor"], _gemm.Strides(-1, 0)
        p.scale_b = _gemm.Strides(-1, 0 if global_b.numel() == 1 else 1)
    return scale_a, scale_b


def compute(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], c: Optional[Tensor],
            bias: Optional[Tensor], sizes: Optional[Tensor], d: Tensor, promotes: bool, grouping: int, expected_rows: int,
            scale_d: Optional[Tensor], activation: int = 0, power_of_two: bool = False,
            global_scale: Optional[Tensor] = None, global_scale_a: Optional[Tensor] = None,
            global_scale_b: Optional[Tensor] = None) -> None:
    """d = activation(c + a @ b.T + bias) with a, b and factors as rows x K, of groups with a dimension before; d is quantized if it
    has factors. Factors that are no float32 are atoms (_atoms.py), beside which a and b may have one float32 each, b of groups
    also one for each. promotes: FP8 alone."""
    lying = (a, b, scale_a, scale_b, c, bias, sizes, d, scale_d)
    tensors = (*lying, global_scale, global_scale_a, global_scale_b)
    options = (promotes, grouping, expected_rows, activation, power_of_two)
    for_each = None if global_scale_b is None else global_scale_b.numel()
    call = _tensors.plan_cache.get((*map(_tensors.lies, lying), for_each, options), _Call, tensors, *options)
    _operator.written(d, scale_d)
    call.run(tensors)


def _fake(a: Tensor, b: Tensor, scale_a: Optional[Tensor], scale_b: Optional[Tensor], c: Optional[Tensor], bias: Optional[Tensor],
          sizes: Optional[Tensor], d: Tensor, promotes: bool, grouping: int, expected_rows: int, scale_d: Optional[Tensor],
          activation: int = 0, *others: object) -> None:
    """d and its factors are there."""
    tensors = (a, b, scale_a, scale_b, c, bias, sizes, d, scale_d)
    if not _coded(tensors):
        _torch_checks.expect_right(tensors, grouping, activation)


# scale_d has no default: PyTorch 2.11 hands on no argument that is one, and then looks for all that are written.
fp8_gemm = _operator.Operator(
    "fp8_gemm",
    "(Tensor a, Tensor b, Tensor? scale_a, Tensor? scale_b, Tensor? c, Tensor? bias, Tensor? sizes, Tensor(d!) d, "
    "bool promotes, int grouping, int expected_rows, Tensor(s!)? scale_d, int activation=0, "
    "bool power_of_two=False, Tensor? global_scale=None, Tensor? global_scale_a=None, "
    "Tensor? global_scale_b=None) -> ()", compute, _fake)


def compute_quantized(x: Tensor, target: Tensor, factors: Tensor, block: int, power_of_two: bool) -> None:
    by = _gemm.library()
    q = _gemm.Quantizer(rows=x.shape[0], columns=x.shape[1],
                        in_=_gemm.TYPES["f32" if x.dtype == torch.float32 else _tensors.IN[x.dtype]],
                        out=_gemm.TYPES[_tensors.IN[target.dtype]], block=block, power_of_two=int(power_of_two),
                        ld_source=x.stride(0) if x.shape[0] > 1 else -1, ld_target=-1, ld_factors=-1)
    q.size = sizeof(q)
    _operator.written(target, factors)
    with _tensors.on(x.device):
        by.check(by.quantize(byref(q), x.data_ptr(), target.data_ptr(), factors.data_ptr(), _tensors.stream_of(x.device)))


def _fake_quantized(*call: object) -> None:
    del call  # the target and the factors are there


quantize = _operator.Operator("quantize", "(Tensor x, Tensor(t!) target, Tensor(f!) factors, int block, bool power_of_two) -> ()",
                              compute_quantized, _fake_quantized)
