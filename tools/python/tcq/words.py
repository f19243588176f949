"""Descriptor words as values: their fields, what is suspicious about them, and a picture of their bits."""

from __future__ import annotations

from dataclasses import dataclass, field as _field
from html import escape
from typing import Any, Tuple, Union

from .verbs import decode, encode

Value = Union[int, str]


@dataclass(frozen=True)
class Field:
    """Bits [low, end) of a word; `value` is what `code` means, in bytes where the name says so."""

    name: str
    low: int
    end: int
    code: int
    value: Value


@dataclass(frozen=True)
class Word:
    """A word of a format that `tcq decode` knows: wgmma.desc, tcgen05.desc, tcgen05.idesc.KIND, tmem.addr and so on.

    >>> Word.encode("wgmma.desc", start_bytes=1024, lbo_bytes=16, sbo_bytes=1024, swizzle="128B").hex
    '0x4000004000010040'
    """

    format: str
    word: int
    hex: str
    fields: Tuple[Field, ...]
    rest: Tuple[Field, ...]  # bits that are set and belong to no field
    lints: Tuple[str, ...]
    notes: Tuple[str, ...]
    use: Tuple[Tuple[str, Any], ...] = _field(default=(), compare=False, repr=False)

    @classmethod
    def decode(cls, format: str, word: Value, **use: Any) -> "Word":
        """`use` says how an instruction uses the word: mnemonic=, matrix=, major=, rows=, k=."""
        found = decode(format, word, **use)
        known = ("format", "word", "fields", "lints", "notes")
        rest = [bits for key, bits in found.items() if key not in known and isinstance(bits, list)]
        return cls(found["format"], int(found["word"], 16), found["word"], _fields(found["fields"]),
                   _fields([f for bits in rest for f in bits if isinstance(f, dict)]),
                   tuple(found["lints"]), tuple(found["notes"]), tuple(use.items()))

    @classmethod
    def encode(cls, format: str, **fields: Any) -> "Word":
        """From the fields that `tcq help encode` names."""
        return cls.decode(format, encode(format, **fields)["word"])

    def __getitem__(self, name: str) -> Value:
        for field in self.fields:
            if field.name == name:
                return field.value
        raise KeyError(name)

    def __int__(self) -> int:
        return self.word

    __index__ = __int__  # desc=word

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>[{f.low},{f.end})</td><td>{escape(f.name)}</td><td>{f.code}</td><td>{escape(str(f.value))}</td></tr>"
            for f in (*self.fields, *self.rest))
        remarks = "".join(f"<li>{kind}: {escape(text)}</li>" for kind, texts in (("lint", self.lints), ("note", self.notes))
                          for text in texts)
        return (f"<table><caption>{escape(self.format)} {self.hex}</caption>"
                f"<tr><th>bits</th><th>field</th><th>code</th><th>value</th></tr>{rows}</table><ul>{remarks}</ul>")

    def _repr_svg_(self) -> str:
        """A ruler of bits, as `tcq decode --svg` draws it."""
        return svg("decode", self.format, self.hex, **dict(self.use))


def _fields(found: Any) -> Tuple[Field, ...]:
    return tuple(Field(f["name"], f["low"], f["end"], f["code"], f["value"]) for f in found)


class Picture(str):
    """SVG that a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)


def svg(verb: str, *words: Any, **keys: Any) -> Picture:
    """What `tcq VERB ... --svg` draws, for table, bytes, layout, tmem and decode.

    svg("bytes", "wgmma.m64n64k16.f32.bf16.bf16", "B", desc=0x4000004000010040, col=9) is shared memory with what
    holds column 9 outlined; svg("layout", ..., "A", rows=128, k=128, row=73, col=20) the way of one element.
    """
    import os
    import tempfile

    from . import verbs
    from ._reply import UsageError

    drawers = ("table", "bytes", "layout", "tmem", "decode")
    if verb not in drawers:
        raise UsageError(f"{verb!r} draws nothing: expected one of {', '.join(drawers)}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.svg")
        getattr(verbs, verb)(*words, svg=path, **keys)
        with open(path, encoding="utf-8") as file:
            return Picture(file.read())


def picture(mnemonic: str, matrix: str, **keys: Any) -> Picture:
    """What `tcq table --svg` draws: a cell for each element, colours by lane or bank; thread=5 outlines its cells."""
    return svg("table", mnemonic, matrix, **keys)
