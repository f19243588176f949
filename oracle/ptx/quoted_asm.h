// Inline assembly of C++ as the PTX that it quotes, line by line.
//
// Lines that begin with a quote or with asm are C++: the text is what stands between quotes, up to the
// colon of the operands; \n ends a line of PTX, %% is %. All other lines pass as they are, so that files of
// PTX are not touched. Example: `"wgmma.fence.sync.aligned;\n" ::: "memory");` is wgmma.fence.sync.aligned;
#pragma once

#include <string>
#include <string_view>

namespace tcq::oracle {

class QuotedAsm {
 public:
  // The PTX of the next line.
  std::string line(std::string_view text);

  // Were some of them C++?
  bool is_any() const { return is_any_; }

 private:
  enum class Where { Ptx, Template, Operands };
  void begin(std::string_view text);
  Where where_ = Where::Ptx;
  bool is_any_ = false;
};

// "%7": what stands for an operand there.
bool is_placeholder(std::string_view operand);

}  // namespace tcq::oracle
