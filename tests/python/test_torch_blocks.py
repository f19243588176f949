"""Factors of blocks, a byte each, of tcq.torch on the CPU over the fake library of fake_gemm.c: products of MXFP8, MXFP4 and NVFP4,
and D as one of them, bit for bit beside what torch computes. Without torch, or its dtypes, it says what was skipped."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: factors of blocks of tcq.torch are NOT tested")
if not hasattr(torch, "float4_e2m1fn_x2") or not hasattr(torch, "float8_e8m0fnu"):
    pytest.skip(f"PyTorch {torch.__version__} has no float4_e2m1fn_x2: factors of blocks of tcq.torch are NOT tested",
                allow_module_level=True)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import tcq  # noqa: E402
import tcq.torch as tt  # noqa: E402
from tcq import _gemm  # noqa: E402

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
E2M1, E8M0 = torch.float4_e2m1fn_x2, torch.float8_e8m0fnu
BLOCK = {E8M0: 32, E4M3: 16}  # by the factors' dtype
KINDS = [(E4M3, E8M0), (E5M2, E8M0), (E2M1, E8M0), (E2M1, E4M3)]  # elements and factors


# --- the same in torch ------------------------------------------------------------------------------


def padded_to(matrix, rows, columns):
    return torch.nn.functional.pad(matrix, (0, columns - matrix.shape[1], 0, rows - matrix.shape[0]))


def atoms_of(factors):
    """Whole atoms of a matrix of lines x blocks, one dimension: by reshapes."""
    down, across = (factors.shape[0] + 127) // 128, (factors.shape[1] + 3) // 4
    matrix = padded_to(factors.view(torch.uint8), 128 * down, 4 * across)
    return matrix.view(down, 4, 32, across, 4).permute(0, 3, 2, 1, 4).flatten().view(factors.dtype)


def factors_of(atoms, lines, blocks):
    """Back again."""
    down, across = (lines + 127) // 128, (blocks + 3) // 4
    matrix = atoms.view(torch.uint8).view(down, across, 32, 4, 4).permute(0, 3, 2, 1, 4).reshape(128 * down, 4 * across)
    return matrix[:lines, :blocks].contiguous().view(atoms.dtype)


def packed(codes):
    """float4_e2m1fn_x2 of codes, a byte each."""
    return (codes[:, 0::2] | codes[:, 1::2] << 4).view(E2M1)


def wide(x):
    """The elements in float32."""
    if x.dtype != E2M1:
        return x.float()
    codes = x.view(torch.uint8)
    codes = torch.stack((codes & 15, codes >> 4), -1).flatten(1).long()
    return torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])[codes]


def dequantized(x, atoms):
    """Elements times their factors."""
    elements, block = wide(x), BLOCK[atoms.dtype]
    factors = factors_of(atoms, x.shape[0], (elements.shape[1] + block - 1) // block).float()
    return elements * factors.repeat_interleave(block, 1)[:, :elements.shape[1]]


def drawn(lines, k, dtype, of):
    """Elements and factors whose sums of products are exact in float32 in any order, and what they stand for."""
    blocks = (k + BLOCK[of] - 1) // BLOCK[of]
    x = packed(torch.randint(0, 16, (lines, k), dtype=torch.uint8)) if dtype == E2M1 else torch.randint(-7, 8, (lines, k)).to(dtype)
    atoms = atoms_of((2.0 ** torch.randint(-2, 3, (lines, blocks)) if of == E8M0 else
                      torch.randint(1, 9, (lines, blocks)) / 8).to(of))
    return x, atoms, dequantized(x, atoms)


def code_of_largest(largest, dtype, of):
    """Factors, by sim/num/quantize.h."""
    exact = largest / (6 if dtype == E2M1 else torch.finfo(dtype).max)
    if of == E4M3:
        return torch.where(largest == 0, 1, exact.clamp(2.0 ** -9, 448)).to(E4M3)
    exponent = (torch.frexp(exact.clamp_min(2.0 ** -126)).exponent - (torch.frexp(exact).mantissa == 0.5).int()).clamp_min(-126)
    return torch.where(largest == 0, 127, exponent + 127).to(torch.uint8).view(E8M0)


def nearest_e2m1(x):
    """Codes: steps of 0.5 below 2, of 1 below 4, of 2 from there on, ties to even; a NaN is 6."""
    size = x.abs().clamp_max(6)
    step = torch.where(size < 2, 0.5, torch.where(size < 4, 1, 2))
    size = torch.round(size / step) * step
    code = torch.where(size < 2, 2 * size, torch.where(size < 4, size + 2, size / 2 + 4))
    return torch.where(x.isnan(), 7, code + 8 * torch.signbit(x)).to(torch.uint8)


def quantized_by_torch(x, dtype, of):
    """Of a float32 matrix: elements, and factors as lines x blocks."""
    block = BLOCK[of]
    whole = torch.nn.functional.pad(x, (0, -x.shape[1] % block)).unflatten(1, (-1, block))
    factors = code_of_largest(torch.where(whole.isfinite(), whole.abs(), 0).amax(-1), dtype, of)
    scaled = (whole * (1 / factors.float()).unsqueeze(-1)).flatten(1)[:, :x.shape[1]].contiguous()
    if dtype == E2M1:
        return packed(nearest_e2m1(scaled)), factors
    most = torch.finfo(dtype).max
    codes = torch.where(scaled.isnan(), 0x7f, scaled.clamp(-most, most).to(dtype).view(torch.uint8)).to(torch.uint8)
    return codes.view(dtype), factors


def the_same(x, y):
    return x.dtype == y.dtype and torch.equal(x.view(torch.uint8), y.view(torch.uint8))


def expect_quantized(got, want, dtype, of):
    """What scaled_mm_quantized gave is what torch makes of the float32 matrix `want`."""
    elements, factors = quantized_by_torch(want, dtype, of)
    columns = -(-want.shape[1] // BLOCK[of])
    assert the_same(got[0], elements)
    assert the_same(factors_of(got[1], len(want), columns), factors)
    assert got[1].dim() == 1 and got[1].numel() == (len(want) + 127) // 128 * 128 * ((columns + 3) // 4 * 4)


# --- products ---------------------------------------------------------------------------------------


def test_atoms_are_pytorchs():
    """Factor (mn, s) is byte 16 * (mn % 32) + 4 * (mn % 128 / 32) + s % 4 of its atom."""
    factors = torch.randint(0, 255, (200, 7), dtype=torch.uint8)
    atoms = atoms_of(factors)
    assert atoms.numel() == 256 * 8 and the_same(factors_of(atoms, 200, 7), factors)
    for mn, s in [(0, 0), (31, 3), (32, 0), (127, 4), (128, 6), (199, 6)]:
        assert atoms[512 * (mn // 128 * 2 + s // 4) + 16 * (mn % 32) + 4 * (mn % 128 // 32) + s % 4] == factors[mn, s]


@pytest.mark.parametrize("dtype, of", KINDS)
@pytest.mark.parametrize("m, n, k", [(1, 1, 2), (40, 130, 96), (130, 33, 150), (7, 256, 288)])
def test_scaled_mm(fake, dtype, of, m, n, k):
    a, scale_a, wide_a = drawn(m, k, dtype, of)
    b, scale_b, wide_b = drawn(n, k, E4M3 if dtype == E5M2 else dtype, of)
    bias = torch.randint(-9, 9, (n,)).float()
    for out in (torch.float32, torch.bfloat16, torch.float16):
        d = tt.scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=out)
        assert the_same(d, (wide_a @ wide_b.t()).to(out))
        p = fake.problem
        assert (p.m, p.n, p.k, p.batch, p.scaling, p.promotes, p.quantized) == (m, n, k, 1, 0, 0, -1)
        assert (p.block_scaling, p.block_scaling_d) == (1 if of == E8M0 else 2, 0)
        assert (p.in_, p.in_b) == {E4M3: (7, 7), E5M2: (8, 7), E2M1: (9, 9)}[dtype]
        assert the_same(tt.scaled_mm(a, b.t(), scale_a, scale_b, bias.to(out), out), (wide_a @ wide_b.t() + bias).to(out))


@pytest.mark.parametrize("dtype, of", KINDS)
def test_products_are_those_of_tcq_gemm(fake, dtype, of):
    """Which takes factors in their natural shape."""
    a, scale_a, _ = drawn(20, 96, dtype, of)
    b, scale_b, _ = drawn(130, 96, dtype, of)
    blocks = 96 // BLOCK[of]
    natural = [factors_of(s, lines, blocks).view(torch.uint8).numpy() for s, lines in ((scale_a, 20), (scale_b, 130))]
    want = tcq.gemm(a.view(torch.uint8).numpy(), b.view(torch.uint8).numpy().T, type={E4M3: "e4m3", E5M2: "e5m2", E2M1: "e2m1"}[dtype],
                    out_type="f32", scaling="ue8m0_block32" if of == E8M0 else "ue4m3_block16", scale_a=natural[0],
                    scale_b=natural[1].T, packed=dtype == E2M1)
    assert torch.equal(tt.scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.float32), torch.from_numpy(want))


def test_operands_where_they_lie_and_factors_of_any_shape(fake):
    a, scale_a, wide_a = drawn(40, 96, E2M1, E4M3)
    b, scale_b, wide_b = drawn(130, 96, E2M1, E4M3)
    rows = torch.zeros(40, 80, dtype=torch.uint8).view(E2M1)
    rows.view(torch.uint8)[:, 16:64] = a.view(torch.uint8)
    columns = a.view(torch.uint8).t().contiguous().view(E2M1).t()
    for left, ld in ((a, 96), (rows[:, 16:64], 160), (columns, 96)):
        tt.plan_cache.clear()
        d = tt.scaled_mm(left, b.t(), scale_a.view(128, 8), scale_b.view(2, 2, 32, 16), out_dtype=torch.float32)
        assert torch.equal(d, wide_a @ wide_b.t())
        assert (fake.problem.a.ld, fake.problem.b.ld) == (ld, 96)


def test_what_fills_up_rows_of_atoms_is_not_looked_at(fake):
    a, scale_a, wide_a = drawn(40, 96, E4M3, E8M0)
    b, scale_b, wide_b = drawn(20, 96, E4M3, E8M0)
    rows = factors_of(scale_a, 128, 4).view(torch.uint8)
    rows[40:] = 255
    d = tt.scaled_mm(a, b.t(), atoms_of(rows).view(E8M0), scale_b, out_dtype=torch.float32)
    assert torch.equal(d, wide_a @ wide_b.t())


@pytest.mark.parametrize("dtype, of", KINDS)
def test_one_number_for_all_of_a_matrix_beside_factors_of_blocks(fake, dtype, of):
    """NVFP4's second level, read on the device: plans do not depend on it."""
    a, scale_a, wide_a = drawn(40, 96, dtype, of)
    b, scale_b, wide_b = drawn(130, 96, dtype, of)
    for x, y in ((0.5, 4.0), (-2.0, 0.25)):
        levels = [scale_a, torch.tensor(x)], (scale_b, torch.tensor([y]))
        assert the_same(tt.scaled_mm(a, b.t(), *levels, out_dtype=torch.float32), wide_a * x @ wide_b.t() * y)
        assert (fake.problem.scaling, fake.problem.block_scaling) == (1, 1 if of == E8M0 else 2)
        q = tt.scaled_mm_quantized(a, b[:128].t(), levels[0], (atoms_of(factors_of(scale_b, 130, 96 // BLOCK[of])[:128]), levels[1][1]))
        expect_quantized(q, wide_a * x @ wide_b[:128].t() * y, dtype, of)
    assert tt.plan_cache.info().misses == 2


# --- groups -----------------------------------------------------------------------------------------


def atoms_of_groups(factors, ends):
    """Each group's begin with an atom."""
    return torch.cat([atoms_of(factors[begin:end]).view(torch.uint8) for begin, end in zip([0, *ends], ends) if end > begin])


@pytest.mark.parametrize("dtype, of", KINDS)
def test_scaled_grouped_mm(fake, dtype, of):
    k, ends = 96, [0, 40, 41, 41, 300]
    blocks = k // BLOCK[of]
    a, scale_a, wide_a = drawn(310, k, dtype, of)
    factors = factors_of(scale_a, 310, blocks).view(torch.uint8)
    matrices = [drawn(130, k, dtype, of) for _ in ends]
    b = torch.stack([m[0].view(torch.uint8) for m in matrices]).view(dtype)
    scale_b = torch.cat([m[1].view(torch.uint8) for m in matrices]).view(of)
    bias, offs = torch.randint(-9, 9, (130,)).float(), torch.tensor(ends, dtype=torch.int32)
    exact = atoms_of_groups(factors, ends)
    whole = torch.full((512 * ((310 + 127 * 4 + 127) // 128) * ((blocks + 3) // 4),), 255, dtype=torch.uint8)
    whole[:exact.numel()] = exact
    for atoms in (exact, whole, torch.cat((whole, whole))):
        for times in (None, torch.tensor(8.0), 2.0 ** torch.arange(5)):
            levels = (atoms.view(of), scale_b)
            if times is not None:
                levels = (levels[0], torch.tensor(0.5)), (scale_b, times)
            d = tt.scaled_grouped_mm(a, b.transpose(1, 2), *levels, offs, bias=bias, out_dtype=torch.float32)
            assert (fake.problem.grouping, fake.problem.batch, fake.problem.k) == (1, 5, k)
            both = torch.ones(5) if times is None else 0.5 * times.expand(5)
            for begin, end, (_, _, wide_b), of_group in zip([0, *ends], ends, matrices, both):
                want = wide_a[begin:end] @ wide_b.t() * of_group + bias
                assert torch.equal(d[begin:end], want)


def test_what_groups_refuse(fake):
    a, sa, _ = drawn(40, 96, E4M3, E8M0)
    b, sb, _ = drawn(130, 96, E4M3, E8M0)
    b, offs = b.unsqueeze(0).transpose(1, 2), torch.tensor([40], dtype=torch.int32)
    call = tt.scaled_grouped_mm
    for refused, sentence in [
        (lambda: call(a, b, sa, sb, offs.long()), r"sizes: .*: expected \[1\] of int32"),
        (lambda: call(a, b, sa[:-4], sb, offs), "expected multiples of 512, each group's from one on, and 1024, contiguous"),
        (lambda: call(a, b, sa, sa, offs), "expected multiples of 512"),
        (lambda: call(a, b, sa, sb, offs, bias=torch.ones(130)), r"the bias: .*: expected \[130\] of bfloat16"),
        (lambda: call(a, b, (sa, torch.ones(1)), sb, offs), "expected float32 for each of a and b, or for neither"),
        (lambda: call(a, b, (sa, torch.ones(2)), sb, offs), r"the float32 of scale_a: \[2\] of float32 .*: expected one float32"),
        (lambda: call(a, b, (sa, 1.0), sb, offs), "scale_a: expected factors of blocks, or a pair of them and of one float32"),
        (lambda: tt.scaled_mm_quantized(a, b[0], (torch.ones(1), torch.ones(1)), torch.ones(1)), "expected a tensor, or a pair of"),
    ]:
        with pytest.raises(tcq.UsageError, match=sentence):
            refused()


# --- D with factors ---------------------------------------------------------------------------------


def of_operands(kind):
    """Of bfloat16 or of a kind: operands 40 x 64 and 300 x 64, factors of each or None, and their product."""
    if kind is None:
        a, b = torch.randn(40, 64).bfloat16(), torch.randn(300, 64).bfloat16()
        return a, b, None, None
    a, scale_a, _ = drawn(40, 64, *kind)
    b, scale_b, _ = drawn(300, 64, *kind)
    return a, b, scale_a, scale_b


def in_float32(a, b, scale_a, scale_b, bias, activation):
    """What is quantized."""
    d = torch.empty(a.shape[0], b.shape[0] // (2 if activation == "swiglu" else 1))
    torch.ops.tcq.fp8_gemm(a, b, scale_a, scale_b, None, bias, None, d, False, 0, 0, None, _gemm.ACTIVATIONS[activation])
    return d


PAIRS = [(None, to) for to in KINDS] + [(given, to) for given, to in itertools.product(KINDS, KINDS) if given[1] == to[1]]


@pytest.mark.parametrize("given, to", PAIRS)
def test_scaled_mm_quantized(fake, given, to):
    a, b, scale_a, scale_b = of_operands(given)
    dtype, of = to
    for activation, columns, with_bias in itertools.product(("none", "swiglu"), (300, 136, 4), (False, True)):
        of_b = scale_b if scale_b is None else atoms_of(factors_of(scale_b, 300, 64 // BLOCK[of])[:columns])
        given_b = b[:columns]
        bias = torch.randn(columns) if with_bias else None
        d = tt.scaled_mm_quantized(a, given_b.t(), scale_a, of_b, bias, activation=activation, dtype=dtype, scale_dtype=of)
        p = fake.problem
        assert (p.quantized, p.block_scaling_d) == ({E4M3: 7, E5M2: 8, E2M1: 9}[dtype], 1 if of == E8M0 else 2)
        assert (p.block_scaling, p.out) == (0 if given is None else p.block_scaling_d, 5 if with_bias else 1)
        assert (p.scale_d.ld, p.d.ld) == (-1, columns // (2 if activation == "swiglu" else 1))
        expect_quantized(d, in_float32(a, given_b, scale_a, of_b, bias, activation), dtype, of)


@pytest.mark.parametrize("given, to", PAIRS)
def test_scaled_mm_quantized_of_groups(fake, given, to):
    """What the product of each group alone gives, its factors from whole atoms on; the next groups read them."""
    dtype, of = to
    ends = [0, 30, 31, 31, 200]
    offs, groups = torch.tensor(ends, dtype=torch.int32), len(ends)
    blocks = 64 // BLOCK[of]
    if given is None:
        a, b, levels = torch.randn(210, 64).bfloat16(), torch.randn(groups, 200, 64).bfloat16(), (None, None)
    else:
        a, scale_a, _ = drawn(210, 64, *given)
        matrices = [drawn(200, 64, *given) for _ in ends]
        b = torch.stack([m[0].view(torch.uint8) for m in matrices]).view(a.dtype)
        levels = (atoms_of_groups(factors_of(scale_a, 210, blocks).view(torch.uint8), ends).view(of),
                  torch.cat([m[1].view(torch.uint8) for m in matrices]).view(of))
    for activation, halves in (("none", 1), ("swiglu", 2)):
        d, scale_d = tt.scaled_mm_quantized(a, b.transpose(1, 2), *levels, activation=activation, dtype=dtype, scale_dtype=of,
                                            offs=offs)
        assert (fake.problem.grouping, fake.problem.batch, fake.problem.block_scaling_d) == (1, groups, 1 if of == E8M0 else 2)
        across = (200 // halves + BLOCK[of] - 1) // BLOCK[of]
        down = (210 + 127 * (groups - 1) + 127) // 128
        assert scale_d.numel() == down * 128 * ((across + 3) // 4 * 4)
        atoms = scale_d.view(torch.uint8).view(-1, 128 * ((across + 3) // 4 * 4))
        first = 0
        for g, (begin, end) in enumerate(zip([0, *ends], ends)):
            if end == begin:
                continue
            alone = tt.scaled_mm_quantized(a[begin:end], b[g].t(), *(() if given is None else (
                atoms_of(factors_of(scale_a, 210, blocks)[begin:end]), matrices[g][1])), activation=activation, dtype=dtype,
                scale_dtype=of)
            assert the_same(d[begin:end], alone[0])
            count = (end - begin + 127) // 128
            mine = atoms[first:first + count].flatten().view(of)
            assert the_same(factors_of(mine, end - begin, across), factors_of(alone[1], end - begin, across))
            first += count


def test_defaults_are_what_the_operands_have(fake):
    for given in (*KINDS, None):
        a, b, scale_a, scale_b = of_operands(given)
        for named in (E8M0, E4M3) if given is None else (None,):
            d, scale_d = tt.scaled_mm_quantized(a, b.t(), scale_a, scale_b, scale_dtype=named)
            assert (d.dtype, scale_d.dtype) == (given or (E4M3 if named == E8M0 else E2M1, named))


@pytest.mark.parametrize("dtype, of", KINDS)
def test_every_size_of_value(fake, dtype, of):
    """b through an identity: the bits of what is tiny, huge, zero, a tie, and no number."""
    b = torch.randn(160, 64) * torch.tensor([1e-42, 1e-38, 1e-9, 2e-4, 1e-3, 1, 448, 1e4, 1e30, 1e37]).repeat(16).unsqueeze(1)
    b[:, 7], b[:, 8] = 0, -0.0
    b[40:60] = (torch.arange(64) % 31 - 15) / 4.0  # of factors that are powers of two many of these are ties
    b[40:60, 3] = 6
    b[80:140, ::2] = 0
    b[120:136] = 0
    a, b, bias = torch.eye(64).bfloat16(), b.bfloat16(), torch.zeros(160)
    for special in (False, True):
        if special:
            bias[150:153] = torch.tensor([float("nan"), float("inf"), -float("inf")])
        want = in_float32(a, b, None, None, bias, "none")
        assert torch.equal(want[:, :150], b.float().t()[:, :150])
        for times in (None, 1.0, 0.3, 2.0 ** -100, 3e30):
            g = None if times is None else torch.tensor([times])
            got = tt.scaled_mm_quantized(a, b.t(), bias=bias, dtype=dtype, scale_dtype=of, global_scale=g)
            expect_quantized(got, want if g is None else want * g, dtype, of)


def test_a_number_for_all_is_read_on_the_device(fake):
    a, b, scale_a, scale_b = of_operands((E2M1, E4M3))
    for g in (torch.tensor(2.5), torch.tensor([2.5]), torch.tensor([[2.5]])):
        got = tt.scaled_mm_quantized(a, b.t(), scale_a, scale_b, global_scale=g)
        expect_quantized(got, in_float32(a, b, scale_a, scale_b, None, "none") * 2.5, E2M1, E4M3)
    assert tt.plan_cache.info().misses == 2  # plans do not depend on it


@pytest.mark.parametrize("dtype, of", KINDS)
def test_what_fills_up_atoms(fake, dtype, of):
    """Of columns: 0. Of rows: what was there."""
    a, b = torch.randn(130, 8).bfloat16(), torch.randn(100, 8).bfloat16()
    each = 2 if dtype == E2M1 else 1
    blocks = (100 + BLOCK[of] - 1) // BLOCK[of]
    d = torch.empty(130, 100 // each, dtype=dtype)
    scale_d = torch.full((256 * ((blocks + 3) // 4 * 4),), 99, dtype=torch.uint8).view(of)
    torch.ops.tcq.fp8_gemm(a, b, None, None, None, None, None, d, False, 0, 0, scale_d)
    found = factors_of(scale_d.view(torch.uint8), 256, (blocks + 3) // 4 * 4)
    assert (found[:130, blocks:] == 0).all() and (found[130:] == 99).all()
    want = quantized_by_torch(a.float() @ b.float().t(), dtype, of)
    assert found[:130, :blocks].tolist() == want[1].view(torch.uint8).tolist()


@pytest.mark.parametrize("dtype, of", KINDS)
def test_what_was_quantized_goes_into_the_next_product(fake, dtype, of):
    a, b = torch.randn(40, 64).bfloat16(), torch.randn(320, 64).bfloat16()
    w, scale_w, wide_w = drawn(70, 160, dtype, of)
    last, scale_last, wide_last = drawn(24, 70, dtype, of)
    x, scale_x = tt.scaled_mm_quantized(a, b.t(), activation="swiglu", dtype=dtype, scale_dtype=of)
    y, scale_y = tt.scaled_mm_quantized(x, w.t(), scale_x, scale_w)
    z = tt.scaled_mm(y, last.t(), scale_y, scale_last, out_dtype=torch.float32)
    between = in_float32(x, w, scale_x, scale_w, None, "none")
    torch.testing.assert_close(between, dequantized(x, scale_x) @ wide_w.t(), rtol=1e-4, atol=1e-2)
    expect_quantized((y, scale_y), between, dtype, of)
    torch.testing.assert_close(z, dequantized(y, scale_y) @ wide_last.t(), rtol=1e-4, atol=1e-1)


# --- what is refused --------------------------------------------------------------------------------


def test_what_products_refuse(fake):
    a, sa, _ = drawn(40, 96, E4M3, E8M0)
    b, sb, _ = drawn(130, 96, E4M3, E8M0)
    p, sp, _ = drawn(40, 96, E2M1, E8M0)
    q, sq, _ = drawn(130, 96, E2M1, E4M3)
    for refused, sentence in [
        (lambda: tt.scaled_mm(a, b.t(), sa[:-4], sb), r"factors: \[508\] of float8_e8m0fnu .*: expected 512 and 1024 contiguous ones"),
        (lambda: tt.scaled_mm(a, b.t(), sb, sb), "expected 512 and 1024 contiguous ones: whole atoms"),
        (lambda: tt.scaled_mm(a, b.t(), sa.view(4, 128).t(), sb), "expected 512 and 1024 contiguous ones"),
        (lambda: tt.scaled_mm(a, b.t(), sa, sq), "factors: .*: expected one dtype of float8_e8m0fnu or float8_e4m3fn"),
        (lambda: tt.scaled_mm(a, b.t(), sa, torch.ones(1)), "expected one dtype of"),
        (lambda: tt.scaled_mm(a, b.t(), torch.ones(1), sb), "expected one dtype of"),
        (lambda: tt.scaled_mm(a, b.t(), sa.view(E4M3), sb.view(E4M3)), "expected float4_e2m1fn_x2 with factors of float8_e4m3fn"),
        (lambda: tt.scaled_mm(a[:, :48], q.t(), sa, sb), "float4_e2m1fn_x2 only beside its like"),
        (lambda: tt.scaled_mm(a.bfloat16(), b.bfloat16().t(), sa, sb), "expected float8_e4m3fn or float8_e5m2 or float4_e2m1fn_x2 with"),
        (lambda: tt.scaled_mm(p, q.t(), torch.ones(1), torch.ones(1)), "types of the GEMM"),
        (lambda: tt.scaled_mm(a, b.t(), sa, sb, use_fast_accum=True), "use_fast_accum: expected none with factors of blocks"),
        (lambda: tt.scaled_mm(a, b.t(), sa, sb, out_dtype=torch.int32), "a result of int32: expected float32"),
        (lambda: tt.scaled_mm(a, b.t(), sa, sb, torch.ones(130)), r"the bias: .*: expected \[130\] of bfloat16"),
        (lambda: tt.scaled_mm(a, b, sa, sb), "expected M x K and K x N"),
    ]:
        with pytest.raises(tcq.UsageError, match=sentence):
            refused()
    with pytest.raises(tt.GemmError, match="factors"):
        tt.scaled_mm(a[:, :95], b[:, :95].t(), sa, sb)  # an odd K
    moved = torch.cat((sa.view(torch.uint8)[:1], sa.view(torch.uint8)))[1:].view(E8M0)
    with pytest.raises(tt.GemmError, match="an address"):
        tt.scaled_mm(a, b.t(), moved, sb)


def test_what_quantized_products_refuse(fake):
    a, sa, _ = drawn(40, 96, E4M3, E8M0)
    b, sb, _ = drawn(130, 96, E4M3, E8M0)
    p, sp, _ = drawn(40, 96, E2M1, E4M3)
    q, sq, _ = drawn(130, 96, E2M1, E4M3)
    x, y, one = torch.randn(40, 96).bfloat16(), torch.randn(130, 96).bfloat16(), torch.ones(1)
    call = tt.scaled_mm_quantized
    for refused, sentence in [
        (lambda: call(x, y.t()), "expected float8_e4m3fn or float8_e5m2, with factors, or a scale_dtype that is not float32"),
        (lambda: call(a, b.t()), "expected float8_e4m3fn or float8_e5m2, with factors"),
        (lambda: call(x, y.t(), scale_dtype=torch.float16), "scale_dtype torch.float16: expected float8_e8m0fnu or float8_e4m3fn or"),
        (lambda: call(a, b.t(), one, one, global_scale=one), "expected float8_e8m0fnu or float8_e4m3fn or float32, of which"),
        (lambda: call(x, y.t(), dtype=E4M3, scale_dtype=E4M3), "dtype torch.float8_e4m3fn with factors of torch.float8_e4m3fn: expected"),
        (lambda: call(x, y.t(), dtype=torch.bfloat16, scale_dtype=E8M0), "expected float8_e4m3fn or float8_e5m2 or float4_e2m1fn_x2"),
        (lambda: call(x.half(), y.half().t(), scale_dtype=E8M0), "expected factors of both, or bfloat16 on one device without"),
        (lambda: call(a, b.t(), scale_dtype=E8M0), "expected factors of both, or bfloat16"),
        (lambda: call(a, b.t(), sa, scale_dtype=E8M0), "expected factors of both, or bfloat16"),
        (lambda: call(a, b.t(), one, one, scale_dtype=E8M0), "expected one dtype of float8_e8m0fnu or float8_e4m3fn, or float32"),
        (lambda: call(p, q.t(), sp, sq, scale_dtype=E8M0), "factors: .*: expected torch.float8_e8m0fnu, as of the result"),
        (lambda: call(a, b.t(), sa, sb, scale_dtype=torch.float32), "factors: .*: expected float32 on cpu"),
        (lambda: call(p, q.t(), sp, sq, dtype=E4M3), "expected float4_e2m1fn_x2"),
        (lambda: call(a, b[:129].t(), sa, sb, dtype=E2M1), "129 columns of torch.float4_e2m1fn_x2: expected an even number"),
        (lambda: call(p, q.t(), sp, sq, activation="swiglu"), "65 columns of torch.float4_e2m1fn_x2: expected an even number"),
        (lambda: call(a, b.t(), sa, sb, power_of_two=True), "power_of_two: expected none with factors of blocks"),
        (lambda: call(a, b.t(), sa, sb, use_fast_accum=True), "use_fast_accum: expected none"),
        (lambda: call(a, b.t().unsqueeze(0), sa, sb, offs=torch.tensor([40])), r"sizes: .*: expected \[1\] of int32"),
        (lambda: call(a, b.t().unsqueeze(0), sa[:-4], sb, offs=torch.tensor([40], dtype=torch.int32)), "expected multiples of 512"),
        (lambda: call(a, b.t(), sa, sb, global_scale=torch.ones(2)), r"global_scale: \[2\] of float32 on cpu: expected one float32"),
        (lambda: call(a, b.t(), sa, sb, global_scale=one.double()), "global_scale: .*: expected one float32 on cpu"),
        (lambda: call(x, y.t(), scale_dtype=E8M0, bias=torch.ones(130).half()), r"the bias: .*: expected \[130\] of float32 or bfloat16"),
        (lambda: call(a, b.t(), sa, sb, torch.ones(65)), r"the bias: \[65\]"),
        (lambda: call(a, b.t(), sa, sb, activation="tanh"), "activation 'tanh': expected none, relu"),
    ]:
        with pytest.raises(tcq.UsageError, match=sentence):
            refused()


# --- the operator -----------------------------------------------------------------------------------


def test_nothing_to_multiply(fake):
    for m, n in [(0, 130), (5, 0)]:
        a, sa, _ = drawn(m, 96, E4M3, E8M0)
        b, sb, _ = drawn(n, 96, E4M3, E8M0)
        assert tt.scaled_mm(a, b.t(), sa, sb).shape == (m, n)
        d, scale_d = tt.scaled_mm_quantized(a, b.t(), sa, sb)
        assert (tuple(d.shape), scale_d.numel()) == ((m, n), 0)


@pytest.mark.parametrize("dtype, of", [(E4M3, E8M0), (E2M1, E4M3)])
def test_they_compile(fake, dtype, of):
    w, scale_w, _ = drawn(320, 160, dtype, of)
    first = torch.randn(160, 16).bfloat16()

    def step(x):
        q, scale_q = tt.scaled_mm_quantized(x, first.t(), dtype=dtype, scale_dtype=of)
        q, scale_q = tt.scaled_mm_quantized(q, w.t(), scale_q, scale_w, activation="swiglu")
        return q.view(torch.uint8), scale_q.numel(), tt.scaled_mm(q, w.t(), scale_q, scale_w)

    for dynamic, sizes in ((False, (40,)), (True, (40, 130))):
        whole = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=dynamic)
        for rows in sizes:
            x = torch.randn(rows, 16).bfloat16()
            got, want = whole(x), step(x)
            assert torch.equal(got[0], want[0]) and got[1] == want[1] and torch.equal(got[2], want[2])


def test_the_operator_is_what_torch_expects_of_one(fake):
    a, sa, _ = drawn(4, 64, E4M3, E8M0)
    b, sb, _ = drawn(6, 64, E4M3, E8M0)
    g = torch.ones(1)
    call = (a, b, sa, sb, None, None, None, torch.empty(4, 6, dtype=E4M3), False, 0, 0, torch.empty(512, dtype=E8M0), 0, False, g)
    torch.ops.tcq.fp8_gemm(*call)
    assert (call[7]._version, call[11]._version, g._version) == (1, 1, 0)
    torch.library.opcheck(torch.ops.tcq.fp8_gemm.default, call, test_utils=("test_autograd_registration", "test_faketensor"))


def test_shapes_without_data():
    with FakeTensorMode():
        a, b = torch.empty(40, 48, dtype=E2M1), torch.empty(130, 48, dtype=E2M1).t()
        sa, sb = torch.empty(128 * 8, dtype=E4M3), torch.empty(256 * 8, dtype=E4M3)
        assert tt.scaled_mm(a, b, sa, sb).shape == (40, 130)
        d, scale_d = tt.scaled_mm_quantized(a, b, sa, sb, global_scale=torch.empty(1))
        assert (d.dtype, tuple(d.shape), scale_d.dtype, tuple(scale_d.shape)) == (E2M1, (40, 65), E4M3, (128 * 12,))
        x = torch.empty(200, 64, dtype=torch.bfloat16)
        d, scale_d = tt.scaled_mm_quantized(x, x.t(), activation="swiglu", scale_dtype=E8M0)
        assert (d.dtype, tuple(d.shape), tuple(scale_d.shape)) == (E4M3, (200, 100), (256 * 4,))
