"""tcq.torch: shapes, layouts, gradients and compilation on the CPU over the fake library of fake_gemm.c, and the real
kernels where there is a Hopper GPU and libtcq_gemm.so; without torch or without a GPU it says what was skipped."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: tcq.torch is NOT tested")
if not hasattr(torch.library, "custom_op"):
    pytest.skip(f"PyTorch {torch.__version__} has no torch.library.custom_op: tcq.torch is NOT tested", allow_module_level=True)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import tcq  # noqa: E402
import tcq.torch as tt  # noqa: E402
from tcq import _gemm  # noqa: E402

K, MN = _gemm.K_MAJOR, _gemm.MN_MAJOR


def test_matrices_are_read_where_they_lie(fake):
    a, b = torch.randn(5, 8).bfloat16(), torch.randn(8, 6).bfloat16()
    want = (a.float() @ b.float()).bfloat16()
    wide, columns = torch.zeros(5, 20, dtype=torch.bfloat16), torch.zeros(8, 9, dtype=torch.bfloat16)
    wide[:, 8:16], columns[:, 2:8] = a, b
    lefts = [(a, K, 8), (a.t().contiguous().t(), MN, 5), (wide[:, 8:16], K, 20)]
    rights = [(b, MN, 6), (b.t().contiguous().t(), K, 8), (columns[:, 2:8], MN, 9)]
    for left, major_a, ld_a in lefts:
        for right, major_b, ld_b in rights:
            assert torch.equal(tt.mm(left, right), want)
            p = fake.problem
            assert (p.m, p.n, p.k, p.major_a, p.major_b, p.a.ld, p.b.ld) == (5, 6, 8, major_a, major_b, ld_a, ld_b)
            assert (p.in_, p.out, p.batch, p.alpha, p.beta, p.has_bias) == (1, 1, 1, 1, 0, 0)
    assert torch.equal(tt.mm(a, b), want) and fake.stream == 7 and fake.workspace is None


def test_what_has_no_such_layout_is_copied(fake):
    a, b = torch.randn(5, 16).bfloat16(), torch.randn(8, 12).bfloat16()
    assert torch.equal(tt.mm(a[:, ::2], b[:, ::2]), (a[:, ::2].float() @ b[:, ::2].float()).bfloat16())
    row = torch.randn(1, 8).bfloat16().expand(5, 8)
    assert torch.equal(tt.mm(row, b), (row.float() @ b.float()).bfloat16())
    f, g = torch.randn(4, 8), torch.randn(8, 6)  # wgmma reads tf32 K-major only
    torch.testing.assert_close(tt.mm(f.t().contiguous().t(), g, tf32=True), f @ g)
    assert (fake.problem.major_a, fake.problem.major_b, fake.problem.in_, fake.problem.out) == (K, K, 2, 5)


def test_lines_that_step_over_nothing(fake):
    for m, n, k in [(1, 1, 1), (1, 6, 8), (5, 1, 8), (5, 6, 1), (0, 6, 8), (5, 0, 8), (5, 6, 0), (1, 6, 0)]:
        a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
        for left in (a, a.t().contiguous().t()):
            for right in (b, b.t().contiguous().t()):
                assert torch.equal(tt.mm(left, right), (left.float() @ right.float()).half()), (m, n, k)


def test_types(fake):
    a, b = torch.randint(-9, 9, (3, 16), dtype=torch.int8), torch.randint(-9, 9, (16, 4), dtype=torch.int8)
    assert torch.equal(tt.mm(a, b), a.int() @ b.int())
    assert tt.mm(a, b, out_dtype=torch.float32).dtype == torch.float32
    h = torch.randn(3, 8).half()
    assert tt.mm(h, h.t(), out_dtype=torch.float32).dtype == torch.float32
    assert tt.mm(h, h.t()).dtype == torch.float16


def test_addmm(fake):
    a, b, c = torch.randn(5, 8), torch.randn(8, 6), torch.randn(5, 6)
    for left in (c, c.t().contiguous().t(), c[0], c[:, :1], torch.randn(5, 9)[:, 2:8]):
        torch.testing.assert_close(tt.addmm(left, a, b, beta=0.5, alpha=-2, tf32=True),
                                   torch.addmm(left, a, b, beta=0.5, alpha=-2))
    torch.testing.assert_close(tt.addmm(torch.full_like(c, float("nan")), a, b, beta=0, tf32=True), a @ b)
    assert (fake.problem.beta, fake.problem.c.ld) == (0, -1)


def test_addmm_of_a_row_is_a_bias(fake):
    a, b, c = torch.randn(5, 8), torch.randn(8, 6), torch.randn(6)
    for row in (c, c[None], torch.randn(12)[::2]):
        torch.testing.assert_close(tt.addmm(row, a, b, alpha=-2, tf32=True), torch.addmm(row, a, b, alpha=-2))
        assert (fake.problem.has_bias, fake.problem.beta) == (1, 0)
    tt.addmm(c[:1], a, b[:, :1], tf32=True)
    assert fake.problem.has_bias == 1
    for column in (torch.randn(5, 1), c[:1]):
        torch.testing.assert_close(tt.addmm(column, a, b, tf32=True), torch.addmm(column, a, b))
        assert (fake.problem.has_bias, fake.problem.beta) == (0, 1)


ACTIVATIONS = {None: lambda z: z, "relu": torch.relu, "silu": torch.nn.functional.silu, "gelu_erf": torch.nn.functional.gelu,
               "gelu": lambda z: torch.nn.functional.gelu(z, approximate="tanh"),
               "swiglu": lambda z: torch.nn.functional.silu(z[..., 0::2]) * z[..., 1::2]}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(8,), (5, 8), (2, 3, 8), (2, 0, 8)])
def test_linear_and_its_gradients(fake, activation, shape):
    for has_bias in (False, True):
        x, w, bias = (torch.randn(s, requires_grad=True) for s in (shape, (6, 8), (6,)))
        given = (x, w, bias) if has_bias else (x, w)
        y = tt.linear(*given, activation=activation, tf32=True)
        want = ACTIVATIONS[activation](torch.nn.functional.linear(*given))
        torch.testing.assert_close(y, want)
        g = torch.randn_like(want)
        torch.testing.assert_close(torch.autograd.grad(y, given, g), torch.autograd.grad(want, given, g))


def test_gradients_of_mm_and_addmm(fake):
    a, b, c = (torch.randn(s, requires_grad=True) for s in ((5, 8), (8, 6), (6,)))
    for beta in (0.5, 1):
        d, want = tt.addmm(c, a, b, beta=beta, alpha=3, tf32=True), torch.addmm(c, a, b, beta=beta, alpha=3)
        g = torch.randn_like(d)
        torch.testing.assert_close(torch.autograd.grad(d, (a, b, c), g), torch.autograd.grad(want, (a, b, c), g))
    half, other = (t.detach().half().requires_grad_() for t in (a, b))
    runs = fake.runs
    grads = torch.autograd.grad(tt.mm(half, other, out_dtype=torch.float32), (half, other), g)
    assert fake.runs == runs + 3 and [t.dtype for t in grads] == [torch.float16] * 2
    only = torch.autograd.grad(tt.mm(half, other.detach()), half, g.half())
    assert fake.runs == runs + 5 and torch.equal(only[0], (g.half().float() @ other.float().t()).half())
    torch.autograd.grad(tt.mm(half.detach(), other), other, g.half())
    assert fake.runs == runs + 7  # what nobody asks for is not computed


def test_gradients_of_all_that_the_operator_can(fake):
    a, b, c, bias = (torch.randn(s, requires_grad=True) for s in ((5, 8), (8, 6), (5, 6), (6,)))
    strided = torch.randn(12)[::2].requires_grad_()
    for activation in ("none", "relu", "gelu", "gelu_erf", "silu"):
        for of in ((a, b, c, bias), (a, b, c, strided)):
            d = torch.ops.tcq.gemm(*of, 0.5, -3.0, activation, None, True, False, 0, True)
            want = ACTIVATIONS[None if activation == "none" else activation](-3 * of[2] + 0.5 * (a @ b) + of[3])
            torch.testing.assert_close(d, want)
            g = torch.randn_like(d)
            torch.testing.assert_close(torch.autograd.grad(d, of, g), torch.autograd.grad(want, of, g))


def test_batches(fake):
    a, b = torch.randn(3, 5, 8).bfloat16(), torch.randn(3, 8, 6).bfloat16()
    lefts = [(a, K, 8, 40), (a.mT.contiguous().mT, MN, 5, 40), (a.transpose(0, 1).contiguous().transpose(0, 1), K, 24, 8),
             (a[1].expand(3, 5, 8), K, 8, 0)]
    rights = [(b, MN, 6, 48), (b.mT.contiguous().mT, K, 8, 48), (b[2].expand(3, 8, 6), MN, 6, 0)]
    for left, major_a, ld_a, step_a in lefts:
        for right, major_b, ld_b, step_b in rights:
            assert torch.equal(tt.bmm(left, right), (left.float() @ right.float()).bfloat16())
            p = fake.problem
            assert (p.batch, p.m, p.n, p.k, p.major_a, p.major_b) == (3, 5, 6, 8, major_a, major_b)
            assert (p.a.ld, p.b.ld, p.a.batch, p.b.batch) == (ld_a, ld_b, step_a, step_b)
    assert torch.equal(tt.bmm(a[:1], b[:1]), tt.mm(a[0], b[0])[None]) and fake.problem.a.batch == -1
    assert tt.bmm(a[:0], b[:0]).shape == (0, 5, 6)
    f, g = torch.randn(3, 4, 8).mT.contiguous().mT, torch.randn(3, 8, 6)  # copied: wgmma reads tf32 K-major only
    torch.testing.assert_close(tt.bmm(f, g, tf32=True), f @ g)
    assert (fake.problem.a.batch, fake.problem.b.batch) == (-1, -1)


def test_batches_beside_what_they_are_added_to(fake):
    a, b, c = torch.randn(3, 5, 8), torch.randn(3, 8, 6), torch.randn(3, 5, 6)
    for left, step in ((c, 30), (c[0], 0), (c[0, 0], -1), (c.mT.contiguous().mT, -1)):
        torch.testing.assert_close(tt.baddbmm(left, a, b, beta=0.5, alpha=-2, tf32=True),
                                   torch.baddbmm(left, a, b, beta=0.5, alpha=-2))
        assert fake.problem.c.batch == step
    torch.testing.assert_close(tt.baddbmm(torch.full_like(c, float("nan")), a, b, beta=0, tf32=True), a @ b)


def test_gradients_of_batches(fake):
    a, b, c = (torch.randn(s, requires_grad=True) for s in ((3, 5, 8), (3, 8, 6), (3, 5, 6)))
    g = torch.randn(3, 5, 6)
    torch.testing.assert_close(torch.autograd.grad(tt.bmm(a, b, tf32=True), (a, b), g),
                               torch.autograd.grad(torch.bmm(a, b), (a, b), g))
    torch.testing.assert_close(torch.autograd.grad(tt.baddbmm(c, a, b, beta=0.5, tf32=True), (a, b, c), g),
                               torch.autograd.grad(torch.baddbmm(c, a, b, beta=0.5), (a, b, c), g))
    whole = torch.compile(lambda x: tt.bmm(x, b, tf32=True).sum(0), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(torch.autograd.grad(whole(a), a, g[0]), torch.autograd.grad((a @ b).sum(0), a, g[0]))


@pytest.mark.parametrize("dynamic", [False, True])
def test_it_compiles_without_a_break_in_the_graph(fake, dynamic):
    w, bias = (torch.randn(s, requires_grad=True) for s in ((6, 8), (6,)))

    def step(x):
        y = tt.linear(x, w, bias, activation="gelu", tf32=True)
        return tt.addmm(y.sum(0), y, tt.mm(w, w.t(), tf32=True), tf32=True).sum()

    whole = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    for rows in (3, 5):
        x = torch.randn(rows, 8)
        torch.testing.assert_close(whole(x), step(x))
        torch.testing.assert_close(torch.autograd.grad(whole(x), (w, bias)), torch.autograd.grad(step(x), (w, bias)))


def test_the_operator_is_what_torch_expects_of_one(fake):
    a, b = (torch.randn(s, requires_grad=True) for s in ((4, 8), (8, 6)))
    args = (a, b, torch.randn(4, 6), torch.randn(6), 1.0, 0.5, "relu", None, True, False, 0, True)
    torch.library.opcheck(torch.ops.tcq.gemm.default, args)


def test_shapes_are_known_without_a_device():
    with FakeTensorMode():
        x, w = (torch.empty(s, dtype=torch.bfloat16, device="cuda") for s in ((2, 3, 8), (6, 8)))
        y = tt.linear(x, w, activation="swiglu", out_dtype=torch.float32)
        assert (list(y.shape), y.dtype, y.device.type) == ([2, 3, 3], torch.float32, "cuda")
    a, b = torch.empty(4, 8, dtype=torch.int8, device="meta"), torch.empty(8, 5, dtype=torch.int8, device="meta")
    assert (tt.mm(a, b).shape, tt.mm(a, b).dtype) == ((4, 5), torch.int32)


def test_a_plan_is_kept_for_all_that_it_depends_on(fake):
    a, b = torch.randn(4, 8).bfloat16(), torch.randn(8, 6).bfloat16()
    tt.mm(a, b)
    tt.mm(a + 1, b)
    assert tt.plan_cache.info()[:2] == (1, 1)
    for other in (lambda: tt.mm(a[:3], b), lambda: tt.mm(a, b.t().contiguous().t()), lambda: tt.mm(a.half(), b.half()),
                  lambda: tt.mm(a, b, out_dtype=torch.float32), lambda: tt.mm(a, b, batch_invariant=True),
                  lambda: tt.mm(a, b, sm_limit=100), lambda: tt.mm(a, b, programmatic_launch=False),
                  lambda: tt.addmm(b[0], a, b, alpha=2), lambda: tt.addmm(b[0], a, b, beta=2),
                  lambda: tt.linear(a, b.t(), b[0]), lambda: tt.linear(a, b.t(), activation="relu")):
        misses = tt.plan_cache.info()[1]
        other()
        assert tt.plan_cache.info()[1] == misses + 1
        other()
        assert tt.plan_cache.info()[1] == misses + 1
    assert tt.plan_text(a, b) == "problem: 4x6x8\n"


def test_options_reach_the_plan(fake):
    a = torch.randn(4, 8).bfloat16()
    tt.mm(a, a.t(), batch_invariant=True, sm_limit=100, programmatic_launch=False)
    p = fake.problem
    assert (p.batch_invariant, p.sm_limit, p.programmatic_launch, p.reserved) == (1, 100, 0, 0)
    tt.mm(a, a.t())
    p = fake.problem
    assert (p.batch_invariant, p.sm_limit, p.programmatic_launch) == (0, 0, 1)


def test_a_workspace_is_torchs(fake):
    a = torch.randn(4, 12).bfloat16()  # of which the fake wants 128 bytes
    tt.mm(a, a.t())
    assert fake.workspace is not None and fake.workspace_bytes == 128


def test_what_cannot_be_is_a_sentence(fake):
    a, b = torch.randn(4, 8).bfloat16(), torch.randn(8, 6).bfloat16()
    for call, sentence in [
        (lambda: tt.mm(a, b.t()), "a and b: .4, 8. of bfloat16 on cpu, .6, 8. .*: expected M x K and K x N"),
        (lambda: tt.mm(a[None], b[None]), "a and b: .1, 4, 8. of .*: expected matrices"),
        (lambda: tt.bmm(a, b), "a and b: .4, 8. of .*: expected batches of matrices"),
        (lambda: tt.bmm(a[None], b.expand(2, 8, 6)), "or a batch of as many of each"),
        (lambda: tt.mm(a, b.half()), "expected one type of float16"),
        (lambda: tt.mm(a.double(), b.double()), "expected one type of float16"),
        (lambda: tt.mm(a.float(), b.float()), "expected tf32=True"),
        (lambda: tt.mm(a, b, out_dtype=torch.float64), "a result of float64: expected"),
        (lambda: tt.linear(a, b.t(), torch.zeros(5)), "the bias: .5. of bfloat16 on cpu: expected .6. of bfloat16 on cpu"),
        (lambda: tt.linear(a, b.t(), activation="tanh"), "activation 'tanh': expected none, relu"),
        (lambda: tt.linear(torch.tensor(1.0), b), "at least a vector and a matrix"),
    ]:
        with pytest.raises(tcq.UsageError, match=sentence):
            call()
    with pytest.raises(tt.GemmError, match="the fake refuses K = 666"):
        tt.mm(torch.zeros(4, 666).half(), torch.zeros(666, 4).half())


def test_without_a_library_it_says_where_it_looked(fake, monkeypatch):
    monkeypatch.setattr(_gemm, "_library", None)
    monkeypatch.setenv("TCQ_GEMM_LIBRARY", "/nowhere/libtcq_gemm.so")
    a = torch.zeros(4, 8).half()
    with pytest.raises(ImportError, match="TCQ_GEMM_LIBRARY names /nowhere/libtcq_gemm.so"):
        tt.mm(a, a.t())


# --- on a GPU ---------------------------------------------------------------------------------------


def bits(tensor):
    return tensor.contiguous().view(torch.int16 if tensor.element_size() == 2 else torch.int32).cpu()


def test_the_bits_are_the_predicted_ones(device):
    for m, n, k in [(100, 136, 264), (4, 512, 2048), (33, 65, 77)]:
        a, b = torch.randn(m, k, device=device).bfloat16(), torch.randn(n, k, device=device).bfloat16()
        order = tt.plan_text(a, b.t(), batch_invariant=True)
        assert "one chain" in order
        want = tcq.gemm(a.view(torch.int16).cpu().numpy().view("u2"), b.view(torch.int16).cpu().numpy().view("u2").T,
                        type="bf16", out_type="f32")
        got = tt.mm(a, b.t(), out_dtype=torch.float32, batch_invariant=True)
        assert torch.equal(bits(got), torch.from_numpy(want).view(torch.int32))


def test_gradients_are_near_torchs(device):
    x, w, bias = (torch.randn(s, device=device).bfloat16().requires_grad_() for s in ((3, 50, 256), (512, 256), (512,)))
    y, want = tt.linear(x, w, bias, activation="gelu"), ACTIVATIONS["gelu"](torch.nn.functional.linear(x, w, bias))
    g = torch.randn_like(y)
    for ours, theirs in zip(torch.autograd.grad(y, (x, w, bias), g), torch.autograd.grad(want, (x, w, bias), g)):
        torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.5)


def test_a_graph_replays_it(device):
    x, w = torch.randn(64, 264, device=device).bfloat16(), torch.randn(200, 264, device=device).bfloat16()
    want = bits(tt.linear(x, w))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        tt.linear(x, w)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = tt.linear(x, w)
    y.zero_()
    graph.replay()
    assert torch.equal(bits(y), want)


def test_inductor_compiles_it(device):
    w = torch.randn(128, 256, device=device).bfloat16()
    whole = torch.compile(lambda x: tt.linear(torch.relu(x), w).float().sum(1), fullgraph=True, mode="reduce-overhead")
    x = torch.randn(32, 256, device=device).bfloat16()
    for _ in range(3):
        torch.testing.assert_close(whole(x), tt.linear(torch.relu(x), w).float().sum(1))
