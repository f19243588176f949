"""FP8 and groups of tcq.torch on the CPU over the fake library of fake_gemm.c: what is asked of the library, and that factors and
groups are the right ones. Without torch it says what was skipped."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: FP8 of tcq.torch is NOT tested")
if not hasattr(torch.library, "custom_op"):
    pytest.skip(f"PyTorch {torch.__version__} has no torch.library.custom_op: FP8 of tcq.torch is NOT tested", allow_module_level=True)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch_reference import dequantized, quantized, the_same  # noqa: E402

import tcq  # noqa: E402
import tcq.torch as tt  # noqa: E402
from tcq import _gemm  # noqa: E402

K, MN = _gemm.K_MAJOR, _gemm.MN_MAJOR
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
FP8_OPTIONS = list(itertools.product([E4M3, E5M2], [False, True]))  # a type, and whether factors are powers of two


def fp8_of(*shape, dtype=E4M3):
    return torch.randn(shape).to(dtype)


@pytest.mark.parametrize("block", ["row", "vector_128", "block_128"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_quantize(fake, block, dtype):
    x = torch.randn(150, 200, dtype=dtype)
    for y in (x, x[:, :170], torch.randn(200, 150, dtype=dtype).t()):
        q, factors = tt.quantize(y, block=block)
        assert (q.dtype, q.shape) == (E4M3, y.shape)
        rows, cols = y.shape
        assert tuple(factors.shape) == {"row": (rows, 1), "vector_128": (rows, 2 if cols > 128 else 1),
                                        "block_128": (2, 2 if cols > 128 else 1)}[block]
        assert (dequantized(q, factors) - y.float()).abs().max() <= y.float().abs().max() / 14
    assert torch.equal(tt.quantize(x, power_of_two=True)[1].log2() % 1, torch.zeros(150, 2))
    assert tt.quantize(x, dtype=E5M2)[0].dtype == E5M2
    with pytest.raises(tcq.UsageError, match="block 'tile'"):
        tt.quantize(x, block="tile")
    with pytest.raises(tcq.UsageError, match="expected a matrix"):
        tt.quantize(x[0])


@pytest.mark.parametrize("dtype, power_of_two", FP8_OPTIONS)
def test_the_bits_of_quantize(fake, dtype, power_of_two):
    x = torch.randn(8, 300) * torch.tensor([1e-42, 1e-37, 1e-3, 1, 448, 1e30, 0, 3]).unsqueeze(1)
    x[3, :6] = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-9, -1e-9])
    x[7] = torch.arange(300) % 31 + 14
    x[7, ::100] = 448  # makes the factor a power of two: many values are ties
    assert the_same(tt.quantize(x, dtype=dtype, power_of_two=power_of_two), quantized(x, dtype, power_of_two))


def test_scaled_mm(fake):
    a, b = fp8_of(40, 300), fp8_of(150, 300, dtype=E5M2).t()
    for sa, sb, scaling in [((1,), (1,), "tensor"), ((), (), "tensor"), ((40, 1), (1, 150), "row_column"),
                            ((40, 3), (3, 2), "block_128"), ((40, 3), (3, 150), "vector_128")]:
        tt.plan_cache.clear()
        scale_a, scale_b = torch.rand(sa) + 0.5, torch.rand(sb) + 0.5
        want = dequantized(a, scale_a.reshape(40 if scale_a.numel() > 1 else 1, -1)) @ dequantized(
            b.t(), scale_b.t().contiguous() if scale_b.numel() > 1 else scale_b.reshape(1, 1)).t()
        for out in (torch.float32, torch.bfloat16, torch.float16):
            d = tt.scaled_mm(a, b, scale_a, scale_b, out_dtype=out)
            assert d.dtype == out
            torch.testing.assert_close(d.float(), want, rtol=1e-2, atol=1e-1)
        p = fake.problem
        assert (p.in_, p.in_b, p.scaling, p.promotes) == (7, 8, _gemm.SCALINGS[scaling], 1)
        assert (p.quantized, p.scale_d.ld, p.scale_d.batch) == (-1, -1, -1)
        tt.scaled_mm(a, b, scale_a, scale_b, use_fast_accum=True)
        assert fake.problem.promotes == 0
    bias = torch.randn(150)
    d = tt.scaled_mm(a, b, torch.ones(1), torch.ones(1), bias=bias, out_dtype=torch.float32)
    torch.testing.assert_close(d, a.float() @ b.float() + bias)


def in_float32(a, b, scale_a, scale_b, bias, activation):
    """What scaled_mm_quantized quantizes, by blocks of 128 columns of b."""
    d = torch.empty(a.shape[0], b.shape[1] // (2 if activation == "swiglu" else 1))
    torch.ops.tcq.fp8_gemm(a, b.t(), scale_a, scale_b.t(), None, bias, None, d, True, 0, 0,
                           None, _gemm.ACTIVATIONS[activation])
    return d


@pytest.mark.parametrize("activation", ["none", "relu", "swiglu"])
@pytest.mark.parametrize("dtype, power_of_two", FP8_OPTIONS)
def test_scaled_mm_quantized(fake, activation, dtype, power_of_two):
    a, b, scale_a, scale_b = fp8_of(9, 200), fp8_of(300, 200).t(), torch.rand(9, 2), torch.rand(2, 3)
    columns = 150 if activation == "swiglu" else 300
    for bias_dtype in (None, torch.float32, torch.bfloat16, torch.float16):
        bias = None if bias_dtype is None else torch.randn(300).to(bias_dtype)
        d, scale_d = tt.scaled_mm_quantized(a, b, scale_a, scale_b, bias, activation=activation, dtype=dtype,
                                            power_of_two=power_of_two)
        p = fake.problem
        assert (p.quantized, p.scale_d_power_of_two) == (7 if dtype == E4M3 else 8, power_of_two)
        assert (p.major_scale_d, p.block_scaling_d) == (K, 0)
        assert (p.m, p.n, p.k, p.d.ld, p.scale_d.ld, p.batch, p.grouping) == (9, 300, 200, columns, scale_d.shape[1], 1, 0)
        assert (p.in_, p.in_b, p.has_bias, p.beta, p.activation) == (7, 7, bias is not None, 0, _gemm.ACTIVATIONS[activation])
        assert p.out == {None: 1, torch.float32: 5, torch.bfloat16: 1, torch.float16: 0}[bias_dtype]
        assert (tuple(d.shape), tuple(scale_d.shape), scale_d.dtype) == ((9, columns), (9, (columns + 127) // 128), torch.float32)
        full = None if bias is None else bias.float()
        wide = in_float32(a, b, scale_a, scale_b, full, activation)
        plain = tt.scaled_mm(a, b, scale_a, scale_b, full, torch.float32)
        if activation == "swiglu":
            torch.testing.assert_close(wide, torch.nn.functional.silu(plain[:, 0::2]) * plain[:, 1::2])
        else:
            assert torch.equal(wide, plain.relu() if activation == "relu" else plain)
        assert the_same((d, scale_d), tt.quantize(wide, dtype=dtype, power_of_two=power_of_two))


@pytest.mark.parametrize("of_a, of_b", list(itertools.product([E4M3, E5M2], repeat=2)))
def test_operands_of_every_pair_of_types(fake, of_a, of_b):
    a, b, experts = fp8_of(9, 200, dtype=of_a), fp8_of(300, 200, dtype=of_b).t(), fp8_of(2, 300, 200, dtype=of_b).transpose(1, 2)
    scale_a, scale_b = torch.rand(9, 1), torch.rand(1, 300)
    got = tt.scaled_mm_quantized(a, b, scale_a, scale_b)
    assert (fake.problem.in_, fake.problem.in_b) == (7 if of_a == E4M3 else 8, 7 if of_b == E4M3 else 8)
    assert the_same(got, tt.quantize(tt.scaled_mm(a, b, scale_a, scale_b, out_dtype=torch.float32)))
    offs = torch.tensor([4, 9], dtype=torch.int32)
    got = tt.scaled_mm_quantized(a, experts, scale_a, torch.cat((scale_b, scale_b)), offs=offs)
    for g, rows in enumerate((slice(0, 4), slice(4, 9))):
        want = tt.scaled_mm_quantized(a[rows], experts[g], scale_a[rows], scale_b)
        assert the_same((got[0][rows], got[1][rows]), want)


def test_factors_of_every_kind_and_what_is_no_number(fake):
    a, b, bias = fp8_of(9, 200), fp8_of(300, 200).t(), torch.randn(300)
    bias[5], bias[140], bias[141] = float("nan"), float("inf"), -float("inf")
    for sa, sb in [((1,), (1,)), ((9, 1), (1, 300)), ((9, 2), (2, 3)), ((9, 2), (2, 300))]:
        scale_a, scale_b = torch.rand(sa), torch.rand(sb)
        for fast in (False, True):
            got = tt.scaled_mm_quantized(a, b, scale_a, scale_b, bias, use_fast_accum=fast)
            assert fake.problem.promotes == (not fast)
            assert the_same(got, tt.quantize(tt.scaled_mm(a, b, scale_a, scale_b, bias, torch.float32)))
        assert got[0].view(torch.uint8)[:, [5, 140, 141]].unique(dim=0).tolist() == [[0x7f, 0x7e, 0xfe]]
        assert got[1].isfinite().all()


def test_what_was_quantized_goes_into_the_next_product(fake):
    a, scale_a = tt.quantize(torch.randn(20, 256))
    b, scale_b = tt.quantize(torch.randn(400, 256), block="block_128")
    w, scale_w = tt.quantize(torch.randn(140, 200), block="block_128")
    x, scale_x = tt.scaled_mm_quantized(a, b.t(), scale_a, scale_b.t(), activation="swiglu")
    y = tt.scaled_mm(x, w.t(), scale_x, scale_w.t(), out_dtype=torch.float32)
    hidden = dequantized(a, scale_a) @ dequantized(b, scale_b).t()
    hidden = torch.nn.functional.silu(hidden[:, 0::2]) * hidden[:, 1::2]
    torch.testing.assert_close(y, dequantized(x, scale_x) @ dequantized(w, scale_w).t(), rtol=1e-4, atol=1e-2)
    assert (dequantized(x, scale_x) - hidden).abs().max() <= hidden.abs().max() / 14


@pytest.mark.parametrize("activation", ["none", "swiglu"])
def test_scaled_mm_quantized_of_groups(fake, activation):
    a, b, bias = fp8_of(30, 256), fp8_of(3, 260, 256).transpose(1, 2), torch.randn(260)
    offs = torch.tensor([12, 12, 27], dtype=torch.int32)
    for scale_a, scale_b in [(torch.rand(30), torch.rand(3, 260)), (torch.rand(30, 2), torch.rand(3, 2, 3)),
                             (torch.rand(30, 2), torch.rand(3, 2, 260))]:
        got = tt.scaled_mm_quantized(a, b, scale_a, scale_b, bias, offs=offs, activation=activation, power_of_two=True)
        assert (fake.problem.grouping, fake.problem.batch, fake.problem.m, fake.problem.quantized) == (1, 3, 30, 7)
        if activation == "none":
            wide = tt.scaled_grouped_mm(a, b, scale_a, scale_b, offs, bias=bias, out_dtype=torch.float32)
            assert the_same([x[:27] for x in got], [x[:27] for x in tt.quantize(wide, power_of_two=True)])
        for g, rows in ((0, slice(0, 12)), (1, slice(12, 12)), (2, slice(12, 27))):  # each as a product of its own
            of_a, of_b = scale_a.reshape(30, -1)[rows], scale_b[g].unsqueeze(0) if scale_b.dim() == 2 else scale_b[g]
            want = tt.scaled_mm_quantized(a[rows], b[g], of_a, of_b, bias, activation=activation, power_of_two=True)
            assert the_same([x[rows] for x in got], want)


def test_factors_are_read_where_they_lie(fake):
    a, b = fp8_of(40, 300), fp8_of(150, 300).t()
    scale_a, scale_b = torch.rand(40, 3), torch.rand(3, 2)
    want = tt.scaled_mm(a, b, scale_a, scale_b, out_dtype=torch.float32)
    assert (fake.problem.major_scale_a, fake.problem.scale_a.ld, fake.problem.major_scale_b, fake.problem.scale_b.ld) == (K, 3, MN, 2)
    columns, wide = scale_a.t().contiguous().t(), torch.rand(40, 9)
    wide[:, 2:5] = scale_a
    for other, major, ld in [(columns, MN, 40), (wide[:, 2:5], K, 9), (wide[:, 2:5].flip(1).flip(1), K, 3)]:
        assert torch.equal(tt.scaled_mm(a, b, other, scale_b.t().contiguous().t(), out_dtype=torch.float32), want)
        assert (fake.problem.major_scale_a, fake.problem.scale_a.ld, fake.problem.major_scale_b) == (major, ld, K)


def test_grouped_mm(fake):
    a, b = torch.randn(50, 32).bfloat16(), torch.randn(4, 24, 32).bfloat16().transpose(1, 2)
    offs = torch.tensor([5, 5, 30, 41], dtype=torch.int32)
    for weights, major, ld in ((b, K, 32), (b.contiguous(), MN, 24)):  # neither is copied
        d = tt.grouped_mm(a, weights, offs)
        begin = 0
        for g, end in enumerate(offs.tolist()):
            assert torch.equal(d[begin:end], (a[begin:end].float() @ b[g].float()).bfloat16())
            begin = end
        assert (fake.problem.grouping, fake.problem.batch, fake.problem.m) == (1, 4, 50)
        assert (fake.problem.major_b, fake.problem.b.ld) == (major, ld)


def test_grouped_mm_along_k(fake):
    x, y, offs = torch.randn(50, 24).bfloat16(), torch.randn(50, 32).bfloat16(), torch.tensor([5, 5, 30, 41], dtype=torch.int32)
    for a, b, majors in [(x.t(), y, (MN, MN)), (x.t().contiguous(), y, (K, MN)), (x.t(), y.t().contiguous().t(), (MN, K))]:
        d = tt.grouped_mm(a, b, offs, out_dtype=torch.float32)
        assert (fake.problem.grouping, fake.problem.batch, fake.problem.k) == (4, 4, 50)
        assert (fake.problem.major_a, fake.problem.major_b) == majors
        for g, k in enumerate(map(slice, (0, 5, 5, 30), offs.tolist())):
            assert torch.equal(d[g], x[k].float().t() @ y[k].float())


def test_scaled_grouped_mm_along_k(fake):
    a, b, offs = fp8_of(50, 384), fp8_of(130, 384).t(), torch.tensor([128, 128, 384], dtype=torch.int32)
    for sa, sb in [((150,), (390,)), ((3, 50), (3, 130)), ((50, 3), (3, 130)), ((50, 3), (3, 2))]:
        scale_a, scale_b = torch.rand(sa), torch.rand(sb)
        d = tt.scaled_grouped_mm(a, b, scale_a, scale_b, offs, out_dtype=torch.float32)
        for g, k in ((0, slice(0, 128)), (1, slice(128, 128)), (2, slice(128, 384))):
            blocks = slice(k.start // 128, k.stop // 128)
            by_blocks = sa == (50, 3)
            of_a = scale_a[:, blocks] if by_blocks else scale_a.reshape(3, 50, 1)[g]
            of_b = scale_b[blocks] if by_blocks else scale_b.reshape(3, 1, 130)[g]
            want = tt.scaled_mm(a[:, k], b[k], of_a, of_b, out_dtype=torch.float32) if k.start < k.stop else torch.zeros(50, 130)
            assert torch.equal(d[g], want)
    with pytest.raises(tcq.UsageError, match="sizes"):
        tt.grouped_mm(torch.rand(5, 8).half(), torch.rand(8, 8).half(), torch.tensor([1, 2, 5]))
    with pytest.raises(tcq.UsageError, match="factors of"):
        tt.scaled_grouped_mm(a, b, torch.rand(40), torch.rand(390), offs)


def test_scaled_grouped_mm(fake):
    a, b = fp8_of(50, 256), fp8_of(3, 130, 256).transpose(1, 2)
    offs = torch.tensor([20, 20, 50], dtype=torch.int32)
    for scale_a, scale_b in [(torch.rand(50), torch.rand(3, 130)), (torch.rand(50, 2), torch.rand(3, 2, 2)),
                             (torch.rand(50, 2), torch.rand(3, 2, 130))]:
        d = tt.scaled_grouped_mm(a, b, scale_a, scale_b, offs, out_dtype=torch.float32)
        wide_a = dequantized(a, scale_a.reshape(50, -1))
        for g, (begin, end) in enumerate([(0, 20), (20, 20), (20, 50)]):
            of_b = scale_b[g].unsqueeze(1) if scale_b.dim() == 2 else scale_b[g].t().contiguous()
            torch.testing.assert_close(d[begin:end], wide_a[begin:end] @ dequantized(b[g].t(), of_b).t(), rtol=1e-4, atol=1e-3)


def test_the_names_of_deepgemm(fake):
    a, b, sfa, sfb = fp8_of(40, 300), fp8_of(150, 300), torch.rand(40, 3), torch.rand(2, 3)
    want = dequantized(a, sfa) @ dequantized(b, sfb).t()
    d, c = torch.empty(40, 150), torch.randn(40, 150)
    tt.fp8_gemm_nt((a, sfa), (b, sfb), d, recipe=(1, 128, 128))
    torch.testing.assert_close(d, want, rtol=1e-4, atol=1e-3)
    tt.fp8_gemm_nt((a, sfa), (b, sfb), d, c=c)
    torch.testing.assert_close(d, want + c, rtol=1e-4, atol=1e-3)
    x, y = torch.randn(40, 300).bfloat16(), torch.randn(150, 300).bfloat16()
    tt.fp8_gemm_nt((x, None), (y, None), d)
    torch.testing.assert_close(d, x.float() @ y.float().t())
    assert fake.problem.promotes == 0
    a, b, sfa, sfb = fp8_of(384, 128), fp8_of(2, 150, 128), torch.rand(384, 1), torch.rand(2, 2, 1)
    group = torch.tensor([1] * 128 + [-1] * 128 + [0] * 128, dtype=torch.int32)
    d = torch.full((384, 150), 7.0)
    tt.m_grouped_fp8_gemm_nt_contiguous((a, sfa), (b, sfb), d, group)
    for rows, g in ((slice(0, 128), 1), (slice(256, 384), 0)):
        torch.testing.assert_close(d[rows], dequantized(a[rows], sfa[rows]) @ dequantized(b[g], sfb[g]).t(), rtol=1e-4, atol=1e-3)
    tt.m_grouped_fp8_gemm_nt_contiguous((a, sfa), (b, sfb), d, torch.tensor([3, 384], dtype=torch.int32), use_psum_layout=True)
    torch.testing.assert_close(d[:3], dequantized(a[:3], sfa[:3]) @ dequantized(b[0], sfb[0]).t(), rtol=1e-4, atol=1e-3)
    masked, counts = torch.full((2, 192, 150), 7.0), torch.tensor([0, 100], dtype=torch.int32)
    tt.m_grouped_fp8_gemm_nt_masked((a.view(2, 192, 128), sfa.view(2, 192, 1)), (b, sfb), masked, counts, 64)
    torch.testing.assert_close(masked[1, :100], dequantized(a[192:292], sfa[192:292]) @ dequantized(b[1], sfb[1]).t(), rtol=1e-4, atol=1e-3)
    assert (masked[0] == 7).all() and (masked[1, 100:] == 7).all()
    assert (fake.problem.grouping, fake.problem.expected_rows, fake.problem.promotes) == (2, 64, 1)


def test_what_fp8_refuses(fake):
    a, b = fp8_of(40, 300), fp8_of(150, 300).t()
    one = torch.ones(1)
    with pytest.raises(tcq.UsageError, match=r"factors of \[40, 2\] and \[150, 1\]: expected"):
        tt.scaled_mm(a, b, torch.rand(40, 2), torch.rand(1, 150))
    with pytest.raises(tcq.UsageError, match="float32 on"):
        tt.scaled_mm(a, b, one.double(), one.double())
    codes = torch.full((4096,), 127, dtype=torch.uint8).view(E4M3)
    for scale_a, scale_b in ((codes, torch.rand(2, 3)), (torch.rand(40, 3), codes), (codes, codes)):
        with pytest.raises(tcq.UsageError, match="factors: .*: expected float32 on"):
            tt.fp8_gemm_nt((a, scale_a), (b.t(), scale_b), torch.empty(40, 150))
    with pytest.raises(tcq.UsageError, match="FP8 with factors"):
        tt.scaled_mm(a.bfloat16(), b.bfloat16(), one, one)
    with pytest.raises(tcq.UsageError, match="the bias"):
        tt.scaled_mm(a, b, one, one, bias=torch.rand(150))
    with pytest.raises(tcq.UsageError, match=r"sizes: \[3\] of int64"):
        tt.grouped_mm(torch.rand(5, 8).half(), torch.rand(3, 8, 8).half(), torch.tensor([1, 2, 5]))
    with pytest.raises(tcq.UsageError, match="a and b"):
        tt.mm(a, b)
    with pytest.raises(tcq.UsageError, match="rows that are contiguous"):
        tt.fp8_gemm_nt((a, torch.rand(40, 3)), (b.t(), torch.rand(2, 3)), torch.empty(150, 40).t())


def test_what_quantized_products_refuse(fake):
    a, b, one = fp8_of(40, 300), fp8_of(150, 300).t(), torch.ones(1)
    groups, offs = fp8_of(2, 150, 300).transpose(1, 2), torch.tensor([7, 40], dtype=torch.int32)
    call = tt.scaled_mm_quantized
    for refused, sentence in [
        (lambda: call(a, b.t(), one, one), "a and b: .*: expected M x K and K x N"),
        (lambda: call(a, b, one, one, offs=offs), "a and b: .*: expected M x K and G x K x N"),
        (lambda: call(a.bfloat16(), b.bfloat16(), one, one), "of bfloat16 on cpu, .*: expected float8_e4m3fn or float8_e5m2, with"),
        (lambda: call(a, b, one, one, dtype=torch.bfloat16), "dtype torch.bfloat16: expected float8_e4m3fn or float8_e5m2"),
        (lambda: call(a, b, one, one, activation="tanh"), "activation 'tanh': expected none, relu"),
        (lambda: call(a, b[:, :149], one, one, activation="swiglu"), r"b: \[300, 149\] .*: expected an even N"),
        (lambda: call(a, b, torch.rand(40, 2), torch.rand(1, 150)), r"factors of \[40, 2\] and \[150, 1\]: expected"),
        (lambda: call(a, b, one.half(), one), "expected float32 on cpu"),
        (lambda: call(a, groups, torch.rand(40), torch.rand(3, 150), offs=offs), "expected a matrix of them for each of"),
        (lambda: call(a, groups, torch.rand(40), torch.rand(150), offs=offs), "expected a matrix of them for each of"),
        (lambda: call(a, groups, torch.rand(40), torch.rand(2, 150), offs=offs.long()), r"sizes: \[2\] of int64"),
        (lambda: call(a, b, one, one, torch.rand(150).double()), "the bias: .*: expected .150. of float32 or bfloat16 or float16"),
        (lambda: call(a, b, one, one, torch.rand(75), activation="swiglu"), "the bias: .75. of float32"),
    ]:
        with pytest.raises(tcq.UsageError, match=sentence):
            refused()
    with pytest.raises(tcq.UsageError, match="expected a matrix of them for each of"):
        tt.scaled_grouped_mm(a, groups, torch.rand(40), torch.rand(3, 150), offs)


def test_quantized_products_of_nothing(fake):
    for m, n, k in [(0, 150, 300), (5, 0, 300), (5, 150, 0)]:
        d, scale_d = tt.scaled_mm_quantized(fp8_of(m, k), fp8_of(n, k).t(), torch.ones(1), torch.ones(1))
        assert (tuple(d.shape), tuple(scale_d.shape)) == ((m, n), (m, (n + 127) // 128))
        assert (scale_d == 1).all() and (d.float() == 0).all()


def test_quantized_products_compile(fake):
    w, scale_w = tt.quantize(torch.randn(300, 150), block="block_128")

    def step(x, scale_x):
        for _ in range(2):
            x, scale_x = tt.scaled_mm_quantized(x, w.t(), scale_x, scale_w.t(), activation="swiglu")
        return x.view(torch.uint8), scale_x, tt.scaled_mm(x, w.t(), scale_x, scale_w.t())

    for dynamic in (False, True):
        whole = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=dynamic)
        for rows in (3, 5):
            x = tt.quantize(torch.randn(rows, 150))
            assert all(torch.equal(got, want) for got, want in zip(whole(*x), step(*x)))


def test_the_operator_takes_factors_of_d_or_none(fake):
    a, b, one = fp8_of(4, 8), fp8_of(6, 8), torch.ones(1, 1)
    given = (a, b, one, one, None, None, None)
    for d, scale_d in ((torch.empty(4, 6), None), (torch.empty(4, 6, dtype=E4M3), torch.empty(4, 1))):
        before = d._version
        torch.ops.tcq.fp8_gemm(*given, d, True, 0, 0, scale_d)
        assert d._version == before + 1 and (scale_d is None or scale_d._version == 1)
    wide = (a.bfloat16(), b.bfloat16(), *[None] * 5, torch.empty(4, 6), False, 0, 0, None)
    torch.library.opcheck(torch.ops.tcq.fp8_gemm.default, wide)
    tensors = (*given, torch.empty(4, 6, dtype=E4M3), True, 0, 0, torch.empty(4, 1))
    torch.library.opcheck(torch.ops.tcq.fp8_gemm.default, tensors, test_utils=("test_autograd_registration", "test_faketensor"))


def test_fp8_without_data():
    with FakeTensorMode():
        a, b, one = torch.empty(40, 300, dtype=E4M3), torch.empty(150, 300, dtype=E4M3).t(), torch.empty(1)
        assert tt.scaled_mm(a, b, one, one).shape == (40, 150)
        d, scale_d = tt.scaled_mm_quantized(a, b, one, one, activation="swiglu", dtype=E5M2)
        assert (d.dtype, tuple(d.shape), tuple(scale_d.shape)) == (E5M2, (40, 75), (40, 1))
        q, factors = tt.quantize(torch.empty(40, 300), block="block_128")
        assert (q.dtype, tuple(factors.shape)) == (E4M3, (1, 3))
