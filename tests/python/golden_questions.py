"""The questions of tests/cli/golden.txt and their recorded answers; the file's form is golden_test.cc's."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List

GOLDEN = Path(__file__).parents[1] / "cli" / "golden.txt"


@dataclass
class Asked:
    words: List[str]
    lines: List[str] = field(default_factory=list)
    text: List[str] = field(default_factory=list)  # marked lines, as recorded
    json: List[str] = field(default_factory=list)


def questions() -> List[Asked]:
    found: List[Asked] = []
    for line in GOLDEN.read_text().splitlines():
        if line.startswith("$ "):
            found.append(Asked(shlex.split(line[2:])))
            into = found[-1].text
        elif line.startswith("< "):
            found[-1].lines.append(line[2:])
        elif line == "json" and found:
            into = found[-1].json
        elif line and found:
            into.append(line)
    return found


def fnv(text: str) -> int:
    state = 0xCBF29CE484222325
    for byte in text.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return state


def marked(mark: str, text: str) -> List[str]:
    """As golden_test.cc keeps an answer: its first ten lines, 240 bytes of each."""
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    kept = [mark + (x if len(x) <= 240 else f"{x[:240]} ~ {len(x)} bytes, {fnv(x):016x}") for x in lines[:10]]
    if len(lines) > 10:
        kept.append(f"{mark}~ {len(lines)} lines, {fnv(text):016x}")
    return kept


def options_of(words: List[str]) -> Dict[str, object]:
    """Takes options out of the words. Raises KeyError for those that Python has another way for."""
    flags = {"--inputs": "inputs", "--explain": "explain", "--transpose": "transpose"}
    options: Dict[str, object] = {}
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        if not word.startswith("-"):
            continue
        if word in ("--arch", "-a", "--family", "--svg"):
            options["arch" if word in ("--arch", "-a") else word[2:]] = words[at + 1]
            del words[at:at + 2]
        elif word == "--by" and words[at + 1] == "slot":
            options["by_slot"] = True
            del words[at:at + 2]
        elif word in flags:
            options[flags[word]] = True
            del words[at]
        else:
            raise KeyError(word)
    return options
