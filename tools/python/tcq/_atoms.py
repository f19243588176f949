"""Factors of blocks, a byte each, as torch dtypes: MXFP8, MXFP4 (float8_e8m0fnu, of 32) and NVFP4 (float8_e4m3fn, of 16).

They lie in whole atoms of 128 lines (rows of A, columns of B) by four blocks, 512 bytes: ScaleCodes of cuda/gemm/arguments.h,
PyTorch's SwizzleType.SWIZZLE_32_4_4 with ScalingType.BlockWise1x32 and BlockWise1x16. Versions of PyTorch without a dtype
have no kind with it.
"""

from __future__ import annotations

import torch

from . import _gemm, _tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, NamedTuple, Optional, Tuple

    class Kind(NamedTuple):
        code: int  # gemm_c.h's block scaling
        block: int  # elements that share a factor
        elements: Tuple[torch.dtype, ...]

else:
    from collections import namedtuple

    Kind = namedtuple("Kind", "code block elements")

E8M0: Optional[torch.dtype] = getattr(torch, "float8_e8m0fnu", None)
E2M1: Optional[torch.dtype] = getattr(torch, "float4_e2m1fn_x2", None)

_LINES, _TOGETHER = 128, 4
_PACKED = () if E2M1 is None else (E2M1,)

KINDS: Dict[torch.dtype, Kind] = {}  # by the factors' dtype
if E8M0 is not None:
    KINDS[E8M0] = Kind(_gemm.BLOCK_SCALINGS["ue8m0_block_32"], 32, (torch.float8_e4m3fn, torch.float8_e5m2, *_PACKED))
if E2M1 is not None:
    KINDS[torch.float8_e4m3fn] = Kind(_gemm.BLOCK_SCALINGS["ue4m3_block_16"], 16, _PACKED)

TYPES = {**_tensors.IN, **dict.fromkeys(_PACKED, "e2m1")}


def code_of(dtype: Optional[torch.dtype]) -> int:
    """gemm_c.h's block scaling; 0: factors of this dtype are no bytes, or there are none."""
    kind = None if dtype is None else KINDS.get(dtype)
    return 0 if kind is None else kind.code


def per_byte(dtype: torch.dtype) -> int:
    """Elements to a byte of the shape, the first in the low half, where they are narrower than one; else 1."""
    return 2 if dtype == E2M1 else 1


def size(lines: int, elements: int, kind: Kind) -> int:
    """Bytes of the factors of a matrix, whole atoms. Example: 130 lines of 96 elements, blocks of 32: 1024."""
    blocks = (elements + kind.block - 1) // kind.block
    return (lines + _LINES - 1) // _LINES * _LINES * ((blocks + _TOGETHER - 1) // _TOGETHER * _TOGETHER)


def size_of_groups(lines: int, groups: int, elements: int, kind: Kind) -> int:
    """Of groups of lines that begin with an atom each, as many as any sizes of theirs want. No groups: 0."""
    return 0 if groups == 0 else size(lines + (_LINES - 1) * (groups - 1), elements, kind)


def size_of_line(elements: int, kind: Kind) -> int:
    """Of the atoms beside each other along K."""
    return size(_LINES, elements, kind)


def named(dtypes: Tuple[torch.dtype, ...]) -> str:
    return " or ".join(str(dtype)[6:] for dtype in dtypes)
