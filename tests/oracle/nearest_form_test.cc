// Suggestions come from the grammar: of an N that does not exist the nearest that does, M and K from the
// types, for every type and both spellings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "oracle/ptx/mnemonic.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

std::string suggested(const std::string& mnemonic) {
  const std::string complaint = ask("describe " + mnemonic).complaint;
  const std::size_t at = complaint.find("did you mean '");
  if (at == complaint.npos) return complaint;
  const std::string rest = complaint.substr(at + 14);
  return rest.substr(0, rest.find('\''));
}

int distance_to_legal(wgmma::Form form, int n) {
  int nearest = 1000;
  for (form.n = 1; form.n <= 256; ++form.n)
    if (check(form) == Fault::None) nearest = std::min(nearest, std::abs(form.n - n));
  return nearest;
}

TEST(NearestForm, OfAnNThatDoesNotExistIsTheNearestThatDoes) {
  EXPECT_EQ(suggested("wgmma.m64n264k16.f32.bf16.bf16"), "wgmma.m64n256k16.f32.bf16.bf16");
  EXPECT_EQ(suggested("wgmma.mma_async.sync.aligned.m64n300k8.f32.tf32.tf32"),
            "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32");
  EXPECT_EQ(suggested("wgmma.m128n256k32.f32.bf16.bf16"), "wgmma.m64n256k16.f32.bf16.bf16");
  int asked = 0;
  for (const wgmma::Form& form : all_forms()) {
    if (form.n != 64) continue;
    const std::string legal = short_mnemonic(form);
    for (const int n : {1, 7, 12, 40, 100, 264, 1000}) {
      std::string wrong = legal;
      wrong.replace(wrong.find("n64k"), 3, fmt::format("n{}", n));
      if (ask("describe " + wrong).status == Status::Yes) continue;
      const Instruction found = parse_instruction(suggested(wrong), Keys({}, {}));
      wgmma::Form expected = form;
      expected.n = found.form.n;
      EXPECT_EQ(short_mnemonic(found.form), short_mnemonic(expected)) << wrong;
      EXPECT_EQ(std::abs(found.form.n - n), distance_to_legal(form, n)) << wrong;
      ++asked;
    }
  }
  EXPECT_GE(asked, 100);
}

}  // namespace
}  // namespace tcq::oracle
