// The suites of single wgmmas.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oracle/ptx/mnemonic.h"
#include "oracle/recording/case_draw.h"
#include "oracle/recording/suites.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/wgmma/operand.h"

namespace tcq::oracle {
namespace {

using wgmma::Form;
using wgmma::Place;

// Enough for any compact operand pair: 64 and 256 rows of 128 bytes are 40 KiB.
constexpr std::uint32_t small_shared_bytes = 48 * 1024;
constexpr std::array swizzles = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128};
constexpr std::array places = {Place::Smem, Place::Registers};

class Suite : public CaseDraw {
 public:
  using CaseDraw::CaseDraw;

  WgmmaCase& add(const Form& form, std::uint32_t shared_bytes = small_shared_bytes) {
    Case& c = CaseDraw::add(WgmmaCase{.instruction = {.form = form}});
    c.shared_bytes = shared_bytes;
    c.keep = true;
    return std::get<WgmmaCase>(c.experiment);
  }

  // Descriptors of compact tiles with a random swizzle; A first, B behind it.
  void place_operands(WgmmaCase& c) {
    const Form& f = c.instruction.form;
    std::uint32_t at = shared_base_sm90;
    if (f.a_place == Place::Smem) c.instruction.desc_a = compact(f.a, f.major_a, wgmma::m, 32, at);
    c.instruction.desc_b = compact(f.b, f.major_b, f.n, f.sparse ? 64 : 32, at);
  }

 private:
  // `k_bytes` is what one instruction reads along K if K-major. Moves `at` behind the tile.
  std::uint64_t compact(Type type, Major major, int mn, std::uint32_t k_bytes, std::uint32_t& at) {
    const auto rows = static_cast<std::uint32_t>(mn);
    const std::uint32_t k = k_bytes * 8 / static_cast<std::uint32_t>(bits(type));
    for (;;) {
      const Swizzle swizzle = swizzles[static_cast<std::size_t>(draw().below(4))];
      const std::uint32_t pitch = pitch_bytes(swizzle);
      Tile tile{major, pitch, draw().one_in(2) ? AtomOrder::KFirst : AtomOrder::MnFirst,
                major == Major::K ? std::max(k_bytes, pitch) : rows * 2,
                major == Major::K ? rows : k};
      if (!tile.is_whole()) continue;
      const CanonicalLayout layout = tcq::canonical_layout(tile, k_bytes);
      const std::uint64_t word =
          wgmma::encode({at, layout.lbo_bytes, layout.sbo_bytes, 0, swizzle});
      at += (tile.bytes() + 1023) / 1024 * 1024;
      return word;
    }
  }
};

// The distinct (d, a, b, sparse) combinations, as forms of one legal n.
std::vector<Form> combinations(int n) {
  std::vector<Form> forms = all_forms();
  std::erase_if(forms, [n](const Form& f) { return f.n != n; });
  return forms;
}

// All combinations of modifiers that a type has, for both places, each with every mixture class.
std::vector<Form> modified(const Form& form) {
  std::vector<Form> forms;
  for (int bits = 0; bits < 64; ++bits) {
    const auto flag = [bits](int index) { return bits / (1 << index) % 2 != 0; };
    Form f = form;
    f.a_place = flag(0) ? Place::Registers : Place::Smem;
    f.major_a = flag(1) ? Major::MN : Major::K;
    f.major_b = flag(2) ? Major::MN : Major::K;
    f.negate_a = flag(3);
    f.negate_b = flag(4);
    f.satfinite = flag(5);
    if (wgmma::check(f) == Fault::None) forms.push_back(f);
  }
  return forms;
}

// A random descriptor all of whose bytes lie inside the CTA's memory; ignored bits random.
std::uint64_t random_descriptor(Draw& draw, const Form& f, Major major, bool is_b) {
  const std::uint32_t limit = shared_base_sm90 + max_cta_shared_bytes;
  const auto units = [&draw](int max) { return static_cast<std::uint32_t>(draw.below(max)) * 16; };
  for (;;) {
    wgmma::MatrixDescriptor d;
    d.swizzle = swizzles[static_cast<std::size_t>(draw.below(4))];
    d.base_offset = static_cast<std::uint32_t>(draw.below(8));
    d.start_bytes = draw.one_in(4) ? units(limit / 16) / 1024 * 1024 : units(limit / 16);
    // Strides: small, large, zero, or the largest; what is never read may be anything.
    const auto stride = [&] {
      switch (draw.below(6)) {
        case 0: return 0u;
        case 1: return static_cast<std::uint32_t>(LeadingByteOffset::max_value);
        case 2: return units(16 * 1024);
        default: return units(1 << draw.in(3, 11));
      }
    };
    d.lbo_bytes = stride();
    d.sbo_bytes = stride();
    const int rows = is_b ? f.n : wgmma::m;
    const Type type = is_b ? f.b : f.a;
    const int columns = is_b ? wgmma::k(f) : wgmma::stored_k(f.a);
    bool inside = true;
    for (int mn = 0; mn < rows && inside; ++mn) {
      for (int k = 0; k < columns && inside; ++k) {
        const std::uint32_t address = wgmma::element_address(
            d, major, type, {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)});
        inside = address >= shared_base_sm90 && address + 4 <= limit;
      }
    }
    if (!inside) continue;
    const std::uint64_t junk = (std::uint64_t{draw.word()} << 32) | draw.word();
    const std::uint64_t ignored = draw.one_in(2) ? wgmma::MatrixDescriptorFormat::unused : 0;
    return wgmma::encode(d) | (junk & ignored);
  }
}

void add_descriptor_cases(Suite& suite, const Form& form, int count) {
  for (int i = 0; i < count; ++i) {
    WgmmaCase& c = suite.add(form, max_cta_shared_bytes);
    c.content = Content::RandomImage;
    c.keep = Keep::Diagonal;
    c.instruction.selector = form.sparse ? suite.draw().below(wgmma::max_selector(form.a) + 1) : 0;
    if (form.a_place == Place::Smem)
      c.instruction.desc_a = random_descriptor(suite.draw(), form, form.major_a, false);
    c.instruction.desc_b = random_descriptor(suite.draw(), form, form.major_b, true);
  }
}

}  // namespace

// Every N of every D format and of A's and B's width. All outputs for each N of f16 and s8, and for
// the smallest, a middle and the largest N of the others.
std::vector<Case> wgmma_slots(std::uint64_t seed) {
  Suite suite(seed);
  for (const Form& form : all_forms()) {
    const bool like_another =
        form.a != form.b || form.a == Type::bf16 || form.a == Type::e5m2 || form.a == Type::u8;
    if (like_another) continue;
    const bool all = (!form.sparse && (form.a == Type::f16 || form.a == Type::s8)) || form.n == 8 ||
                     form.n == 64 || form.n == 256;
    Form f = form;
    f.a_place = places[static_cast<std::size_t>(suite.draw().below(2))];
    WgmmaCase& c = suite.add(f);
    c.keep = all ? Keep::All : Keep::Diagonal;
    c.instruction.selector = f.sparse ? suite.draw().below(wgmma::max_selector(f.a) + 1) : 0;
    suite.place_operands(c);
  }
  return suite.take();
}

std::vector<Case> wgmma_numeric(std::uint64_t seed) {
  Suite suite(seed);
  for (const Form& base : combinations(8)) {
    for (const Form& form : modified(base)) {
      for (int i = 0; i < 3; ++i) {
        WgmmaCase& c = suite.add(form);
        c.mixture = i == 0 ? static_cast<MixtureClass>(suite.draw().below(mixture_class_count))
                           : mixture_class(suite.last().seed);
        c.keep = Keep::Diagonal;
        c.instruction.accumulate = !suite.draw().one_in(4);
        c.instruction.selector =
            form.sparse ? suite.draw().below(wgmma::max_selector(form.a) + 1) : 0;
        suite.place_operands(c);
      }
    }
    for (int i = 0; i < 3 * mixture_class_count; ++i) {
      Form form = base;
      form.a_place = places[static_cast<std::size_t>(i) % 2];
      WgmmaCase& c = suite.add(form);
      c.mixture = static_cast<MixtureClass>(i % mixture_class_count);
      c.instruction.accumulate = i < 2 * mixture_class_count;
      c.keep = i < mixture_class_count ? Keep::All : Keep::Diagonal;
      suite.place_operands(c);
    }
  }
  return suite.take();
}

std::vector<Case> wgmma_descriptors(std::uint64_t seed) {
  Suite suite(seed);
  for (const int n : {8, 64, 256}) {
    const int count = n == 256 ? 60 : 270;
    for (const Major major_a : {Major::K, Major::MN})
      for (const Major major_b : {Major::K, Major::MN})
        add_descriptor_cases(
            suite, {Type::f32, Type::f16, Type::f16, n, false, Place::Smem, major_a, major_b},
            count);
  }
  for (const Form& form : combinations(64)) {
    if (form.sparse || form.a == Type::f16) continue;
    add_descriptor_cases(suite, form, 40);
  }
  return suite.take();
}

std::vector<Case> wgmma_sparse(std::uint64_t seed) {
  Suite suite(seed);
  for (const int n : {8, 64}) {
    for (const Form& base : combinations(n)) {
      if (!base.sparse) continue;
      for (const Form& form : modified(base)) {
        if (form.negate_a || form.negate_b) continue;
        add_descriptor_cases(suite, form, n == 8 ? 12 : 4);
      }
    }
  }
  return suite.take();
}

// Descriptors that reach beyond the shared memory of the CTA, or just do not: past what was
// allocated, past the largest allocation, past 2^18. A from shared memory or B alone reaches out.
std::vector<Case> wgmma_range(std::uint64_t seed) {
  Suite suite(seed);
  struct Reach {
    std::uint32_t allocated;
    wgmma::MatrixDescriptor desc;
  };
  constexpr std::uint32_t base = shared_base_sm90;
  constexpr std::uint32_t full = max_cta_shared_bytes;
  constexpr auto largest = static_cast<std::uint32_t>(StrideByteOffset::max_value);
  const std::array reaches = {
      Reach{16384, {base, 8192, 256, 0, Swizzle::None}},          // inside
      Reach{16384, {base, 16384 - 1920, 256, 0, Swizzle::None}},  // to the last byte
      Reach{16384, {base, 16384, 256, 0, Swizzle::None}},         // just past it
      Reach{16384, {base, 65536, 256, 0, Swizzle::None}},         // inside the window, not the CTA
      Reach{full, {base, full - 1920, 256, 0, Swizzle::None}},    // the last byte there is
      Reach{full, {base, full, 256, 0, Swizzle::None}},           // past the largest allocation
      Reach{full, {base, largest, 256, 0, Swizzle::None}},        // sum past 2^18
      Reach{full, {2048, 4096, largest, 0, Swizzle::None}},       // the same with SBO
      Reach{full, {262128, 4096, 256, 0, Swizzle::None}},         // start at the end of the window
      Reach{full, {base, 16, largest, 0, Swizzle::B128}},         // swizzled, SBO past 2^18
      Reach{full, {base, largest, 1024, 0, Swizzle::B128}},       // LBO is not read: inside
      Reach{full, {full + base - 8192, 16, 1024, 0, Swizzle::B128}},  // 128B tile at the very end
  };
  for (const Reach& reach : reaches) {
    for (const bool is_a : {true, false}) {
      const Form form{Type::f32, Type::f16, Type::f16,
                      64,        false,     is_a ? Place::Smem : Place::Registers};
      WgmmaCase& c = suite.add(form, reach.allocated);
      c.content = Content::RandomImage;
      c.keep = Keep::Diagonal;
      const std::uint64_t safe = wgmma::encode({base, 16, 1024, 0, Swizzle::B128});
      c.instruction.desc_a = is_a ? wgmma::encode(reach.desc) : safe;
      c.instruction.desc_b = is_a ? safe : wgmma::encode(reach.desc);
    }
  }
  return suite.take();
}

}  // namespace tcq::oracle
