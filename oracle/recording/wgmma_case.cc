#include "oracle/recording/wgmma_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "oracle/ptx/mnemonic.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/place.h"
#include "sim/isa/wgmma/sparse.h"

namespace tcq::oracle {
namespace {

using namespace tcq::wgmma;  // NOLINT: this file speaks of nothing else

std::size_t at(int thread, int count, int reg) {
  return static_cast<std::size_t>(thread * count + reg);
}

class Builder {
 public:
  Builder(const WgmmaCase& e, const Inputs& inputs)
      : case_(e),
        inputs_(inputs),
        form_(e.instruction.form),
        mixture_({form_.d, form_.a, form_.b}, stored_k(form_.a), e.mixture, inputs.seed) {}

  State build() {
    state_.shared = SharedMemory(shared_base_sm90, inputs_.shared_bytes);
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
    constexpr std::uint64_t stream_words = std::uint64_t{1} << 40;
    const std::uint64_t key = static_cast<std::uint64_t>(stream) * stream_words + index;
    return static_cast<std::uint32_t>(mix(mix(inputs_.seed) ^ key));
  }

  void fill_random() {
    for (std::uint32_t i = 0; i < inputs_.shared_bytes; i += 4)
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
        shared.store(address, static_cast<std::uint8_t>(old | element << bit_in_byte(type, k)));
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
        const int low = metadata_low_bit(s.nibble);
        word = (word & ~(metadata_code_mask << low)) | code << low;
      }
    }
  }

  const WgmmaCase& case_;
  const Inputs& inputs_;
  const Form& form_;
  Mixture mixture_;
  State state_;
};

void form_fields(Fields& io, Form& f) {
  for (Type* type : {&f.d, &f.a, &f.b}) io.below(*type, type_count, "type");
  io.number(f.n, 2);
  io.flag(f.sparse);
  io.flag(f.a_place);
  io.flag(f.major_a);
  io.flag(f.major_b);
  io.flag(f.negate_a);
  io.flag(f.negate_b);
  io.flag(f.satfinite);
  io.demand(check(f) == Fault::None, "recording holds an illegal instruction");
}

// Of outputs that fit in a file.
constexpr std::size_t max_outputs = 64 * 256;
constexpr std::uint32_t max_shared_bytes = 256 * 1024;

// A trap has no outputs to select; its files say so in place of the selection.
void keep_field(Fields& io, Keep& keep, Outcome& outcome) {
  constexpr std::uint8_t trap_code = 2;
  std::uint8_t code = outcome == Outcome::Trap ? trap_code : static_cast<std::uint8_t>(keep);
  io.below(code, trap_code + 1, "selection of outputs");
  if (!io.reads()) return;
  outcome = code == trap_code ? Outcome::Trap : Outcome::Completed;
  if (code != trap_code) keep = static_cast<Keep>(code);
}

void output_fields(Fields& io, const WgmmaCase& e, Returned& answer) {
  const std::size_t width = output_width(e);
  std::size_t count = answer.output.size() / width;
  io.below(count, 4, max_outputs + 1, "number of outputs");
  io.demand(count == (answer.outcome == Outcome::Trap ? 0 : kept_elements(e).size()),
            "recording holds an impossible number of outputs");
  answer.output.resize(count * width);
  io.numbers(answer.output, 1);
}

}  // namespace

void fields(Fields& io, WgmmaCase& e, Inputs& inputs, Returned& answer) {
  wgmma::Instruction& in = e.instruction;
  form_fields(io, in.form);
  io.below(in.selector, max_selector(in.form.a) + 1, "selector");
  io.flag(in.accumulate);
  io.flag(e.content);
  io.below(e.mixture, mixture_class_count, "mixture class");
  keep_field(io, e.keep, answer.outcome);
  io.below(inputs.shared_bytes, 4, max_shared_bytes + 1, "size");
  io.demand(inputs.shared_bytes % 8 == 0, "recording holds an impossible size");
  for (std::uint64_t* word : {&in.desc_a, &in.desc_b, &inputs.seed, &answer.input_hash})
    io.number(*word, 8);
  output_fields(io, e, answer);
}

wgmma::State state(const WgmmaCase& e, const Inputs& inputs) { return Builder(e, inputs).build(); }

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

// A descriptor that reaches out of the CTA's memory traps; no other fault is ever drawn.
Prediction predict(const WgmmaCase& e, const Inputs&, wgmma::State before) {
  const Fault fault = execute(before, e.instruction);
  if (fault == Fault::SharedMemoryOutOfRange) return trap(fault);
  if (fault != Fault::None) return {fault, {}, Outcome::NotRun};
  return {fault, kept_outputs(e, before)};
}

std::string describe(const WgmmaCase& e, const Inputs&) {
  const wgmma::Instruction& in = e.instruction;
  std::string text = mnemonic_with_keys({in.form, in.selector, in.accumulate});
  if (in.form.a_place == Place::Smem) text += fmt::format(" desc_a={:#018x}", in.desc_a);
  return text + fmt::format(" desc_b={:#018x}", in.desc_b);
}

std::string place(const WgmmaCase& e, const Inputs&, std::size_t at) {
  const wgmma::Element at_d = kept_elements(e)[at / output_width(e)];
  const Slot s = accumulator_slot(e.instruction.form.d, at_d);
  return fmt::format("D[{}][{}] (thread {}, register {}, part {})", at_d.row, at_d.col, s.thread,
                     s.reg, s.part);
}

Properties properties(const WgmmaCase& e, const Inputs&) {
  const Form& f = e.instruction.form;
  return {
      fmt::format("types {} {} {}", name(f.d), name(f.a), name(f.b)),
      fmt::format("n {}", f.n),
      f.sparse ? fmt::format("sparse, selector {}", e.instruction.selector) : "dense",
      f.a_place == Place::Smem ? "A in shared memory" : "A in registers",
      e.content == Content::Mixture ? fmt::format("mixture {}", name(e.mixture)) : "random image",
      e.instruction.accumulate ? "accumulates" : "scale-d 0"};
}

std::size_t output_width(const WgmmaCase& e) {
  return static_cast<std::size_t>(bits(e.instruction.form.d)) / 8;
}

std::size_t output_bytes(const WgmmaCase& e, const Inputs&) {
  return kept_elements(e).size() * output_width(e);
}

std::vector<wgmma::Element> kept_elements(const WgmmaCase& e) {
  const int n = e.instruction.form.n;
  std::vector<wgmma::Element> elements;
  if (e.keep == Keep::Diagonal) {
    for (int i = 0; i < std::max(m, n); ++i) elements.push_back({i % m, i % n});
    return elements;
  }
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) elements.push_back({row, col});
  return elements;
}

std::vector<std::uint8_t> kept_outputs(const WgmmaCase& e, const wgmma::State& state) {
  const Form& form = e.instruction.form;
  const int count = accumulator_registers(form.d, form.n);
  const std::size_t width = output_width(e);
  std::vector<std::uint8_t> outputs;
  for (const wgmma::Element element : kept_elements(e)) {
    const Slot s = accumulator_slot(form.d, element);
    const std::uint32_t word =
        register_part(form.d, state.registers.d[at(s.thread, count, s.reg)], s.part);
    outputs.resize(outputs.size() + width);
    std::memcpy(outputs.data() + outputs.size() - width, &word, width);
  }
  return outputs;
}

}  // namespace tcq::oracle
