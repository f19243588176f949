// What libtcq_gemm.so shows to whoever loads it, and what it needs: the C interface, and nothing of a user's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "cuda/gemm/gemm_c.h"
#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests_where.h"

namespace tcq::tests {
namespace {

using Names = std::set<std::string>;

std::string shell(const std::string& command) {
  const Finished done = run("/bin/bash", {"-c", command});
  EXPECT_EQ(done.status, 0) << done.err;
  return done.out;
}

Names words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// The functions that the header declares; its comments only mention them.
Names declared() {
  std::ifstream file(source_tree() / "cuda/gemm/gemm_c.h");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text = std::regex_replace(text, std::regex(R"(/\*[^]*?\*/)"), "");
  Names names;
  const std::regex function(R"(\b(tcq_gemm_\w+)\()");
  for (std::sregex_iterator at(text.begin(), text.end(), function), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

TEST(Gemm_SharedLibrary, ShowsTheFunctionsOfItsHeaderAndNothingElse) {
  const Names names = declared();
  EXPECT_GE(names.size(), 15u);
  Names shown = words(shell("nm -D --defined-only '" TCQ_GEMM_LIBRARY "' | cut -d' ' -f3"));
  Names versioned = {"TCQ_GEMM_0"};
  for (const std::string& name : names) versioned.insert(name + "@@TCQ_GEMM_0");
  EXPECT_EQ(shown, versioned);
}

// CUDA's runtime and C++'s are within; whoever loads it needs neither.
TEST(Gemm_SharedLibrary, NeedsOnlyCsLibraries) {
  const std::string dynamic = shell("readelf -dW '" TCQ_GEMM_LIBRARY "'");
  EXPECT_NE(dynamic.find("soname: [libtcq_gemm.so.0]"), std::string::npos) << dynamic;
  EXPECT_EQ(dynamic.find("TEXTREL"), std::string::npos);
  const std::regex needed(R"(NEEDED\).*\[(.*)\])");
  for (std::sregex_iterator at(dynamic.begin(), dynamic.end(), needed), end; at != end; ++at)
    EXPECT_TRUE(std::regex_match((*at)[1].str(),
                                 std::regex(R"(lib(c|m|dl|rt|pthread|gcc_s)\.so\.\d|ld-linux.*)")))
        << (*at)[1];
}

TEST(Gemm_SharedLibrary, IsLoadedAndAnswers) {
  void* library = dlopen(TCQ_GEMM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto defaults =
      reinterpret_cast<decltype(&tcq_gemm_defaults)>(dlsym(library, "tcq_gemm_defaults"));
  const auto check = reinterpret_cast<decltype(&tcq_gemm_check)>(dlsym(library, "tcq_gemm_check"));
  ASSERT_TRUE(defaults != nullptr && check != nullptr);
  tcq_gemm_problem problem;
  EXPECT_EQ(defaults(&problem, sizeof problem), 0);
  EXPECT_EQ(check(&problem), 0);
  problem.m = -1;
  EXPECT_NE(check(&problem), 0);
  EXPECT_EQ(dlclose(library), 0);
}

}  // namespace
}  // namespace tcq::tests
