"""Bit-exact answers about NVIDIA's WGMMA and tcgen05: layouts, descriptors, sums, whole GEMMs, compiled kernels.

Every verb of the command `tcq` is a function (verbs.py), arrays of questions are Map, mma and gemm (arrays.py),
descriptor words are Word (words.py). What the command line refuses is an exception with its sentence.
"""

from ._reply import Error, Illegal, NothingThere, NotModelled, UsageError
from ._tcq import commit, evidence
from ._tcq import version as __version__
from .arrays import Map, gemm, mma
from .verbs import (ask, banks, bytes, check, decode, describe, diff, emission, encode, equation, errata, explain, help,
                    layout, list, mma_lines, partition, run, table, tmem, verify, what, where)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .words import Field, Picture, Word, picture

__all__ = [
    "Error", "Illegal", "NothingThere", "NotModelled", "UsageError", "__version__", "commit", "evidence",
    "Map", "gemm", "mma", "Field", "Picture", "Word", "picture",
    "ask", "banks", "bytes", "check", "decode", "describe", "diff", "emission", "encode", "equation", "errata", "explain",
    "help", "layout", "list", "mma_lines", "partition", "run", "table", "tmem", "verify", "what", "where",
]


def __getattr__(name: str) -> object:
    """words.py comes when it is asked for: dataclasses cost more than all the rest."""
    if name in ("Field", "Picture", "Word", "picture"):
        from . import words

        return getattr(words, name)
    raise AttributeError(f"module 'tcq' has no attribute {name!r}")
