// What the tests of sim/ptx share: the texts in data/, and texts around one statement.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/decode.h"
#include "tests/support/source_tree.h"

namespace tcq::ptx {

inline const std::vector<std::string> data_files = {"forms.ptx", "idioms.ptx", "mbarrier_sm90.ptx",
                                                    "alloc_sm100.ptx"};

inline std::string text_of_file(const std::string& name) {
  std::ifstream in(source_tree() / "tests/ptx/data" / name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A kernel around some statements.
inline std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 p, .param .b32 n)\n{\n" +
         body + "\n}\n";
}

inline const std::string registers =
    ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<64>; .reg .b64 %rd<8>; .reg .f32 %f<64>; "
    ".reg .f64 %fd<4>; .shared .align 8 .b8 s[64];\n";

// All complaints about a text, a line each.
inline std::string complaints(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& one : diagnostics) text += sentence(one) + "\n";
  return text;
}

}  // namespace tcq::ptx
