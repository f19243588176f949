// Rows D: the descriptor and the copy disagree.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {
namespace {

struct Options {
  std::uint32_t sbo_bytes = 1024;
  Swizzle swizzle = Swizzle::B128;
  std::uint32_t base_offset = 0;
  std::uint32_t k_step_bytes = 32;
  std::uint32_t tile_offset = 0;  // behind a multiple of 1024
};

// One K-major tile of A and B, four k steps.
Program k_major(const Options& o) {
  Program p({.threads = 128});
  const Address full = p.mbarrier("full");
  const std::uint32_t gap = p.shared("gap", 1024, 1024);
  const std::uint32_t a = p.shared_at("A", gap + 1024 + o.tile_offset, a_bytes);
  const std::uint32_t b = p.shared("B", b_bytes, 1024);
  const int map_a = f16_tensor(p, 64, 64, 64);
  const int map_b = f16_tensor(p, mma_n, 64, mma_n);
  const std::uint64_t out = result_buffer(p);
  Role math = p.warps("math", 0, 4);
  math.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  math.barrier_sync();
  math.elect().mbarrier_arrive_expect_tx(full, a_bytes + b_bytes);
  math.elect().tensor_load(map_a, {{0, 0}}, a, full).tensor_load(map_b, {{0, 0}}, b, full);
  math.mbarrier_try_wait(full, 0).wgmma_fence();
  for (std::uint32_t k = 0; k < 4; ++k)
    math.wgmma(mma(descriptor(a + k * o.k_step_bytes, o.sbo_bytes, o.swizzle, 16, o.base_offset),
                   descriptor(b + 32 * k), k > 0),
               d_registers);
  math.wgmma_commit().wgmma_wait(0);
  store_result(math, out);
  return p;
}

Program with(Options options, bool mutant) { return k_major(mutant ? options : Options{}); }

Program d1(bool mutant) { return with({.sbo_bytes = 128}, mutant); }
Program d2(bool mutant) { return with({.sbo_bytes = 1024 * 16}, mutant); }
Program d3(bool mutant) { return with({.k_step_bytes = 512}, mutant); }
Program d4(bool mutant) { return with({.swizzle = Swizzle::B64}, mutant); }
Program d6(bool mutant) { return k_major({.base_offset = mutant ? 2u : 0u, .tile_offset = 256}); }

// A is MN-major: one atom holds all 64 rows of M, so LBO is not used and SBO steps 8 k.
Program mn_major(std::uint32_t sbo_bytes, std::uint32_t k_step_bytes) {
  Program p({.threads = 128});
  const Address full = p.mbarrier("full");
  const std::uint32_t a = p.shared("A", a_bytes, 1024);  // 64 k x 64 m
  const std::uint32_t b = p.shared("B", b_bytes, 1024);
  const int map_a = f16_tensor(p, 64, 64, 64);
  const int map_b = f16_tensor(p, mma_n, 64, mma_n);
  const std::uint64_t out = result_buffer(p);
  Role math = p.warps("math", 0, 4);
  math.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  math.barrier_sync();
  math.elect().mbarrier_arrive_expect_tx(full, a_bytes + b_bytes);
  math.elect().tensor_load(map_a, {{0, 0}}, a, full).tensor_load(map_b, {{0, 0}}, b, full);
  math.mbarrier_try_wait(full, 0).wgmma_fence();
  for (std::uint32_t k = 0; k < 4; ++k) {
    wgmma::Instruction op = mma(descriptor(a + k * k_step_bytes, sbo_bytes, Swizzle::B128, 4096),
                                descriptor(b + 32 * k), k > 0);
    op.form.major_a = Major::MN;
    math.wgmma(op, d_registers);
  }
  math.wgmma_commit().wgmma_wait(0);
  store_result(math, out);
  return p;
}

Program d5(bool mutant) { return mn_major(mutant ? 4096 : 1024, 2048); }
Program d7(bool mutant) { return mn_major(1024, mutant ? 32 : 2048); }

// B is MN-major, 32 columns in two boxes of 16, one k step; the immediate says so, or not.
Program d10a(bool mutant) {
  constexpr int n = 32;
  constexpr std::uint32_t box_bytes = 16 * 32;  // 16 k x 16 n
  Program p({.threads = 128});
  const Address full = p.mbarrier("full");
  const std::uint32_t a = p.shared("A", a_bytes, 1024);
  const std::uint32_t b = p.shared("B", 2 * box_bytes, 1024);
  const int map_a = f16_tensor(p, 64, 64, 64);
  tma::TensorMap map;
  map.type = tma::DataType::Float16;
  map.rank = 2;
  map.address = p.global(small_numbers(16 * n * 2));
  map.dims[0] = n;
  map.dims[1] = map.box[0] = map.box[1] = 16;
  map.stride_bytes[0] = n * 2;
  map.swizzle = Swizzle::B32;
  const int map_b = p.tensor(map);
  const std::uint64_t out = result_buffer(p, 128 * 64);
  Role math = p.warps("math", 0, 4);
  math.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  math.barrier_sync();
  Role one = math.elect();
  one.mbarrier_arrive_expect_tx(full, a_bytes + 2 * box_bytes);
  one.tensor_load(map_a, {{0, 0}}, a, full).tensor_load(map_b, {{0, 0}}, b, full);
  one.tensor_load(map_b, {{16, 0}}, b + box_bytes, full);
  math.mbarrier_try_wait(full, 0).wgmma_fence();
  wgmma::Instruction op = mma(descriptor(a), descriptor(b, 8 * 32, Swizzle::B32, box_bytes), false);
  op.form.n = n;
  op.form.major_b = mutant ? Major::K : Major::MN;
  math.wgmma(op, {0, n / 2}).wgmma_commit().wgmma_wait(0);
  math.store_global(out, 64, {0, n / 2});
  return p;
}

// fp8, which wgmma takes K-major only.
Program d10b(bool mutant) {
  Program p({.threads = 128});
  const Address full = p.mbarrier("full");
  const std::uint32_t a = p.shared("A", a_bytes, 1024);
  const std::uint32_t b = p.shared("B", b_bytes, 1024);
  const std::uint64_t in = p.global(small_numbers(a_bytes + b_bytes));
  const std::uint64_t out = result_buffer(p);
  Role math = p.warps("math", 0, 4);
  math.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  math.barrier_sync();
  Role one = math.elect();
  one.mbarrier_arrive_expect_tx(full, a_bytes + b_bytes);
  one.bulk_load(in, a, a_bytes, full).bulk_load(in + a_bytes, b, b_bytes, full);
  math.mbarrier_try_wait(full, 0).wgmma_fence();
  wgmma::Instruction op = mma(descriptor(a), descriptor(b), false);
  op.form = {Type::f32, Type::e4m3, Type::e4m3, mma_n};
  op.form.major_b = mutant ? Major::MN : Major::K;
  math.wgmma(op, d_registers).wgmma_commit().wgmma_wait(0);
  store_result(math, out);
  return p;
}

// An inner box of 192 bytes under a swizzle of 128.
Program d8(bool mutant) {
  Program p({.threads = 32});
  const Address full = p.mbarrier("full");
  const std::uint32_t tile = p.shared("tile", 192 * 8, 1024);
  tma::TensorMap map;
  map.type = tma::DataType::Float16;
  map.rank = 2;
  map.address = p.global(small_numbers(192 * 8));
  map.dims[0] = 96;
  map.dims[1] = 8;
  map.stride_bytes[0] = 192;
  map.box[0] = mutant ? 96 : 64;
  map.box[1] = 8;
  map.swizzle = Swizzle::B128;
  const int number = p.tensor(map);
  Role one = p.warps("all", 0, 1).elect();
  one.mbarrier_init(full, 1).fence_mbarrier_init();
  one.mbarrier_arrive_expect_tx(full, map.box[0] * 16).tensor_load(number, {}, tile, full);
  one.mbarrier_try_wait(full, 0);
  return p;
}

constexpr Entry entries[] = {
    {"D1", "SBO 128 instead of 1024", Fault::OperandScrambled, d1, "holds row 1, column 0"},
    {"D2", "SBO not divided by 16", Fault::SharedMemoryOutOfRange, d2, "operand"},
    {"D3", "the k step is 512 bytes instead of 32", Fault::OperandScrambled, d3, "row"},
    {"D4", "64B swizzle on a tile that was copied with 128B", Fault::OperandScrambled, d4,
     "swizzle"},
    {"D5", "LBO and SBO exchanged, MN-major", Fault::SharedMemoryOutOfRange, d5, "operand"},
    {"D6", "base offset 2 for a tile that TMA wrote off the 1024-byte grid",
     Fault::OperandScrambled, d6, "base offset"},
    {"D7", "an MN-major operand advanced like a K-major one", Fault::OperandScrambled, d7,
     "column"},
    {"D8", "an inner box of 192 bytes under a 128B swizzle", Fault::TensorMapSpan, d8,
     "span of the swizzle"},
    {"D10a", "imm-trans-b is 0 for an MN-major B", Fault::OperandScrambled, d10a,
     "operand is stored MN-major but the immediate says K-major"},
    {"D10b", "imm-trans-b is 1 for fp8", Fault::MnMajorNeeds16Bit, d10b,
     "only f16 and bf16 operands in shared memory can be MN-major"},
};

}  // namespace

std::span<const Entry> descriptor_entries() { return entries; }

}  // namespace tcq::catalogue
