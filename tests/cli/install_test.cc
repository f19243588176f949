// What `cmake --install` leaves behind, used as a stranger would: a project that finds the package, one that takes
// the sources in, the manual page and the completions.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/effort.h"
#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq::tests {
namespace {

#ifdef TCQ_GEMM_LIBRARY  // what only a build with CUDA makes
constexpr bool has_cuda = true;
#else
constexpr bool has_cuda = false;
#endif

std::string sources() { return source_tree().string(); }
std::string example() { return sources() + "/tools/install/example"; }

Finished shell(const std::string& command) { return run("/bin/bash", {"-c", command}); }

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Install : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const Finished done =
        shell("cmake --install '" TCQ_BUILD_DIR "' --prefix '" + folder_->file("prefix") + "'");
    ASSERT_EQ(done.status, 0) << done.out << done.err;
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string in_prefix(const std::string& path) { return folder_->file("prefix/" + path); }

  // Configures and builds the example, as the libraries were built.
  static Finished build(const std::string& name, const std::string& options) {
    const std::string at = folder_->file(name);
    const std::string flags = sanitized ? " -DCMAKE_CXX_FLAGS=-fsanitize=address,undefined " : " ";
    return shell("cmake -S '" + example() + "' -B '" + at + "' " + options + flags +
                 "&& cmake --build '" + at + "'");
  }

  static TemporaryFolder* folder_;
};
TemporaryFolder* Install::folder_ = nullptr;

TEST_F(Install, AnotherProjectFindsThePackage) {
  const std::string cuda = !has_cuda ? "" : " -DEXAMPLE_CUDA=ON -DCMAKE_CUDA_COMPILER=" TCQ_NVCC;
  const Finished built =
      build("found", "-DCMAKE_PREFIX_PATH='" + folder_->file("prefix") + "'" + cuda);
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  EXPECT_EQ(shell(folder_->file("found/fragment")).out, "thread 6, register 7\n");
  EXPECT_EQ(shell(folder_->file("found/question")).out,
            "D[9][13] = thread 6, register 7 (warp 0, lane 6)\n");
  if (cuda.empty()) return;
  const Finished product = shell(folder_->file("found/product"));
  EXPECT_EQ(product.status, 0);
  EXPECT_EQ(shell(folder_->file("found/product_shared")).out, product.out);
  const std::string said = shell(folder_->file("found/kernel")).out;
  EXPECT_TRUE(said == "no device\n" || said == "thread 6, register 7\n") << said;
}

TEST_F(Install, AnotherProjectTakesTheSourcesIn) {
  const Finished built =
      shell("cmake -S '" + example() + "' -B '" + folder_->file("taken") + "' -DTCQ_CUDA=OFF " +
            "-DEXAMPLE_ORACLE=OFF -DTCQ_SOURCE='" + sources() + "' && cmake --build '" +
            folder_->file("taken") + "' --target fragment");
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  EXPECT_EQ(shell(folder_->file("taken/fragment")).out, "thread 6, register 7\n");
}

// Without CMake and without a C++ compiler's help, from where the prefix was moved to.
TEST_F(Install, APkgConfigFileFindsTheSharedLibrary) {
  if (!has_cuda) GTEST_SKIP() << "built without CUDA: there is no libtcq_gemm.so";
  const std::string moved = folder_->file("moved");
  const Finished built = shell(
      "cp -a '" + folder_->file("prefix") + "' '" + moved +
      "' && export PKG_CONFIG_PATH=$(dirname $(find '" + moved + "' -name tcq_gemm.pc)) && cc '" +
      example() + "/product.c' -o '" + moved + "/product' " +
      "$(pkg-config --cflags --libs tcq_gemm) -Wl,-rpath,$(pkg-config --variable=libdir tcq_gemm)");
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  const Finished product = shell(moved + "/product");
  EXPECT_EQ(product.status, 0) << product.err;
  EXPECT_FALSE(product.out.empty());
}

// The oracle's packages, as on a machine that has none of them.
std::string without_packages() {
  std::string options;
  for (const char* package : {"fmt", "CLI11", "hwy", "pugixml", "Eigen3", "GTest", "benchmark"})
    options += std::string(" -DCMAKE_DISABLE_FIND_PACKAGE_") + package + "=ON";
  return options;
}

// What the CPU decides is built and what is installed is used; with CUDA the kernels are configured, too.
TEST_F(Install, TheGemmNeedsNoneOfTheOraclesPackages) {
  if (sanitized) GTEST_SKIP() << "is another build, of whose code sanitizers see nothing";
  const std::string at = folder_->file("without");
  const std::string off = "cmake -S '" + sources() + "' -DTCQ_ORACLE=OFF" + without_packages();
  const Finished built =
      shell(off + " -DTCQ_CUDA=OFF -DCMAKE_BUILD_TYPE=Debug -B '" + at + "' && cmake --build '" +
            at + "' --target tcq_installable && cmake --install '" + at + "' --prefix '" + at +
            "/prefix' && cmake --build '" + at + "'");
  ASSERT_EQ(built.status, 0) << built.out << built.err;
  const Finished used = build(
      "facts", "-DEXAMPLE_ORACLE=OFF -DCMAKE_PREFIX_PATH='" + at + "/prefix'" + without_packages());
  ASSERT_EQ(used.status, 0) << used.out << used.err;
  EXPECT_EQ(shell(folder_->file("facts/fragment")).out, "thread 6, register 7\n");
  const std::string named = "grep -rlE '#include <(fmt|CLI|hwy|pugixml|Eigen|gtest)' ";
  EXPECT_EQ(shell("cd '" + sources() + "' && " + named +
                  "cuda/gemm cuda/runtime cuda/ptx sim/isa $(ls sim/num/*.*) sim/num/inputs")
                .out,
            "");
  if (!has_cuda) return;
  const Finished with_cuda = shell(off + " -DTCQ_CUDA=ON -DCMAKE_CUDA_COMPILER=" TCQ_NVCC " -B '" +
                                   at + "/cuda' && cmake --build '" + at + "/cuda' --target help");
  ASSERT_EQ(with_cuda.status, 0) << with_cuda.out << with_cuda.err;
  EXPECT_NE(with_cuda.out.find("gemm_c"), std::string::npos);
  EXPECT_EQ(with_cuda.out.find("oracle"), std::string::npos) << with_cuda.out;
}

TEST_F(Install, AMissingComponentIsSaid) {
  const Finished refused = shell("cmake -S '" + example() + "' -B '" + folder_->file("refused") +
                                 "' -DCMAKE_PREFIX_PATH='" + folder_->file("prefix") +
                                 "' -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON");
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.err.find("fmt"), std::string::npos) << refused.err;
}

TEST_F(Install, TheManualPageAndTheCompletionsNameEveryVerb) {
  const std::string manual = read(in_prefix("share/man/man1/tcq.1"));
  const std::string bash = read(in_prefix("share/bash-completion/completions/tcq"));
  const std::string zsh = read(in_prefix("share/zsh/site-functions/_tcq"));
  const std::string fish = read(in_prefix("share/fish/vendor_completions.d/tcq.fish"));
  std::istringstream help(shell(in_prefix("bin/tcq") + " help").out);
  int verbs = 0;
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  ") || line[2] == ' ') continue;
    const std::string verb = line.substr(2, line.find(' ', 2) - 2);
    EXPECT_NE(bash.find(verb), std::string::npos) << verb;
    EXPECT_NE(zsh.find("'" + verb + ":"), std::string::npos) << verb;
    EXPECT_NE(fish.find("-a " + verb + " "), std::string::npos) << verb;
    EXPECT_NE(manual.find("tcq " + verb), std::string::npos) << verb;
    ++verbs;
  }
  EXPECT_GE(verbs, 18);
  EXPECT_EQ(shell("bash -n '" + in_prefix("share/bash-completion/completions/tcq") + "'").err, "");
}

TEST_F(Install, TheVersionNamesTheNewestRecording) {
  const std::string version = shell(in_prefix("bin/tcq") + " --version").out;
  std::string newest;
  std::istringstream dates(
      shell("grep -ahoE '^(# )?date: [0-9-]+' '" + sources() + "'/tests/vectors/*").out);
  for (std::string line; std::getline(dates, line);)
    newest = std::max(newest, line.substr(line.find(':') + 2));
  ASSERT_EQ(newest.size(), 10u);
  EXPECT_NE(version.find("evidence of " + newest), std::string::npos) << version;
}

}  // namespace
}  // namespace tcq::tests
