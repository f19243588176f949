"""What the operators of tcq.torch share: sentences about tensors, their device and stream, where matrices lie."""

from __future__ import annotations

import torch

from . import _gemm
from ._reply import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ContextManager, Optional, Tuple

    from torch import Tensor

IN = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "tf32", torch.int8: "s8", torch.uint8: "u8",
      torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2"}
OUT = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.int32: "s32"}


plan_cache = _gemm.Plans(maxsize=1024)


def expect(holds: bool, what: str, tensors: Tuple[Tensor, ...], expected: str) -> None:
    if not holds:
        shapes = ", ".join(f"{list(t.shape)} of {str(t.dtype)[6:]} on {t.device}" for t in tensors)
        raise UsageError(f"{what}: {shapes}: expected {expected}")


def expect_sizes(sizes: Tensor, count: int, device: torch.device) -> None:
    """Of groups."""
    expect(tuple(sizes.shape) == (count,) and sizes.dtype == torch.int32 and sizes.device == device, "sizes", (sizes,),
           f"{[count]} of int32 on {device}")


def on(device: torch.device) -> ContextManager[Any]:
    return torch.cuda.device(device)


def stream_of(device: torch.device) -> int:
    return torch.cuda.current_stream(device).cuda_stream


def at(tensor: Optional[Tensor]) -> Optional[int]:
    return None if tensor is None else tensor.data_ptr()


def placed(operand: Tensor) -> Tuple[Tensor, int, int]:
    """An operand as rows x K, its major and its leading dimension; -1 where nothing is stepped over."""
    (rows, k), (row, step) = operand.shape, operand.stride()
    if (k <= 1 or step == 1) and (rows <= 1 or row >= max(k, 1)):
        return operand, _gemm.K_MAJOR, row if rows > 1 else -1
    narrow = operand.element_size() == 2  # of the others wgmma takes K-major operands only
    if narrow and (rows <= 1 or row == 1) and (k <= 1 or step >= rows):
        return operand, _gemm.MN_MAJOR, step if k > 1 else -1
    return operand.contiguous(), _gemm.K_MAJOR, -1


def run(plan: _gemm.Plan, pointers: _gemm.Pointers, device: torch.device) -> None:
    """On the current stream of `device`, which is current, with a workspace of PyTorch's allocator."""
    size = plan.workspace_bytes(pointers)
    workspace = torch.empty(size, dtype=torch.uint8, device=device) if size else None
    plan.run(pointers, at(workspace) or 0, size, stream_of(device))
