"""The Hopper GEMM for PyTorch: mm, addmm, bmm, baddbmm and linear, differentiable, under torch.compile and in CUDA graphs.

    import tcq.torch
    y = tcq.torch.linear(x, weight, bias, activation="gelu")

All of them are one operator, torch.ops.tcq.gemm: D = activation(alpha * A @ B + beta * C + bias) in one kernel of
libtcq_gemm.so (_gemm.py says where that is found), on PyTorch's current stream, with workspaces of its allocator. A
plan is kept for each shape, layout and epilogue of the last `plan_cache.maxsize`. Nothing waits for the device. The
bits are those that `tcq gemm` predicts for the order that `plan_text` names.

Operands: float16, bfloat16 (results the same or float32), int8 and uint8 (results int32, float32, bfloat16), and
float32 with tf32=True, which says that the low 13 bits of every operand do not count. Views that are row-major or
column-major are read in place, of float32 and integers those whose K is contiguous; all else is copied. Products of
few rows may split K, which depends on how many rows there are: batch_invariant=True does not.

FP8 and groups, with the names and conventions of PyTorch and DeepGEMM: _torch_fp8.py. MXFP8, MXFP4 and NVFP4 for
tcgen05, by the same functions: _torch_blocks.py.
"""

from __future__ import annotations

from . import _gemm
from ._gemm import GemmError, LibraryNotFound
from ._reply import UsageError

try:
    import torch
    from torch.library import register_fake  # noqa: F401  # new in 2.4
except ImportError as error:
    raise ImportError(f"tcq.torch needs PyTorch 2.4 or newer, `pip install torch`: {error}") from error

from . import _operator, _tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Tuple, Union

    from torch import Tensor

    Number = Union[int, float]
    Operands = Tuple[Tensor, Tensor, Optional[Tensor], Optional[Tensor]]

__all__ = ["mm", "addmm", "bmm", "baddbmm", "linear", "plan_cache", "plan_text", "GemmError", "LibraryNotFound",
           "quantize", "scaled_mm", "scaled_mm_quantized", "grouped_mm", "scaled_grouped_mm", "fp8_gemm_nt",
           "m_grouped_fp8_gemm_nt_contiguous", "m_grouped_fp8_gemm_nt_masked"]

_INTEGERS = (torch.int8, torch.uint8)
_TYPES = (torch.float16, torch.bfloat16, torch.float32, *_INTEGERS)

plan_cache = _tensors.plan_cache


def mm(a: Tensor, b: Tensor, *, out_dtype: Optional[torch.dtype] = None, tf32: bool = False,
       batch_invariant: bool = False, sm_limit: int = 0, programmatic_launch: bool = True) -> Tensor:
    """a @ b of two matrices. sm_limit: at most so many SMs; 0: all of them."""
    _tensors.expect(a.dim() == 2 and b.dim() == 2, "a and b", (a, b), "matrices")
    return _gemm_op.call(a, b, None, None, 1.0, 0.0, "none", out_dtype, tf32, batch_invariant, sm_limit,
                    programmatic_launch)


def addmm(c: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1,
          out_dtype: Optional[torch.dtype] = None, tf32: bool = False, batch_invariant: bool = False,
          sm_limit: int = 0, programmatic_launch: bool = True) -> Tensor:
    """beta * c + alpha * (a @ b), as torch.addmm; c is broadcast. With beta 0 it is not read."""
    _tensors.expect(a.dim() == 2 and b.dim() == 2, "a and b", (a, b), "matrices")
    out = out_dtype or _usual_out(a)
    if c.dtype != out:
        c = c.to(out)
    if beta == 1 and c.dim() in (1, 2) and c.shape[-1] == c.numel() == b.shape[1]:  # of each row; the same bits, and no copy
        return _gemm_op.call(a, b, None, c.reshape(-1), float(alpha), 0.0, "none", out, tf32, batch_invariant, sm_limit,
                             programmatic_launch)
    if c.dim() != 2 or c.shape[0] != a.shape[0] or c.shape[1] != b.shape[1]:
        c = c.expand(a.shape[0], b.shape[1])
    return _gemm_op.call(a, b, c, None, float(alpha), float(beta), "none", out, tf32, batch_invariant, sm_limit,
                         programmatic_launch)


def bmm(a: Tensor, b: Tensor, *, out_dtype: Optional[torch.dtype] = None, tf32: bool = False,
        batch_invariant: bool = False, sm_limit: int = 0, programmatic_launch: bool = True) -> Tensor:
    """a @ b of two batches of matrices in one kernel, as torch.bmm. Of a matrix that is expanded one copy is read."""
    _tensors.expect(a.dim() == 3 and b.dim() == 3, "a and b", (a, b), "batches of matrices")
    return _gemm_op.call(a, b, None, None, 1.0, 0.0, "none", out_dtype, tf32, batch_invariant, sm_limit,
                         programmatic_launch)


def baddbmm(c: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1,
            out_dtype: Optional[torch.dtype] = None, tf32: bool = False, batch_invariant: bool = False,
            sm_limit: int = 0, programmatic_launch: bool = True) -> Tensor:
    """beta * c + alpha * (a @ b), as torch.baddbmm; c is broadcast. With beta 0 it is not read."""
    _tensors.expect(a.dim() == 3 and b.dim() == 3, "a and b", (a, b), "batches of matrices")
    out = out_dtype or _usual_out(a)
    c = (c if c.dtype == out else c.to(out)).expand(a.shape[0], a.shape[1], b.shape[2])
    return _gemm_op.call(a, b, c, None, float(alpha), float(beta), "none", out, tf32, batch_invariant, sm_limit,
                         programmatic_launch)


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, *, activation: Optional[str] = None,
           out_dtype: Optional[torch.dtype] = None, tf32: bool = False, batch_invariant: bool = False,
           sm_limit: int = 0, programmatic_launch: bool = True) -> Tensor:
    """activation(x @ weight.T + bias), as torch.nn.functional.linear; x has any number of dimensions.

    activation: "relu", "gelu" (by tanh), "gelu_erf", "silu", or "swiglu": rows 2 j and 2 j + 1 of the weight are gate
    and value of the result's column j, of which there are half as many. Its backward computes the sums anew.
    """
    _tensors.expect(x.dim() >= 1 and weight.dim() == 2, "x and the weight", (x, weight), "at least a vector and a matrix")
    out = out_dtype or _usual_out(x)
    rows = x if x.dim() == 2 else x.flatten(0, -2) if x.dim() > 1 else x.unsqueeze(0)
    if bias is not None and bias.dtype != out:
        bias = bias.to(out)
    d = _gemm_op.call(rows, weight.t(), None, bias, 1.0, 0.0, activation or "none", out, tf32, batch_invariant, sm_limit,
                      programmatic_launch)
    return d if x.dim() == 2 else d.reshape(*x.shape[:-1], d.shape[1])


def plan_text(a: Tensor, b: Tensor, *, out_dtype: Optional[torch.dtype] = None, tf32: bool = False,
              batch_invariant: bool = False, sm_limit: int = 0, programmatic_launch: bool = True) -> str:
    """What mm of these operands will launch, and in which order it sums: the text that `tcq gemm --order plan:` takes."""
    call = _call_of(a, b, None, None, 1.0, 0.0, "none", out_dtype, tf32, batch_invariant, sm_limit, programmatic_launch)
    with _tensors.on(a.device):
        return call.plan.describe()


# --- what is asked ----------------------------------------------------------------------------------


def _usual_out(a: Tensor) -> torch.dtype:
    return torch.int32 if a.dtype in _INTEGERS else a.dtype


def _result_of(a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor], activation: str,
               out_dtype: Optional[torch.dtype], tf32: bool) -> Tuple[Tuple[int, ...], torch.dtype]:
    """D's shape and type."""
    _tensors.expect(a.dim() in (2, 3) and a.shape[:-2] == b.shape[:-2] and a.shape[-1] == b.shape[-2], "a and b", (a, b),
                    "M x K and K x N, or a batch of as many of each")
    _tensors.expect(a.dtype == b.dtype and a.dtype in _TYPES and a.device == b.device, "a and b", (a, b),
            "one type of float16, bfloat16, float32, int8, uint8, and one device")
    if a.dtype == torch.float32 and not tf32:
        raise UsageError("operands are float32: expected tf32=True, which rounds off the low 13 bits of each")
    out = out_dtype or _usual_out(a)
    if out not in _tensors.OUT:
        raise UsageError(f"a result of {str(out)[6:]}: expected float16, bfloat16, float32 or int32")
    n, lines = b.shape[-1], a.shape[:-1]
    if c is not None:
        _tensors.expect(c.shape == (*lines, n) and c.dtype == out and c.device == a.device, "c", (c,),
                f"{[*lines, n]} of {str(out)[6:]} on {a.device}")
    if bias is not None:
        _tensors.expect(bias.shape == (n,) and bias.dtype == out and bias.device == a.device, "the bias", (bias,),
                f"{[n]} of {str(out)[6:]} on {a.device}")
    _gemm.expect_activation(activation)
    return (*lines, n // 2 if activation == "swiglu" else n), out


def _step(copied: bool, x: Tensor) -> int:
    """From a matrix of a batch to the next: -1 where these are packed, or there is one."""
    return -1 if copied or x.dim() == 2 or x.shape[0] == 1 else x.stride(0)


def _rows_of(c: Tensor) -> Tuple[bool, int]:
    """Is a copy read, which is packed, and the leading dimension."""
    (m, n), (row, step) = c.shape[-2:], c.stride()[-2:]
    if (n <= 1 or step == 1) and (m <= 1 or row >= n):
        return False, row if m > 1 else -1
    return True, -1


class _Call:
    """What calls whose operands lie alike have in common: the plan, D's shape and type, which operands are copied first."""

    def __init__(self, a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor], alpha: float, beta: float,
                 activation: str, out_dtype: Optional[torch.dtype], tf32: bool, batch_invariant: bool, sm_limit: int,
                 programmatic_launch: bool) -> None:
        self._shape, self._out = _result_of(a, b, c, bias, activation, out_dtype, tf32)
        self._device, self._reads_c = a.device, c is not None and beta != 0
        by = _gemm.library()
        p = by.problem()
        copies_a, p.major_a, p.a.ld = _tensors.placed(a)
        copies_b, p.major_b, p.b.ld = _tensors.placed(b.transpose(-2, -1))
        copies_c, p.c.ld = _rows_of(c) if c is not None and self._reads_c else (False, -1)
        self._copies = (copies_a, copies_b, copies_c, bias is not None and not bias.is_contiguous())
        self._copies_any = any(self._copies)
        p.a.batch, p.b.batch = _step(copies_a, a), _step(copies_b, b)
        p.c.batch = _step(copies_c, c) if c is not None and self._reads_c else -1
        p.batch = a.shape[0] if a.dim() == 3 else 1
        p.m, p.n, p.k, p.alpha, p.beta, p.has_bias = a.shape[-2], b.shape[-1], a.shape[-1], alpha, beta, bias is not None
        p.in_, p.out = _gemm.TYPES[_tensors.IN[a.dtype]], _gemm.TYPES[_tensors.OUT[self._out]]
        p.activation, p.batch_invariant = _gemm.ACTIVATIONS[activation], batch_invariant
        p.sm_limit, p.programmatic_launch = sm_limit, programmatic_launch
        with _tensors.on(self._device):
            self.plan = _gemm.Plan(p, by)

    def run(self, a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor]) -> Tensor:
        if self._copies_any:
            a, b, c, bias = self._copied(a, b, c, bias)
        at = _tensors.at
        with _tensors.on(self._device):
            d = torch.empty(self._shape, dtype=self._out, device=self._device)
            _tensors.run(self.plan, self._device, a.data_ptr(), b.data_ptr(), at(c) if self._reads_c else 0, d.data_ptr(),
                         at(bias))
        return d

    def _copied(self, a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor]) -> Operands:
        copies_a, copies_b, copies_c, copies_bias = self._copies
        return (a.contiguous() if copies_a else a, b.transpose(-2, -1).contiguous() if copies_b else b,
                c.contiguous() if c is not None and copies_c else c,
                bias.contiguous() if bias is not None and copies_bias else bias)


def _call_of(a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor], *options: Any) -> _Call:
    """Checked and planned when operands that lie so come for the first time."""
    lies = _tensors.lies
    key = (lies(a), lies(b), c if c is None else lies(c), bias if bias is None else lies(bias), options)
    return plan_cache.get(key, _Call, a, b, c, bias, *options)


# --- the operator -----------------------------------------------------------------------------------

_SCHEMA = ("(Tensor a, Tensor b, Tensor? c, Tensor? bias, float alpha, float beta, str activation, "
           "ScalarType? out_dtype, bool tf32, bool batch_invariant, int sm_limit, bool programmatic_launch) -> Tensor")


def _compute(a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor], *options: Any) -> Tensor:
    return _call_of(a, b, c, bias, *options).run(a, b, c, bias)


def _fake(a: Tensor, b: Tensor, c: Optional[Tensor], bias: Optional[Tensor], alpha: float, beta: float,
          activation: str, out_dtype: Optional[torch.dtype], tf32: bool, batch_invariant: bool, sm_limit: int,
          programmatic_launch: bool) -> Tensor:
    shape, out = _result_of(a, b, c, bias, activation, out_dtype, tf32)
    return a.new_empty(shape, dtype=out)


_gemm_op = _operator.Operator("gemm", _SCHEMA, _compute, _fake)


def _setup_context(ctx: Any, inputs: Tuple[Any, ...], output: Tensor) -> None:
    a, b, c, bias, ctx.alpha, ctx.beta, ctx.activation, _, *ctx.options = inputs
    ctx.save_for_backward(a, b, c, bias)


def _through_activation(activation: str, grad: Tensor, z: Tensor) -> Tensor:
    """The gradient of the sums z, in float32."""
    aten = torch.ops.aten
    if activation == "relu":
        return grad * (z > 0)
    if activation == "silu":
        return aten.silu_backward(grad, z)
    if activation in ("gelu", "gelu_erf"):
        return aten.gelu_backward(grad, z, approximate="tanh" if activation == "gelu" else "none")
    gate, value = z[..., 0::2], z[..., 1::2]
    of_gate = aten.silu_backward(grad * value, gate)
    return torch.stack((of_gate, grad * torch.nn.functional.silu(gate)), -1).flatten(-2)


def _backward(ctx: Any, grad: Tensor) -> Tuple[Optional[Tensor], ...]:
    a, b, c, bias = ctx.saved_tensors
    needs = ctx.needs_input_grad

    def product(left: Tensor, right: Tensor) -> Tensor:
        return _gemm_op.call(left, right, None, None, ctx.alpha, 0.0, "none", left.dtype, *ctx.options)

    if ctx.activation != "none":
        z = _gemm_op.call(a, b, None if c is None else c.float(), None if bias is None else bias.float(), ctx.alpha,
                     ctx.beta, "none", torch.float32, *ctx.options)
        grad = _through_activation(ctx.activation, grad.float(), z)
    narrow = grad.to(a.dtype)
    grads: List[Optional[Tensor]] = [None] * len(needs)
    if needs[0]:
        grads[0] = product(narrow, b.transpose(-2, -1))
    if needs[1]:
        grads[1] = product(a.transpose(-2, -1), narrow)
    if c is not None and needs[2]:
        grads[2] = (ctx.beta * grad).to(c.dtype)
    if bias is not None and needs[3]:
        grads[3] = grad.flatten(0, -2).sum(0, dtype=torch.float32).to(bias.dtype)
    return tuple(grads)


_gemm_op.differentiate(_backward, _setup_context, tensors=4)

from ._torch_fp8 import (  # noqa: E402
    fp8_gemm_nt, grouped_mm, m_grouped_fp8_gemm_nt_contiguous, m_grouped_fp8_gemm_nt_masked, quantize,
    scaled_grouped_mm, scaled_mm, scaled_mm_quantized)
