"""What the oracle replies, as data or as an exception: the one place where statuses become either."""

from __future__ import annotations

TYPE_CHECKING = False  # what importing typing would cost is saved: `import tcq` is quick
if TYPE_CHECKING:
    from typing import Any, Tuple

    Reply = Tuple[int, str, str]  # status, answer, complaint: those of the command line


class Error(Exception):
    """A question without an answer; the sentence is the command line's."""

    status = 1


class Illegal(Error, ValueError):
    """PTX forbids it, leaves it open, or sources disagree about it; the sentence names the source."""


class NothingThere(Error, LookupError):
    """Asked well, and the answer is that nothing is there: a byte that no element has."""


class UsageError(Error, ValueError):
    """A question, a file or an array that cannot be understood; the sentence says what was expected."""

    status = 2


class NotModelled(Error, NotImplementedError):
    """It exists, and tcq has no answer to it."""

    status = 3


_FAULTS = ("illegal: ", "undefined: ", "disputed: ", "suspect: ", "slow: ")


def error_of(reply: Reply) -> Error:
    status, _, complaint = reply
    sentence = complaint.strip().removeprefix("tcq: ")
    if status == 2 or status == 130:
        return UsageError(sentence)
    if status == 3:
        return NotModelled(sentence)
    return Illegal(sentence) if sentence.startswith(_FAULTS) else NothingThere(sentence)


def text_of(reply: Reply) -> str:
    if not reply[1]:
        raise error_of(reply)
    return reply[1]


def data_of(reply: Reply) -> Any:
    import json

    return json.loads(text_of(reply))
