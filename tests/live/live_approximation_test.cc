// What a GPU approximates beside sim/alu, bit by bit: of each form of one f32, or of the upper half of one f64, drawn runs of
// words, all 2^32 of them if TCQ_ALL_WORDS is set. Skips loudly without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "cuda/probe/scalar_sm90.h"
#include "sim/alu/alu.h"
#include "sim/alu/forms.h"
#include "tests/live/live_device.h"

namespace tcq {
namespace {

using LiveApproximation = Live;

constexpr std::uint32_t run_words = 1u << 24, runs = 1u << 8, drawn_runs = 2;
constexpr std::uint32_t warp_words = 32, part_words = 1u << 16;

struct Form {
  explicit Form(const std::string& text)
      : spelling(text),
        form(*alu::read_scalar_form(text)),
        evaluate(alu::operation(form.form).evaluate),
        is_wide(form.form.types[0] == ptx::Type::F64) {}

  bool is_asked() const {
    const ptx::Type type = form.form.types[0];
    return form.form.has(ptx::Slot::Precision) && form.in.size() == 1 &&
           (type == ptx::Type::F32 || type == ptx::Type::F64);
  }

  std::string spelling;
  alu::ScalarForm form;
  alu::Evaluate evaluate;
  bool is_wide;
};

// How many of these words the model answers otherwise.
template <class Cell>
std::uint64_t differing(const Form& form, const std::uint64_t* sources, const std::uint8_t* results,
                        std::uint32_t count) {
  std::uint64_t found = 0;
  for (std::uint32_t i = 0; i < count; i += warp_words) {
    std::array<Cell, warp_words> in, out = {}, got;
    std::transform(sources + i, sources + i + warp_words, in.begin(),
                   [](std::uint64_t word) { return static_cast<Cell>(word); });
    std::memcpy(got.data(), results + i * sizeof(Cell), sizeof got);
    void* const to = out.data();
    const void* const from = in.data();
    std::uint32_t carry = 0;
    form.evaluate({&to, &from, 0xffffffff, &carry, 1, 1});
    for (std::uint32_t lane = 0; lane < warp_words; ++lane) found += out[lane] != got[lane];
  }
  return found;
}

std::uint64_t differing(const Form& form, std::uint32_t first) {
  const std::size_t width = form.is_wide ? 8 : 4;
  std::vector<std::uint64_t> sources(run_words);
  for (std::uint32_t i = 0; i < run_words; ++i)
    sources[i] = std::uint64_t{first + i} << (form.is_wide ? 32 : 0);
  std::vector<std::uint8_t> results(width * run_words);
  cuda::probe_scalar(form.spelling, run_words, sources, results);
  std::atomic<std::uint64_t> found = 0;
  std::atomic<std::uint32_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back([&] {
      for (std::uint32_t at; (at = next.fetch_add(part_words)) < run_words;) {
        const std::uint8_t* const part = results.data() + width * at;
        found += form.is_wide ? differing<std::uint64_t>(form, &sources[at], part, part_words)
                              : differing<std::uint32_t>(form, &sources[at], part, part_words);
      }
    });
  threads.clear();
  return found;
}

TEST_F(LiveApproximation, WordsGiveTheModelsBits) {
  const bool all = std::getenv("TCQ_ALL_WORDS") != nullptr;
  std::mt19937 random(static_cast<unsigned>(chosen_seed()));
  int forms = 0;
  for (const std::string& spelling : alu::scalar_forms()) {
    const Form form(spelling);
    if (!form.is_asked()) continue;
    ++forms;
    std::uint64_t found = 0;
    const std::uint32_t count = all ? runs : drawn_runs;
    for (std::uint32_t i = 0; i < count; ++i)
      found += differing(form, (all ? i : static_cast<std::uint32_t>(random() % runs)) * run_words);
    fmt::print("{}: {} words, {} differ\n", spelling, std::uint64_t{count} * run_words, found);
    EXPECT_EQ(found, 0u) << spelling;
  }
  EXPECT_EQ(forms, 18);
}

}  // namespace
}  // namespace tcq
