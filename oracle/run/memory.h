// The arguments of a kernel: scalars, arrays in global memory, tensor maps over them.
//
// Decides what a word of --arg is, where its array lies and what goes into the parameters. Example: for a kernel with
// parameters (.u64, .f32) the words "x=zeros:f32:64" and "1.5" make 256 bytes of global memory and 12 of parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/run/request.h"
#include "sim/run/kernel.h"

namespace tcq::oracle::run {

struct Array {
  std::string name;
  std::string type;   // bf16, f32, ...
  std::string dtype;  // of .npy
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  // in global memory
  std::uint64_t bytes = 0;
};

struct Memory {
  std::vector<std::uint8_t> global;  // begins with the kernel's own variables
  std::vector<Array> arrays;
};

// Fills the launch's parameters and maps. Throws UsageError.
Memory place_arguments(const Request& request, const tcq::run::Kernel& kernel,
                       tcq::run::Launch& launch);

// Throws UsageError for a name that no array has.
const Array& array_named(const Memory& memory, std::string_view name);

}  // namespace tcq::oracle::run
