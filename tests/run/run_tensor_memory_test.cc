// tcgen05 in PTX: what stands in Tensor Memory afterwards, and what its synchronisation must not leave out.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/run/kernel_run.h"

namespace tcq::run {
namespace {

constexpr int m = 128, n = 16, k = 16;
constexpr std::size_t a_bytes = m * k * 2;
constexpr std::size_t in_bytes = a_bytes + n * k * 2;

// Core matrices of 8 rows x 16 bytes: two along K, then the next 8 rows.
std::size_t place(int row, int column) {
  return static_cast<std::size_t>(row / 8 * 256 + column / 8 * 128 + row % 8 * 16 + column % 8 * 2);
}

// Of small whole numbers, whose products sum exactly in any order.
int a_at(int row, int column) { return (3 * row + 5 * column) % 13 - 6; }
int b_at(int row, int column) { return (7 * row + 2 * column) % 11 - 5; }

// As f16; |number| <= 6.
std::uint16_t half_of(int number) {
  constexpr std::uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
  const auto bits = halves[static_cast<std::size_t>(number < 0 ? -number : number)];
  return static_cast<std::uint16_t>(number < 0 ? bits | 0x8000 : bits);
}

Bytes operands(std::size_t out_bytes) {
  Bytes bytes{std::vector<std::uint8_t>(in_bytes + out_bytes)};
  for (int column = 0; column < k; ++column) {
    for (int row = 0; row < m; ++row) bytes.put(place(row, column), half_of(a_at(row, column)));
    for (int row = 0; row < n; ++row)
      bytes.put(a_bytes + place(row, column), half_of(b_at(row, column)));
  }
  return bytes;
}

constexpr const char* head = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out)
{
  .shared .align 1024 .b8 tile[4608];
  .shared .align 8 .b64 done;
  .shared .align 4 .b32 slot;
  .reg .pred %p<8>;
  .reg .b32 %r<64>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  setp.lt.u32 %p2, %r1, 32;
  @%p1 mbarrier.init.shared::cta.b64 [done], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  shl.b32 %r3, %r1, 2;
  mov.u32 %r2, tile;
  add.u32 %r2, %r2, %r3;
  cvt.u64.u32 %rd3, %r3;
  add.u64 %rd1, %rd1, %rd3;
  mov.u32 %r4, 0;
copy:
  ld.global.b32 %r5, [%rd1];
  st.shared.b32 [%r2], %r5;
  add.u64 %rd1, %rd1, 512;
  add.u32 %r2, %r2, 512;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p3, %r4, 9;
  @%p3 bra copy;
  fence.proxy.async.shared::cta;
  @!%p2 bra allocated;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync; // of the allocation
  ld.shared.b32 %r6, [slot];
  mov.u32 %r7, tile;
  shr.u32 %r7, %r7, 4;
  and.b32 %r7, %r7, 0x3fff;
  cvt.u64.u32 %rd4, %r7;
  or.b64 %rd4, %rd4, 0x0000401000080000;
)";

constexpr const char* wait = R"(
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
  @!%p4 bra waiting;
  tcgen05.fence::after_thread_sync; // of the operation
)";

constexpr const char* tail = R"(
  tcgen05.fence::before_thread_sync; // of the end
  bar.sync 0;
  @!%p2 bra over;
  tcgen05.fence::after_thread_sync; // of the end
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r6, 32;
over:
  ret;
}
)";

// A thread's lane of the columns from the allocation's first one on goes to out, `columns` words a thread.
std::string read_lanes(int columns) {
  std::string vector;
  std::string stores;
  for (int c = 0; c < columns; ++c) {
    const std::string reg = "%r" + std::to_string(32 + c);
    vector += (c == 0 ? "" : ", ") + reg;
    stores += "  st.global.b32 [%rd2+" + std::to_string(4 * c) + "], " + reg + ";\n";
  }
  return "  and.b32 %r8, %r1, 0x60;\n  shl.b32 %r8, %r8, 16;\n  add.u32 %r8, %r6, %r8;\n"
         "  mul.wide.u32 %rd6, %r1, " +
         std::to_string(4 * columns) +
         ";\n  add.u64 %rd2, %rd2, %rd6;\n"
         "  tcgen05.ld.sync.aligned.32x32b.x" +
         std::to_string(columns) + ".b32 {" + vector +
         "}, [%r8];\n  tcgen05.wait::ld.sync.aligned;\n" + stores;
}

std::string mma_kernel() {
  return std::string(head) + R"(
  @!%p1 bra waiting;
  add.u64 %rd5, %rd4, 256;
  mov.u32 %r9, 0x08040010;
  setp.ne.b32 %p5, %r1, %r1;
  tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd4, %rd5, %r9, %p5;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
)" + wait +
         read_lanes(n) + tail;
}

Launch one_cta() {
  Launch launch;
  launch.block = {128, 1, 1};
  return launch;
}

KernelRun run_mma(const std::string& ptx) {
  return KernelRun(ptx, one_cta(), {0, in_bytes}, operands(m * n * 4));
}

// Compilers clear Tensor Memory by one register many times over.
TEST(TensorMemory, AStoreTakesRegistersInAnyOrder) {
  const std::string store = R"(
  and.b32 %r8, %r1, 0x60;
  shl.b32 %r8, %r8, 16;
  add.u32 %r8, %r6, %r8;
  add.u32 %r10, %r1, 1000;
  mov.b32 %r11, 7;
  tcgen05.st.sync.aligned.32x32b.x4.b32 [%r8], {%r11, %r10, %r11, %r11};
  tcgen05.wait::st.sync.aligned;
  tcgen05.st.sync.aligned.32x32b.x4.b32 [%r8+4], {%r10, %r11, %r11, %r10};
  tcgen05.wait::st.sync.aligned;
)";
  const KernelRun run = run_mma(std::string(head) + store + read_lanes(8) + tail);
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  for (std::uint32_t lane = 0; lane < m; ++lane)
    for (std::uint32_t column = 0; column < 8; ++column) {
      const bool own = column == 1 || column == 4 || column == 7;
      EXPECT_EQ(run.global().at<std::uint32_t>(in_bytes + 32 * lane + 4 * column),
                own ? 1000 + lane : 7u);
    }
}

TEST(TensorMemory, AnMmaBringsTheSums) {
  const KernelRun run = run_mma(mma_kernel());
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  EXPECT_TRUE(run.suspicions().empty());
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      int sum = 0;
      for (int i = 0; i < k; ++i) sum += a_at(row, i) * b_at(column, i);
      const auto at = in_bytes + static_cast<std::size_t>(row * n + column) * 4;
      ASSERT_EQ(run.global().at<float>(at), static_cast<float>(sum)) << row << ", " << column;
    }
}

constexpr const char* once_more =
    "  tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd4, %rd5, %r9, %p5;\n";

int sum_of(int row, int column) {
  int sum = 0;
  for (int i = 0; i < k; ++i) sum += a_at(row, i) * b_at(column, i);
  return sum;
}

float d_of(const KernelRun& run, int row, int column, int columns = n) {
  return run.global().at<float>(in_bytes + static_cast<std::size_t>(row * columns + column) * 4);
}

// As CUTLASS writes it: a vector of lanes to leave alone, mostly all zeros. Of a second product, lanes 66 and 96 to 127 see
// nothing; where nothing was written before, they hold nothing.
TEST(TensorMemory, AnMmaMayNameLanesToLeaveAlone) {
  const auto with_lanes = [](const std::string& lanes) {
    return run_mma(replaced(mma_kernel(), "%r9, %p5;", "%r9, {" + lanes + "}, %p5;"));
  };
  const KernelRun none = with_lanes("0, 0, 0, 0");
  ASSERT_EQ(none.fault(), Fault::None) << none.what();
  EXPECT_EQ(d_of(none, 77, 9), static_cast<float>(sum_of(77, 9)));
  EXPECT_EQ(with_lanes("0, 0, 4, 0").fault(), Fault::TmemUninitialized);
  const std::string again =
      "  tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd4, %rd5, %r9, {0, 0, 4, 0xffffffff}, %p1;\n";
  const KernelRun run = run_mma(replaced(mma_kernel(), once_more, std::string(once_more) + again));
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      const bool is_kept = row == 66 || row >= 96;
      ASSERT_EQ(d_of(run, row, column), static_cast<float>((is_kept ? 1 : 2) * sum_of(row, column)))
          << row << ", " << column;
    }
}

// What is accumulated upon counts as a fraction of itself.
TEST(TensorMemory, AnMmaMayScaleWhatItAccumulatesUpon) {
  const auto with_scale = [](const std::string& scale) {
    const std::string again =
        "  tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd4, %rd5, %r9, %p1" + scale + ";\n";
    return run_mma(replaced(mma_kernel(), once_more, std::string(once_more) + again));
  };
  for (const auto& [scale, factor] :
       {std::pair{"", 1.0}, {", 0", 1.0}, {", 1", 0.5}, {", 3", 0.125}, {", 15", 0x1p-15}}) {
    const KernelRun run = with_scale(scale);
    ASSERT_EQ(run.fault(), Fault::None) << run.what();
    for (int row = 0; row < m; row += 7)
      for (int column = 0; column < n; ++column)
        ASSERT_EQ(d_of(run, row, column), static_cast<float>((1 + factor) * sum_of(row, column)))
            << scale;
  }
  EXPECT_EQ(with_scale(", 16").fault(), Fault::UnmodelledInstruction);
}

// --- .ws: 64 columns of B, of which a mask takes some for zeros -----------------------------------------

constexpr int wide_n = 64;
constexpr std::size_t wide_in = a_bytes + wide_n * k * 2;

Bytes wide_operands(std::size_t out_bytes) {
  Bytes bytes = operands((wide_n - n) * k * 2 + out_bytes);
  for (int row = 0; row < wide_n; ++row)
    for (int column = 0; column < k; ++column)
      bytes.put(a_bytes + place(row, column), half_of(b_at(row, column)));
  return bytes;
}

// `rows` of A and the registers that a thread reads of its lane.
KernelRun run_ws(int rows, int columns, std::uint64_t mask) {
  std::string text = std::string(head) + R"(
  @!%p1 bra waiting;
  mov.b64 %rd8, )" + std::to_string(mask) +
                     R"(;
  add.u64 %rd5, %rd4, 256;
  mov.u32 %r9, )" + std::to_string(rows / 16 << 24 | wide_n / 8 << 17 | 0x10) +
                     R"(;
  setp.ne.b32 %p5, %r1, %r1;
  tcgen05.mma.ws.cta_group::1.kind::f16 [%r6], %rd4, %rd5, %r9, %p5)" +
                     (mask != 0 ? ", %rd8" : "") + R"(;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
)" + wait + read_lanes(columns) +
                     tail;
  text = replaced(replaced(text, "tile[4608]", "tile[6144]"), "%r4, 9;", "%r4, 12;");
  text = replaced(replaced(text, "[slot], 32;", "[slot], 64;"), "%r6, 32;", "%r6, 64;");
  text = replaced(text, "%r<64>", "%r<100>");
  return KernelRun(text, one_cta(), {0, wide_in}, wide_operands(m * wide_n * 4));
}

float ws_at(const KernelRun& run, int lane, int column, int columns) {
  return run.global().at<float>(wide_in + static_cast<std::size_t>(lane * columns + column) * 4);
}

TEST(TensorMemory, AWeightStationaryMmaTakesColumnsForZeros) {
  // Four columns are used, then three skipped, by turns.
  const std::uint64_t mask =
      std::uint64_t{1} << 39 | std::uint64_t{2} << 40 | std::uint64_t{3} << 48;
  for (const bool masked : {false, true}) {
    const KernelRun run = run_ws(m, wide_n, masked ? mask : 0);
    ASSERT_EQ(run.fault(), Fault::None) << run.what();
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < wide_n; ++column)
        ASSERT_EQ(ws_at(run, row, column, wide_n),
                  masked && column % 7 >= 4 ? 0.0f : static_cast<float>(sum_of(row, column)))
            << row << ", " << column;
  }
  EXPECT_EQ(run_ws(m, wide_n, 0x0100000000000000).fault(), Fault::UnmodelledColumnShift);
}

// 64 rows: the second half of the columns lies beside the first, 64 lanes further.
TEST(TensorMemory, AWeightStationaryMmaOf64RowsLiesInTwoHalves) {
  const KernelRun run = run_ws(64, wide_n / 2, 0);
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  for (int lane = 0; lane < m; ++lane)
    for (int column = 0; column < wide_n / 2; ++column)
      ASSERT_EQ(ws_at(run, lane, column, wide_n / 2),
                static_cast<float>(sum_of(lane % 64, column + (lane < 64 ? 0 : wide_n / 2))))
          << lane << ", " << column;
}

// --- sparse A: two of each four k of B, as codes in Tensor Memory say -----------------------------------

constexpr unsigned codes[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};

unsigned code_at(int row, int chunk) { return codes[(5 * row + 3 * chunk + row / 16) % 6]; }

// A lane has the codes of four chunks of a row and of the row 8 further.
std::uint32_t metadata_of(int lane) {
  std::uint32_t word = 0;
  for (int i = 0; i < 8; ++i)
    word |= code_at(lane / 16 * 16 + i / 4 * 8 + lane % 8, lane / 8 % 2 * 4 + i % 4) << (4 * i);
  return word;
}

constexpr std::size_t sparse_in =
    a_bytes + n * 2 * k * 2 + m * 4;  // A, B, a word of metadata for each lane

// `zeros`: so are the elements whose code `flipped` changes; `infinite`: and B has an infinity that another code could choose.
KernelRun run_sparse(std::uint32_t flipped = 0, bool zeros = false, bool infinite = false) {
  std::string text = std::string(head) + R"(
  ld.global.b32 %r10, [%rd7];
  and.b32 %r8, %r1, 0x60;
  shl.b32 %r8, %r8, 16;
  add.u32 %r8, %r6, %r8;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8+16], {%r10};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync; // of the metadata
  @!%p1 bra waiting;
  add.u64 %rd5, %rd4, 0x1000000100;
  mov.u32 %r9, 0x08040014;
  setp.ne.b32 %p5, %r1, %r1;
  tcgen05.mma.sp.cta_group::1.kind::f16 [%r6], %rd4, %rd5, [%r6+16], %r9, %p5;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
)" + wait + read_lanes(n) +
                     tail;
  text = replaced(replaced(text, "tile[4608]", "tile[5120]"), "%r4, 9;", "%r4, 10;");
  text = replaced(
      text, "  mov.u32 %r4, 0;\n",
      "  mov.u32 %r4, 0;\n  add.u64 %rd7, %rd1, " + std::to_string(sparse_in - m * 4) + ";\n");
  Bytes bytes{std::vector<std::uint8_t>(sparse_in + m * n * 4)};
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < k; ++column)
      bytes.put(place(row, column), half_of(a_at(row, column)));
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < 2 * k; ++column)
      bytes.put(a_bytes + static_cast<std::size_t>(row / 8 * 512 + column / 8 * 128 + row % 8 * 16 +
                                                   column % 8 * 2),
                half_of(b_at(row, column)));
  for (int lane = 0; lane < m; ++lane)
    bytes.put(sparse_in - m * 4 + static_cast<std::size_t>(4 * lane),
              metadata_of(lane) ^ (lane == 5 ? flipped : 0));
  if (zeros) bytes.put(place(5, 0), std::uint32_t{0x8000});  // -0 and 0
  if (infinite) bytes.put(a_bytes, std::uint16_t{0x7c00});
  return KernelRun(text, one_cta(), {0, sparse_in}, std::move(bytes));
}

TEST(TensorMemory, ASparseMmaMeetsTheColumnsThatItsMetadataChooses) {
  const KernelRun run = run_sparse();
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      int sum = 0;
      for (int i = 0; i < k; ++i) {
        const unsigned code = code_at(row, i / 2);
        const auto at = static_cast<int>(i % 2 == 0 ? code % 4 : code / 4);
        sum += a_at(row, i) * b_at(column, i / 2 * 4 + at);
      }
      ASSERT_EQ(run.global().at<float>(sparse_in + static_cast<std::size_t>(row * n + column) * 4),
                static_cast<float>(sum))
          << row << ", " << column;
    }
  // 0100 is one code, 0101 and 0000 are none.
  const std::uint32_t first = metadata_of(5) & 0xf;
  EXPECT_EQ(run_sparse(first).fault(), Fault::UndefinedMetadata);
}

// CUTLASS's compressor writes code 0 for a chunk of zeros: zeros whatever B they meet, if it is finite.
TEST(TensorMemory, AChunkOfZerosMayHaveAnyCode) {
  const std::uint32_t first = metadata_of(5) & 0xf;
  const KernelRun named = run_sparse(0, true), open = run_sparse(first, true);
  ASSERT_EQ(open.fault(), Fault::None) << open.what();
  for (int i = 0; i < m * n; ++i) {
    const std::size_t at = sparse_in + static_cast<std::size_t>(i) * 4;
    ASSERT_EQ(open.global().at<std::uint32_t>(at), named.global().at<std::uint32_t>(at)) << i;
  }
  EXPECT_EQ(run_sparse(first, true, true).fault(), Fault::UndefinedMetadata);
}

// D from columns 0 on is the tile's sums of before, twice: once written, once accumulated upon.
TEST(TensorMemory, AnMmaAccumulatesWhereItsPredicateSaysSo) {
  const KernelRun run =
      run_mma(replaced(mma_kernel(), once_more,
                       std::string(once_more) +
                           "  tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd4, %rd5, %r9, %p1;\n"));
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  int sum = 0;
  for (int i = 0; i < k; ++i) sum += a_at(77, i) * b_at(9, i);
  EXPECT_EQ(run.global().at<float>(in_bytes + (77 * n + 9) * 4), static_cast<float>(2 * sum));
}

TEST(TensorMemory, WhatSynchronisesAnMmaMustBeThere) {
  EXPECT_EQ(run_mma(without(mma_kernel(), "fence.proxy.async")).fault(), Fault::ProxyFenceMissing);
  const auto disputed = run_mma(without(mma_kernel(), "sync; // of the operation")).suspicions();
  EXPECT_EQ(disputed, std::vector{Fault::TmemFenceOmitted});
  EXPECT_NE(run_mma(without(mma_kernel(), "tcgen05.dealloc")).fault(), Fault::None);
  EXPECT_NE(run_mma(without(mma_kernel(), "tcgen05.commit")).fault(), Fault::None);
}

// Column 0 is assumed, and warps 1 to 3 know of the allocation by the commit alone.
TEST(TensorMemory, ACommitTellsOfTheAllocationBeforeIt) {
  const std::string alloc = R"(
  @!%p2 bra allocated;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
)";
  std::string text = replaced(mma_kernel(), alloc, "\n");
  text = replaced(text, "  ld.shared.b32 %r6, [slot];\n", alloc + "  mov.u32 %r6, 0;\n");
  const KernelRun run = run_mma(text);
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  int sum = 0;
  for (int i = 0; i < k; ++i) sum += a_at(77, i) * b_at(9, i);
  EXPECT_EQ(run.global().at<float>(in_bytes + (77 * n + 9) * 4), static_cast<float>(sum));
  // A commit ahead of the allocation tells nothing of it: the bytes are a store's.
  const std::string commit =
      "  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n";
  const std::string early = replaced(replaced(text, commit, ""), alloc,
                                     "  @!%p1 bra early;\n" + commit + "early:\n" + alloc);
  EXPECT_EQ(run_mma(early).fault(), Fault::TmemNotAllocated) << run_mma(early).what();
}

TEST(TensorMemory, WhatADescriptorMustNotSayIsAFault) {
  EXPECT_EQ(run_mma(replaced(mma_kernel(), "0x0000401000080000", "0x0000801000080000")).fault(),
            Fault::DescriptorConstant);
  EXPECT_EQ(run_mma(replaced(mma_kernel(), "0x08040010", "0x08040050")).fault(),
            Fault::WordReserved);
  EXPECT_EQ(run_mma(replaced(mma_kernel(), ".kind::f16 [", ".kind::f16.ashift [")).fault(),
            Fault::UnmodelledMma);
}

// Triton up to 3.5 has Hopper's word, with zeros in the place of the constant.
TEST(TensorMemory, ADescriptorWithoutTheConstantIsDisputed) {
  const KernelRun run = run_mma(replaced(mma_kernel(), "0x0000401000080000", "0x0000001000080000"));
  EXPECT_EQ(run.suspicions(), std::vector{Fault::DescriptorConstantAssumed});
  EXPECT_EQ(run.global().at<float>(in_bytes + (77 * n + 9) * 4),
            run_mma(mma_kernel()).global().at<float>(in_bytes + (77 * n + 9) * 4));
}

// --- cp, st and ld ---------------------------------------------------------------------------------

TEST(TensorMemory, ACopyBringsRowsToLanes) {
  const std::string ptx = std::string(head) + R"(
  @!%p1 bra waiting;
  tcgen05.cp.cta_group::1.128x256b [%r6], %rd4;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
)" + wait + read_lanes(8) +
                          tail;
  const Bytes in = operands(m * 32);
  const KernelRun run(ptx, one_cta(), {0, in_bytes}, in);
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < k; ++column)
      ASSERT_EQ(run.global().at<std::uint16_t>(in_bytes +
                                               static_cast<std::size_t>(row * 32 + column * 2)),
                in.at<std::uint16_t>(place(row, column)))
          << row << ", " << column;
}

std::string store_and_load(const std::string& middle) {
  return std::string(head) + R"(
  and.b32 %r8, %r1, 0x60;
  shl.b32 %r8, %r8, 16;
  add.u32 %r8, %r6, %r8;
  mul.lo.u32 %r20, %r1, 3;
  add.u32 %r21, %r20, 1;
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r8+4], {%r20, %r21};
)" + middle +
         R"(
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r22}, [%r8+5];
  tcgen05.wait::ld.sync.aligned;
  mul.wide.u32 %rd6, %r1, 4;
  add.u64 %rd2, %rd2, %rd6;
  st.global.b32 [%rd2], %r22;
)" + tail;
}

TEST(TensorMemory, WhatAWarpStoresItLoads) {
  const KernelRun run(store_and_load("  tcgen05.wait::st.sync.aligned;"), one_cta(), {0, in_bytes},
                      operands(m * 4));
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  for (std::size_t thread = 0; thread < m; ++thread)
    ASSERT_EQ(run.global().at<std::uint32_t>(in_bytes + 4 * thread), 3 * thread + 1);
}

TEST(TensorMemory, AStoreInFlightIsNotLoaded) {
  EXPECT_NE(KernelRun(store_and_load(""), one_cta(), {0, in_bytes}, operands(m * 4)).fault(),
            Fault::None);
}

// --- pairs of CTAs ---------------------------------------------------------------------------------

constexpr const char* pair_kernel = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .u64 out)
{
  .shared .align 8 .b64 done;
  .shared .align 4 .b32 slot;
  .reg .pred %p<8>;
  .reg .b16 %rs<2>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %cluster_ctarank;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared::cta.b64 [done], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;
  tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
  tcgen05.fence::before_thread_sync;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  tcgen05.fence::after_thread_sync;
  ld.shared.b32 %r6, [slot];
  setp.eq.u32 %p2, %r2, 0;
  and.pred %p2, %p2, %p1;
  mov.u16 %rs1, 3;
  @%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [done], %rs1;
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
  @!%p4 bra waiting;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r6, 64;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  add.u32 %r7, %r6, 1;
  @%p1 st.global.b32 [%rd1], %r7;
  ret;
}
)";

TEST(TensorMemory, TwoCtasAllocateTogetherAndACommitArrivesInBoth) {
  Launch launch;
  launch.grid = launch.cluster = {2, 1, 1};
  launch.block = {32, 1, 1};
  const KernelRun run(pair_kernel, launch, {0}, {std::vector<std::uint8_t>(8, 0xff)});
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  EXPECT_EQ(run.global().at<std::uint32_t>(0), 1u);  // column 0 of both
  EXPECT_EQ(run.global().at<std::uint32_t>(4), 1u);
  const std::string to_one = replaced(pair_kernel, "mov.u16 %rs1, 3", "mov.u16 %rs1, 1");
  EXPECT_EQ(KernelRun(to_one, launch, {0}, {std::vector<std::uint8_t>(8)}).fault(),
            Fault::Deadlock);
}

// The second CTA of a pair names its lanes from 128 on: disputed, as a published kernel does it.
TEST(TensorMemory, LanesMayBeCountedOnOverAPair) {
  const auto at_lane = [](const std::string& shifted) {
    std::string text = replaced(
        pair_kernel,
        "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n  tcgen05.dealloc",
        shifted + R"(
  add.u32 %r8, %r8, %r6;
  add.u32 %r9, %r2, 40;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {%r9};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r6];
  tcgen05.wait::ld.sync.aligned;
  tcgen05.fence::before_thread_sync;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  tcgen05.fence::after_thread_sync;
  tcgen05.dealloc)");
    text = replaced(text, "add.u32 %r7, %r6, 1;", "mov.u32 %r7, %r10;");
    Launch launch;
    launch.grid = launch.cluster = {2, 1, 1};
    launch.block = {32, 1, 1};
    return KernelRun(text, launch, {0}, {std::vector<std::uint8_t>(8, 0xff)});
  };
  const KernelRun run = at_lane("  shl.b32 %r8, %r2, 23;");
  ASSERT_EQ(run.fault(), Fault::None) << run.what();
  EXPECT_EQ(run.suspicions(), std::vector{Fault::TmemLaneIgnored});
  EXPECT_EQ(run.global().at<std::uint32_t>(0), 40u);
  EXPECT_EQ(run.global().at<std::uint32_t>(4), 41u);
  // Not in the first CTA.
  EXPECT_EQ(at_lane("  mov.u32 %r8, 0x800000;").fault(), Fault::TmemLaneNotOwned);
}

}  // namespace
}  // namespace tcq::run
