"""Python answers what the command line answers: every golden question, in text and as data."""

import json

import pytest
from golden_questions import marked, options_of, questions

import tcq
from tcq import _tcq
from tcq._reply import error_of

ELSEWHERE = ("gemm", "run", "verify", "help")


def recorded(lines, mark):
    return [line for line in lines if line.startswith(mark)]


def test_every_golden_question_answers_with_the_recorded_bytes():
    asked = 0
    for q in questions():
        words = list(q.words)
        try:
            options = options_of(words)
        except (KeyError, IndexError):
            continue
        if not words or words[0] in ELSEWHERE or words[0] not in _tcq.verbs() or "svg" in options or "-" in words:
            continue
        for style, want in (({"text": True}, q.text), ({}, q.json)):
            if q.lines or words[0] in ("check", "emission", "mma"):
                if "text" in style:
                    continue
                replies = _tcq.answer_lines(words[0], words[1:], q.lines, **options)
                text = "\n".join(reply[1] for reply in replies)
                if any(not reply[1] for reply in replies):
                    continue
            else:
                _, text, complaint = _tcq.answer(words[0], words[1:], **options, **style)
                if complaint and not text:
                    assert recorded(want, "! ") == marked("! ", f"tcq: {complaint}\n"), q.words
            if text:
                assert recorded(want, "> ") == marked("> ", text + "\n"), q.words
            asked += 1
    assert asked >= 1400


def test_functions_give_the_datas_of_json():
    assert tcq.where("wgmma.m64n24k16.f32.bf16.bf16", "D", row=9, col=13)["places"][0]["thread"] == 6
    assert tcq.what("wgmma.m64n24k16.f32.bf16.bf16", "D", thread=6, register=7)[0]["col"] == 13
    assert tcq.ask("where wgmma.m64n24k16.f32.bf16.bf16 D row=9 col=13") == "D[9][13] = thread 6, register 7 (warp 0, lane 6)"
    assert "wgmma.m64n8k16.f16.f16.f16" in tcq.list("wgmma")
    assert tcq.describe("wgmma.m64n8k16.f32.bf16.bf16")["shape"] == "M 64, N 8, K 16"
    assert tcq.decode("wgmma.desc", 0x4000004000010040)["fields"][4]["value"] == "128B"
    assert tcq.encode("wgmma.desc", start_bytes=1024, lbo_bytes=16, sbo_bytes=1024, swizzle="128B")["word"] == "0x4000004000010040"
    assert len(tcq.bytes("wgmma.m64n8k16.f32.bf16.bf16", "A", desc=0x4000004000010040)) >= 2
    assert tcq.equation("wgmma.m64n8k16.f32.bf16.bf16", "D")
    assert tcq.table("wgmma.m64n8k16.f32.bf16.bf16", "D", by_slot=True)
    assert tcq.layout("wgmma.m64n16k16.f32.bf16.bf16", "A", rows=64, k=128, swizzle="128B")
    assert tcq.diff("wgmma.m64n16k16.f32.bf16.bf16 D", "wgmma.m64n16k16.f32.bf16.bf16 A a=regs")
    assert tcq.banks("ldmatrix.x4", pitch=128)
    assert tcq.tmem(d=256, scales=32)
    assert tcq.errata("14", "bits")
    assert tcq.explain("C7514")
    assert tcq.help("where").startswith("tcq where")
    assert tcq.where("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X", "SFA", row=3, k=32,
                     in_="global", factors=4)["places"]


def test_lines_and_streams():
    verdicts = tcq.check("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r0..%r19}, %rd1, %rd2, 1;\n"
                         "wgmma.fence.sync.aligned;")
    assert [v["verdict"] for v in verdicts] == ["illegal", "legal"]
    assert tcq.mma_lines("wgmma.m64n8k32.f32.e4m3.e4m3", ["1.0 1.0 1.000244"])[0]["d"] == "40000000"
    assert tcq.mma_lines("wgmma.m64n8k32.f32.e4m3.e4m3", "1.0 1.0 1.0", explain=True)[0]["instructions"]
    assert isinstance(tcq.emission(["wgmma.fence.sync.aligned;"]), (dict, list))


def test_a_kernel_runs_from_its_text():
    ptx = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry one(.param .u64 p)
{
.reg .b32 %r<3>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, 7;
st.global.u32 [%rd2], %r1;
ret;
}
"""
    answer = tcq.run(ptx, grid=1, block=1, arg=["x=zeros:u32:1"])
    assert answer["findings"] == []
    with pytest.raises(tcq.UsageError, match="block"):
        tcq.run(ptx, grid=1)


def test_words_of_descriptors():
    word = tcq.Word.encode("wgmma.desc", start_bytes=1024, lbo_bytes=16, sbo_bytes=1024, swizzle="128B")
    assert int(word) == 0x4000004000010040 and word["swizzle"] == "128B" and word["sbo_bytes"] == 1024
    assert word == tcq.Word.decode("wgmma.desc", word.hex)
    assert "sbo_bytes" in word._repr_html_() and word._repr_svg_() == tcq.svg("decode", "wgmma.desc", word.hex)
    with pytest.raises(KeyError):
        word["stride"]
    for kind in ("f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"):
        idesc = tcq.Word.encode(f"tcgen05.idesc.{kind}", m=128, n=64)
        assert idesc["m"] == 128 and idesc == tcq.Word.decode(idesc.format, idesc.word)
    bad = tcq.Word.decode("wgmma.desc", 0x400E0230014C2C23)
    assert bad.lints and "lint" in bad._repr_html_()


def test_pictures_are_the_command_lines():
    drawn = tcq.picture("wgmma.m64n8k16.f32.bf16.bf16", "D")
    assert drawn.startswith("<?xml") or drawn.startswith("<svg")
    assert drawn == drawn._repr_svg_() == tcq.picture("wgmma.m64n8k16.f32.bf16.bf16", "D")
    marked = tcq.picture("wgmma.m64n8k16.f32.bf16.bf16", "D", thread=5)
    assert marked != drawn and "outlined: thread=5, 4 cells" in marked
    memory = tcq.svg("bytes", "wgmma.m64n8k16.f32.bf16.bf16", "B", desc=0x4000004000010040)
    way = tcq.svg("layout", "wgmma.m64n8k16.f32.bf16.bf16", "A", rows=64, k=64, row=9, col=20)
    assert "banks 28-31" in memory and "0x4000004000010002" in way
    with pytest.raises(tcq.UsageError, match="draws nothing"):
        tcq.svg("where", "wgmma.m64n8k16.f32.bf16.bf16", "D")


@pytest.mark.parametrize("kind, call", [
    (tcq.UsageError, lambda: tcq.where("wgmma.m64n24k16.f32.bf16.bf16", "D", row=64, col=0)),
    (tcq.UsageError, lambda: tcq.ask("wher wgmma")),
    (tcq.UsageError, lambda: tcq.ask("")),
    (tcq.UsageError, lambda: tcq.ask("gemm a b")),
    (tcq.UsageError, lambda: tcq.ask("where 'x")),
    (tcq.UsageError, lambda: tcq.where("wgmma.m64n24k16.f32.bf16.bf16", "D", row=[1], col=0)),
    (tcq.UsageError, lambda: tcq.where("\udcff", "D")),
    (tcq.UsageError, lambda: tcq.list(family=3)),
    (tcq.UsageError, lambda: tcq.run("no such file", grid=1, block=1)),
    (tcq.UsageError, lambda: tcq.verify("no such file")),
    (tcq.Illegal, lambda: tcq.describe("wgmma.m64n24k16.f32.bf16.bf16", arch="sm_100a")),
    (tcq.Illegal, lambda: tcq.list("tcgen05") and tcq.describe("wgmma.m64n264k16.f32.bf16.bf16")),
    (tcq.NothingThere, lambda: tcq.what("wgmma.m64n8k16.f32.bf16.bf16", "A", desc=0x4000004000010040, byte=0)),
    (tcq.UsageError, lambda: tcq.describe("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X k96=1 x")),
    (tcq.NotModelled, lambda: tcq.describe("add.f32")),
])
def test_refusals_are_exceptions_with_the_sentence(kind, call):
    with pytest.raises(tcq.Error) as caught:
        call()
    assert type(caught.value) is kind
    assert len(str(caught.value)) > 10 and "\n" not in str(caught.value).strip()


def test_statuses_become_exceptions():
    assert type(error_of((1, "", "illegal: x"))) is tcq.Illegal
    assert type(error_of((1, "", "byte 0x0 is not read as A"))) is tcq.NothingThere
    assert type(error_of((2, "", "tcq: x"))) is tcq.UsageError and str(error_of((2, "", "tcq: x\n"))) == "x"
    assert type(error_of((3, "", "x"))) is tcq.NotModelled
    assert [e("x").status for e in (tcq.Illegal, tcq.UsageError, tcq.NotModelled)] == [1, 2, 3]
    json.dumps(tcq.decode("wgmma.desc", 0))
