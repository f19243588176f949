"""FP8 and groups of tcq.torch on a Hopper GPU with libtcq_gemm.so: near float64's product of what the operands stand for, and bit
for bit what tcq.gemm predicts in the order that each plan's text names; quantized results bit for bit what torch makes of the
prediction. So that the tests themselves are tested everywhere they run on the CPU over the fake library, too, with numbers whose
sums are exact in any order. Without torch or a GPU it says what was skipped."""

import re

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: FP8 of tcq.torch is NOT compared with hardware")
if not hasattr(torch.library, "custom_op"):
    pytest.skip(f"PyTorch {torch.__version__} has no torch.library.custom_op: FP8 of tcq.torch is NOT compared with hardware",
                allow_module_level=True)

from torch_reference import dequantized, quantized, the_same  # noqa: E402

import tcq  # noqa: E402
import tcq.torch as tt  # noqa: E402

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
TYPES = {E4M3: "e4m3", E5M2: "e5m2", torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}
SHAPES = [(100, 136, 264), (4, 512, 1024), (33, 65, 205), (130, 96, 384)]
BLOCKS = {"row": lambda x: (1, x.shape[1]), "vector_128": lambda x: (1, 128), "block_128": lambda x: (128, 128)}


class Place:
    """Where the operands are, and with which numbers: on the CPU with such as no order of a sum rounds."""

    def __init__(self, exact, device, folder):
        self.exact, self.device, self._plan = exact, device, folder / "plan"

    def wide(self, *shape):
        values = torch.randint(-3, 4, shape).float() if self.exact else torch.randn(shape)
        return values.to(self.device)

    def fp8(self, *shape, dtype=E4M3):
        return self.wide(*shape).to(dtype)

    def factors(self, *shape):
        values = 2.0 ** torch.randint(-2, 3, shape) if self.exact else torch.rand(shape) + 0.5
        return values.to(self.device)

    def sizes(self, *sizes):
        return torch.tensor(sizes, dtype=torch.int32, device=self.device)

    def order(self, promotes):
        """Of the plan that was used last; the fake's has none."""
        if self.exact:
            return "chain:wgmma,promoted" if promotes else "chain:wgmma"
        text = next(reversed(tt.plan_cache._plans.values())).describe()
        realigned = re.search("^order if realigned: (.*)$", text, re.M)
        if realigned and "workspace: 0 bytes" not in text:  # operands are copied, which PyTorch has memory for
            text = re.sub("^order: .*$", "order: " + realigned[1], text, flags=re.M)
        self._plan.write_text(text)
        return f"plan:{self._plan}"


@pytest.fixture(params=["cpu", "gpu"])
def place(request, tmp_path):
    name = {"cpu": "fake", "gpu": "device"}[request.param]
    found = request.getfixturevalue(name)
    tt.plan_cache.clear()
    return Place(request.param == "cpu", torch.device("cpu") if request.param == "cpu" else found, tmp_path)


def numbers(x):
    """As tcq.gemm takes them: bf16 and FP8 as bits."""
    x = x.detach().cpu()
    if x.element_size() == 1:
        return x.view(torch.uint8).numpy()
    return x.view(torch.int16).numpy().view("u2") if x.dtype == torch.bfloat16 else x.numpy()


def predicted(place, a, b, scale_a=None, scale_b=None, *, scaling=None, out=torch.float32, promotes=True, order=None, **epilogue):
    """tcq.gemm's a @ b.T of a [M, K] and b [N, K], on the CPU: scale_b as scaled_mm has it; in the plan's order."""
    factors = {} if scaling is None else {"scaling": scaling, "scale_a": numbers(scale_a), "scale_b": numbers(scale_b)}
    rest = {name: numbers(x) if isinstance(x, torch.Tensor) else x for name, x in epilogue.items()}
    d = tcq.gemm(numbers(a), numbers(b).T, type=TYPES[a.dtype], type_b=None if b.dtype == a.dtype else TYPES[b.dtype],
                 out_type=TYPES[out], order=order or place.order(promotes and a.element_size() == 1), **factors, **rest)
    return torch.from_numpy(d.view("i2")).view(out) if out == torch.bfloat16 else torch.from_numpy(d)


def expect_bits(got, want):
    got = got.cpu()
    assert got.dtype == want.dtype and torch.equal(got.view(torch.uint8), want.contiguous().view(torch.uint8))


def expect_near(got, left, right, more=0.0):
    """got is left @ right.T + more: sums keep 13 bits behind the point of the largest summand, and results are rounded."""
    left, right = left.double(), right.double()
    want = left @ right.t() + more
    most = 2.0 ** -11 * (left.abs() @ right.abs().t()) + (0 if got.dtype == torch.float32 else 2.0 ** -8) * want.abs()
    assert ((got.double() - want).abs() <= most).all()


def scalings(place, m, n, k):
    """Each one's name, factors, and whether it is promoted."""
    blocks, of_n = (k + 127) // 128, (n + 127) // 128
    one, rows = (place.factors(1, 1), place.factors(1, 1)), (place.factors(m, 1), place.factors(1, n))
    return [("tensor", *one, True), ("tensor", *one, False), ("row_column", *rows, True), ("row_column", *rows, False),
            ("block_128", place.factors(m, blocks), place.factors(blocks, of_n), True),
            ("vector_128", place.factors(m, blocks), place.factors(blocks, n), True)]


# --- quantize ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", BLOCKS)
def test_quantize(place, block):
    for dtype, to, power_of_two in [(torch.float32, E4M3, False), (torch.bfloat16, E4M3, True), (torch.float16, E5M2, False)]:
        x = place.wide(140, 200) * torch.logspace(-6, 3, 140, device=place.device).unsqueeze(1)
        x[7, :4] = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])
        for y in (x.to(dtype), x.to(dtype)[:, 3:170], x.to(dtype).t().contiguous().t()):
            got = tt.quantize(y, block=block, dtype=to, power_of_two=power_of_two)
            want = quantized(y.float().cpu(), to, power_of_two, *BLOCKS[block](y))
            assert the_same([t.cpu() for t in got], want)


# --- products ---------------------------------------------------------------------------------------


PRODUCTS = [(*shape, (E4M3, E4M3)) for shape in SHAPES] + [(*SHAPES[0], (E5M2, E4M3)), (*SHAPES[0], (E4M3, E5M2))]


@pytest.mark.parametrize("m, n, k, types", PRODUCTS)
def test_scaled_mm(place, m, n, k, types):
    a, b = place.fp8(m, k, dtype=types[0]), place.fp8(n, k, dtype=types[1])
    outs = [torch.float32, torch.bfloat16, torch.float16]
    for i, (name, scale_a, scale_b, promotes) in enumerate(scalings(place, m, n, k)):
        out = outs[i % 3]
        bias = place.wide(n).to(out) if i % 2 == 0 else None
        d = tt.scaled_mm(a, b.t(), scale_a, scale_b, bias, out, use_fast_accum=not promotes)
        expect_near(d, dequantized(a, scale_a), dequantized(b, scale_b.t()), 0 if bias is None else bias.double())
        with_bias = {} if bias is None else {"bias": bias}
        expect_bits(d, predicted(place, a, b, scale_a, scale_b, scaling=name, out=out, promotes=promotes, **with_bias))


def test_factors_and_operands_where_they_lie(place):
    a, b = place.fp8(40, 384), place.fp8(150, 384)
    scale_a, scale_b = place.factors(40, 3), place.factors(3, 2)
    room, wide = place.fp8(40, 512), place.factors(40, 9)
    room[:, 16:400], wide[:, 2:5] = a, scale_a
    for left in (a, room[:, 16:400], a.t().contiguous().t()):
        for of_a in (scale_a, scale_a.t().contiguous().t(), wide[:, 2:5]):
            tt.plan_cache.clear()
            d = tt.scaled_mm(left, b.t(), of_a, scale_b.t().contiguous().t(), out_dtype=torch.float32)
            expect_bits(d, predicted(place, a, b, scale_a, scale_b, scaling="block_128"))


ACTIVATED = {"none": lambda z: z, "relu": torch.relu, "silu": torch.nn.functional.silu,
             "swiglu": lambda z: torch.nn.functional.silu(z[:, 0::2]) * z[:, 1::2]}


@pytest.mark.parametrize("activation", ACTIVATED)
@pytest.mark.parametrize("dtype, power_of_two", [(E4M3, True), (E5M2, False)])
def test_scaled_mm_quantized(place, activation, dtype, power_of_two):
    if place.exact and activation in ("silu", "swiglu"):
        pytest.skip("the fake's exp is libm's")
    m, n, k = 40, 304, 264
    a, b, bias = place.fp8(m, k), place.fp8(n, k), place.wide(n)
    for name, scale_a, scale_b, promotes in scalings(place, m, n, k):
        got = tt.scaled_mm_quantized(a, b.t(), scale_a, scale_b, bias, activation=activation, dtype=dtype,
                                     power_of_two=power_of_two, use_fast_accum=not promotes)
        got = [t.cpu() for t in got]
        wide = predicted(place, a, b, scale_a, scale_b, scaling=name, promotes=promotes, bias=bias, activation=activation)
        assert the_same(got, quantized(wide, dtype, power_of_two))
        want = ACTIVATED[activation]((dequantized(a, scale_a) @ dequantized(b, scale_b.t()).t() + bias).double()).cpu()
        assert (dequantized(*got) - want).abs().max() <= want.abs().max() / (7 if dtype == E5M2 else 14)


# --- groups -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_grouped_mm(place, dtype):
    a, b, ends = place.wide(200, 264).to(dtype), place.wide(4, 136, 264).to(dtype), (70, 70, 75, 190)
    k_major = b.transpose(1, 2)
    for weights, out in ((k_major, dtype), (k_major, torch.float32), (k_major.contiguous(), dtype)):
        d = tt.grouped_mm(a, weights, place.sizes(*ends), out_dtype=out)
        for g, rows in enumerate(map(slice, (0, *ends[:-1]), ends)):
            expect_near(d[rows], a[rows].float(), b[g].float())
            if rows.start < rows.stop:
                expect_bits(d[rows], predicted(place, a[rows], b[g], out=out))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_grouped_mm_along_k(place, dtype):
    x, y, ends = place.wide(190, 136).to(dtype), place.wide(190, 264).to(dtype), (72, 72, 80, 190)
    for a, b in ((x.t(), y), (x.t().contiguous(), y), (x.t().contiguous(), y.t().contiguous().t())):
        d = tt.grouped_mm(a, b, place.sizes(*ends), out_dtype=torch.float32)
        for g, k in enumerate(map(slice, (0, *ends[:-1]), ends)):
            expect_near(d[g], x[k].float().t(), y[k].float().t())
            if k.start < k.stop:  # multiplied from a multiple of 64 on, and the plan's K is that of all groups
                of_group = [torch.cat([z.new_zeros(k.start % 64, z.shape[1]), z[k]]).t().contiguous() for z in (x, y)]
                expect_bits(d[g], predicted(place, *of_group, order="chain:wgmma"))


def of_groups(place, m, groups, n, k):
    """Factors as scaled_grouped_mm takes them."""
    blocks, of_n = (k + 127) // 128, (n + 127) // 128
    return [("row_column", place.factors(m), place.factors(groups, n)),
            ("block_128", place.factors(m, blocks), place.factors(groups, blocks, of_n)),
            ("vector_128", place.factors(m, blocks), place.factors(groups, blocks, n))]


def one_of(scale_a, scale_b, rows, group):
    """Of one group, as scaled_mm takes them."""
    of_b = scale_b[group]
    return scale_a.reshape(len(scale_a), -1)[rows], of_b.unsqueeze(0) if of_b.dim() == 1 else of_b


def test_scaled_grouped_mm(place):
    a, b, ends, bias = place.fp8(200, 256), place.fp8(3, 272, 256), (70, 70, 190), place.wide(272)
    for name, scale_a, scale_b in of_groups(place, 200, 3, 272, 256):
        d = tt.scaled_grouped_mm(a, b.transpose(1, 2), scale_a, scale_b, place.sizes(*ends), bias=bias, out_dtype=torch.float32)
        for g, rows in ((0, slice(0, 70)), (2, slice(70, 190))):
            of_a, of_b = one_of(scale_a, scale_b, rows, g)
            expect_near(d[rows], dequantized(a[rows], of_a), dequantized(b[g], of_b.t()), bias.double())
            expect_bits(d[rows], predicted(place, a[rows], b[g], of_a, of_b, scaling=name, bias=bias))


@pytest.mark.parametrize("promotes", [True, False])
def test_scaled_grouped_mm_along_k(place, promotes):
    a, b, order = place.fp8(50, 384), place.fp8(130, 384), "chain:wgmma,promoted" if promotes else "chain:wgmma"
    by_rows = [("row_column", ends, place.factors(3, 50), place.factors(3, 130)) for ends in ((128, 128, 384), (70, 70, 300))]
    by_blocks = [("block_128", (128, 128, 384), place.factors(50, 3), place.factors(3, 2)),
                 ("vector_128", (128, 128, 384), place.factors(50, 3), place.factors(3, 130))]
    for name, ends, scale_a, scale_b in by_rows + (by_blocks if promotes else []):
        d = tt.scaled_grouped_mm(a, b.t(), scale_a, scale_b, place.sizes(*ends), out_dtype=torch.float32, use_fast_accum=not promotes)
        for g, k in ((0, slice(0, ends[0])), (2, slice(*ends[1:]))):
            blocks = slice(k.start // 128, k.stop // 128)
            of_a, of_b = (scale_a[g].unsqueeze(1), scale_b[g].unsqueeze(0)) if name == "row_column" else (scale_a[:, blocks], scale_b[blocks])
            expect_near(d[g], dequantized(a[:, k], of_a), dequantized(b[:, k], of_b.t()))
            # Multiplied from a multiple of 128 on.
            of_group = [torch.nn.functional.pad(x.view(torch.uint8)[:, k], (k.start % 128, 0)).view(x.dtype) for x in (a, b)]
            expect_bits(d[g], predicted(place, *of_group, of_a, of_b, scaling=name, order=order))


def test_scaled_mm_quantized_of_groups(place):
    a, b, ends = place.fp8(200, 256), place.fp8(3, 272, 256), (70, 70, 190)
    for name, scale_a, scale_b in of_groups(place, 200, 3, 272, 256):
        got = tt.scaled_mm_quantized(a, b.transpose(1, 2), scale_a, scale_b, offs=place.sizes(*ends))
        for g, rows in ((0, slice(0, 70)), (2, slice(70, 190))):
            wide = predicted(place, a[rows], b[g], *one_of(scale_a, scale_b, rows, g), scaling=name)
            assert the_same([t[rows].cpu() for t in got], quantized(wide, E4M3, False))


def test_the_names_of_deepgemm(place):
    a, b, c = place.fp8(40, 384), place.fp8(150, 384), place.wide(40, 150)
    sfa, sfb, d = place.factors(40, 3), place.factors(2, 3), place.wide(40, 150)
    tt.fp8_gemm_nt((a, sfa), (b, sfb), d)
    expect_bits(d, predicted(place, a, b, sfa, sfb.t(), scaling="block_128"))
    tt.fp8_gemm_nt((a, sfa), (b, sfb), d, c=c)
    expect_near(d, dequantized(a, sfa), dequantized(b, sfb), c.double())
    expect_bits(d, predicted(place, a, b, sfa, sfb.t(), scaling="block_128", c=c, beta=1.0))

    a, b, sfa, sfb = place.fp8(384, 256), place.fp8(2, 152, 256), place.factors(384, 2), place.factors(2, 2, 2)

    def expect_group(rows, found, group):
        expect_near(found, dequantized(a[rows], sfa[rows]), dequantized(b[group], sfb[group]))
        expect_bits(found, predicted(place, a[rows], b[group], sfa[rows], sfb[group].t(), scaling="block_128"))

    d = torch.full((384, 152), 7.0, device=place.device)
    tt.m_grouped_fp8_gemm_nt_contiguous((a, sfa), (b, sfb), d, place.sizes(*[1] * 128, *[-1] * 128, *[0] * 128))
    expect_group(slice(0, 128), d[:128], 1)
    expect_group(slice(256, 384), d[256:], 0)
    assert (d[128:256] == 7).all()
    d.fill_(7)
    tt.m_grouped_fp8_gemm_nt_contiguous((a, sfa), (b, sfb), d, place.sizes(3, 200), use_psum_layout=True)
    expect_group(slice(0, 3), d[:3], 0)
    expect_group(slice(3, 200), d[3:200], 1)
    assert (d[200:] == 7).all()
    masked = torch.full((2, 192, 152), 7.0, device=place.device)
    tt.m_grouped_fp8_gemm_nt_masked((a.view(2, 192, 256), sfa.view(2, 192, 2)), (b, sfb), masked, place.sizes(5, 100), 64)
    expect_group(slice(0, 5), masked[0, :5], 0)
    expect_group(slice(192, 292), masked[1, :100], 1)
    assert (masked[0, 5:] == 7).all() and (masked[1, 100:] == 7).all()


# --- on a GPU alone ---------------------------------------------------------------------------------


def two_layers(device):
    """Quantized activations through a gated layer and the next, and what they start from."""
    x, w, v = (torch.randn(s, device=device) for s in ((64, 256), (512, 256), (128, 256)))
    (w, of_w), (v, of_v) = tt.quantize(w, block="block_128"), tt.quantize(v, block="block_128")

    def step(x):
        q, of_q = tt.quantize(x)
        q, of_q = tt.scaled_mm_quantized(q, w.t(), of_q, of_w.t(), activation="swiglu")
        return tt.scaled_mm(q, v.t(), of_q, of_v.t())

    return step, x


def test_a_graph_replays_them(device):
    step, x = two_layers(device)
    want = step(x).cpu()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step(x)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = step(x)
    y.zero_()
    graph.replay()
    assert want.abs().max() > 0
    expect_bits(y, want)


def test_inductor_compiles_them(device):
    step, x = two_layers(device)
    whole = torch.compile(step, fullgraph=True)
    for _ in range(2):
        expect_bits(whole(x), step(x).cpu())


@pytest.mark.skipif(not hasattr(torch, "float8_e8m0fnu"), reason="PyTorch has no float8_e8m0fnu: its refusal is NOT tested")
def test_factors_of_blocks_want_another_device(device):
    a, scale = torch.randn(128, 128, device=device).to(E4M3), torch.full((512,), 127, dtype=torch.uint8, device=device)
    scale = scale.view(torch.float8_e8m0fnu)
    with pytest.raises(tt.GemmError, match="want tcgen05"):
        tt.scaled_mm(a, a.t(), scale, scale)
    with pytest.raises(tt.GemmError, match="want tcgen05"):
        tt.scaled_mm_quantized(a.bfloat16(), a.bfloat16().t(), scale_dtype=torch.float8_e8m0fnu)
