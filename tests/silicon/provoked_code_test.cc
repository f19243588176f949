// Does a mutation reach the machine code? ptxas may add what a provoking kernel leaves out.
//
// A mutant whose code is that of its correct version says nothing about the chip, however often it
// runs. So each family of cuda/litmus/*.cu is compiled here and the code of all instances of each
// kernel is compared, section by section of the cubin. What the programs do: cuda/litmus/litmus.h;
// what a device answered: tests/recording/provoked_test.cc.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq {
namespace {

using Pair = std::pair<std::string, std::string>;

// Inferred: ptxas 13.0 marks the last wgmma before a wait as the end of a group, also if PTX has no
// wgmma.commit_group there. If this pair differs one day, W2 is worth recording again.
const std::set<Pair> kSameCode = {{"reuse_kernel<5ReuseE0>", "reuse_kernel<5ReuseE1>"}};

template <class T>
T read_at(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.substr(at, sizeof value).data(), sizeof value);
  return value;
}

// "..11reuse_kernelILNS2_5ReuseE1EEEvNS1_9ArgumentsE" -> "reuse_kernel<5ReuseE1>"; empty if the
// section holds no instance of a kernel template.
std::string instance_name(const std::string& section) {
  const std::size_t open = section.find("_kernelI");
  if (!section.starts_with(".text.") || open == std::string::npos) return "";
  const std::size_t before = section.find_last_not_of("abcdefghijklmnopqrstuvwxyz_", open);
  const std::string argument = section.substr(open + 8, section.find("EEvN", open) - open - 8);
  const std::size_t type = argument.rfind("_");
  const std::string value = argument.substr(type == std::string::npos ? 0 : type + 1);
  return section.substr(before + 1, open - before - 1) + "_kernel<" +
         value.substr(0, value.find_last_not_of('E') + 1) + ">";
}

// Machine code by kernel instance.
std::map<std::string, std::string> code_of(const std::string& cubin) {
  const auto file = read_at<Elf64_Ehdr>(cubin, 0);
  const auto section = [&](std::size_t i) {
    return read_at<Elf64_Shdr>(cubin, file.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr names = section(file.e_shstrndx);
  std::map<std::string, std::string> code;
  for (std::size_t i = 0; i < file.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    const std::string name = instance_name(cubin.data() + names.sh_offset + s.sh_name);
    if (!name.empty()) code[name] = cubin.substr(s.sh_offset, s.sh_size);
  }
  return code;
}

std::string compiled(const std::string& family) {
  const TemporaryFolder folder;
  const std::string out = folder.file(family + ".cubin");
  const std::string root = source_tree().string();
  const tests::Finished nvcc =
      tests::run(TCQ_NVCC_CACHED,
                 {"-std=c++20", "-O3", "-DNDEBUG", "-gencode", "arch=compute_90a,code=sm_90a",
                  "-I" + root, "-c", "-cubin", "-o", out, root + "/cuda/litmus/" + family + ".cu"});
  EXPECT_EQ(nvcc.status, 0) << nvcc.err;
  std::ifstream in(out, std::ios::binary);
  const std::string cubin{std::istreambuf_iterator<char>(in), {}};
  return cubin;
}

std::string template_of(const std::string& instance) {
  return instance.substr(0, instance.find('<'));
}

std::set<Pair> same_code(const std::map<std::string, std::string>& code) {
  std::set<Pair> same;
  for (auto a = code.begin(); a != code.end(); ++a)
    for (auto b = std::next(a); b != code.end(); ++b)
      if (template_of(a->first) == template_of(b->first) && a->second == b->second)
        same.insert({a->first, b->first});
  return same;
}

TEST(ProvokedCode, EveryMutationButAMissingCommitReachesTheMachineCode) {
  const std::map<std::string, std::size_t> instances = {{"proxy", 10},    {"wgmma", 10},
                                                        {"mbarrier", 13}, {"refill", 4},
                                                        {"cluster", 8},   {"hanging", 5}};
  std::set<Pair> same;
  for (const auto& [family, count] : instances) {
    const std::string cubin = compiled(family);
    ASSERT_GT(cubin.size(), sizeof(Elf64_Ehdr)) << family;
    const auto code = code_of(cubin);
    EXPECT_EQ(code.size(), count) << family;
    same.merge(same_code(code));
  }
  EXPECT_EQ(same, kSameCode);
}

}  // namespace
}  // namespace tcq
