// The rows of statement_rows.h with a sparse product: a warp multiplies the words of its threads, with metadata that PTX defines.
//
// A and B are the words, C is y, the metadata is made of x: each of its codes one of those that have a meaning.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/statement_rows.h"

namespace tcq::oracle {
namespace {

struct SparseProduct {
  const char* shape;
  const char* types;
  int registers;  // of A, and of B
  int selectors;  // 0 up to it
  Elements elements;
  const char* bound = "";
  int of_d = 4;
};

constexpr std::array sparse_products = {
    SparseProduct{"m16n8k16", "f32.f16.f16.f32", 2, 4, Elements::F16},
    SparseProduct{"m16n8k32", "f32.f16.f16.f32", 4, 2, Elements::F16},
    SparseProduct{"m16n8k16", "f16.f16.f16.f16", 2, 4, Elements::F16, "", 2},
    SparseProduct{"m16n8k32", "f16.f16.f16.f16", 4, 2, Elements::F16, "", 2},
    SparseProduct{"m16n8k16", "f32.bf16.bf16.f32", 2, 4, Elements::BF16},
    SparseProduct{"m16n8k32", "f32.bf16.bf16.f32", 4, 2, Elements::BF16},
    SparseProduct{"m16n8k8", "f32.tf32.tf32.f32", 2, 4, Elements::F32},
    SparseProduct{"m16n8k16", "f32.tf32.tf32.f32", 4, 2, Elements::F32},
    SparseProduct{"m16n8k64", "f32.e4m3.e4m3.f32", 4, 1, Elements::F16},
    SparseProduct{"m16n8k64", "f32.e4m3.e5m2.f32", 4, 1, Elements::F16},
    SparseProduct{"m16n8k64", "f32.e5m2.e5m2.f32", 4, 1, Elements::F16},
    SparseProduct{"m16n8k32", "s32.s8.u8.s32", 2, 2, Elements::Bits32},
    SparseProduct{"m16n8k64", "s32.s8.s8.s32", 4, 1, Elements::Bits32},
    SparseProduct{"m16n8k64", "s32.u8.s8.s32", 4, 1, Elements::Bits32, ".satfinite"},
    SparseProduct{"m16n8k64", "s32.s4.u4.s32", 2, 2, Elements::Bits32},
    SparseProduct{"m16n8k128", "s32.u4.u4.s32", 4, 1, Elements::Bits32, ".satfinite"},
};

// Eight codes out of the 32 bits of %r32, into %r33.
std::string metadata_text(bool is_tf32) {
  return fmt::format(R"(  ld.shared.b32 %r32, [%r7];
  and.b32 %r33, %r32, 0x7777;
  shr.b32 %r34, %r32, 16;
  and.b32 %r34, %r34, 0x7777;
  mov.b32 %r35, {};
  mov.b32 %r36, {};
  prmt.b32 %r33, %r35, %r36, %r33;
  prmt.b32 %r34, %r35, %r36, %r34;
  shl.b32 %r34, %r34, 4;
  or.b32 %r33, %r33, %r34;
)",
                     is_tf32 ? "0x0e040e04" : "0x0c090804", is_tf32 ? "0x040e040e" : "0x08040e0d");
}

std::string registers_from(int first, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += fmt::format("{}%r{}", i == 0 ? "" : ", ", first + i);
  return "{" + list + "}";
}

StatementRow sparse_row(const SparseProduct& p, int selector) {
  StatementRow row;
  row.name = fmt::format("mma.sp::ordered_metadata.sync.aligned.{}.row.col{}.{} selector {}",
                         p.shape, p.bound, p.types, selector);
  const std::string_view types = p.types;
  row.body = metadata_text(types.find("tf32") != types.npos);
  row.body += "  ld.shared.v4.b32 {%r28, %r29, %r30, %r31}, [%r8];\n";
  row.body +=
      fmt::format("  {} {}, {}, {}, {}, %r33, {};\n", row.name.substr(0, row.name.find(' ')),
                  registers_from(40, p.of_d), registers_from(20, p.registers),
                  registers_from(24, p.registers), registers_from(28, p.of_d), selector);
  row.body += "  mov.b64 %rd10, {%r40, %r41};\n";
  if (p.of_d == 4) row.body += "  mov.b64 %rd11, {%r42, %r43};\n";
  row.elements = p.elements;
  return row;
}

}  // namespace

std::vector<StatementRow> sparse_rows() {
  std::vector<StatementRow> rows;
  for (const SparseProduct& p : sparse_products)
    for (int selector = 0; selector < p.selectors; ++selector)
      rows.push_back(sparse_row(p, selector));
  return rows;
}

}  // namespace tcq::oracle
