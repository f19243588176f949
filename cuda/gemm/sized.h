// Structs of callers that were compiled with an older or a newer gemm_c.h than the library.
//
// A struct's first field is its size as the caller knows it. The sizes of older versions are named, so that what
// is not set is seldom taken for one; a newer struct may be larger by fields that are all 0. Example: a
// struct of 144 bytes without the options of launches is a problem with their defaults.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "cuda/gemm/gemm.h"

namespace tcq::gemm {

// Of a struct, whatever fields later versions add.
inline constexpr std::size_t most_struct_bytes = 4096;

using OlderSizes = std::initializer_list<std::size_t>;

template <class Struct>
bool is_struct_size(std::size_t size, OlderSizes older) {
  if (std::ranges::find(older, size) != older.end()) return true;
  return size >= sizeof(Struct) && size <= most_struct_bytes && size % alignof(Struct) == 0;
}

// `to` holds the defaults of what the caller's struct has not.
template <class Struct>
Status take_struct(const Struct* from, OlderSizes older, Struct& to) {
  if (from == nullptr) return Status::NullPointer;
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  std::size_t size = 0;
  std::memcpy(&size, bytes, sizeof size);
  if (!is_struct_size<Struct>(size, older)) return Status::BadStructSize;
  for (std::size_t i = sizeof(Struct); i < size; ++i)
    if (bytes[i] != 0) return Status::UnknownField;
  std::memcpy(&to, bytes, std::min(size, sizeof(Struct)));
  return Status::Ok;
}

// Requires: is_struct_size(size). What a newer struct has besides is 0.
template <class Struct>
void give_struct(const Struct& from, std::size_t size, Struct* to) {
  auto* bytes = reinterpret_cast<unsigned char*>(to);
  std::memset(bytes, 0, size);
  std::memcpy(bytes, &from, std::min(size, sizeof(Struct)));
  std::memcpy(bytes, &size, sizeof size);
}

}  // namespace tcq::gemm
