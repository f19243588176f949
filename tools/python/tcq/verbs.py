"""Every verb of `tcq` as a function: words and keys of the command line in, plain data out.

What a verb takes is `tcq.help(verb)`; the keys of an answer are those of `--json`, which
oracle/answer/schema.json defines. A key that is a word of Python has an underscore behind it: in_="global".
Every function raises UsageError, Illegal, NothingThere or NotModelled with the command line's sentence.
"""

from __future__ import annotations

from . import _tcq
from ._reply import UsageError, data_of, text_of
from ._words import lines_of, options_of, word_of, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Union

    Word = Union[str, int]
    Dicts = List[Dict[str, Any]]


def _data(verb: str, words: Sequence[Any], keys: Dict[str, Any], **options: Any) -> Any:
    return data_of(_tcq.answer(verb, words_of(words, keys), **options_of(**options)))


def ask(question: str, *, arch: Optional[str] = None) -> str:
    """The text that `tcq QUESTION` prints: ask("where wgmma.m64n24k16.f32.bf16.bf16 D row=9 col=13")."""
    import shlex

    try:
        words = shlex.split(word_of(question, "the question"))
    except ValueError as error:
        raise UsageError(f"{error}: expected quotes in pairs") from None
    if not words:
        raise UsageError("an empty question: expected a verb and its words")
    if words[0] in _tcq.verbs() and words[0] in ("check", "emission", "mma", "gemm", "run", "verify"):
        raise UsageError(f"'{words[0]}' reads data beside its words: expected tcq.{words[0]}()")
    return text_of(_tcq.answer(words[0], words[1:], **options_of(arch=arch, text=True)))


def help(verb: str = "") -> str:
    """What `tcq help VERB` prints: words, keys and an example."""
    return text_of(_tcq.help(word_of(verb, "the verb")))


def list(family: Optional[str] = None) -> List[str]:
    """The opcodes that exist, or those of a family such as "fp8" or "sparse"."""
    return _data("list", (), {}, family=family)


def describe(mnemonic: str, *, arch: Optional[str] = None, **keys: Word) -> Dict[str, Any]:
    """What an instruction is: shape, types, rate, arithmetic, evidence."""
    return _data("describe", (mnemonic,), keys, arch=arch)


def where(mnemonic: str, matrix: str, *, inputs: bool = False, arch: Optional[str] = None, **keys: Word) -> Dict[str, Any]:
    """Every place of one element: {"matrix", "row", "col", "places": [{"thread", "register"}], "notes"}."""
    return _data("where", (mnemonic, matrix), keys, inputs=inputs, arch=arch)


def what(mnemonic: str, matrix: str, *, arch: Optional[str] = None, **keys: Word) -> Dicts:
    """The elements in a register (thread=, register=), in a cell of Tensor Memory, or at a byte (byte=)."""
    return _data("what", (mnemonic, matrix), keys, arch=arch)


def table(mnemonic: str, matrix: str, *, by_slot: bool = False, transpose: bool = False,
          arch: Optional[str] = None, svg: Optional[str] = None, **keys: Word) -> Any:
    """A whole matrix, a row of cells each; svg= names a file for a picture instead, where thread=, warp=, row= and so
    on outline cells."""
    return _data("table", (mnemonic, matrix), keys, by_slot=by_slot, transpose=transpose, arch=arch, svg=svg)


def equation(mnemonic: str, matrix: str, *, arch: Optional[str] = None, **keys: Word) -> Any:
    """The closed form of a layout."""
    return _data("equation", (mnemonic, matrix), keys, arch=arch)


def bytes(mnemonic: str, operand: str, *, arch: Optional[str] = None, svg: Optional[str] = None, **keys: Word) -> Any:
    """The byte of every element of an operand in shared memory (desc=WORD); svg= draws its lines of 128 bytes.
    As arrays: Map(...).bytes()."""
    return _data("bytes", (mnemonic, operand), keys, arch=arch, svg=svg)


def decode(format: str, word: Word, *, arch: Optional[str] = None, svg: Optional[str] = None,
           **keys: Word) -> Dict[str, Any]:
    """The fields of a word, lints and notes: {"format", "word", "fields", "lints", "notes"}; svg= draws its bits, too."""
    return _data("decode", (format, word), keys, arch=arch, svg=svg)


def encode(format: str, *, arch: Optional[str] = None, **keys: Word) -> Dict[str, Any]:
    """The word of these fields, and what decode would find suspicious about it."""
    return _data("encode", (format,), keys, arch=arch)


def diff(layout: str, other: str, *, arch: Optional[str] = None, **keys: Word) -> Dict[str, Any]:
    """Where two layouts of one matrix differ: diff("MNEMONIC D", "MNEMONIC A a=regs")."""
    return _data("diff", (layout, other), keys, arch=arch)


def banks(*words: Word, arch: Optional[str] = None, **keys: Word) -> Dict[str, Any]:
    """Bank conflicts of an access to shared memory: banks("ldmatrix.x4", pitch=128)."""
    return _data("banks", words, keys, arch=arch)


def layout(mnemonic: str, operand: str, *, arch: Optional[str] = None, svg: Optional[str] = None,
           **keys: Word) -> Dict[str, Any]:
    """How to lay a tile out: LBO, SBO, K steps, TMA box (rows=, k=, swizzle=); svg= draws the way of one element
    (row=, col=) instead."""
    return _data("layout", (mnemonic, operand), keys, arch=arch, svg=svg)


def partition(*words: Word, arch: Optional[str] = None, **keys: Word) -> Dict[str, Any]:
    """An element's place in a whole CTA tile of several warpgroups."""
    return _data("partition", words, keys, arch=arch)


def tmem(*words: Word, svg: Optional[str] = None, arch: Optional[str] = None, **keys: Word) -> Dict[str, Any]:
    """A plan for Tensor Memory: tmem(d=256, scales=32)."""
    return _data("tmem", words, keys, svg=svg, arch=arch)


def errata(*words: Word, arch: Optional[str] = None) -> Any:
    """Published claims that are wrong, with the evidence."""
    return _data("errata", words, {}, arch=arch)


def explain(*words: Word, arch: Optional[str] = None) -> Any:
    """What a Fault or a message of ptxas means and what cures it."""
    return _data("explain", words, {}, arch=arch)


def check(ptx: Union[str, Sequence[str]], *, arch: Optional[str] = None) -> Dicts:
    """Is each statement of this PTX legal? A dict for each: {"verdict", ...}."""
    return [data_of(reply) for reply in _tcq.answer_lines("check", [], lines_of(ptx, "ptx"), **options_of(arch=arch))]


def emission(ptx: Union[str, Sequence[str]], *, arch: Optional[str] = None) -> Any:
    """Are fence, commit and wait of this PTX right?"""
    return data_of(_tcq.answer_lines("emission", [], lines_of(ptx, "ptx"), **options_of(arch=arch))[0])


def mma_lines(mnemonic: str, lines: Union[str, Sequence[str]], *, explain: bool = False,
              arch: Optional[str] = None, **keys: Word) -> Dicts:
    """The verb `mma`: a line `a b c` each, in hex or decimals; explain=True tells every term. Arrays: mma()."""
    replies = _tcq.answer_lines("mma", words_of((mnemonic,), keys), lines_of(lines, "lines"),
                                **options_of(explain=explain, arch=arch))
    return [data_of(reply) for reply in replies]


def run(kernel: str, **options: Any) -> Dict[str, Any]:
    """A compiled kernel on the machine: run("k.ptx", grid=2, block=128, arg=["x=zeros:f32:64", 1.5]).

    `kernel` is the name of a file, or PTX itself. Options are those of `tcq run`; one that may be given
    several times takes a list. The answer has "findings" where PTX leaves what happens undefined.
    """
    if "\n" not in word_of(kernel, "kernel"):
        return data_of(_tcq.program("run", [kernel, *_option_words(options), "--json"]))
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(kernel)
        return data_of(_tcq.program("run", [path, *_option_words(options), "--json"]))


def verify(*files: str, case: Optional[int] = None) -> Any:
    """Recordings of a GPU against the simulator: a row for each file."""
    return data_of(_tcq.program("verify", words_of(files, {"case": case})))


def _option_words(options: Dict[str, Any]) -> List[str]:
    words: List[str] = []
    for name, value in options.items():
        option = "--" + word_of(name, "an option").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
            continue
        for one in value if isinstance(value, (tuple, type(words))) else (value,):
            words += [option, word_of(one, option)]
    return words
