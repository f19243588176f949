"""Bit-exact answers about NVIDIA's WGMMA and tcgen05: layouts, descriptors, sums, whole GEMMs, compiled kernels.

Every verb of the command `tcq` is a function (verbs.py), arrays of questions are Map, mma and gemm (arrays.py),
descriptor words are Word (words.py), programs of the asynchronous machine are Program (machine.py). What the command
line refuses is an exception with its sentence.
"""

from ._reply import Error, Illegal, NothingThere, NotModelled, UsageError
from ._tcq import Address, Program, Registers, Role, Scope, Tmem, commit, evidence
from ._tcq import version as __version__
from .arrays import Map, gemm, mma
from .verbs import (ask, banks, bytes, check, decode, describe, diff, emission, encode, equation, errata, explain, help,
                    layout, list, mma_lines, partition, run, table, tmem, verify, what, where)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .machine import Finding, Report, explore
    from .words import Field, Picture, Word, picture, svg

__all__ = [
    "Error", "Illegal", "NothingThere", "NotModelled", "UsageError", "__version__", "commit", "evidence",
    "Map", "gemm", "mma", "Field", "Picture", "Word", "picture", "svg",
    "Address", "Program", "Registers", "Role", "Scope", "Tmem", "Finding", "Report", "explore",
    "ask", "banks", "bytes", "check", "decode", "describe", "diff", "emission", "encode", "equation", "errata", "explain",
    "help", "layout", "list", "mma_lines", "partition", "run", "table", "tmem", "verify", "what", "where",
]


_LATE = {"words": ("Field", "Picture", "Word", "picture", "svg"), "machine": ("Finding", "Report", "explore")}


def __getattr__(name: str) -> object:
    """These modules come when they are asked for: dataclasses cost more than all the rest."""
    for module, names in _LATE.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module("." + module, __name__), name)
    raise AttributeError(f"module 'tcq' has no attribute {name!r}")
