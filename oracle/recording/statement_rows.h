// Statements of PTX that meet memory, barriers or other threads: one row for each, and the kernel that carries it out.
//
// Decides what is tried, nothing about its outcome: the simulator runs the text (statement_case.h), the device runs the same
// text (cuda/probe/statement_sm90.h). A row's name is the instruction as it is spelled, a word behind it tells a variant.
// Example: "atom.global.add.f32" is carried out by 128 threads on a word of global memory each.
//
// Two CTAs of 64 threads each, a cluster. What the text finds, per CTA of `memory`, and writes back there:
//   x      1024 bytes, shared, 16 for each thread        g      1024 bytes, global, 16 for each thread
//   y      1024 bytes, shared, 16 for each thread        words  64 x 32 bytes: four 64-bit registers of each thread
// Registers of the text: %r1 thread, %r2 x, %r3 y, %r4 mbarrier, %r5 rank, %r6 the other rank; of the thread %r7 in x, %r8 in y,
// %r9 in x of the other CTA, whose mbarrier is %r10; %rd2 in g; %rd10 to %rd13 the words, whose halves are %r20 to %r27; %p1
// thread 0, %p2 odd threads. What it leaves in %rd10 to %rd13 is the result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/copy/tensor_map.h"

namespace tcq::oracle {

inline constexpr std::uint32_t statement_ctas = 2, statement_threads = 64;
inline constexpr std::uint32_t statement_shared_bytes = 1024;  // each of x, y and g
inline constexpr std::uint32_t statement_words = 4;            // of each thread
inline constexpr std::uint32_t statement_cta_bytes =
    3 * statement_shared_bytes + statement_threads * statement_words * 8;

// What memory is drawn of.
enum class Elements : std::uint8_t { Bits32, Bits64, F16, BF16, F32, F64 };

struct StatementRow {
  std::string name;
  std::string body;  // PTX on the registers above
  Elements elements = Elements::Bits32;
  bool is_x_open = false;      // what x becomes is not predicted
  std::uint32_t expected = 0;  // bytes that the CTA's mbarrier waits for; 0: nobody waits
  // The kernel's second parameter; its address is an offset into memory.
  std::optional<tma::TensorMap> map = {};
};

std::span<const StatementRow> statement_rows();
std::vector<StatementRow> im2col_rows();  // those of them with a map
std::vector<StatementRow> sparse_rows();  // and with a sparse product
std::vector<StatementRow>
exchange_rows();  // and those whose lanes come to one exchange at different statements
// Null: there is none.
const StatementRow* find_statement(std::string_view name);

// The whole module; its entry is tcq_probe, its parameter the address of `memory`.
std::string statement_text(const StatementRow& row);

}  // namespace tcq::oracle
