// The GEMM library's tuner without a GPU: what it would time, what it remembers, its file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "cuda/gemm/gemm_c.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/tune.h"
#include "tests/support/temporary_folder.h"

namespace tcq::gemm {
namespace {

namespace fs = std::filesystem;

const Device h200 = {};
constexpr const char* h200_name = "NVIDIA H200";

Problem bf16(std::int64_t m, std::int64_t n, std::int64_t k) { return {.m = m, .n = n, .k = k}; }

TuneKey key_here(const Problem& p) { return tune_key(p, h200, h200_name); }

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// One problem and device for every field of the key, each with another value there.
std::vector<TuneKey> keys_that_differ() {
  std::vector<TuneKey> keys;
  const auto problem = [&](const std::function<void(Problem&)>& change) {
    Problem p = bf16(256, 512, 1024);
    change(p);
    EXPECT_EQ(check(p), Status::Ok);
    keys.push_back(key_here(p));
  };
  problem([](Problem&) {});
  problem([](Problem& p) { p.m = 264; });
  problem([](Problem& p) { p.n = 520; });
  problem([](Problem& p) { p.k = 1032; });
  problem([](Problem& p) { p.batch = 2; });
  problem([](Problem& p) { p.in = p.out = Type::f16; });
  problem([](Problem& p) { p.out = Type::f32; });
  problem([](Problem& p) { p.major_a = Major::MN; });
  problem([](Problem& p) { p.major_b = Major::MN; });
  problem([](Problem& p) { p.a.ld = 1025; });
  problem([](Problem& p) { p.d.ld = 513; });
  problem([](Problem& p) { p.alpha = 2; });
  problem([](Problem& p) { p.beta = 1; });
  problem([](Problem& p) { p.has_bias = true; });
  problem([](Problem& p) { p.activation = Activation::Gelu; });
  problem([](Problem& p) { p.activation = Activation::Silu; });
  problem([](Problem& p) { p.batch_invariant = true; });
  problem([](Problem& p) { p.in = Type::e4m3; });
  problem([](Problem& p) { p.in = Type::e4m3, p.in_b = Type::e5m2; });
  problem([](Problem& p) { p.in = Type::e4m3, p.promotes = true; });
  problem([](Problem& p) { p.in = Type::e4m3, p.scaling = Scaling::RowColumn; });
  problem([](Problem& p) { p.in = Type::e4m3, p.quantized = Type::e4m3; });
  const Problem p = bf16(256, 512, 1024);
  keys.push_back(tune_key(p, h200, "NVIDIA H100"));
  keys.push_back(tune_key(p, {0, 10, 0, 132}, h200_name));
  keys.push_back(tune_key(p, {0, 9, 1, 132}, h200_name));
  keys.push_back(tune_key(p, {0, 9, 0, 114}, h200_name));
  return keys;
}

// A problem with several kernels, and one of them that the estimate does not choose.
const Problem usual = bf16(256, 512, 1024);

const Kernel& second_choice(const Problem& p) { return *promising_kernels(p, h200, {})[1]; }

// --- what is timed ---------------------------------------------------------------------------------

TEST(Gemm_Tune, TheMostPromisingKernelIsTheOneThatMakePlanChooses) {
  for (const std::int64_t m : {1, 16, 128, 1000, 4096}) {
    for (const std::int64_t n : {1, 8, 576, 4096}) {
      for (const std::int64_t k : {0, 100, 512, 7168}) {
        Plan plan;
        ASSERT_EQ(make_plan_for(bf16(m, n, k), h200, plan), Status::Ok);
        const auto kernels = promising_kernels(bf16(m, n, k), h200, {});
        ASSERT_FALSE(kernels.empty());
        EXPECT_EQ(kernels[0], plan.aligned.kernel) << describe(plan);
        const auto realigned = promising_kernels(bf16(m, n, k), h200, {}, Path::Realigned);
        ASSERT_EQ(realigned.empty(), k == 0);
        if (k > 0) {
          EXPECT_EQ(realigned[0], plan.realigned.kernel) << describe(plan);
        }
      }
    }
  }
}

TEST(Gemm_Tune, AsManyKernelsAsAskedForAndNoneTwice) {
  std::size_t fitting = 0;
  for (const Kernel& k : kernels()) {
    Plan plan;
    if (make_plan_for(usual, h200, k, plan) == Status::Ok) ++fitting;
  }
  EXPECT_GT(fitting, 2u);
  EXPECT_EQ(promising_kernels(usual, h200, {.every_kernel = true}).size(), fitting);
  for (const int most : {1, 2, 8, 1000}) {
    const auto kernels = promising_kernels(usual, h200, {.kernels = most});
    EXPECT_LE(kernels.size(), static_cast<std::size_t>(most));
    EXPECT_LE(kernels.size(), fitting);
    EXPECT_TRUE(most > 2 || kernels.size() == static_cast<std::size_t>(most));
    EXPECT_EQ(std::set(kernels.begin(), kernels.end()).size(), kernels.size());
  }
}

// The estimate knows nothing of such kernels there.
TEST(Gemm_Tune, KernelsThatDoNotSuitTheProblemAreTimedOnlyIfAllAre) {
  const Problem p = bf16(16, 7168, 4096);
  const auto for_few_columns = [](const Kernel* k) { return k->skinny == Skinny::Columns; };
  EXPECT_TRUE(std::ranges::none_of(promising_kernels(p, h200, {.kernels = 1000}), for_few_columns));
  EXPECT_TRUE(
      std::ranges::any_of(promising_kernels(p, h200, {.every_kernel = true}), for_few_columns));
}

TEST(Gemm_Tune, BatchInvariantProblemsAreNotTimedOnKernelsThatSplitK) {
  Problem p = bf16(16, 2112, 7168);
  const auto splits = [&] {
    const auto all = promising_kernels(p, h200, {.every_kernel = true});
    return std::ranges::count_if(all, [](const Kernel* k) { return k->split > 1; });
  };
  EXPECT_GT(splits(), 0);
  p.batch_invariant = true;
  EXPECT_EQ(splits(), 0);
}

TEST(Gemm_Tune, WithAWorkspaceForCopiesTheKernelsThatReadThemAreTimed) {
  const Problem p = bf16(300, 200, 301);
  const auto loads = [](Loader loader) {
    return [loader](const Kernel* k) { return k->loader == loader; };
  };
  const auto without = promising_kernels(p, h200, {.every_kernel = true});
  EXPECT_TRUE(std::ranges::all_of(without, loads(Loader::Copy)));
  const auto with = promising_kernels(p, h200, {.every_kernel = true}, Path::Realigned);
  EXPECT_GT(with.size(), 2u);
  EXPECT_TRUE(std::ranges::all_of(with, loads(Loader::Tma)));
}

TEST(Gemm_Tune, NothingIsTimedForAProblemThatIsWrong) {
  EXPECT_TRUE(promising_kernels(bf16(-1, 8, 8), h200, {}).empty());
  EXPECT_TRUE(promising_kernels(usual, {0, 8, 0, 108}, {}).empty());
}

TEST(Gemm_Tune, OptionsAndEmptyProblems) {
  Plan plan;
  TuneCache cache;
  for (const TuneOptions& wrong :
       {TuneOptions{.kernels = 0}, TuneOptions{.rounds = 0}, TuneOptions{.kernels = -1}}) {
    EXPECT_EQ(tune(usual, {}, {}, nullptr, wrong, plan), Status::BadTuneOptions);
    EXPECT_EQ(tune(usual, {}, {}, nullptr, wrong, cache, plan), Status::BadTuneOptions);
  }
  EXPECT_EQ(tune(bf16(-1, 8, 8), {}, {}, nullptr, {}, plan), Status::NegativeSize);
  EXPECT_EQ(tune(bf16(-1, 8, 8), {}, {}, nullptr, {}, cache, plan), Status::NegativeSize);
  EXPECT_FALSE(plan.made);
  EXPECT_EQ(tune(bf16(0, 8, 8), {}, {}, nullptr, {}, plan), Status::Ok);
  EXPECT_TRUE(plan.empty);
  EXPECT_EQ(tune(bf16(0, 8, 8), {}, {}, nullptr, {}, cache, plan), Status::Ok);
  EXPECT_TRUE(plan.empty);
  EXPECT_EQ(cache.size(), 0u);
}

// --- choices ---------------------------------------------------------------------------------------

// A choice is kept as a name.
TEST(Gemm_TuneCache, KernelsOfEqualTypesAndMajorsHaveDifferentNames) {
  std::set<std::tuple<Type, Type, Major, Major, std::string>> names;
  for (const Kernel& k : kernels()) names.insert({k.in, k.in_b, k.major_a, k.major_b, name(k)});
  EXPECT_EQ(names.size(), kernels().size());
}

TEST(Gemm_TuneCache, KeysDifferInEveryField) {
  const std::vector<TuneKey> keys = keys_that_differ();
  EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), keys.size());
  TuneCache cache;
  for (std::size_t i = 0; i < keys.size(); ++i) cache.remember(keys[i], std::to_string(i));
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(cache.find(keys[i]), std::to_string(i));
}

TEST(Gemm_TuneCache, WhatDoesNotCountIsNotInTheKey) {
  Problem p = usual;
  p.a.ld = 1032;  // still a multiple of 16 bytes
  EXPECT_EQ(key_here(p), key_here(usual));
  p.alpha = 2;
  Problem q = p;
  q.alpha = 3;
  EXPECT_EQ(key_here(p), key_here(q));
  EXPECT_EQ(tune_key(p, {0, 9, 0, 132}, h200_name), tune_key(p, {3, 9, 0, 132}, h200_name));
}

TEST(Gemm_TuneCache, EveryPromisingChoiceIsThePlansKernel) {
  for (const Problem& p : {usual, bf16(16, 7168, 4096), bf16(4096, 8, 512), bf16(77, 99, 55)}) {
    for (const Kernel* kernel : promising_kernels(p, h200, {.every_kernel = true})) {
      TuneCache cache;
      cache.remember(key_here(p), name(*kernel));
      Plan plan;
      ASSERT_EQ(make_plan_for(p, h200, h200_name, cache, plan), Status::Ok);
      EXPECT_EQ(plan.aligned.kernel, kernel) << name(*kernel);
      EXPECT_EQ(plan.problem.m, p.m);
      EXPECT_NE(plan.unaligned.kernel, nullptr);
    }
  }
}

// What was tuned on copies is found by its strides as the kernel reads them.
TEST(Gemm_TuneCache, TheChoiceForCopiesIsTheChoiceForAlignedStrides) {
  const Problem p = bf16(300, 200, 301);
  Problem aligned = p;
  aligned.a.ld = aligned.b.ld = 304;
  EXPECT_NE(key_here(p), key_here(aligned));
  const auto kernels = promising_kernels(p, h200, {}, Path::Realigned);
  for (const Kernel* kernel : kernels) {
    TuneCache cache;
    cache.remember(key_here(aligned), name(*kernel));
    Plan plan;
    ASSERT_EQ(make_plan_for(p, h200, h200_name, cache, plan), Status::Ok);
    EXPECT_EQ(plan.realigned.kernel, kernel);
    EXPECT_EQ(plan.aligned.kernel->loader, Loader::Copy);
    ASSERT_EQ(make_plan_for(aligned, h200, h200_name, cache, plan), Status::Ok);
    EXPECT_EQ(plan.aligned.kernel, kernel);
  }
  TuneCache cache;  // without a workspace
  Plan plan;
  cache.remember(key_here(p), name(*promising_kernels(p, h200, {})[0]));
  ASSERT_EQ(make_plan_for(p, h200, h200_name, cache, plan), Status::Ok);
  EXPECT_EQ(plan.realigned.kernel, kernels[0]);
}

TEST(Gemm_TuneCache, WithoutAChoiceForThisProblemAndDeviceTheEstimateChooses) {
  Plan estimated;
  ASSERT_EQ(make_plan_for(usual, h200, estimated), Status::Ok);
  TuneCache cache;
  const auto plan_is_the_estimate = [&](const Problem& p, const char* device_name) {
    Plan plan;
    EXPECT_EQ(make_plan_for(p, h200, device_name, cache, plan), Status::Ok);
    return describe(plan) == describe(estimated);
  };
  EXPECT_TRUE(plan_is_the_estimate(usual, h200_name));
  cache.remember(key_here(usual), name(second_choice(usual)));
  EXPECT_FALSE(plan_is_the_estimate(usual, h200_name));
  EXPECT_TRUE(plan_is_the_estimate(usual, "NVIDIA H100"));
  cache.remember(key_here(usual), "64x64x64 of a library to come");
  EXPECT_TRUE(plan_is_the_estimate(usual, h200_name));
}

TEST(Gemm_TuneCache, AChoiceThatBreaksAPromiseOrDoesNotFitIsNotTaken) {
  Problem p = bf16(16, 2112, 7168);
  const Kernel* splits = nullptr;
  for (const Kernel* k : promising_kernels(p, h200, {.every_kernel = true}))
    if (k->split > 1) splits = k;
  ASSERT_NE(splits, nullptr);
  p.batch_invariant = true;
  TuneCache cache;
  cache.remember(key_here(p), name(*splits));
  Plan plan;
  ASSERT_EQ(make_plan_for(p, h200, h200_name, cache, plan), Status::Ok);
  EXPECT_EQ(plan.aligned.kernel->split, 1);
  p.has_bias = true;  // which any kernel adds
  p.batch_invariant = false;
  cache.remember(key_here(p), name(*splits));
  ASSERT_EQ(make_plan_for(p, h200, h200_name, cache, plan), Status::Ok);
  EXPECT_EQ(plan.aligned.kernel, splits);
}

TEST(Gemm_TuneCache, WrongProblemsAndDevicesAreRefusedAsWithoutIt) {
  const TuneCache cache;
  Plan plan;
  EXPECT_EQ(make_plan(bf16(-1, 8, 8), cache, plan), Status::NegativeSize);
  EXPECT_EQ(make_plan(bf16(1, INT64_MAX, 1), cache, plan), Status::SizeTooLarge);
  EXPECT_EQ(make_plan_for(bf16(-1, 8, 8), h200, h200_name, cache, plan), Status::NegativeSize);
  EXPECT_EQ(make_plan_for(usual, {0, 8, 0, 108}, "NVIDIA A100", cache, plan),
            Status::WrongArchitecture);
  EXPECT_FALSE(plan.made);
  EXPECT_EQ(make_plan(bf16(8, 0, 8), cache, plan), Status::Ok);
  EXPECT_TRUE(plan.empty);
}

// --- the file --------------------------------------------------------------------------------------

TEST(Gemm_TuneFile, EveryFieldComesBack) {
  const TemporaryFolder folder;
  const std::vector<TuneKey> keys = keys_that_differ();
  TuneCache cache;
  for (std::size_t i = 0; i < keys.size(); ++i) cache.remember(keys[i], std::to_string(i));
  ASSERT_EQ(cache.save(folder.file("choices")), Status::Ok);
  TuneCache again;
  ASSERT_EQ(again.load(folder.file("choices")), Status::Ok);
  EXPECT_EQ(again.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(again.find(keys[i]), std::to_string(i));
  ASSERT_EQ(again.save(folder.file("again")), Status::Ok);
  EXPECT_EQ(read(folder.file("again")), read(folder.file("choices")));
  EXPECT_EQ(folder.files(), 2);  // no temporary one is left
}

// Another writer of JSON agrees, whatever is in the names.
TEST(Gemm_TuneFile, IsWrittenAsALibraryWritesIt) {
  const TemporaryFolder folder;
  const std::string path = folder.file("choices");
  TuneCache cache;
  const auto expect_same = [&] {
    ASSERT_EQ(cache.save(path), Status::Ok);
    EXPECT_EQ(nlohmann::ordered_json::parse(read(path)).dump(1) + "\n", read(path));
  };
  expect_same();
  int i = 0;
  for (TuneKey key : keys_that_differ()) {
    key.device += " \"\\\n\x01\xc3\xbc/" + std::string(1, static_cast<char>(' ' + i));
    ASSERT_EQ(cache.remember(key, "\t\"" + std::to_string(i++)), Status::Ok);
    expect_same();
  }
  TuneCache again;
  ASSERT_EQ(again.load(path), Status::Ok);
  EXPECT_EQ(again.size(), cache.size());
  TuneKey wrong = key_here(usual);
  wrong.device = "\xff";  // no UTF-8
  ASSERT_EQ(again.remember(wrong, "x"), Status::Ok);
  const std::string before = read(path);
  EXPECT_EQ(again.save(path), Status::TuneFileNotWritten);
  EXPECT_EQ(read(path), before);
}

TEST(Gemm_TuneFile, UnknownKernelsAreKept) {
  const TemporaryFolder folder;
  TuneCache cache;
  cache.remember(key_here(usual), "64x64x64 of a library to come");
  ASSERT_EQ(cache.save(folder.file("choices")), Status::Ok);
  TuneCache other;
  ASSERT_EQ(other.load(folder.file("choices")), Status::Ok);
  other.remember(key_here(bf16(1, 2, 3)), "x");
  ASSERT_EQ(other.save(folder.file("choices")), Status::Ok);
  ASSERT_EQ(cache.load(folder.file("choices")), Status::Ok);
  EXPECT_EQ(cache.find(key_here(usual)), "64x64x64 of a library to come");
  EXPECT_EQ(cache.find(key_here(bf16(1, 2, 3))), "x");
}

TEST(Gemm_TuneFile, LoadingPrefersTheFileAndSavingTheCache) {
  const TemporaryFolder folder;
  const std::string path = folder.file("choices");
  const TuneKey both = key_here(usual);
  const TuneKey only_file = key_here(bf16(1, 2, 3));
  TuneCache file;
  file.remember(both, "of the file");
  file.remember(only_file, "of the file");
  ASSERT_EQ(file.save(path), Status::Ok);
  TuneCache loading;
  loading.remember(both, "ours");
  loading.remember(key_here(bf16(4, 5, 6)), "ours");
  ASSERT_EQ(loading.load(path), Status::Ok);
  EXPECT_EQ(loading.size(), 3u);
  EXPECT_EQ(loading.find(both), "of the file");
  TuneCache saving;
  saving.remember(both, "ours");
  ASSERT_EQ(saving.save(path), Status::Ok);
  EXPECT_EQ(saving.size(), 1u);
  TuneCache after;
  ASSERT_EQ(after.load(path), Status::Ok);
  EXPECT_EQ(after.find(both), "ours");
  EXPECT_EQ(after.find(only_file), "of the file");
}

TEST(Gemm_TuneFile, SeveralThreadsShareACacheAndAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("choices");
  constexpr int threads = 4;
  constexpr int rounds = 10;
  TuneCache cache;
  ASSERT_EQ(cache.save(path), Status::Ok);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        cache.remember(key_here(bf16(t, i, 8)), "x");
        EXPECT_EQ(cache.save(path), Status::Ok);
        EXPECT_EQ(cache.load(path), Status::Ok);
        EXPECT_EQ(cache.find(key_here(bf16(t, i, 8))), "x");
      }
    });
  }
  for (std::thread& t : running) t.join();
  EXPECT_EQ(cache.size(), static_cast<std::size_t>(threads * rounds));
  EXPECT_EQ(folder.files(), 1);
}

// A text that load() and save() refuse, and both leave everything as it was.
void expect_refused(const std::string& text, Status want) {
  const TemporaryFolder folder;
  const std::string path = folder.file("choices");
  write(path, text);
  TuneCache cache;
  cache.remember(key_here(usual), "ours");
  EXPECT_EQ(cache.load(path), want) << text;
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.find(key_here(usual)), "ours");
  EXPECT_EQ(cache.save(path), want) << text;
  EXPECT_EQ(read(path), text);
  EXPECT_EQ(folder.files(), 1);
}

std::string good_text() {
  const TemporaryFolder folder;
  TuneCache cache;
  cache.remember(key_here(usual), "kernel one");
  EXPECT_EQ(cache.save(folder.file("choices")), Status::Ok);
  return read(folder.file("choices"));
}

TEST(Gemm_TuneFile, ATruncatedFileIsDamaged) {
  const std::string good = good_text();
  for (std::size_t length = 0; length + 2 < good.size(); ++length)
    expect_refused(good.substr(0, length), Status::TuneFileDamaged);
}

TEST(Gemm_TuneFile, EveryFieldIsNeededAndHasItsRange) {
  const std::string good = good_text();
  for (const char* field : {"device",
                            "major",
                            "minor",
                            "sm_count",
                            "m",
                            "n",
                            "k",
                            "batch",
                            "in",
                            "out",
                            "major_a",
                            "major_b",
                            "tma_loads",
                            "tma_stores",
                            "scales",
                            "reads_c",
                            "has_bias",
                            "activation",
                            "batch_invariant",
                            "kernel"}) {
    const std::string quoted = std::string("\"") + field + "\": ";
    expect_refused(replaced(good, quoted, "\"x\": "), Status::TuneFileDamaged);
    expect_refused(replaced(good, quoted, quoted + "null, \"x\": "), Status::TuneFileDamaged);
    expect_refused(replaced(good, quoted, "\"x\": 0, " + quoted), Status::TuneFileDamaged);
  }
  for (const char* value : {"-1", "256.5", "1e3", "\"256\"", "9223372036854775808",
                            "18446744073709551616", "true", "[256]"})
    expect_refused(replaced(good, "\"m\": 256", std::string("\"m\": ") + value),
                   Status::TuneFileDamaged);
  expect_refused(replaced(good, "\"minor\": 0", "\"minor\": 2147483648"), Status::TuneFileDamaged);
  expect_refused(replaced(good, "\"in\": \"bf16\"", "\"in\": \"bf17\""), Status::TuneFileDamaged);
  expect_refused(replaced(good, "\"major_a\": \"K\"", "\"major_a\": \"N\""),
                 Status::TuneFileDamaged);
  expect_refused(replaced(good, "\"kernel one\"", "\"\""), Status::TuneFileDamaged);
  expect_refused(replaced(good, "\"m\": 256", "\"m\": 256, \"m\": 256"), Status::TuneFileDamaged);
}

TEST(Gemm_TuneFile, AProblemTwiceIsDamaged) {
  const std::string good = good_text();
  const std::size_t first = good.find('{', 1);
  const std::string choice = good.substr(first, good.rfind(']') - first);
  expect_refused(replaced(good, choice, choice + "," + choice), Status::TuneFileDamaged);
}

TEST(Gemm_TuneFile, OtherFilesAndVersionsAreLeftAlone) {
  const std::string good = good_text();
  for (const char* foreign : {"{}", "[]", "7", "null", "\"tcq gemm choices\"", "{\"format\": 1}",
                              "{\"version\": 1, \"choices\": []}"})
    expect_refused(foreign, Status::TuneFileForeign);
  expect_refused(replaced(good, "tcq gemm choices", "something else"), Status::TuneFileForeign);
  for (const char* newer : {"3", "1000000"})
    expect_refused(replaced(good, "\"version\": 2", std::string("\"version\": ") + newer),
                   Status::TuneFileNewer);
  for (const char* wrong : {"0", "-1", "1.5", "\"1\"", "null"})
    expect_refused(replaced(good, "\"version\": 2", std::string("\"version\": ") + wrong),
                   Status::TuneFileDamaged);
  expect_refused(replaced(good, "\"version\": 2", "\"more\": 1, \"version\": 2"),
                 Status::TuneFileDamaged);
  for (const char* choices : {"{}", "7", "null", "[7]", "[null]", "[[]]", "[{}]"})
    expect_refused(std::string("{\"format\": \"tcq gemm choices\", \"version\": 1, \"choices\": ") +
                       choices + "}",
                   Status::TuneFileDamaged);
  const std::string deep = std::string(50, '[') + std::string(50, ']');
  expect_refused("{\"a\": " + deep + "}", Status::TuneFileForeign);
  expect_refused("{\"format\": \"tcq gemm choices\", \"version\": 7, \"x\": " + deep + "}",
                 Status::TuneFileNewer);
  expect_refused(replaced(good, "\"m\": 256", "\"m\": [{\"m\": 256}]"), Status::TuneFileDamaged);
  expect_refused("not JSON", Status::TuneFileDamaged);
  expect_refused(std::string(100000, '['), Status::TuneFileDamaged);
  expect_refused("{\"format\": \"\xff\"}", Status::TuneFileDamaged);
}

TEST(Gemm_TuneFile, AnyChangedByteIsReadOrRefused) {
  const std::string good = good_text();
  const TemporaryFolder folder;
  const std::string path = folder.file("choices");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string text = good;
    text[i] = static_cast<char>(text[i] ^ 1);
    write(path, text);
    TuneCache cache;
    const Status status = cache.load(path);
    EXPECT_EQ(cache.size(), status == Status::Ok ? 1u : 0u) << text;
  }
}

TEST(Gemm_TuneFile, PathsThatCannotBeReadOrWritten) {
  const TemporaryFolder folder;
  TuneCache cache;
  EXPECT_EQ(cache.load(folder.file("none")), Status::TuneFileMissing);
  EXPECT_EQ(cache.load(""), Status::TuneFileMissing);
  EXPECT_EQ(cache.load(folder.file("")), Status::TuneFileUnreadable);
  EXPECT_EQ(cache.load("/dev/zero"), Status::TuneFileUnreadable);
  EXPECT_EQ(cache.save(""), Status::TuneFileNotWritten);
  EXPECT_EQ(cache.save(folder.file("no/folder")), Status::TuneFileNotWritten);
  EXPECT_EQ(cache.save(folder.file("")), Status::TuneFileUnreadable);
  EXPECT_EQ(folder.files(), 0);
  cache.remember(tune_key(usual, h200, "\xff"), "x");  // no JSON can hold such a name
  EXPECT_EQ(cache.save(folder.file("choices")), Status::TuneFileNotWritten);
  EXPECT_EQ(folder.files(), 0);
}

TEST(Gemm_TuneFile, ALinkStaysALink) {
  const TemporaryFolder folder;
  TuneCache cache;
  ASSERT_EQ(cache.save(folder.file("choices")), Status::Ok);
  fs::create_symlink(folder.file("choices"), folder.file("link"));
  cache.remember(key_here(usual), "x");
  ASSERT_EQ(cache.save(folder.file("link")), Status::Ok);
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  TuneCache again;
  ASSERT_EQ(again.load(folder.file("choices")), Status::Ok);
  EXPECT_EQ(again.size(), 1u);
}

// --- C ---------------------------------------------------------------------------------------------

TEST(Gemm_TuneC, SaysWhatTheCppInterfaceSays) {
  const TemporaryFolder folder;
  const std::string path = folder.file("choices");
  const auto code = [](Status status) { return static_cast<int>(status); };
  tcq_gemm_tune_cache* cache = tcq_gemm_create_tune_cache();
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(tcq_gemm_load_tune_cache(cache, path.c_str()), code(Status::TuneFileMissing));
  EXPECT_EQ(tcq_gemm_save_tune_cache(cache, path.c_str()), 0);
  EXPECT_EQ(tcq_gemm_load_tune_cache(cache, path.c_str()), 0);
  const int null = code(Status::NullPointer);
  EXPECT_EQ(tcq_gemm_load_tune_cache(nullptr, path.c_str()), null);
  EXPECT_EQ(tcq_gemm_load_tune_cache(cache, nullptr), null);
  EXPECT_EQ(tcq_gemm_save_tune_cache(nullptr, path.c_str()), null);
  EXPECT_EQ(tcq_gemm_save_tune_cache(cache, nullptr), null);

  tcq_gemm_problem p;
  tcq_gemm_defaults(&p, sizeof p);  // empty
  tcq_gemm_pointers none = {};
  none.size = sizeof none;
  tcq_gemm_plan* plan = nullptr;
  EXPECT_EQ(tcq_gemm_make_plan_cached(&p, cache, &plan), 0);
  EXPECT_NE(plan, nullptr);
  tcq_gemm_destroy_plan(plan);
  for (tcq_gemm_tune_cache* some : {cache, static_cast<tcq_gemm_tune_cache*>(nullptr)}) {
    EXPECT_EQ(tcq_gemm_tune(&p, &none, nullptr, 0, nullptr, 8, some, &plan), 0);
    EXPECT_NE(plan, nullptr);
    tcq_gemm_destroy_plan(plan);
    EXPECT_EQ(tcq_gemm_tune(&p, &none, nullptr, 0, nullptr, 0, some, &plan),
              code(Status::BadTuneOptions));
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(tcq_gemm_tune(nullptr, &none, nullptr, 0, nullptr, 8, some, &plan), null);
    EXPECT_EQ(tcq_gemm_tune(&p, nullptr, nullptr, 0, nullptr, 8, some, &plan), null);
    EXPECT_EQ(tcq_gemm_tune(&p, &none, nullptr, 0, nullptr, 8, some, nullptr), null);
  }
  EXPECT_EQ(tcq_gemm_make_plan_cached(nullptr, cache, &plan), null);
  EXPECT_EQ(tcq_gemm_make_plan_cached(&p, nullptr, &plan), null);
  EXPECT_EQ(tcq_gemm_make_plan_cached(&p, cache, nullptr), null);
  p.m = -1;
  EXPECT_EQ(tcq_gemm_make_plan_cached(&p, cache, &plan), code(Status::NegativeSize));
  tcq_gemm_destroy_tune_cache(cache);
  tcq_gemm_destroy_tune_cache(nullptr);
}

}  // namespace
}  // namespace tcq::gemm
