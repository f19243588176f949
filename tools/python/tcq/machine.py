"""Programs of the asynchronous machine: explored in every order the hardware may choose, and what that found.

A Program is put together role by role (help(tcq.Role) has every statement); a statement remembers the line of Python
that made it, so that a finding names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from . import _tcq
from ._reply import UsageError, data_of


@dataclass(frozen=True)
class Finding:
    """What is wrong with one execution: the Fault, the sentence that names both statements, and the cure."""

    fault: str
    kind: str
    what: str
    fix: str
    source: str
    mbarriers: Tuple[str, ...] = ()
    at: Optional[str] = None
    earlier: Optional[str] = None
    hint: Optional[str] = None


@dataclass(frozen=True)
class Report:
    """`outcome` is "right", "wrong" or "refused": then `refused` says why the program cannot be run at all.

    Wrong without a finding: two executions left other bits. `global_` are the bytes of global memory after the first
    execution, `schedule` is the text of the execution that showed the finding, `text` all of it as sentences.
    """

    outcome: str
    executions: int
    instructions: int
    exhaustive: bool
    finding: Optional[Finding]
    suspicions: Tuple[Finding, ...]
    refused: str
    text: str
    global_: bytes
    schedule: str

    def __bool__(self) -> bool:
        return self.outcome == "right"

    def __str__(self) -> str:
        return self.text


def explore(program: _tcq.Program, *, max_executions: int = 2000, random_executions: int = 20,
            max_instructions: int = 200_000_000, seed: int = 1, find_slow: bool = False) -> Report:
    """Runs a copy of the program in every order that matters, up to max_executions, then in random ones.

    max_instructions bounds all executions together. find_slow also asks which waits and fences could go.
    Lets go of the interpreter's lock; may be called from several threads.
    """
    try:
        reply, text, memory, schedule = _tcq.explore(program, max_executions, random_executions, max_instructions,
                                                     seed, find_slow)
    except TypeError:
        raise UsageError("expected a tcq.Program and numbers that are not negative") from None
    said: Dict[str, Any] = data_of(reply)
    finding = said.get("finding")
    return Report(said["outcome"], said["executions"], said["instructions"], said["exhaustive"],
                  finding and _finding(finding), tuple(map(_finding, said["suspicions"])), said.get("refused", ""),
                  text, memory, schedule)


def _finding(said: Dict[str, Any]) -> Finding:
    return Finding(**{**said, "mbarriers": tuple(said["mbarriers"])})
