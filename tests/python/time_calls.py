"""What calls of tcq.torch take the host: microseconds of the calling thread, the median of rounds, small operands. On a GPU beside
PyTorch's own calls, and with everything that the host does for a launch; without one over the fake library of fake_gemm.c, whose
run() returns at once, so that what remains is PyTorch's dispatcher and Python. Next: tcq/_operator.py

    python tests/python/time_calls.py [PART OF A NAME...]
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch

import tcq.torch as tt
from tcq import _gemm

E4M3 = torch.float8_e4m3fn
M, N, K, GROUPS = 64, 512, 512, 4
ENDS = (16, 16, 32, M)  # of groups; multiples of 16 bytes along K, for PyTorch


def over_the_fake():
    from ctypes import c_longlong

    from gemm_fake import Fake, compiled, on_the_cpu, stand_in

    with tempfile.TemporaryDirectory() as folder:
        fake = Fake(compiled(Path(folder)))
    c_longlong.in_dll(fake.library._handle, "fake_computes").value = 0
    on_the_cpu()
    stand_in(fake.library, setattr)


def draw(*shape, dtype=torch.bfloat16):
    return torch.randn(shape, device=DEVICE).to(dtype)


def factors(*shape):
    return torch.rand(shape, device=DEVICE) + 0.5


def sizes(*values):
    return torch.tensor(values, dtype=torch.int32, device=DEVICE)


def wide():
    """Each function's name, a call, and PyTorch's own if it has one."""
    a, b, c, bias = draw(M, K), draw(N, K), draw(M, N), draw(N)
    x, w, experts, ends = draw(2, M // 2, K), draw(N, K).requires_grad_(), draw(GROUPS, N, K), sizes(*ENDS)
    row_major = experts.transpose(1, 2).contiguous()
    linear, gelu = torch.nn.functional.linear, torch.nn.functional.gelu
    yield "mm", lambda: tt.mm(a, b.t()), lambda: torch.mm(a, b.t())
    yield "mm to float32", lambda: tt.mm(a, b.t(), out_dtype=torch.float32), None
    yield "addmm", lambda: tt.addmm(c, a, b.t()), lambda: torch.addmm(c, a, b.t())
    yield "addmm of a row", lambda: tt.addmm(bias, a, b.t()), lambda: torch.addmm(bias, a, b.t())
    yield "linear", lambda: tt.linear(a, b), lambda: linear(a, b)
    yield ("linear of 3 dimensions, bias, gelu", lambda: tt.linear(x, b, bias, activation="gelu"),
           lambda: gelu(linear(x, b, bias), approximate="tanh"))
    yield "linear for a gradient", lambda: tt.linear(a, w), lambda: linear(a, w)
    yield ("grouped_mm", lambda: tt.grouped_mm(a, experts.transpose(1, 2), ends),
           lambda: torch._grouped_mm(a, experts.transpose(1, 2), ends))
    yield ("grouped_mm, row-major", lambda: tt.grouped_mm(a, row_major, ends),
           lambda: torch._grouped_mm(a, row_major, ends))
    yield "grouped_mm along K", lambda: tt.grouped_mm(a.t(), c, ends), lambda: torch._grouped_mm(a.t(), c, ends)


def fp8():
    a, b, experts, ends = draw(M, K, dtype=E4M3), draw(N, K, dtype=E4M3), draw(GROUPS, N, K, dtype=E4M3), sizes(*ENDS)
    one, rows, columns, blocks = factors(1), factors(M, 1), factors(1, N), (factors(M, K // 128), factors(K // 128, N // 128))
    of_experts, of_lines, x = factors(GROUPS, K // 128, N // 128), (factors(M), factors(GROUPS, N)), draw(M, K)
    types = {"out_dtype": torch.bfloat16}
    yield ("scaled_mm, tensors", lambda: tt.scaled_mm(a, b.t(), one, one),
           lambda: torch._scaled_mm(a, b.t(), one, one, **types))
    yield ("scaled_mm, rows and columns", lambda: tt.scaled_mm(a, b.t(), rows, columns),
           lambda: torch._scaled_mm(a, b.t(), rows, columns, **types))
    yield "scaled_mm, blocks", lambda: tt.scaled_mm(a, b.t(), *blocks), None
    yield "scaled_mm_quantized", lambda: tt.scaled_mm_quantized(a, b.t(), *blocks), None
    yield ("scaled_grouped_mm, rows and columns", lambda: tt.scaled_grouped_mm(a, experts.transpose(1, 2), *of_lines, ends),
           lambda: torch._scaled_grouped_mm(a, experts.transpose(1, 2), *of_lines, ends, **types))
    yield ("scaled_grouped_mm, blocks",
           lambda: tt.scaled_grouped_mm(a, experts.transpose(1, 2), blocks[0], of_experts, ends), None)
    yield "quantize", lambda: tt.quantize(x), None


def deepgemm():
    a, b, d = (draw(M, K, dtype=E4M3), factors(M, K // 128)), (draw(N, K, dtype=E4M3), factors(N // 128, K // 128)), draw(M, N)
    experts = draw(GROUPS, N, K, dtype=E4M3), factors(GROUPS, N // 128, K // 128)
    rows, of_rows, group = (draw(128, K, dtype=E4M3), factors(128, K // 128)), draw(128, N), sizes(*[1] * 128)
    each, of_each, counts = (draw(GROUPS, 64, K, dtype=E4M3), factors(GROUPS, 64, K // 128)), draw(GROUPS, 64, N), sizes(4, 0, 7, 2)
    yield "fp8_gemm_nt", lambda: tt.fp8_gemm_nt(a, b, d), None
    yield "m_grouped_fp8_gemm_nt_contiguous", lambda: tt.m_grouped_fp8_gemm_nt_contiguous(rows, experts, of_rows, group), None
    yield "m_grouped_fp8_gemm_nt_masked", lambda: tt.m_grouped_fp8_gemm_nt_masked(each, experts, of_each, counts, 4), None


def coded():
    """On tcgen05."""
    if not hasattr(torch, "float4_e2m1fn_x2"):
        return
    a, b, x, w = draw(M, K, dtype=E4M3), draw(N, K, dtype=E4M3), draw(M, K), draw(N, K)
    of_a, of_b = (torch.full((lines * K // 32,), 127, dtype=torch.uint8, device=DEVICE).view(torch.float8_e8m0fnu) for lines in (128, N))
    yield "scaled_mm, MXFP8", lambda: tt.scaled_mm(a, b.t(), of_a, of_b), None
    yield "scaled_mm_quantized, MXFP8", lambda: tt.scaled_mm_quantized(a, b.t(), of_a, of_b), None
    yield "scaled_mm_quantized, bfloat16 to NVFP4", lambda: tt.scaled_mm_quantized(x, w.t(), scale_dtype=E4M3), None


def microseconds(call, calls=200, rounds=25):
    taken = []
    for _ in range(rounds + 3):  # the first warm it up
        begin = time.thread_time_ns()
        for _ in range(calls):
            call()
        taken.append((time.thread_time_ns() - begin) / calls / 1000)
        if DEVICE.type == "cuda":
            torch.cuda.synchronize()  # so that no launch waits for a place in the stream
    return statistics.median(taken[3:])


def said(call):
    """As a cell of the table; what is refused says why."""
    if call is None:
        return "-"
    try:
        return f"{microseconds(call):.1f}"
    except (AttributeError, RuntimeError, NotImplementedError, ValueError) as error:
        return "none: " + str(error).split("\n")[0][:70]


def main(parts):
    gpu = DEVICE.type == "cuda"
    if not gpu:
        over_the_fake()
    where = torch.cuda.get_device_name() if gpu else "no GPU, over the fake library"
    print(f"PyTorch {torch.__version__}, {where}: us of the host for a call")
    one = torch.ones(1, 1)
    print(f"{'torch.mm of 1 x 1 on the CPU':42} {said(lambda: torch.mm(one, one)):>8}")
    print(f"{'':42} {'tcq':>8} {'torch' if gpu else ''}")
    for cases in (wide, fp8, deepgemm, coded):
        for name, ours, theirs in cases():
            if not parts or any(part in name for part in parts):
                print(f"{name:42} {said(ours):>8} {said(theirs) if gpu else ''}", flush=True)


DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
