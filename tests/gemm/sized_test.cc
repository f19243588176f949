// Structs of callers that were compiled with another version of a header than the library was.
#include "cuda/gemm/sized.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "cuda/gemm/gemm_c.h"

namespace tcq::gemm {
namespace {

struct Known {
  std::size_t size;
  std::int64_t first;
  std::int32_t second;
  std::int32_t third;
};
struct Older {
  std::size_t size;
  std::int64_t first;
};
struct Newer {
  Known known;
  std::int64_t fourth;
};

constexpr OlderSizes older = {sizeof(Older)};
constexpr Known defaults = {sizeof(Known), 10, 20, 30};

template <class Struct>
Status take(const Struct& from, Known& to) {
  to = defaults;
  return take_struct(reinterpret_cast<const Known*>(&from), older, to);
}

// What stands in memory behind an older struct is not the struct's.
TEST(Gemm_Sized, WhatAnOlderStructLacksHasItsDefault) {
  Known got{};
  Newer memory{{sizeof(Older), 7, 8, 9}, 10};
  EXPECT_EQ(take(memory, got), Status::Ok);
  EXPECT_EQ(got.first, 7);
  EXPECT_EQ(got.second, 20);
  EXPECT_EQ(got.third, 30);
  EXPECT_EQ(take(Known{sizeof(Known), 7, 8, 9}, got), Status::Ok);
  EXPECT_EQ(got.third, 9);
}

TEST(Gemm_Sized, ANewerStructMaySetOnlyWhatIsKnown) {
  Known got{};
  Newer newer{{sizeof(Newer), 7, 8, 9}, 0};
  EXPECT_EQ(take(newer, got), Status::Ok);
  EXPECT_EQ(got.third, 9);
  newer.fourth = std::int64_t{1} << 63;  // its last byte
  EXPECT_EQ(take(newer, got), Status::UnknownField);
  EXPECT_EQ(got.first, defaults.first);
  newer.fourth = 1;  // its first
  EXPECT_EQ(take(newer, got), Status::UnknownField);
}

// No byte behind the size field is looked at.
TEST(Gemm_Sized, WhatIsNoSizeIsRefused) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, sizeof(Older) - 8, sizeof(Older) + 4, sizeof(Known) - 1,
        sizeof(Known) + 4, most_struct_bytes + 8, std::size_t{1} << 40, SIZE_MAX}) {
    Known got{};
    EXPECT_EQ(take(size, got), Status::BadStructSize) << size;
    EXPECT_EQ(got.first, defaults.first);
  }
  Known got{};
  EXPECT_EQ(take_struct<Known>(nullptr, older, got), Status::NullPointer);
  EXPECT_TRUE(is_struct_size<Known>(most_struct_bytes, older));
}

// Bytes that stand behind the caller's struct stay.
TEST(Gemm_Sized, ACallerGetsAsManyBytesAsItHas) {
  for (const std::size_t size : {sizeof(Older), sizeof(Known), sizeof(Newer)}) {
    struct {
      std::array<unsigned char, sizeof(Newer)> bytes;
      unsigned char behind;
    } caller;
    caller.bytes.fill(0xa5);
    caller.behind = 0xa5;
    give_struct(defaults, size, reinterpret_cast<Known*>(caller.bytes.data()));
    Newer got{};
    std::memcpy(&got, caller.bytes.data(), sizeof got);
    EXPECT_EQ(got.known.size, size);
    EXPECT_EQ(got.known.first, 10);
    const std::int32_t untouched = static_cast<std::int32_t>(0xa5a5a5a5);
    EXPECT_EQ(got.known.third, size < sizeof(Known) ? untouched : 30);
    EXPECT_EQ(got.fourth == 0, size == sizeof(Newer));
    EXPECT_EQ(caller.behind, 0xa5);
  }
}

// Callers are compiled with these; what a size names may not move.
TEST(Gemm_Sized, TheInterfacesStructsLieAsTheyDid) {
  EXPECT_EQ(sizeof(tcq_gemm_problem), 264u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, size), 0u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, m), 8u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, in), 40u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, a), 56u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, alpha), 120u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, batch_invariant), 136u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, sm_limit), 144u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, in_b), 152u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, scale_a), 176u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, block_scaling), 216u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, quantized), 224u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, block_scaling_d), 236u);
  EXPECT_EQ(offsetof(tcq_gemm_problem, dynamic_schedule), 256u);
  EXPECT_EQ(sizeof(tcq_gemm_pointers), 112u);
  EXPECT_EQ(offsetof(tcq_gemm_pointers, size), 0u);
  EXPECT_EQ(offsetof(tcq_gemm_pointers, bias), 40u);
  EXPECT_EQ(offsetof(tcq_gemm_pointers, scale_a), 48u);
  EXPECT_EQ(offsetof(tcq_gemm_pointers, scale_codes_a), 72u);
  EXPECT_EQ(offsetof(tcq_gemm_pointers, scale_d), 88u);
  EXPECT_EQ(offsetof(tcq_gemm_pointers, scale_codes_d), 96u);
  const int types[] = {TCQ_GEMM_F16, TCQ_GEMM_BF16, TCQ_GEMM_TF32, TCQ_GEMM_S8,
                       TCQ_GEMM_U8,  TCQ_GEMM_F32,  TCQ_GEMM_S32};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(types[i], i);
}

}  // namespace
}  // namespace tcq::gemm
