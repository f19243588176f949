"""Anything into every function: an answer or an exception with a sentence, never a crash, never another exception."""

import random

import numpy as np
import pytest

import tcq

SEED, ROUNDS = 20251, 4000
WORDS = ["wgmma.m64n24k16.f32.bf16.bf16", "wgmma.sp.m64n8k32.f32.f16.f16", "tcgen05.ld.16x256b.x2", "D", "A", "B", "SFA",
         "tcgen05.mma.cta_group::1.kind::f16", "wgmma.desc", "tcgen05.idesc.f16", "tmem.addr", "ldmatrix.x4", "C7514", "chain",
         "every=64", "bf16", "e4m3", "f16", "", " ", "\0", "\udcff", "é", "x" * 5000, "%s%n", "=", "a=b=c", "--json", "-1", "0x", "\n"]
KEYS = ["row", "col", "k", "m", "n", "thread", "register", "part", "desc", "byte", "bytes", "swizzle", "rows", "a", "b", "c",
        "type", "order", "in_", "factors", "arch", "matrix", "mnemonic", "word", "inputs", "explain", "grid", "block", "x", "é", "json", "help", "text",
        "svg", "verb", "keys", "report", "seed"]
FUNCTIONS = [tcq.ask, tcq.banks, tcq.bytes, tcq.check, tcq.decode, tcq.describe, tcq.diff, tcq.emission, tcq.encode,
             tcq.equation, tcq.errata, tcq.explain, tcq.help, tcq.layout, tcq.list, tcq.mma_lines, tcq.partition, tcq.table,
             tcq.tmem, tcq.verify, tcq.what, tcq.where, tcq.run, tcq.gemm, tcq.mma, tcq.Map, tcq.Word.decode, tcq.Word.encode,
             tcq.picture, tcq.explore]


def anything(draw):
    choices = [
        lambda: draw.choice(WORDS), lambda: draw.choice(WORDS), lambda: draw.choice(WORDS),
        lambda: draw.choice([0, 1, 7, -1, 64, 1 << 31, 1 << 64, 10 ** 40, 0x4000004000010040]),
        lambda: draw.choice([None, True, False, 1.5, float("nan"), float("inf"), 2j, b"bytes", object(), int, ..., {}, []]),
        lambda: [draw.choice(WORDS) for _ in range(draw.randrange(4))],
        lambda: np.zeros([draw.randrange(4) for _ in range(draw.randrange(4))],
                         draw.choice(["f2", ">f2", "f4", "f8", "u1", "u2", "i8", "c8", "O", "S3", "U2", "M8[s]", "?"])),
        lambda: "".join(chr(draw.randrange(1, 0x2FF)) for _ in range(draw.randrange(20))),
    ]
    return draw.choice(choices)()


def test_nothing_but_answers_and_sentences():
    draw = random.Random(SEED)
    answered = refused = 0
    for _ in range(ROUNDS):
        function = draw.choice(FUNCTIONS)
        args = [anything(draw) for _ in range(draw.randrange(4))]
        keys = {draw.choice(KEYS): anything(draw) for _ in range(draw.randrange(4))}
        try:
            function(*args, **keys)
            answered += 1
        except tcq.Error as error:
            refused += 1
            assert str(error), (function, args, keys)
            assert "internal error" not in str(error), (function, args, keys)
        except TypeError as error:  # Python's own: arguments that the signature lacks or has twice
            assert "argument" in str(error) or "keyword" in str(error), (function, args, keys, error)
    assert answered > 20 and refused > 1000


@pytest.mark.parametrize("name", ["answer", "answer_lines", "program", "help", "map_table", "mma", "gemm"])
def test_the_extension_refuses_other_types(name):
    from tcq import _tcq

    draw = random.Random(SEED)
    for _ in range(300):
        args = [anything(draw) for _ in range(draw.randrange(5))]
        try:
            getattr(_tcq, name)(*args)
        except (TypeError, ValueError, RuntimeError, KeyError, IndexError):
            pass
