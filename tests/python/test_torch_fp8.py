"""FP8 and groups of tcq.torch on the CPU over the fake library of fake_gemm.c: what is asked of the library, and that factors and
groups are the right ones. Without torch it says what was skipped."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: FP8 of tcq.torch is NOT tested")
if not hasattr(torch.library, "custom_op"):
    pytest.skip(f"PyTorch {torch.__version__} has no torch.library.custom_op: FP8 of tcq.torch is NOT tested", allow_module_level=True)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import tcq  # noqa: E402
import tcq.torch as tt  # noqa: E402
from tcq import _gemm  # noqa: E402

K, MN = _gemm.K_MAJOR, _gemm.MN_MAJOR
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2


def fp8_of(*shape, dtype=E4M3):
    return torch.randn(shape).to(dtype)


def dequantized(x, factors):
    """By factors of blocks, whatever they are for."""
    lines, blocks = factors.shape[-2:]
    down = x.shape[-2] if lines == 1 else 128 if lines < x.shape[-2] else 1
    across = 128 if blocks > 1 else x.shape[-1]
    wide = factors.repeat_interleave(down, -2)[..., :x.shape[-2], :].repeat_interleave(across, -1)[..., :x.shape[-1]]
    return x.float() * wide


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
        tt.scaled_mm(a, b, scale_a, scale_b, use_fast_accum=True)
        assert fake.problem.promotes == 0
    bias = torch.randn(150)
    d = tt.scaled_mm(a, b, torch.ones(1), torch.ones(1), bias=bias, out_dtype=torch.float32)
    torch.testing.assert_close(d, a.float() @ b.float() + bias)


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
    d = tt.grouped_mm(a, b, offs)
    begin = 0
    for g, end in enumerate(offs.tolist()):
        assert torch.equal(d[begin:end], (a[begin:end].float() @ b[g].float()).bfloat16())
        begin = end
    assert (fake.problem.grouping, fake.problem.batch, fake.problem.m) == (1, 4, 50)


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


def test_fp8_without_data():
    with FakeTensorMode():
        a, b, one = torch.empty(40, 300, dtype=E4M3), torch.empty(150, 300, dtype=E4M3).t(), torch.empty(1)
        assert tt.scaled_mm(a, b, one, one).shape == (40, 150)
        q, factors = tt.quantize(torch.empty(40, 300), block="block_128")
        assert (q.dtype, tuple(factors.shape)) == (E4M3, (1, 3))
