// The suites of scalar instructions: every form once, and more of those that a chip approximates.
#include "oracle/recording/suites.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

// A form's rows do not depend on which other forms there are.
std::uint64_t seed_of(std::uint64_t seed, const ScalarCase& e) {
  std::uint64_t hash = mix(seed + static_cast<std::uint64_t>(e.kind));
  for (const char letter : e.spelling) hash = mix(hash ^ static_cast<unsigned char>(letter));
  return hash;
}

Case case_of(std::uint64_t seed, ScalarRows rows, const std::string& spelling) {
  const ScalarCase e{rows, spelling};
  Case c(e);
  c.seed = seed_of(seed, e);
  return c;
}

bool is_approximate(const std::string& spelling) {
  return alu::read_scalar_form(spelling)->form.has(ptx::Slot::Precision);
}

}  // namespace

std::vector<Case> scalar_forms(std::uint64_t seed) {
  std::vector<Case> cases;
  for (const std::string& spelling : alu::scalar_forms())
    if (!is_approximate(spelling)) cases.push_back(case_of(seed, ScalarRows::Drawn, spelling));
  return cases;
}

std::vector<Case> matrix_products(std::uint64_t seed) {
  std::vector<Case> cases;
  for (const std::string& spelling : alu::matrix_forms())
    cases.push_back(case_of(seed, ScalarRows::Drawn, spelling));
  return cases;
}

std::vector<Case> scalar_approximations(std::uint64_t seed) {
  std::vector<Case> cases;
  for (const std::string& spelling : alu::scalar_forms()) {
    if (!is_approximate(spelling)) continue;
    const int width = ptx::bits(alu::read_scalar_form(spelling)->form.types[0]);
    const bool is_f32 = spelling.ends_with(".f32");
    cases.push_back(case_of(seed, ScalarRows::Drawn, spelling));
    if (is_f32) cases.push_back(case_of(seed, ScalarRows::Survey, spelling));
    if (width == 16) cases.push_back(case_of(seed, ScalarRows::EveryHalf, spelling));
  }
  return cases;
}

}  // namespace tcq::oracle
