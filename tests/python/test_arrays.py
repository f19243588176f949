"""Map, mma and gemm against the verbs, one question at a time."""

import multiprocessing
import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tcq

DRAW = np.random.default_rng(1)
MAPS = [
    ("wgmma.m64n24k16.f32.bf16.bf16", "D", {}),
    ("wgmma.m64n24k16.f32.bf16.bf16", "A", {"a": "regs"}),
    ("wgmma.m64n16k16.f32.bf16.bf16", "B", {"desc": 0x4000004000010040}),
    ("wgmma.m64n8k32.f32.e4m3.e4m3", "A", {"desc": 0x8000002000010040}),
    ("tcgen05.mma.cta_group::1.kind::f16", "D", {"m": 64, "n": 32}),
    ("tcgen05.mma.cta_group::2.kind::f16", "D", {"m": 256, "n": 32}),
    ("tcgen05.ld.16x256b.x2", "D", {}),
    ("ldmatrix.x4", "D", {}),
]


@pytest.mark.parametrize("mnemonic, matrix, keys", MAPS)
def test_maps_say_what_where_says(mnemonic, matrix, keys):
    where = tcq.Map(mnemonic, matrix, **keys)
    index = [DRAW.integers(0, extent, 40) for extent in where.shape]
    for at in zip(*index):
        named = {name: int(i) * step + first for (name, _, first, step), i in zip(where._element, at)}
        if where.count[at] == 0:
            for call in (lambda: tcq.where(mnemonic, matrix, **keys, **named), lambda: where.where(**named)):
                with pytest.raises(tcq.NothingThere):
                    call()
            continue
        want = tcq.where(mnemonic, matrix, **keys, **named)["places"]
        got = where.where(**named)
        for name, value in want[0].items():
            if name in got:
                assert int(got[name]) == value or (name == "cta" and int(got[name]) == -1), (named, want)


@pytest.mark.parametrize("mnemonic, matrix, keys", MAPS)
def test_what_is_the_inverse_of_where(mnemonic, matrix, keys):
    where = tcq.Map(mnemonic, matrix, **keys)
    grid = np.indices(where.shape).reshape(len(where.shape), -1)[:, where.count.ravel() > 0]
    named = {name: grid[i] * step + first for i, (name, _, first, step) in enumerate(where._element)}
    back = where.what(**where.where(**named))
    for name, want in named.items():
        assert np.array_equal(back[name], want), name
    nowhere = where.what(*[np.array([-1, 1 << 20])] * len(where.place))
    assert all(np.all(value == -1) for value in nowhere.values())


def test_a_million_questions_take_less_than_a_fifth_of_a_second():
    where = tcq.Map("wgmma.m64n256k16.f32.bf16.bf16", "D")
    rows, cols = DRAW.integers(0, 64, 1_000_000), DRAW.integers(0, 256, 1_000_000)
    best = min(_seconds(lambda: where.where(rows, cols)) for _ in range(5))
    assert best < 0.2, best
    places = where.where(rows, cols)
    where.what(**{k: v[:1] for k, v in places.items()})
    best = min(_seconds(lambda: where.what(**places)) for _ in range(5))
    assert best < 0.2, best


def _seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def test_maps_refuse_with_sentences():
    where = tcq.Map("wgmma.m64n24k16.f32.bf16.bf16", "D")
    with pytest.raises(tcq.UsageError, match="reaches from 0 to 64: expected 0 to 63"):
        where.where(np.arange(65), 0)
    with pytest.raises(tcq.UsageError, match="float64"):
        where.where(0.5, 0)
    with pytest.raises(tcq.UsageError, match="no axis"):
        where.where(line=0)
    with pytest.raises(tcq.UsageError, match="shapes"):
        where.where([1, 2], [1, 2, 3])
    with pytest.raises(tcq.UsageError, match="shared memory"):
        where.bytes(0, 0)
    with pytest.raises(tcq.UsageError):
        tcq.Map("wgmma.m64n24k16.f32.bf16.bf16", "D", row=1)
    with pytest.raises(tcq.Illegal):
        tcq.Map("wgmma.m64n23k16.f32.bf16.bf16", "D")


def bits_text(row, digits):
    return ",".join(f"{int(x):0{digits}x}" for x in row)


MMAS = [
    ("wgmma.m64n8k16.f32.bf16.bf16", {}, np.uint16, np.uint16, 16, 8, 0),
    ("wgmma.m64n8k16.f16.f16.f16", {"negate_a": 1}, np.uint16, np.uint16, 16, 4, 0),
    ("wgmma.m64n8k32.f32.e4m3.e5m2", {}, np.uint8, np.uint8, 32, 8, 0),
    ("wgmma.m64n8k8.f32.tf32.tf32", {}, np.uint32, np.uint32, 8, 8, 0),
    ("wgmma.m64n8k32.satfinite.s32.s8.s8", {}, np.uint8, np.uint8, 32, 8, 0),
    ("tcgen05.mma.cta_group::1.kind::f16", {"m": 128, "n": 8, "type_a": "bf16", "type_b": "bf16"}, np.uint16, np.uint16, 16, 8, 0),
    ("tcgen05.mma.cta_group::1.kind::f16", {"m": 128, "n": 8, "scale_input_d": 3}, np.uint16, np.uint16, 16, 8, 0),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X", {"m": 128, "n": 8}, np.uint8, np.uint8, 32, 8, 1),
    ("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X", {"m": 128, "n": 8}, np.uint8, np.uint8, 64, 8, 2),
    ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X", {"m": 128, "n": 8}, np.uint8, np.uint8, 64, 8, 4),
]


@pytest.mark.parametrize("instructions", [1, 3])
@pytest.mark.parametrize("mnemonic, keys, a_type, b_type, k, digits, scales", MMAS)
def test_mma_of_matrices_is_mma_of_lines(mnemonic, keys, a_type, b_type, k, digits, scales, instructions):
    m, n, k = 5, 6, k * instructions
    top = 16 if scales > 1 else 256 ** np.dtype(a_type).itemsize
    a = DRAW.integers(0, top, (m, k)).astype(a_type)
    b = DRAW.integers(0, top, (k, n)).astype(b_type)
    c = DRAW.integers(0, 16 ** digits, (m, n)).astype(np.uint32 if digits == 8 else np.uint16)
    more = {}
    if scales:
        more = {"sfa": DRAW.integers(110, 140, (m, instructions * scales)).astype(np.uint8),
                "sfb": DRAW.integers(110, 140, (n, instructions * scales)).astype(np.uint8)}
        if "nvf4" in mnemonic:
            more = {name: value & 0x7F for name, value in more.items()}
    d = tcq.mma(mnemonic, a, b, c, **more, **keys)
    size = np.dtype(a_type).itemsize * 2 if top > 16 else 1
    lines = [" ".join([bits_text(a[i], size), bits_text(b[:, j], size), f"{int(c[i, j]):0{digits}x}"]
                      + ([bits_text(more["sfa"][i], 2), bits_text(more["sfb"][j], 2)] if scales else []))
             for i in range(m) for j in range(n)]
    want = [int(answer["d"], 16) for answer in tcq.mma_lines(mnemonic, lines, **keys)]
    assert d.view(f"u{digits // 2}").ravel().tolist() == want


def test_mma_fills_k_with_zeros_and_needs_no_c():
    a = np.ones((2, 5), np.float16)
    assert tcq.mma("wgmma.m64n8k16.f32.f16.f16", a, a.T).tolist() == [[5, 5], [5, 5]]
    bits = np.array([[1, 0, 1]], np.uint8)
    assert tcq.mma("wgmma.m64n8k256.s32.b1.b1.and.popc", bits, bits.T).tolist() == [[2]]


@pytest.mark.parametrize("call, sentence", [
    (lambda x: tcq.mma("wgmma.m64n8k16.f32.bf16.bf16", x, x), "a: its dtype is '<f8': bf16 is read from"),
    (lambda x: tcq.mma("wgmma.m64n8k16.f32.f16.f16", x.astype("f2"), x[:2].astype("f2")), "expected a's columns"),
    (lambda x: tcq.mma("wgmma.m64n8k16.f32.f16.f16", x.astype("f2"), x.astype("f2"), x[:2].astype("f4")), "expected 3 x 3"),
    (lambda x: tcq.mma("wgmma.m64n8k16.f32.f16.f16", x.astype(">f2"), x.astype("f2")), "big-endian"),
    (lambda x: tcq.mma("wgmma.m64n8k16.f32.f16.f16", np.array([{}]), x), "a: "),
    (lambda x: tcq.mma("wgmma.sp.m64n8k32.f32.f16.f16", x.astype("f2"), x.astype("f2")), "sparse"),
    (lambda x: tcq.gemm(x, x, type="bf16"), "a: its dtype"),
    (lambda x: tcq.mma("wgmma.m64n8k16.f32.f16.f16", x.astype("f2")[None], x.astype("f2")), "1 x 3 x 3: expected a matrix"),
    (lambda x: tcq.gemm(np.stack([x] * 2).astype("f2"), np.stack([x] * 3).astype("f2"), type="f16"),
     "A is 2 x 3 x 3 and B is 3 x 3 x 3: expected as many"),
    (lambda x: tcq.gemm(x.astype("f2")[None, None], x.astype("f2"), type="f16"), "4 dimensions"),
    (lambda x: tcq.gemm(x.astype("u1"), x.astype("u1"), type="e4m3", packed=True), "packed is for e2m1"),
    (lambda x: tcq.gemm(x.astype("u1"), x.astype("u1"), type="e4m3", scaling="ue8m0_block32", scale_a=x.astype("u1"),
                        scale_b=x.astype("u1")), "scale-a: has shape 3 x 3: expected 3 x 1"),
    (lambda x: tcq.gemm(x.astype("f2"), x.astype("f2"), type="f16", order="chian"), "order"),
    (lambda x: tcq.gemm(x.astype("f2"), x.astype("f2"), type="f61"), "f61"),
    (lambda x: tcq.gemm(x.astype("f2"), x.astype("f2"), type="f16", beta=1.0), "no C"),
])
def test_arrays_that_do_not_fit_are_refused(call, sentence):
    with pytest.raises(tcq.Error, match=sentence):
        call(np.ones((3, 3)))


def test_gemm_is_mma_chained():
    a = DRAW.integers(0, 1 << 16, (7, 96)).astype(np.uint16) & 0x3FFF
    b = DRAW.integers(0, 1 << 16, (96, 9)).astype(np.uint16) & 0x3FFF
    d = tcq.gemm(a, b, type="bf16")
    assert d.dtype == np.float32 and np.array_equal(d, tcq.mma("wgmma.m64n8k16.f32.bf16.bf16", a, b))
    assert np.array_equal(d, tcq.gemm(np.asfortranarray(a), b.T.copy().T, type="bf16"))
    ones = np.ones((1, 1), "f4")
    assert np.array_equal(d, tcq.gemm(a, b, type="bf16", scaling="tensor", scale_a=ones, scale_b=ones))
    with pytest.raises(tcq.UsageError, match="expected all three"):
        tcq.gemm(a, b, type="bf16", scaling="tensor")
    first, second = tcq.gemm(a, b, type="bf16", order=["chain", "every=32"])
    assert np.array_equal(first, d) and not np.array_equal(first, second)


def test_batches_are_their_products():
    a = DRAW.integers(0, 1 << 16, (3, 7, 96)).astype(np.uint16) & 0x3FFF
    b = DRAW.integers(0, 1 << 16, (3, 96, 9)).astype(np.uint16) & 0x3FFF
    c = DRAW.standard_normal((7, 9)).astype(np.float32)
    bias = DRAW.standard_normal((3, 9)).astype(np.float32)
    factors = DRAW.standard_normal((3, 1, 1)).astype(np.float32)
    more = {"type": "bf16", "order": "every=32", "alpha": 0.5, "beta": 1.5, "scaling": "tensor"}
    d = tcq.gemm(a, b, c=c, bias=bias, scale_a=factors, scale_b=factors[:1], **more)
    assert d.shape == (3, 7, 9) and d.dtype == np.float32
    for i in range(3):
        one = tcq.gemm(a[i], b[i], c=c, bias=bias[i], scale_a=factors[i], scale_b=factors[0], **more)
        assert np.array_equal(d[i], one)
    shared = tcq.gemm(a, b[0], type="bf16")
    assert all(np.array_equal(shared[i], tcq.gemm(a[i], b[0], type="bf16")) for i in range(3))
    # Any memory order: numpy's own strides, Fortran's, a weight kept as N x K.
    for other in (np.asfortranarray(a), a.transpose(2, 0, 1).copy().transpose(1, 2, 0)):
        assert np.array_equal(shared, tcq.gemm(other, b[0].T.copy().T, type="bf16"))
    _, answer = tcq.gemm(a, b[0], type="bf16", compare=shared, report=True)
    assert answer["batch"] == 3 and answer["orders"][0]["compared"]["differing"] == 0


@pytest.mark.parametrize("kind, scale_vec, scaling, block", [
    ("mxf8f6f4", "1X", "ue8m0_block32", 32), ("mxf4", "2X", "ue8m0_block32", 32),
    ("mxf4nvf4", "2X", "ue8m0_block32", 32), ("mxf4nvf4", "4X", "ue8m0_block16", 16),
    ("mxf4nvf4", "4X", "ue4m3_block16", 16)])
def test_block_scaled_gemm_is_mma_chained(kind, scale_vec, scaling, block):
    m, n, k = 5, 9, 192
    type_, top = ("e4m3", 0x78) if kind == "mxf8f6f4" else ("e2m1", 16)
    a, b = DRAW.integers(0, top, (m, k)).astype(np.uint8), DRAW.integers(0, top, (k, n)).astype(np.uint8)
    low, high = (40, 80) if scaling == "ue4m3_block16" else (120, 134)
    sfa = DRAW.integers(low, high, (m, k // block)).astype(np.uint8)
    sfb = DRAW.integers(low, high, (n, k // block)).astype(np.uint8)
    mnemonic = f"tcgen05.mma.cta_group::1.kind::{kind}.block_scale.scale_vec::{scale_vec}"
    want = tcq.mma(mnemonic, a, b, sfa=sfa, sfb=sfb, m=128, n=8, scale_type=scaling[:5])
    scales = {"type": type_, "scaling": scaling, "scale_a": sfa, "scale_b": sfb.T}
    for order in (f"chain:tcgen05,kind={kind}", f"chain:{mnemonic}"):
        assert np.array_equal(want, tcq.gemm(a, b, order=order, **scales)), order
    if type_ == "e2m1":
        halves_a, halves_b = a[:, ::2] | a[:, 1::2] << 4, b[::2] | b[1::2] << 4
        assert np.array_equal(want, tcq.gemm(halves_a, halves_b, order=f"chain:tcgen05,kind={kind}", packed=True, **scales))
    batch = tcq.gemm(np.stack([a, a[::-1]]), b, order=f"chain:tcgen05,kind={kind}",
                     **{**scales, "scale_a": np.stack([sfa, sfa[::-1]])})
    assert np.array_equal(batch[0], want) and np.array_equal(batch[1], want[::-1])


def test_gemm_names_the_order_that_explains_a_device():
    a = (DRAW.standard_normal((64, 512))).astype(np.float16)
    device = tcq.gemm(a, a.T, type="f16", order="every=128")
    d, answer = tcq.gemm(a, a.T, type="f16", order="chain", compare=device, report=True)
    assert answer["orders"][0]["compared"]["explained"]["by"] == ["every=128:wgmma"]
    assert np.array_equal(device, tcq.gemm(a, a.T, type="f16", order="every=128", compare=device))


def test_ml_dtypes_are_taken_as_they_are():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.ones((4, 4)).astype(ml_dtypes.bfloat16)
    assert tcq.gemm(x, x, type="bf16").tolist() == [[4] * 4] * 4
    y = np.ones((4, 4)).astype(ml_dtypes.float8_e4m3fn)
    assert tcq.gemm(y, y, type="e4m3").tolist() == [[4] * 4] * 4


def _product(seed):
    draw = np.random.default_rng(seed)
    a = draw.standard_normal((32, 64)).astype(np.float16)
    return tcq.gemm(a, a.T, type="f16", threads=1).tobytes()


def test_threads_and_pickles_change_nothing():
    want = [_product(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(_product, range(8))) == want
        texts = list(pool.map(lambda i: tcq.ask(f"where wgmma.m64n24k16.f32.bf16.bf16 D row={i} col=1"), range(64)))
    assert len(set(texts)) == 64
    assert pickle.loads(pickle.dumps(tcq.gemm)) is tcq.gemm and pickle.loads(pickle.dumps(tcq.where)) is tcq.where
    where = tcq.Map("wgmma.m64n24k16.f32.bf16.bf16", "D")
    assert np.array_equal(pickle.loads(pickle.dumps(where)).at, where.at)
    word = tcq.Word.decode("wgmma.desc", 0x4000004000010040)
    assert pickle.loads(pickle.dumps(word)) == word


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_change_nothing(start):
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map(_product, range(4)) == [_product(seed) for seed in range(4)]
