// Filling shared memory and registers for a case (vectors.h, build_state). A pure function of the
// case.
#include <algorithm>

#include "oracle/recording/vectors.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/sparse.h"

namespace tcq::oracle {
namespace {

using namespace tcq::wgmma;  // NOLINT: this file speaks of nothing else

// Random bits forced into a narrow range of exponents: every element then changes the sum.
std::uint32_t tame(Type type, std::uint32_t word) {
  switch (type) {
    case Type::f16: return (word & 0x8fff8fffu) | 0x30003000u;
    case Type::bf16: return (word & 0x81ff81ffu) | 0x3e003e00u;
    case Type::tf32:
    case Type::f32: return (word & 0x81ffffffu) | 0x3e000000u;
    case Type::e4m3:
    case Type::e5m2: return (word & 0x8f8f8f8fu) | 0x30303030u;
    default: return word;
  }
}

std::size_t at(int thread, int count, int reg) {
  return static_cast<std::size_t>(thread * count + reg);
}

class Builder {
 public:
  explicit Builder(const Case& c)
      : case_(c),
        form_(c.instruction.form),
        mixture_({form_.d, form_.a, form_.b}, stored_k(form_.a), c.mixture, c.seed) {}

  State build() {
    state_.shared = SharedMemory(shared_base_sm90, case_.shared_bytes);
    state_.registers.d.resize(
        static_cast<std::size_t>(threads_per_warpgroup * accumulator_registers(form_.d, form_.n)));
    if (case_.content == Content::RandomImage)
      fill_random();
    else
      fill_mixture();
    if (form_.sparse) fill_metadata();
    return std::move(state_);
  }

 private:
  std::uint32_t random(int stream, std::uint32_t index) const {
    const std::uint64_t key = (static_cast<std::uint64_t>(stream) << 40) + index;
    return static_cast<std::uint32_t>(mix(mix(case_.seed) ^ key));
  }

  void fill_random() {
    for (std::uint32_t i = 0; i < case_.shared_bytes; i += 4)
      state_.shared.store(shared_base_sm90 + i, tame(form_.a, random(1, i)));
    for (std::uint32_t i = 0; i < state_.registers.a.size(); ++i)
      state_.registers.a[i] = tame(form_.a, random(2, i));
    for (std::uint32_t i = 0; i < state_.registers.d.size(); ++i)
      state_.registers.d[i] = tame(form_.d, random(3, i));
  }

  void fill_mixture() {
    if (form_.a_place == Place::Registers)
      a_to_registers();
    else
      a_to_shared();
    b_to_shared();
    c_to_registers();
  }

  void a_to_registers() {
    for (int row = 0; row < m; ++row) {
      for (int k = 0; k < stored_k(form_.a); ++k) {
        const Slot s = a_slot(form_.a, {row, k});
        state_.registers.a[at(s.thread, a_registers, s.reg)] |=
            in_register_part(form_.a, mixture_.a(row, k), s.part);
      }
    }
  }

  void a_to_shared() {
    const MatrixDescriptor d = decode(case_.instruction.desc_a);
    for (int row = 0; row < m; ++row)
      for (int k = 0; k < stored_k(form_.a); ++k)
        store(d, form_.major_a, form_.a, row, k, mixture_.a(row, k));
  }

  void b_to_shared() {
    const MatrixDescriptor d = decode(case_.instruction.desc_b);
    for (int col = 0; col < form_.n; ++col)
      for (int k = 0; k < wgmma::k(form_); ++k)
        store(d, form_.major_b, form_.b, col, k,
              form_.sparse ? mixture_.sparse_b(col, k) : mixture_.b(col, k));
  }

  void store(const MatrixDescriptor& d, Major major, Type type, int mn, int k,
             std::uint32_t element) {
    const std::uint32_t address = element_address(
        d, major, type, {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)});
    SharedMemory& shared = state_.shared;
    if (!shared.contains(address, bits(type) < 8 ? 1 : static_cast<std::uint32_t>(bits(type)) / 8))
      throw BadFile("recording holds an operand outside its shared memory");
    switch (bits(type)) {
      case 1: {
        const auto old = shared.load<std::uint8_t>(address);
        shared.store(address, static_cast<std::uint8_t>(old | element << (k % 8)));
        break;
      }
      case 8: shared.store(address, static_cast<std::uint8_t>(element)); break;
      case 16: shared.store(address, static_cast<std::uint16_t>(element)); break;
      default: shared.store(address, element);
    }
  }

  void c_to_registers() {
    const int count = accumulator_registers(form_.d, form_.n);
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < form_.n; ++col) {
        const Slot s = accumulator_slot(form_.d, {row, col});
        state_.registers.d[at(s.thread, count, s.reg)] |=
            in_register_part(form_.d, mixture_.c(row, col), s.part);
      }
    }
  }

  // Valid codes where the instruction reads, random bits elsewhere: those must not matter.
  void fill_metadata() {
    for (std::uint32_t t = 0; t < threads_per_warpgroup; ++t)
      state_.registers.metadata[t] = random(4, t);
    for (int row = 0; row < m; ++row) {
      for (int chunk = 0; chunk < chunks_per_row(form_.a); ++chunk) {
        const MetadataSlot s = metadata_slot(form_.a, case_.instruction.selector, {row, chunk});
        std::uint32_t& word = state_.registers.metadata[static_cast<std::size_t>(s.thread)];
        const std::uint32_t code = mixture_.metadata_code(row, chunk);
        word = (word & ~(15u << (4 * s.nibble))) | code << (4 * s.nibble);
      }
    }
  }

  const Case& case_;
  const Form& form_;
  Mixture mixture_;
  State state_;
};

}  // namespace

wgmma::State build_state(const Case& c) { return Builder(c).build(); }

std::uint64_t hash_inputs(const wgmma::State& state) {
  std::uint64_t hash = 0x74637176;
  const auto add = [&hash](std::uint64_t word) { hash = mix(hash ^ word); };
  const SharedMemory& shared = state.shared;
  for (std::uint32_t i = 0; i + 8 <= shared.size(); i += 8)
    add(shared.load<std::uint64_t>(shared.base() + i));
  for (const std::uint32_t word : state.registers.d) add(word);
  for (const std::uint32_t word : state.registers.a) add(word);
  for (const std::uint32_t word : state.registers.metadata) add(word);
  return hash;
}

std::vector<wgmma::Element> kept_elements(const Case& c) {
  const int n = c.instruction.form.n;
  std::vector<wgmma::Element> elements;
  if (c.keep == Keep::Trap) return elements;
  if (c.keep == Keep::Diagonal) {
    for (int i = 0; i < std::max(m, n); ++i) elements.push_back({i % m, i % n});
    return elements;
  }
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) elements.push_back({row, col});
  return elements;
}

std::vector<std::uint32_t> kept_outputs(const Case& c, const wgmma::State& state) {
  const Form& form = c.instruction.form;
  const int count = accumulator_registers(form.d, form.n);
  std::vector<std::uint32_t> outputs;
  for (const Element e : kept_elements(c)) {
    const Slot s = accumulator_slot(form.d, e);
    const std::uint32_t word = state.registers.d[at(s.thread, count, s.reg)];
    outputs.push_back(register_part(form.d, word, s.part));
  }
  return outputs;
}

}  // namespace tcq::oracle
