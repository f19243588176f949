// mma.sp against a plain product of the whole A, zeros and all: fragments and metadata as PTX numbers them.
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/num/narrow.h"
#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

using Bits = std::uint32_t;

struct Sparse {
  const char* shape;
  const char* types;
  int k, width;
  int telling;  // lanes of four whose metadata count
  int registers_of_d = 4;
};

const Sparse products[] = {
    {"m16n8k16", "f32.f16.f16.f32", 16, 16, 1},    {"m16n8k32", "f32.f16.f16.f32", 32, 16, 2},
    {"m16n8k16", "f16.f16.f16.f16", 16, 16, 1, 2}, {"m16n8k32", "f16.f16.f16.f16", 32, 16, 2, 2},
    {"m16n8k16", "f32.bf16.bf16.f32", 16, 16, 1},  {"m16n8k32", "f32.bf16.bf16.f32", 32, 16, 2},
    {"m16n8k8", "f32.tf32.tf32.f32", 8, 32, 1},    {"m16n8k16", "f32.tf32.tf32.f32", 16, 32, 2},
    {"m16n8k64", "f32.e4m3.e5m2.f32", 64, 8, 4},   {"m16n8k64", "f32.e5m2.e4m3.f32", 64, 8, 4},
    {"m16n8k32", "s32.s8.u8.s32", 32, 8, 2},       {"m16n8k64", "s32.s8.s8.s32", 64, 8, 4},
    {"m16n8k64", "s32.u8.s8.s32", 64, 8, 4},       {"m16n8k64", "s32.s4.u4.s32", 64, 4, 2},
    {"m16n8k128", "s32.u4.s4.s32", 128, 4, 4},
};

std::string type_of(const Sparse& s, int which) {
  std::string rest = s.types;
  for (; which > 0; --which) rest.erase(0, rest.find('.') + 1);
  return rest.substr(0, rest.find('.'));
}

// Whole numbers from -4 to 4 in each type, from 0 on without sign.
Bits coded(const std::string& type, int x) {
  const auto magnitude = static_cast<std::size_t>(x < 0 ? -x : x);
  const auto with_sign = [&](std::array<Bits, 5> codes) {
    return codes[magnitude] | (x < 0 ? 0x80u : 0u);
  };
  const Bits f32 = std::bit_cast<Bits>(static_cast<float>(x));
  if (type == "f16") return narrow(Type::f16, f32);
  if (type == "bf16") return f32 >> 16;
  if (type == "tf32") return f32;
  if (type == "e4m3") return with_sign({0, 0x38, 0x40, 0x44, 0x48});
  if (type == "e5m2") return with_sign({0, 0x3c, 0x40, 0x42, 0x44});
  return static_cast<Bits>(x) & (type.back() == '8' ? 0xffu : 0xfu);
}

using Matrix = std::vector<std::vector<int>>;

Matrix drawn(int rows, int columns, const std::string& type, std::mt19937_64& random) {
  Matrix m(static_cast<std::size_t>(rows), std::vector<int>(static_cast<std::size_t>(columns)));
  const bool is_unsigned = type.front() == 'u';
  for (auto& row : m)
    for (int& x : row)
      x = static_cast<int>(random() % (is_unsigned ? 5 : 9)) - (is_unsigned ? 0 : 4);
  return m;
}

// A as it is stored, its codes, and what it stands for.
struct SparseMatrix {
  Matrix stored, whole;
  std::vector<std::vector<Bits>> codes;
};

SparseMatrix drawn_sparse(const Sparse& s, std::mt19937_64& random) {
  constexpr Bits of_four[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  constexpr Bits of_two[] = {0b0100, 0b1110};
  const int unit = s.width == 4 ? 2 : 1, kept = s.width == 32 ? 1 : 2 * unit;
  SparseMatrix a;
  a.stored = drawn(16, s.k / 2, type_of(s, 1), random);
  a.whole = Matrix(16, std::vector<int>(static_cast<std::size_t>(s.k)));
  for (std::size_t row = 0; row < 16; ++row) {
    a.codes.emplace_back();
    for (int stored = 0; stored < s.k / 2; ++stored) {
      if (stored % kept == 0)
        a.codes[row].push_back(s.width == 32 ? of_two[random() % 2] : of_four[random() % 6]);
      const Bits code = a.codes[row].back();
      const int within = stored % kept;
      const auto at = static_cast<int>(s.width == 32        ? code / 8
                                       : within / unit == 0 ? code % 4
                                                            : code / 4);
      const int k = stored / kept * 2 * kept + at * unit + within % unit;
      a.whole[row][static_cast<std::size_t>(k)] = a.stored[row][static_cast<std::size_t>(stored)];
    }
  }
  return a;
}

// The word of metadata of a lane; of lanes that do not tell, noise.
Bits metadata_of(const Sparse& s, const SparseMatrix& a, std::size_t lane, int selector,
                 std::mt19937_64& random) {
  const std::size_t g = lane / 4, t = lane % 4;
  Bits word = 0;
  const auto first = static_cast<std::size_t>(selector * s.telling);
  if (t < first || t >= first + static_cast<std::size_t>(s.telling))
    return static_cast<Bits>(random());
  if (s.width <= 8) {
    const std::size_t row = g + (t - first) % 2 * 8, chunk = (t - first) / 2 * 8;
    for (std::size_t c = 0; c < 8; ++c) word |= a.codes[row][chunk + c] << (4 * c);
    return word;
  }
  for (std::size_t c = 0; c < 4; ++c) {
    word |= a.codes[g][4 * (t - first) + c] << (4 * c);
    word |= a.codes[g + 8][4 * (t - first) + c] << (16 + 4 * c);
  }
  return word;
}

struct Operands {
  std::vector<Register> in;
  SparseMatrix a;
  Matrix b;
  std::array<std::array<int, 8>, 16> c;
};

Operands operands_of(const Sparse& s, int selector, std::mt19937_64& random) {
  Operands o;
  o.a = drawn_sparse(s, random);
  o.b = drawn(s.k, 8, type_of(s, 2), random);
  const int parts = 32 / s.width;
  const auto registers = [&](int count, auto element) {
    for (int reg = 0; reg < count; ++reg) {
      Register& r = o.in.emplace_back();
      for (std::size_t lane = 0; lane < 32; ++lane) {
        Bits word = 0;
        for (int part = 0; part < parts; ++part)
          word |= element(reg, lane, part) << (s.width * part % 32);
        r.set(lane, word);
      }
    }
  };
  const auto along_k = [&](std::size_t lane, int part, int step) {
    return static_cast<std::size_t>(static_cast<int>(lane % 4) * parts + part + 4 * parts * step);
  };
  registers(16 * (s.k / 2) / (32 * parts), [&](int reg, std::size_t lane, int part) {
    const std::size_t row = lane / 4 + (reg % 2 != 0 ? 8 : 0);
    return coded(type_of(s, 1), o.a.stored[row][along_k(lane, part, reg / 2)]);
  });
  registers(8 * s.k / (32 * parts), [&](int reg, std::size_t lane, int part) {
    return coded(type_of(s, 2), o.b[along_k(lane, part, reg)][lane / 4]);
  });
  for (auto& row : o.c)
    for (int& x : row) x = static_cast<int>(random() % 64) - 32;
  for (int reg = 0; reg < s.registers_of_d; ++reg) {
    Register& r = o.in.emplace_back();
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const auto at = [&](std::size_t i) {
        return o.c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
      };
      const auto i = static_cast<std::size_t>(reg);
      const auto half = [&](std::size_t which) {
        return narrow(Type::f16, std::bit_cast<Bits>(static_cast<float>(at(which))));
      };
      if (s.registers_of_d == 2)
        r.set(lane, half(2 * i) | half(2 * i + 1) << 16);
      else if (type_of(s, 0) == "s32")
        r.set(lane, static_cast<Bits>(at(i)));
      else
        r.set(lane, std::bit_cast<Bits>(static_cast<float>(at(i))));
    }
  }
  Register& metadata = o.in.emplace_back();
  for (std::size_t lane = 0; lane < 32; ++lane)
    metadata.set(lane, metadata_of(s, o.a, lane, selector, random));
  o.in.push_back(Register::of<Bits>({static_cast<Bits>(selector)}));
  return o;
}

Bits wanted(const Sparse& s, const Operands& o, std::size_t lane, std::size_t i) {
  const auto sum = [&](std::size_t which) {
    const std::size_t row = lane / 4 + which / 2 * 8, col = lane % 4 * 2 + which % 2;
    int total = o.c[row][col];
    for (std::size_t k = 0; k < static_cast<std::size_t>(s.k); ++k)
      total += o.a.whole[row][k] * o.b[k][col];
    return total;
  };
  const auto f32 = [&](std::size_t which) {
    return std::bit_cast<Bits>(static_cast<float>(sum(which)));
  };
  if (s.registers_of_d == 2)
    return narrow(Type::f16, f32(2 * i)) | narrow(Type::f16, f32(2 * i + 1)) << 16;
  return type_of(s, 0) == "s32" ? static_cast<Bits>(sum(i)) : f32(i);
}

TEST(SparseMatrix, ProductsAreThoseOfTheWholeMatrix) {
  std::mt19937_64 random(12);
  for (const Sparse& s : products)
    for (const char* words : {"mma.sp", "mma.sp::ordered_metadata"})
      for (int selector = 0; selector < 4 / s.telling; ++selector) {
        const std::string text =
            std::string(words) + ".sync.aligned." + s.shape + ".row.col." + s.types;
        const ptx::Form form = ptx::read_form(text);
        const Operation operation = alu::operation(form);
        ASSERT_NE(operation.evaluate, nullptr) << text;
        EXPECT_FALSE(operation.approximate) << text;
        const Operands o = operands_of(s, selector, random);
        const auto outs = static_cast<std::size_t>(s.registers_of_d);
        EXPECT_TRUE(takes(form, outs, o.in.size())) << text;
        EXPECT_FALSE(takes(form, outs, o.in.size() - 1)) << text;
        std::vector<const void*> in;
        for (const Register& r : o.in) in.push_back(r.words.data());
        std::vector<Register> d(outs);
        std::vector<void*> out;
        for (Register& r : d) out.push_back(r.words.data());
        operation.evaluate({out.data(), in.data(), 0xffffffff, nullptr, s.registers_of_d,
                            static_cast<int>(in.size())});
        for (std::size_t lane = 0; lane < 32; ++lane)
          for (std::size_t i = 0; i < outs; ++i)
            ASSERT_EQ(d[i].get<Bits>(lane), wanted(s, o, lane, i))
                << text << ", selector " << selector << ", lane " << lane << ", register " << i;
      }
}

TEST(SparseMatrix, SumsOfIntegersAreClampedWhereTheWordsSaySo) {
  const auto sum = [](const char* words) {
    std::vector<Register> in(14);
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = Register::of<Bits>({i < 8    ? 0x7f7f7f7fu
                                  : i < 12 ? 0x7fffffffu
                                  : i < 13 ? 0x44444444u
                                           : 0u});
    std::vector<const void*> sources;
    for (const Register& r : in) sources.push_back(r.words.data());
    std::vector<Register> d(4);
    std::vector<void*> out;
    for (Register& r : d) out.push_back(r.words.data());
    operation(ptx::read_form(std::string("mma.sp.sync.aligned.m16n8k64.row.col") + words +
                             ".s32.s8.s8.s32"))
        .evaluate({out.data(), sources.data(), 0xffffffff, nullptr, 4, 14});
    return d[2].get<Bits>(9);
  };
  EXPECT_EQ(sum(".satfinite"), 0x7fffffffu);
  EXPECT_EQ(sum(""), 0x7fffffffu + 32u * 127 * 127);
}

TEST(SparseMatrix, WhatDoesNotExistHasNoOperation) {
  for (const char* text : {"mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                           "mma.sp.sync.aligned.m16n8k32.row.row.f32.f16.f16.f32",
                           "mma.sp.sync.aligned.m16n8k32.row.col.satfinite.f32.f16.f16.f32",
                           "mma.sp.sync.aligned.m16n8k64.row.col.f32.s8.s8.f32",
                           "mma.sp.sync.aligned.m16n8k64.row.col.f32.f16.f16.f32"})
    EXPECT_EQ(operation(ptx::read_form(text)).evaluate, nullptr) << text;
}

}  // namespace
}  // namespace tcq::alu
