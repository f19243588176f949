// Laws of the fields that shared-memory descriptors of wgmma and tcgen05 have in common.
//
// A format brings Descriptor and decode(word); check(), encode() and operator== are found by its type.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "sim/isa/base/matrix_descriptor.h"
#include "sim/isa/fault/fault.h"

namespace tcq {

inline std::uint32_t random_offset(std::mt19937_64& random) {
  return static_cast<std::uint32_t>(random() % 16384) * descriptor_unit_bytes;
}

template <class Descriptor>
void expect_check_names_what_would_be_lost(const Descriptor& right) {
  EXPECT_EQ(check(right), Fault::None);
  const auto with = [&](auto Descriptor::*member, auto value) {
    Descriptor d = right;
    d.*member = value;
    return check(d);
  };
  for (const auto member :
       {&Descriptor::start_bytes, &Descriptor::lbo_bytes, &Descriptor::sbo_bytes}) {
    EXPECT_EQ(with(member, 1032u), Fault::DescriptorUnaligned);
    EXPECT_EQ(with(member, 0x40000u), Fault::DescriptorTooLarge);
    EXPECT_EQ(with(member, 0x3fff0u), Fault::None);
  }
  EXPECT_EQ(with(&Descriptor::base_offset, 7u), Fault::None);
  EXPECT_EQ(with(&Descriptor::base_offset, 8u), Fault::DescriptorBaseOffset);
  EXPECT_EQ(with(&Descriptor::swizzle, no_swizzle), Fault::DescriptorSwizzleCode);
  EXPECT_EQ(with(&Descriptor::swizzle, Swizzle::B128Atom64), Fault::DescriptorSwizzleCode);
}

template <class Decode>
void expect_advance_changes_the_start_only(Decode decode) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t word = random();
    const std::uint32_t step = random_offset(random);
    auto want = decode(word);
    want.start_bytes = (want.start_bytes + step) % address_space_bytes;
    ASSERT_EQ(decode(advance(word, step)), want);
    ASSERT_EQ((advance(word, step) ^ word) & ~StartAddress::mask, 0u);
  }
}

}  // namespace tcq
