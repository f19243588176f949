// wmma.load, wmma.mma and wmma.store of compiled kernels: every shape and type against a plain product of small integers, and
// what is found where a barrier or a lane is missing.
//
// Source: PTX ISA 9.2, 9.7.14.4 "wmma": how a matrix lies in memory by .row, .col and stride
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/base/wmma_fragment.h"
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// --- the law of fragments --------------------------------------------------------------------------

TEST(WmmaFragment, EveryElementIsInOneRegisterOfOneLane) {
  using wmma::Matrix;
  struct Case {
    wmma::Shape shape;
    int bits;
  };
  for (const auto& [s, bits] :
       {Case{{16, 16, 16}, 16}, Case{{32, 8, 16}, 16}, Case{{8, 32, 16}, 16}, Case{{16, 16, 16}, 8},
        Case{{32, 8, 16}, 8}, Case{{8, 32, 16}, 8}, Case{{16, 16, 8}, 32}, Case{{8, 8, 4}, 64},
        Case{{8, 8, 32}, 4}, Case{{8, 8, 128}, 1}})
    for (const Matrix x : {Matrix::A, Matrix::B, Matrix::D}) {
      const int width = x == Matrix::D ? std::max(bits, 32) : bits;
      const int rows = x == Matrix::B ? s.k : s.m;
      const int columns = x == Matrix::A ? s.k : s.n;
      std::set<std::pair<int, int>> seen;
      for (int lane = 0; lane < 32; ++lane)
        for (int reg = 0; reg < wmma::distinct_registers(s, x, width); ++reg)
          for (int part = 0; part < warp_mma::parts(width); ++part) {
            const auto e = wmma::element(s, x, width, {lane, reg, part});
            EXPECT_TRUE(e.row >= 0 && e.row < rows && e.col >= 0 && e.col < columns);
            EXPECT_TRUE(seen.insert({e.row, e.col}).second);
          }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(rows * columns));
    }
}

// --- products --------------------------------------------------------------------------------------

struct Format {
  std::string word;
  int bits;
  std::function<std::uint64_t(int)> code;
  int low, high;  // what is drawn
};

std::uint64_t half(int x) {
  const auto word = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if (x == 0) return 0;
  return (word >> 16 & 0x8000) | (((word >> 23 & 0xff) - 112) << 10) | (word >> 13 & 0x3ff);
}
std::uint64_t single(int x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }
std::uint64_t plain(int x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); }

const Format f16{"f16", 16, half, -3, 3};
const Format bf16{"bf16", 16, [](int x) { return single(x) >> 16; }, -3, 3};
const Format tf32{"tf32", 32, single, -3, 3};
const Format f32{"f32", 32, single, -9, 9};
const Format f64{"f64", 64, [](int x) { return std::bit_cast<std::uint64_t>(double{1} * x); }, -9,
                 9};
const Format s8{"s8", 8, plain, -128, 127};
const Format u8{"u8", 8, plain, 0, 255};
const Format s4{"s4", 4, plain, -8, 7};
const Format u4{"u4", 4, plain, 0, 15};
const Format s32{"s32", 32, plain, -9, 9};

// Elements one behind the other, of less than a byte too.
class Bytes {
 public:
  explicit Bytes(std::size_t elements, const Format& format)
      : format_(format), bytes_(elements * static_cast<std::size_t>(format.bits) / 8 + 8) {}
  void set(std::size_t at, int value) {
    const std::uint64_t code = format_.code(value);
    for (int bit = 0; bit < format_.bits; ++bit) {
      const std::size_t where =
          at * static_cast<std::size_t>(format_.bits) + static_cast<std::size_t>(bit);
      if ((code >> bit & 1) != 0)
        bytes_[where / 8] = static_cast<std::uint8_t>(bytes_[where / 8] | 1u << where % 8);
    }
  }
  const std::vector<std::uint8_t>& get() const { return bytes_; }

 private:
  Format format_;
  std::vector<std::uint8_t> bytes_;
};

struct Product {
  wmma::Shape shape;
  Format ab, d;
  std::string a_major = "row", b_major = "col", d_major = "row";
  std::string words = {};  // of wmma.mma, behind its types
  std::string operation = {};
  std::string space = "global";
};

std::string vector(const std::string& prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i != 0 ? ", %" : "%") + prefix + std::to_string(i);
  return text + "}";
}

struct Texts {
  std::string load_a, load_b, load_c, mma, store, registers;
};

Texts texts_of(const Product& p) {
  const auto& s = p.shape;
  const std::string shape =
      ".m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k" + std::to_string(s.k);
  const bool is_f16 = p.ab.word == "f16";
  const int a = wmma::registers(s, wmma::Matrix::A, p.ab.bits, is_f16);
  const int b = wmma::registers(s, wmma::Matrix::B, p.ab.bits, is_f16);
  const int d = wmma::registers(s, wmma::Matrix::D, p.d.bits, false);
  const auto kind = [](const Format& f) { return std::string(f.bits == 64 ? ".f64" : ".b32"); };
  Texts t;
  t.registers = ".reg " + kind(p.ab) + " %a<9>; .reg " + kind(p.ab) + " %b<9>; .reg " + kind(p.d) +
                " %c<9>; .reg " + kind(p.d) + " %d<9>;\n";
  const auto load = [&](const std::string& matrix, const std::string& major, const Format& f,
                        const std::string& registers, const std::string& from, int stride) {
    return "wmma.load." + matrix + ".sync.aligned." + major + shape + "." + p.space + "." + f.word +
           " " + registers + ", [" + from + "], " + std::to_string(stride) + ";\n";
  };
  t.load_a = load("a", p.a_major, p.ab, vector("a", a), "%rd11", p.a_major == "row" ? s.k : s.m);
  t.load_b = load("b", p.b_major, p.ab, vector("b", b), "%rd12", p.b_major == "row" ? s.n : s.k);
  t.load_c = load("c", p.d_major, p.d, vector("c", d), "%rd13", p.d_major == "row" ? s.n : s.m);
  const std::string types =
      is_f16 ? "." + p.d.word + "." + p.d.word
             : "." + p.d.word + "." + p.ab.word + "." + p.ab.word + "." + p.d.word;
  t.mma = "wmma.mma" + p.operation + ".sync.aligned." + p.a_major + "." + p.b_major + shape +
          types + p.words + " " + vector("d", d) + ", " + vector("a", a) + ", " + vector("b", b) +
          ", " + vector("c", d) + ";\n";
  t.store = "wmma.store.d.sync.aligned." + p.d_major + shape + "." + p.space + "." + p.d.word +
            " [%rd14], " + vector("d", d) + ", " + std::to_string(p.d_major == "row" ? s.n : s.m) +
            ";\n";
  return t;
}

constexpr std::uint64_t part_bytes = 4096;  // of global memory to each matrix

std::string text_of(const Product& p) {
  const Texts t = texts_of(p);
  return kernel(t.registers +
                "mov.b64 %rd11, %rd1; add.u64 %rd12, %rd1, 4096; add.u64 %rd13, %rd1, 8192;\n"
                "add.u64 %rd14, %rd1, 12288;\n" +
                t.load_a + t.load_b + t.load_c + t.mma + t.store);
}

using Matrix = std::vector<std::vector<int>>;

Matrix drawn(int rows, int columns, const Format& f, std::mt19937& random) {
  std::uniform_int_distribution<int> value(f.low, f.high);
  Matrix x(static_cast<std::size_t>(rows), std::vector<int>(static_cast<std::size_t>(columns)));
  for (auto& row : x)
    for (int& element : row) element = value(random);
  return x;
}

std::vector<std::uint8_t> bytes_of(const Matrix& x, const Format& f, const std::string& major) {
  const std::size_t rows = x.size();
  const std::size_t columns = x[0].size();
  Bytes bytes(rows * columns, f);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      bytes.set(major == "row" ? i * columns + j : j * rows + i, x[i][j]);
  return bytes.get();
}

using Sum = std::function<int(const std::vector<int>&, const std::vector<int>&)>;

int dot(const std::vector<int>& a, const std::vector<int>& b) {
  int sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void expect_product(const Product& p, const Sum& sum = dot) {
  std::mt19937 random(11);
  const auto& s = p.shape;
  const Matrix a = drawn(s.m, s.k, p.ab, random);
  const Matrix b = drawn(s.k, s.n, p.ab, random);
  const Matrix c = drawn(s.m, s.n, p.d, random);
  Matrix d = c;
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j) {
      std::vector<int> column;
      for (int k = 0; k < s.k; ++k)
        column.push_back(b[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)]);
      d[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] +=
          sum(a[static_cast<std::size_t>(i)], column);
    }
  std::vector<std::uint8_t> memory(4 * part_bytes);
  const auto put = [&](std::size_t part, const std::vector<std::uint8_t>& bytes) {
    std::copy(bytes.begin(), bytes.end(),
              memory.begin() + static_cast<std::ptrdiff_t>(part * part_bytes));
  };
  put(0, bytes_of(a, p.ab, p.a_major));
  put(1, bytes_of(b, p.ab, p.b_major));
  put(2, bytes_of(c, p.d, p.d_major));
  PtxRun run(text_of(p));
  const Pointer data = run.array(memory);
  run.pass(data);
  ASSERT_EQ(run.go({.explore = 2}), Fault::None) << texts_of(p).mma;
  const auto want = bytes_of(d, p.d, p.d_major);
  auto got = run.read<std::uint8_t>(data + 3 * part_bytes, want.size());
  EXPECT_EQ(got, want) << texts_of(p).mma;
}

TEST(RunFragment, ProductsOfEveryShapeAndType) {
  for (const wmma::Shape shape : {wmma::Shape{16, 16, 16}, {32, 8, 16}, {8, 32, 16}})
    for (const auto& [a, b, d] : {std::tuple{"row", "col", "row"},
                                  {"col", "row", "col"},
                                  {"row", "row", "row"},
                                  {"col", "col", "col"}}) {
      expect_product({shape, f16, f32, a, b, d});
      expect_product({shape, f16, f16, a, b, d});
      expect_product({shape, bf16, f32, a, b, d});
      expect_product({shape, s8, s32, a, b, d});
      expect_product({shape, u8, s32, a, b, d, ".satfinite"});
    }
  for (const char* major : {"row", "col"}) {
    expect_product({{16, 16, 8}, tf32, f32, major, major, major});
    expect_product({{8, 8, 4}, f64, f64, major, major, major, ".rn"});
  }
  expect_product({{8, 8, 32}, s4, s32});
  expect_product({{8, 8, 32}, u4, s32, "row", "col", "col", ".satfinite"});
}

TEST(RunFragment, BitsAreCombinedAndCounted) {
  const Format b1{"b1", 1, plain, 0, 1};
  const auto counted = [](bool exclusive) {
    return [exclusive](const std::vector<int>& a, const std::vector<int>& b) {
      int sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += exclusive ? a[i] ^ b[i] : a[i] & b[i];
      return sum;
    };
  };
  expect_product({{8, 8, 128}, b1, s32, "row", "col", "row", "", ".xor.popc"}, counted(true));
  expect_product({{8, 8, 128}, b1, s32, "row", "col", "row", "", ".and.popc"}, counted(false));
}

TEST(RunFragment, WithoutAStrideLinesFollowEachOther) {
  Product p{{16, 16, 16}, f16, f32, "row", "col", "row"};
  std::string text = text_of(p);
  for (std::size_t at; (at = text.find("], 16;")) != text.npos;) text.replace(at, 6, "];");
  PtxRun run(text);
  std::vector<std::uint8_t> memory(4 * part_bytes);
  for (std::size_t i = 0; i < 512; i += 2) memory[i + 1] = memory[part_bytes + i + 1] = 0x3c;
  const Pointer data = run.array(memory);
  run.pass(data);
  ASSERT_EQ(run.go({}), Fault::None);
  for (const float x : run.read<float>(data + 3 * part_bytes, 256)) EXPECT_EQ(x, 16.0f);
}

// --- what is found ---------------------------------------------------------------------------------

Fault in_shared(const std::string& before_load, int threads = 64) {
  Product p{{16, 16, 16}, f16, f32};
  p.space = "shared";
  const Texts t = texts_of(p);
  PtxRun run(kernel(t.registers + R"(
    .shared .align 32 .b8 x[1024];
    mov.u32 %r2, x; cvt.u64.u32 %rd11, %r2;
    shl.b32 %r3, %r1, 3; add.u32 %r4, %r2, %r3;
    mov.b64 %rd15, 0;
    st.shared.b64 [%r4], %rd15;
)" + before_load + t.load_a +
                    "st.global.b32 [%rd2], %a0;"));
  run.pass(run.array<std::uint32_t>(64));
  return run.go({.block = {static_cast<std::uint32_t>(threads)}, .explore = 5});
}

TEST(RunFragment, ALoadIsHeldAgainstWhatOtherWarpsStore) {
  EXPECT_EQ(in_shared("bar.sync 0;\n"), Fault::None);
  EXPECT_EQ(in_shared(""), Fault::DataRace);
}

// A load whose registers nobody reads, of a null pointer; and the same of which one is stored.
TEST(RunFragment, AFragmentThatNobodyReadsIsNotLoaded) {
  const auto from_nowhere = [](const std::string& stored) {
    Product p{{16, 16, 16}, f16, f32};
    const Texts t = texts_of(p);
    PtxRun run(kernel(t.registers + "mov.b64 %rd11, 0;\n" + t.load_a + "mov.b32 %b1, 7;\n" +
                      "st.global.b32 [%rd2], " + stored + ";"));
    run.pass(run.array<std::uint32_t>(64));
    return run.go({});
  };
  EXPECT_EQ(from_nowhere("%b1"), Fault::None);
  EXPECT_EQ(from_nowhere("%a3"), Fault::AddressNowhere);
}

TEST(RunFragment, AllLanesOfAWarpTakePart) {
  EXPECT_EQ(in_shared("bar.sync 0;\nsetp.lt.u32 %p1, %r1, 48;\n@!%p1 ret;\n"),
            Fault::WarpDivergent);
}

TEST(RunFragment, WhatDoesNotExistIsSaid) {
  Product p{{16, 16, 16}, f16, f32};
  std::string text = text_of(p);
  const std::size_t at = text.find("%a7");
  PtxRun run(text.replace(at - 2, 5, ""));
  run.pass(run.array<std::uint8_t>(4 * part_bytes));
  EXPECT_EQ(run.go({}), Fault::UnmodelledInstruction);
}

}  // namespace
}  // namespace tcq::tests
