"""What the operators of tcq.torch share: sentences about tensors, their device and stream, where matrices lie."""

from __future__ import annotations

from contextlib import nullcontext

import torch

from . import _gemm
from ._reply import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, ContextManager, NoReturn, Optional, Tuple

    from torch import Tensor

IN = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "tf32", torch.int8: "s8", torch.uint8: "u8",
      torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2"}
OUT = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.int32: "s32"}


plan_cache = _gemm.Plans(maxsize=1024)


def refuse(what: str, tensors: Tuple[Tensor, ...], expected: str) -> NoReturn:
    shapes = ", ".join(f"{list(t.shape)} of {str(t.dtype)[6:]} on {t.device}" for t in tensors)
    raise UsageError(f"{what}: {shapes}: expected {expected}")


def expect(holds: bool, what: str, tensors: Tuple[Tensor, ...], expected: str) -> None:
    if not holds:
        refuse(what, tensors, expected)


def expect_sizes(sizes: Tensor, count: int, device: torch.device) -> None:
    """Of groups."""
    if not (tuple(sizes.shape) == (count,) and sizes.dtype == torch.int32 and sizes.device == device):
        refuse("sizes", (sizes,), f"{[count]} of int32 on {device}")


_HERE = nullcontext()
_raw_stream: Optional[Callable[[int], int]] = getattr(torch._C, "_cuda_getCurrentRawStream", None)


def on(device: torch.device) -> ContextManager[Any]:
    return _HERE if torch.cuda.current_device() == device.index else torch.cuda.device(device)


def stream_of(device: torch.device) -> int:
    """The current one's handle, which makes no object of torch.cuda.Stream where PyTorch has the function that its compiled code calls."""
    return torch.cuda.current_stream(device).cuda_stream if _raw_stream is None else _raw_stream(device.index)


def at(tensor: Optional[Tensor]) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def lies(tensor: Optional[Tensor]) -> Any:
    """All that a plan and the checks depend on, to be compared."""
    return None if tensor is None else (tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device())


def placed(operand: Tensor) -> Tuple[bool, int, int]:
    """Of an operand as rows x K, or of each of a batch: is a copy of it read, which is K-major and packed; its major and its
    leading dimension, -1 where nothing is stepped over."""
    (rows, k), (row, step) = operand.shape[-2:], operand.stride()[-2:]
    if (k <= 1 or step == 1) and (rows <= 1 or row >= max(k, 1)):
        return False, _gemm.K_MAJOR, row if rows > 1 else -1
    narrow = operand.element_size() == 2  # of the others wgmma takes K-major operands only
    if narrow and (rows <= 1 or row == 1) and (k <= 1 or step >= rows):
        return False, _gemm.MN_MAJOR, step if k > 1 else -1
    return True, _gemm.K_MAJOR, -1


def run(plan: _gemm.Plan, device: torch.device, a: int, b: int, c: int, d: int, bias: int, scale_a: int = 0, scale_b: int = 0,
        *others: int) -> None:
    """On the current stream of `device`, which is current, with a workspace of PyTorch's allocator; addresses as _gemm.pointers."""
    pointers = _gemm.pointers(a, b, c, d, bias, scale_a, scale_b, *others)
    size = plan.workspace_bytes(pointers, (a | b | scale_a | scale_b) % 16 == 0)
    workspace = torch.empty(size, dtype=torch.uint8, device=device) if size else None
    plan.run(pointers, at(workspace), size, stream_of(device))
