"""Programs built from Python: what exploring finds, in whose lines, and that no statement can crash the interpreter."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tcq

BYTES = np.arange(256, dtype=np.uint8).tobytes()


def two_copies(wait=True, expected=256):
    """Two bulk copies on one mbarrier; the reader stores what the second brought."""
    p = tcq.Program(threads=64)
    full = p.mbarrier("full")
    a, b = p.shared("A", 128), p.shared("B", 128)
    source, out = p.global_(BYTES), p.global_(bytes(128))
    p.warps("all", 0, 2).elect().mbarrier_init(full, 1).fence_mbarrier_init()
    p.warps("all", 0, 2).barrier_sync()
    producer = p.warps("producer", 0, 1).elect().mbarrier_arrive_expect_tx(full, expected)
    producer.bulk_load(source, a, 128, full).bulk_load(source + 128, b, 128, full)
    reader = p.warps("reader", 1, 1)
    if wait:
        reader.mbarrier_try_wait(full, 0)
    reader.load_shared(tcq.Address(a, 4), 0)
    reader.load_shared(tcq.Address(b, 4), 1).store_global(out, 4, (1, 1))
    return p


def test_a_right_program_leaves_its_bits():
    report = tcq.explore(two_copies())
    assert report and report.outcome == "right" and report.exhaustive and report.finding is None
    assert report.global_[256:384] == BYTES[128:]
    assert report.schedule.startswith("tcq schedule 1") and "right" in str(report)


def test_a_missing_wait_is_found_in_the_lines_of_python():
    report = tcq.explore(two_copies(wait=False))
    assert not report and report.outcome == "wrong"
    assert "test_machine.py:" in report.finding.what and "ld.shared" in report.finding.at
    assert report.finding.fix and report.finding.source.startswith("PTX ISA")
    line = int(report.finding.at.split("test_machine.py:")[1].split()[0])
    assert two_copies.__code__.co_firstlineno < line < two_copies.__code__.co_firstlineno + 18
    assert "load_shared" in open(__file__).read().splitlines()[line - 1]


def test_a_wait_for_too_many_bytes_is_a_deadlock():
    report = tcq.explore(two_copies(expected=384))
    assert report.finding.fault == "Deadlock" and report.finding.mbarriers


def multiply(fence):
    p = tcq.Program(threads=128)
    a = p.shared("A", 2048, 1024)
    b = p.shared("B", 256, 1024)
    out = p.global_(bytes(128 * 16))
    word = tcq.Word.encode("wgmma.desc", start_bytes=a, lbo_bytes=128, sbo_bytes=256, swizzle="none")
    other = tcq.Word.encode("wgmma.desc", start_bytes=b, lbo_bytes=128, sbo_bytes=256, swizzle="none")
    p.warps("fill", 0, 4).move((0, 4), 0x3C003C00).store_shared(tcq.Address(a, 16), 0, 16)  # f16 ones
    p.warps("fill B", 0, 1).lanes(0xFFFF).store_shared(tcq.Address(b, 16), 0, 16)
    math = p.warps("math", 0, 4)
    if fence:
        math.fence_proxy_async()
    math.barrier_sync().move((0, 4), 0).wgmma_fence()
    math.wgmma("wgmma.m64n8k16.f32.f16.f16", word, other, (0, 4)).wgmma_commit().wgmma_wait(0)
    math.store_global(out, 16, (0, 4))
    return p


def test_wgmma_needs_its_proxy_fence():
    report = tcq.explore(multiply(fence=True))
    assert report, str(report)
    assert set(np.frombuffer(report.global_, np.float32)) == {16}
    assert tcq.explore(multiply(fence=False)).finding.fault == "ProxyFenceMissing"


def tensor_memory():
    p = tcq.Program(threads=128)
    slot = p.shared("slot", 4)
    out = p.global_(bytes(128 * 4))
    every = p.warps("all", 0, 4)
    p.warps("owner", 0, 1).tcgen05_alloc(slot, 32).tcgen05_relinquish()
    every = p.warps("all", 0, 4).tcgen05_fence_before().barrier_sync().tcgen05_fence_after().load_shared(slot, 40)
    every.move((1, 1), 7).tcgen05_st("tcgen05.st.32x32b.x1", tcq.Tmem(40), 1).tcgen05_wait_st()
    every.tcgen05_ld("tcgen05.ld.32x32b.x1", tcq.Tmem(40), 2).tcgen05_wait_ld().store_global(out, 4, (2, 1))
    every.tcgen05_fence_before().barrier_sync()
    p.warps("owner", 0, 1).tcgen05_fence_after().tcgen05_dealloc(tcq.Tmem(40), 32)
    return p


def test_tensor_memory_keeps_what_was_stored():
    report = tcq.explore(tensor_memory())
    assert report.outcome != "wrong", str(report)
    assert np.frombuffer(report.global_, np.uint32)[:128].tolist() == [7] * 128


def test_a_tensor_map_copies_its_box():
    p = tcq.Program(threads=64)
    full = p.mbarrier("full")
    tile = p.shared("tile", 1024, 1024)
    values = np.arange(64 * 64, dtype=np.uint16)
    source, out = p.global_(values.tobytes()), p.global_(bytes(128))
    number = p.tensor("FLOAT16", [64, 64], [64, 8], source, swizzle="128B")
    p.warps("all", 0, 2).elect().mbarrier_init(full, 1).fence_mbarrier_init()
    p.warps("all", 0, 2).barrier_sync()
    p.warps("producer", 0, 1).elect().mbarrier_arrive_expect_tx(full, 1024).tensor_load(number, [0, 8], tile, full)
    p.warps("reader", 1, 1).mbarrier_try_wait(full, 0).load_shared(tcq.Address(tile, 4), 0).store_global(out, 4, (0, 1))
    report = tcq.explore(p)
    assert report, str(report)
    assert report.global_[-128:] == values[8 * 64:9 * 64].tobytes()


def test_many_threads_explore_one_program():
    program = two_copies()
    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(lambda _: tcq.explore(program), range(16)))
    assert all(report == reports[0] for report in reports)


@pytest.mark.parametrize("call, sentence", [
    (lambda p: p.tensor("F61", [8], [8]), "unknown data type"),
    (lambda p: p.tensor("FLOAT16", [8], [8], swizzle="12B"), "unknown swizzle"),
    (lambda p: p.tensor("FLOAT16", [8, 8], [8]), "as many of box"),
    (lambda p: p.mbarriers("m", 1 << 30), "mbarriers"),
    (lambda p: p.warps("w", 0, 4).wgmma("wgmma.m64n9k16.f32.f16.f16", 0, 0, (0, 4)), "ShapeN8|N "),
    (lambda p: p.warps("w", 0, 4).tcgen05_ld("tcgen05.st.32x32b.x1", tcq.Tmem(), 0), "another instruction"),
    (lambda p: p.warps("w", 0, 4).tensor_load(0, [0] * 6, 0, 0), "coordinates"),
    (lambda p: tcq.explore("program"), "tcq.Program"),
])
def test_what_cannot_be_built_is_refused(call, sentence):
    with pytest.raises(tcq.Error, match=sentence):
        call(tcq.Program())


def test_a_program_that_cannot_run_says_why():
    p = tcq.Program(threads=96)
    p.warps("w", 2, 4).warp_sync()
    report = tcq.explore(p)
    assert report.outcome == "refused" and "role w" in report.refused


STATEMENTS = [name for name in dir(tcq.Role) if not name.startswith("_")]
OPERANDS = [0, 1, 2, 4, 16, 31, 128, -1, 1024, 1 << 31, (1 << 64) - 1, (0, 1), (250, 10), (-1, 2), True, None, "A", [], [0, 0],
            ["a=regs"], "wgmma.m64n8k16.f32.f16.f16", "tcgen05.ld.32x32b.x1", "tcgen05.st.32x32b.x1",
            "tcgen05.mma.cta_group::1.kind::f16", tcq.Scope.CLUSTER]


def draw_program(draw):
    """Mostly programs that can run; statements of any operands that the signature takes."""
    def choose(usual, bad):
        return draw.choice(bad if draw.randrange(25) == 0 else usual)

    p = tcq.Program(choose([1, 1, 2], [0, 17]), choose([32, 64, 128], [0, 33, 2048]), choose([0, 64], [-1, 257]))
    data = p.shared("A", choose([1024, 4096], [1 << 40]), choose([16, 128], [0, 1 << 31]))
    operands = OPERANDS + [data, tcq.Address(data, 4), tcq.Address(data).in_cta(1), p.mbarrier("full"), tcq.Tmem(3),
                           tcq.Registers(4, 4)]
    p.global_(bytes(512))
    p.tensor("UINT8", [choose([64], [0])], [choose([64], [0])])
    for _ in range(draw.randrange(1, 4)):
        role = p.warps("w", choose([0], [1, -3]), choose([1], [2, 0]), choose([-1, 0], [1, 5]))
        for _ in range(draw.randrange(6)):
            role = draw_statement(draw, role, operands)
    return p


def draw_statement(draw, role, operands):
    statement = getattr(role, draw.choice(STATEMENTS))
    for _ in range(200):
        try:
            made = statement(*[draw.choice(operands) for _ in range(draw.randrange(5))])
            return made if isinstance(made, tcq.Role) else role
        except TypeError:
            pass
        except tcq.Error as error:
            assert str(error)
    return role


def test_any_statements_give_a_report():
    draw = random.Random(7)
    outcomes = {"right": 0, "wrong": 0, "refused": 0}
    for _ in range(600):
        report = tcq.explore(draw_program(draw), max_executions=20, random_executions=2, max_instructions=10_000)
        outcomes[report.outcome] += 1
        assert report.text and (report.outcome != "wrong" or report.finding.source)
    assert min(outcomes.values()) > 50, outcomes


def test_a_role_keeps_its_program():
    role = tcq.Program(threads=32).warps("w", 0, 1).elect()
    assert role.move((0, 1), 1).next() == 1
