// Building blocks of the catalogue's programs: data, tiles, descriptors, one f16 wgmma.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/async/program.h"
#include "sim/isa/wgmma/descriptor.h"

namespace tcq::catalogue {

using namespace machine;

inline constexpr int mma_n = 8;
inline constexpr std::uint32_t row_bytes = 128;  // 64 f16
inline constexpr std::uint32_t a_bytes = 64 * row_bytes;
inline constexpr std::uint32_t b_bytes = mma_n * row_bytes;
inline constexpr RegisterRange d_registers{0, 4};  // m64n8, f32

// f16 values 1, 2, 3, 4 over and over, shifted by `phase`.
inline std::vector<std::uint8_t> small_numbers(std::size_t bytes, std::size_t phase = 0) {
  constexpr std::uint8_t high_bytes[] = {0x3c, 0x40, 0x42, 0x44};
  std::vector<std::uint8_t> data(bytes);
  for (std::size_t i = 1; i < bytes; i += 2) data[i] = high_bytes[(i / 2 + i / 128 + phase) % 4];
  return data;
}

inline std::uint64_t descriptor(std::uint32_t start, std::uint32_t sbo_bytes = 1024,
                                Swizzle swizzle = Swizzle::B128, std::uint32_t lbo_bytes = 16,
                                std::uint32_t base_offset = 0) {
  return wgmma::encode({.start_bytes = start,
                        .lbo_bytes = lbo_bytes,
                        .sbo_bytes = sbo_bytes,
                        .base_offset = base_offset,
                        .swizzle = swizzle});
}

// m64n8k16.f32.f16.f16, K-major.
inline wgmma::Instruction mma(std::uint64_t a, std::uint64_t b, bool accumulate) {
  wgmma::Instruction op;
  op.form = {Type::f32, Type::f16, Type::f16, mma_n};
  op.desc_a = a;
  op.desc_b = b;
  op.accumulate = accumulate;
  return op;
}

// The same with A in registers.
inline wgmma::Instruction mma_rs(std::uint64_t b, bool accumulate) {
  wgmma::Instruction op = mma(0, b, accumulate);
  op.form.a_place = wgmma::Place::Registers;
  return op;
}

// A tensor of f16 with `cols` columns, in boxes of box_rows x 64.
inline int f16_tensor_of(Program& program, const std::vector<std::uint8_t>& data,
                         std::uint64_t cols, std::uint32_t box_rows,
                         Swizzle swizzle = Swizzle::B128) {
  tma::TensorMap map;
  map.type = tma::DataType::Float16;
  map.rank = 2;
  map.address = program.global(data);
  map.dims[0] = cols;
  map.dims[1] = data.size() / (2 * cols);
  map.stride_bytes[0] = cols * 2;
  map.box[0] = 64;
  map.box[1] = box_rows;
  map.swizzle = swizzle;
  return program.tensor(map);
}

inline int f16_tensor(Program& program, std::uint64_t rows, std::uint64_t cols,
                      std::uint32_t box_rows, Swizzle swizzle = Swizzle::B128) {
  return f16_tensor_of(program, small_numbers(rows * cols * 2, rows), cols, box_rows, swizzle);
}

inline std::uint64_t result_buffer(Program& program, std::size_t bytes = 128 * 16) {
  return program.global(std::vector<std::uint8_t>(bytes));
}

// D of thread t at offset + 16 t.
inline void store_result(Role& role, std::uint64_t offset) {
  role.store_global(offset, 16, d_registers);
}

}  // namespace tcq::catalogue
