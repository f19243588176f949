"""Python's arguments as words of the command line: row=9 is "row=9", True is 1, in_="global" is "in=global"."""

from __future__ import annotations

from operator import index

from ._reply import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Mapping, Sequence


def word_of(value: Any, what: str) -> str:
    if isinstance(value, str):
        _check_text(value, what)
        return value
    if isinstance(value, float):
        return repr(value)
    try:
        return str(index(value))
    except TypeError:
        raise UsageError(f"{what} is of type {type(value).__name__}: expected a word or a number") from None


def _check_text(text: str, what: str) -> None:
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what} holds a surrogate: expected text that UTF-8 can write") from None
    if b"\0" in encoded:
        raise UsageError(f"{what} holds a zero byte: expected text")


def words_of(positional: Sequence[Any], keys: Mapping[str, Any]) -> List[str]:
    words = [word_of(value, f"argument {i + 1}") for i, value in enumerate(positional)]
    for key, value in keys.items():
        if value is not None:
            words.append(f"{word_of(key, 'a key').rstrip('_')}={word_of(value, key + '=')}")
    return words


def lines_of(text: Any, what: str) -> List[str]:
    """The lines of one string, or of a sequence of strings."""
    if not isinstance(text, str):
        try:
            text = "\n".join(text)
        except TypeError:
            raise UsageError(f"{what}: expected text or a list of lines") from None
    _check_text(text, what)
    return text.splitlines()


def options_of(*, arch: Any = None, svg: Any = None, family: Any = None, **flags: Any) -> dict:
    """Those that were given: arch, svg and family are text, the others yes or no."""
    given: dict = {}
    for name, value in (("arch", arch), ("svg", svg), ("family", family)):
        if value is None:
            continue
        if not isinstance(value, str):
            raise UsageError(f"{name}= is of type {type(value).__name__}: expected text")
        _check_text(value, name + "=")
        given[name] = value
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise UsageError(f"{name}= is of type {type(value).__name__}: expected True or False")
        if value:
            given[name] = True
    return given
