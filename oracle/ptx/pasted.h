// A statement pasted in place of a mnemonic: PTX or inline assembly, as it stands in a kernel, or the name of an atom of
// CuTe.
//
// Decides where the statement ends and the question goes on, which of several statements is asked about, and
// what its operands say as keys: A in registers, transposes, negation, the selector, an immediate instruction
// descriptor. Keys that the question gives itself count. Text is taken apart by ptx_source.h, as for `check`.
// Example: `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 1; B` is
// `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 B major_b=MN`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle {

struct Pasted {
  std::vector<std::string> words;  // a mnemonic, its keys, and the words behind the statement
  std::string note;                // what the text leaves open and the answer takes for granted
};

// Nothing if the words begin with a plain mnemonic. Keys of the statement that are not among `takes` are left out;
// without any all are taken. Throws UsageError if there is no instruction, or if there are several.
std::optional<Pasted> read_pasted(std::span<const std::string_view> words,
                                  std::span<const std::string_view> takes = {});

// "A", "D", "SFA", ...: the word behind a mnemonic.
bool is_matrix(std::string_view word);

}  // namespace tcq::oracle
