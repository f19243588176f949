// From Triton's layouts to mnemonics; see triton_layout.h.
#include "oracle/ptx/triton_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view begin_of_layout = "nvidia_mma<{", end_of_layout = "}>";
constexpr std::string_view begin_of_encoding = "tensor_memory_encoding<";
constexpr int warps_of_group = 4, rows_of_group = 64;

// The numbers behind "name = ": one, or those in brackets. No number has more than four digits.
std::vector<int> numbers_of(std::string_view layout, std::string_view name) {
  const std::size_t at = layout.find(name);
  std::vector<int> numbers;
  if (at == layout.npos) return numbers;
  std::string_view rest = layout.substr(at + name.size());
  const bool list = rest.find('[') < rest.find(',');
  rest = rest.substr(0, list ? rest.find(']') : rest.find(','));
  bool inside = false;
  for (const char c : rest) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) numbers.push_back(0);
    if (digit) numbers.back() = std::min(10 * numbers.back() + (c - '0'), 10000);
    inside = digit;
  }
  return numbers;
}

[[noreturn]] void throw_other(std::string_view layout, std::string_view why) {
  throw UnmodelledError(fmt::format("{} is not modelled: {}", quoted(layout), why));
}

// K is 256 bits of a row.
std::string_view type_of_k(int k) {
  switch (k) {
    case 8: return "tf32";
    case 16: return "bf16";
    case 32: return "e4m3";
    default: return "";
  }
}

CuteAtom wgmma_layout(std::string_view layout, const std::vector<int>& shape,
                      const std::vector<int>& warps) {
  if (shape.size() != 3 || type_of_k(shape[2]).empty())
    throw_other(layout, "its instrShape is none of wgmma, [16, N, K]");
  if (warps.size() != 2 || warps[1] != 1 || warps[0] == 0 || warps[0] % warps_of_group != 0)
    throw_other(layout, "only warpgroups along M are, warpsPerCTA = [4, 1], [8, 1] and so on");
  const std::string_view type = type_of_k(shape[2]);
  const int groups = warps[0] / warps_of_group;
  CuteAtom atom;
  atom.mnemonic = fmt::format("wgmma.m64n{}k{}.f32.{}.{}", shape[1], shape[2], type, type);
  if (groups > 1)
    atom.keys = {fmt::format("bM={}", rows_of_group * groups), fmt::format("bN={}", shape[1]),
                 fmt::format("atoms={}x1x1", groups)};
  return atom;
}

// A warp has a tile of its own: whose an element is, several of them side by side decide.
std::string_view warp_layout(std::string_view layout, const std::vector<int>& warps) {
  if (std::any_of(warps.begin(), warps.end(), [](int count) { return count != 1; }))
    throw_other(layout, "of version 2 only one warp is, warpsPerCTA = [1, 1]");
  return "mma.m16n8k16.f32.f16.f16";
}

// M of the pair is twice a CTA's; of packed and padded columns D alone is asked here.
std::optional<CuteAtom> tensor_memory_layout(std::string_view text) {
  const std::size_t begin = text.find(begin_of_encoding), end = text.find('>', begin);
  if (begin == text.npos || end == text.npos) return std::nullopt;
  const std::string_view layout = text.substr(0, end + 1);
  const std::vector<int> m = numbers_of(layout, "blockM"), n = numbers_of(layout, "blockN");
  if (m.size() != 1 || n.size() != 1) throw_other(layout, "it names no blockM and blockN");
  const int ctas = layout.find("twoCTAs = true") != layout.npos ? 2 : 1;
  CuteAtom atom;
  atom.mnemonic = fmt::format("tcgen05.mma.cta_group::{}.kind::f16", ctas);
  atom.keys = {fmt::format("m={}", ctas * m[0]), fmt::format("n={}", n[0])};
  atom.size = layout.size();
  atom.open = "the types, of which the places of an f32 D do not depend";
  return atom;
}

}  // namespace

std::optional<CuteAtom> read_triton_layout(std::string_view text) {
  if (text.starts_with('#'))
    if (std::optional<CuteAtom> atom = tensor_memory_layout(text)) return atom;
  const std::size_t begin = text.find(begin_of_layout);
  const std::size_t end = text.find(end_of_layout, begin);
  if (!text.starts_with('#') || begin == text.npos || end == text.npos) return std::nullopt;
  const std::string_view layout = text.substr(0, end + end_of_layout.size());
  const std::vector<int> version = numbers_of(layout, "versionMajor");
  const std::vector<int> shape = numbers_of(layout, "instrShape");
  const std::vector<int> warps = numbers_of(layout, "warpsPerCTA");
  CuteAtom atom;
  if (version == std::vector<int>{3})
    atom = wgmma_layout(layout, shape, warps);
  else if (version == std::vector<int>{2} && shape == std::vector<int>{16, 8})
    atom.mnemonic = warp_layout(layout, warps);
  else
    throw_other(layout, "versions 2 and 3 are, of mma.m16n8 and of wgmma");
  atom.size = layout.size();
  atom.open = "the types, of which D's places do not depend on those of A and B";
  return atom;
}

}  // namespace tcq::oracle
