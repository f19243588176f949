// Executing one wgmma: for every legal form, operands are laid out in shared memory and registers
// as a kernel would, and the registers that come back are compared with tests/support/reference_dot.h on
// the logical matrices. Also: faults change nothing, and nothing outside the operands is read.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/tile_offset.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/sparse.h"
#include "sim/machine/wgmma.h"
#include "sim/num/inputs/mixture.h"
#include "tests/support/reference_dot.h"

namespace tcq::wgmma {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t memory_bytes = 68 * 1024;
constexpr std::uint32_t a_start = 2048;  // 16 KiB at most, and B 32 KiB
constexpr std::uint32_t b_start = 32768;

std::uint32_t u(int value) { return static_cast<std::uint32_t>(value); }
std::size_t at(int index) { return static_cast<std::size_t>(index); }

// One instruction on logical matrices.
struct Problem {
  Instruction in;
  Mixture mixture;
  std::vector<std::uint32_t> codes;  // [row][chunk], sparse only

  Problem(const Instruction& instruction, MixtureClass c, std::uint64_t seed)
      : in(instruction), mixture({in.form.d, in.form.a, in.form.b}, stored_k(in.form.a), c, seed) {
    if (!in.form.sparse) return;
    for (int row = 0; row < m; ++row)
      for (int chunk = 0; chunk < chunks_per_row(in.form.a); ++chunk)
        codes.push_back(mixture.metadata_code(row, chunk));
  }

  std::uint32_t a(int row, int k) const { return mixture.a(row, k); }
  // The mixture gives both tf32 of a chunk one word: no code could be told from another.
  std::uint32_t b(int col, int k) const {
    if (!in.form.sparse) return mixture.b(col, k);
    return mixture.sparse_b(in.form.a == Type::tf32 ? 2 * col + k % 2 : col, k);
  }
  std::uint32_t c(Element e) const { return mixture.c(e.row, e.col); }
  std::uint32_t code(int row, int chunk) const {
    return codes[at(row * chunks_per_row(in.form.a) + chunk)];
  }

  // What B contributes to stored element i of a row. A tf32 code picks two 16-bit halves.
  std::uint32_t partner(Element e, int i) const {
    const Type type = in.form.a;
    if (!in.form.sparse) return b(e.col, i);
    if (type == Type::tf32) {
      const std::uint32_t picked = code(e.row, i);
      const auto half = [&](std::uint32_t position) {
        const std::uint32_t word = b(e.col, 2 * i + (position >= 2 ? 1 : 0));
        return position % 2 != 0 ? word >> 16 : word & 0xffff;
      };
      return half(picked & 3) | half(picked >> 2) << 16;
    }
    const std::uint32_t picked = code(e.row, i / 2);
    return b(e.col, 4 * (i / 2) + static_cast<int>(i % 2 == 0 ? picked & 3 : picked >> 2));
  }

  std::uint32_t expected(Element e) const {
    const Form& f = in.form;
    Words row, col;
    for (int i = 0; i < stored_k(f.a); ++i) {
      row.push_back(a(e.row, i));
      col.push_back(partner(e, i));
    }
    return reference::dot(reference::spec(name(f.d), name(f.a), name(f.b)), row, col, c(e),
                          {.accumulate = in.accumulate,
                           .negate_a = f.negate_a,
                           .negate_b = f.negate_b,
                           .satfinite = f.satfinite});
  }
};

void store_element(SharedMemory& shared, Type type, std::uint32_t address, int k,
                   std::uint32_t word) {
  switch (bits(type)) {
    case 32: return shared.store<std::uint32_t>(address, word);
    case 16: return shared.store<std::uint16_t>(address, static_cast<std::uint16_t>(word));
    case 8: return shared.store<std::uint8_t>(address, static_cast<std::uint8_t>(word));
    default: {
      const int bit = k % 8;
      const std::uint32_t old = shared.load<std::uint8_t>(address);
      const std::uint32_t next = (old & ~(1u << bit)) | word << bit;
      return shared.store<std::uint8_t>(address, static_cast<std::uint8_t>(next));
    }
  }
}

// Lays an operand of `mn` x `k` elements out as one block along K of a wider compact tile with a
// random swizzle, and returns its descriptor. `element(mn, k)` gives its words.
template <class Word>
std::uint64_t lay_out(SharedMemory& shared, std::uint32_t start, Type type, Major major, int mn,
                      int k, std::mt19937& random, Word element) {
  const Swizzle swizzle = static_cast<Swizzle>(random() % 4);
  const std::uint32_t pitch = pitch_bytes(swizzle);
  const AtomOrder order = random() % 2 == 0 ? AtomOrder::MnFirst : AtomOrder::KFirst;
  const auto bytes = [&](int elements) { return u(elements * bits(type) / 8); };
  const auto whole = [=](std::uint32_t n) { return (n + pitch - 1) / pitch * pitch; };
  const std::uint32_t k_bytes = bytes(k);
  const bool k_major = major == Major::K;
  const std::uint32_t blocks = 1 + random() % 2;
  const Tile tile = {major, pitch, order, whole(k_major ? blocks * k_bytes : bytes(mn)),
                     k_major ? u(mn) : blocks * u(k)};
  const std::uint32_t first = (blocks - 1) * (k_major ? k_bytes : u(k));
  const SwizzleFunction function = swizzle_function(swizzle);
  for (int i = 0; i < mn; ++i) {
    for (int j = 0; j < k; ++j) {
      const OperandByte place = k_major ? OperandByte{u(i), first + u(j * bits(type) / 8)}
                                        : OperandByte{bytes(i), first + u(j)};
      const std::uint32_t address = function.apply(start + tile_offset_bytes(tile, place));
      store_element(shared, type, address, j, element(i, j));
    }
  }
  const CanonicalLayout layout = canonical_layout(tile, k_bytes);
  const MatrixDescriptor d{start, layout.lbo_bytes, layout.sbo_bytes, 0, swizzle};
  const std::uint64_t ignored =
      (std::uint64_t{random()} << 32 | random()) & MatrixDescriptorFormat::unused;
  return advance(encode(d), k_advance_bytes(tile, first)) | ignored;
}

// Everything the instruction may read, and random bits everywhere else.
State build(Problem& p, std::mt19937& random) {
  const Form& f = p.in.form;
  State state{SharedMemory(shared_base_sm90, memory_bytes), {}};
  for (std::uint32_t i = 0; i < memory_bytes; i += 4)
    state.shared.store(shared_base_sm90 + i, static_cast<std::uint32_t>(random()));
  for (std::uint32_t& word : state.registers.a) word = static_cast<std::uint32_t>(random());
  for (std::uint32_t& word : state.registers.metadata) word = static_cast<std::uint32_t>(random());
  state.registers.d.resize(at(threads_per_warpgroup * accumulator_registers(f.d, f.n)));

  const auto a = [&](int row, int k) { return p.a(row, k); };
  const auto b = [&](int col, int k) { return p.b(col, k); };
  if (f.a_place == Place::Smem) {
    p.in.desc_a = lay_out(state.shared, a_start, f.a, f.major_a, m, stored_k(f.a), random, a);
  } else {
    state.registers.a.fill(0);
    for (int row = 0; row < m; ++row)
      for (int k = 0; k < stored_k(f.a); ++k) {
        const Slot s = a_slot(f.a, {row, k});
        state.registers.a[at(s.thread * a_registers + s.reg)] |= a(row, k)
                                                                 << (s.part * bits(f.a) % 32);
      }
  }
  p.in.desc_b = lay_out(state.shared, b_start, f.b, f.major_b, f.n, k(f), random, b);

  const int registers = accumulator_registers(f.d, f.n);
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < f.n; ++col) {
      const Slot s = accumulator_slot(f.d, {row, col});
      state.registers.d[at(s.thread * registers + s.reg)] |= p.c({row, col})
                                                             << (s.part * bits(f.d) % 32);
    }
  if (!f.sparse) return state;
  for (int row = 0; row < m; ++row)
    for (int chunk = 0; chunk < chunks_per_row(f.a); ++chunk) {
      const MetadataSlot s = metadata_slot(f.a, p.in.selector, {row, chunk});
      std::uint32_t& word = state.registers.metadata[at(s.thread)];
      word = (word & ~(15u << (4 * s.nibble))) | p.code(row, chunk) << (4 * s.nibble);
    }
  return state;
}

std::uint32_t result_at(const State& state, const Form& f, Element e) {
  const Slot s = accumulator_slot(f.d, e);
  const std::uint32_t word =
      state.registers.d[at(s.thread * accumulator_registers(f.d, f.n) + s.reg)];
  return bits(f.d) == 32 ? word : word >> (16 * s.part) & 0xffff;
}

std::string text_of(const Instruction& in) {
  const Form& f = in.form;
  return std::string(name(f.d)) + "." + name(f.a) + "." + name(f.b) + " n" + std::to_string(f.n) +
         (f.sparse ? " sparse, selector " + std::to_string(in.selector) : "") +
         (f.a_place == Place::Registers ? ", A in registers" : "") +
         (f.major_a == Major::MN ? ", A MN-major" : "") +
         (f.major_b == Major::MN ? ", B MN-major" : "");
}

// Executes and compares `samples` outputs, or all of them if that is fewer.
void expect_results(Problem p, std::mt19937& random, int samples) {
  const Form& f = p.in.form;
  State state = build(p, random);
  const State before = state;
  ASSERT_EQ(execute(state, p.in), Fault::None) << text_of(p.in);
  ASSERT_EQ(state.shared, before.shared);
  ASSERT_EQ(state.registers.a, before.registers.a);
  ASSERT_EQ(state.registers.metadata, before.registers.metadata);
  const int outputs = m * f.n;
  const bool all = samples >= outputs;
  for (int i = 0; i < (all ? outputs : samples); ++i) {
    const int index = all ? i : static_cast<int>(random() % u(outputs));
    const Element e{index / f.n, index % f.n};
    ASSERT_EQ(result_at(state, f, e), p.expected(e))
        << text_of(p.in) << ": D[" << e.row << "][" << e.col << "]";
  }
}

std::vector<Form> forms_of(const Form& base) {
  std::vector<Form> forms;
  Form f = base;
  for (const Place place : {Place::Smem, Place::Registers})
    for (const Major major_a : {Major::K, Major::MN})
      for (const Major major_b : {Major::K, Major::MN}) {
        f.a_place = place;
        f.major_a = major_a;
        f.major_b = major_b;
        if (check(f) == Fault::None) forms.push_back(f);
      }
  return forms;
}

Instruction random_modifiers(Form f, std::mt19937& random) {
  f.negate_a = has_negate(f.a) && random() % 2 == 0;
  f.negate_b = has_negate(f.a) && random() % 2 == 0;
  f.satfinite = has_satfinite(f.a) && random() % 2 == 0;
  Instruction in{f};
  in.accumulate = random() % 4 != 0;
  in.selector = f.sparse ? static_cast<int>(random() % u(max_selector(f.a) + 1)) : 0;
  return in;
}

MixtureClass random_class(std::mt19937& random) {
  return random() % 2 == 0 ? MixtureClass::Normal : mixture_class(random());
}

template <class Visit>
void for_each_type_tuple(Visit visit) {
  for (int d = 0; d < type_count; ++d)
    for (int a = 0; a < type_count; ++a)
      for (int b = 0; b < type_count; ++b)
        for (const bool sparse : {false, true}) {
          const Form f{static_cast<Type>(d), static_cast<Type>(a), static_cast<Type>(b), 8, sparse};
          if (check(f) == Fault::None && !testing::Test::HasFatalFailure()) visit(f);
        }
}

// --- results -------------------------------------------------------------------------------------

TEST(Wgmma_Execute, EveryOutputOfEveryTypePlaceAndMajorIsTheSumOfItsRowAndColumn) {
  std::mt19937 random(1);
  for_each_type_tuple([&](const Form& base) {
    for (const Form& f : forms_of(base)) {
      const Instruction in = random_modifiers(f, random);
      expect_results(Problem(in, MixtureClass::Normal, random()), random, m * f.n);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(Wgmma_Execute, EveryLegalFormAtEveryN) {
  std::mt19937 random(2);
  int executed = 0;
  for_each_type_tuple([&](Form base) {
    for (base.n = 8; base.n <= 256; base.n += 8) {
      for (const Form& f : forms_of(base)) {
        const Instruction in = random_modifiers(f, random);
        expect_results(Problem(in, random_class(random), random()), random, 40);
        if (testing::Test::HasFatalFailure()) return;
        ++executed;
      }
    }
  });
  // 948 dense and 912 sparse variants with K-major operands, plus the MN-major ones of the three
  // 16-bit tuples: 4 of them more per N, dense and sparse.
  EXPECT_EQ(executed, 948 + 912 + 2 * 3 * 32 * 4);
}

TEST(Wgmma_Execute, BothSelectorsAndOnlyTheSelectedMetadataIsRead) {
  std::mt19937 random(3);
  for (const Type type : {Type::f16, Type::bf16, Type::tf32}) {
    for (int selector = 0; selector < 2; ++selector) {
      Instruction in{{Type::f32, type, type, 16, true}};
      in.selector = selector;
      Problem p(in, MixtureClass::Normal, random());
      State one = build(p, random);
      State other = one;
      for (int thread = 0; thread < threads_per_warpgroup; ++thread)
        if (!metadata_is_read(type, selector, thread)) other.registers.metadata[at(thread)] = ~0u;
      ASSERT_EQ(execute(one, p.in), Fault::None);
      ASSERT_EQ(execute(other, p.in), Fault::None);
      EXPECT_EQ(one.registers.d, other.registers.d) << text_of(in);
      expect_results(p, random, 200);
    }
  }
}

TEST(Wgmma_Execute, AllSixteenMetadataCodesDoWhatTheChipDoes) {
  std::mt19937 random(4);
  for (const Type type : {Type::f16, Type::tf32, Type::e4m3, Type::s8}) {
    Instruction in{{type == Type::s8 ? Type::s32 : Type::f32, type, type, 8, true}};
    Problem p(in, MixtureClass::Normal, random());
    for (std::uint32_t& code : p.codes) code = random() % 16;
    expect_results(p, random, 512);
  }
}

// Starts that no atom is aligned to, every base offset: element by element through the address law.
TEST(Wgmma_Execute, UnalignedStartsAndBaseOffsets) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    const Instruction in = random_modifiers({Type::f32, Type::f16, Type::f16, 16}, random);
    Problem p(in, MixtureClass::Normal, random());
    State state = build(p, random);
    const auto swizzle = static_cast<Swizzle>(i % 4);
    const std::uint32_t pitch = pitch_bytes(swizzle);
    // Groups of 8 rows that cannot overlap: one atom each, or two columns of 128 bytes.
    const std::uint32_t group = swizzle == Swizzle::None ? 256 : 8 * pitch;
    const MatrixDescriptor a{a_start + 16 * u(random() % 64), 128, group, u(random() % 8), swizzle};
    const MatrixDescriptor b{b_start + 16 * u(random() % 64), 128, group, u(random() % 8), swizzle};
    const auto fill = [&](const MatrixDescriptor& d, int mn, auto word) {
      for (int row = 0; row < mn; ++row)
        for (int k = 0; k < 16; ++k)
          state.shared.store<std::uint16_t>(element_address(d, Major::K, Type::f16, {u(row), u(k)}),
                                            static_cast<std::uint16_t>(word(row, k)));
    };
    fill(a, m, [&](int row, int k) { return p.a(row, k); });
    fill(b, 16, [&](int col, int k) { return p.b(col, k); });
    p.in.desc_a = encode(a);
    p.in.desc_b = encode(b);
    ASSERT_EQ(execute(state, p.in), Fault::None);
    for (int sample = 0; sample < 100; ++sample) {
      const Element e{static_cast<int>(random() % 64), static_cast<int>(random() % 16)};
      ASSERT_EQ(result_at(state, p.in.form, e), p.expected(e)) << "case " << i;
    }
  }
}

TEST(Wgmma_Execute, IsAPureFunctionOfStateAndInstruction) {
  std::mt19937 random(6);
  Problem p({{Type::f16, Type::e5m2, Type::e4m3, 64}}, MixtureClass::Cluster, 9);
  State one = build(p, random);
  State two = one;
  EXPECT_EQ(execute(one, p.in), Fault::None);
  EXPECT_EQ(execute(two, p.in), Fault::None);
  EXPECT_EQ(one, two);
}

// --- faults --------------------------------------------------------------------------------------

void expect_fault(State state, const Instruction& in, Fault fault) {
  const State before = state;
  EXPECT_EQ(execute(state, in), fault) << text_of(in);
  EXPECT_EQ(state, before) << "a fault changed the state: " << info(fault).name;
}

TEST(Wgmma_Execute, FaultsLeaveTheStateUnchanged) {
  std::mt19937 random(7);
  Problem dense({{Type::f32, Type::bf16, Type::bf16, 16}}, MixtureClass::Normal, 1);
  const State state = build(dense, random);
  Instruction in = dense.in;
  in.form.n = 20;
  expect_fault(state, in, Fault::ShapeN8);
  in = dense.in;
  in.form.b = Type::f16;
  expect_fault(state, in, Fault::TypesDoNotExist);
  in = dense.in;
  in.form.satfinite = true;
  expect_fault(state, in, Fault::SatfiniteNeedsInt8);

  for (const Type type : {Type::bf16, Type::tf32, Type::e4m3}) {
    Problem sparse({{Type::f32, type, type, 16, true}}, MixtureClass::Normal, 2);
    const State sparse_state = build(sparse, random);
    for (const int selector : {-1, max_selector(type) + 1, 7}) {
      in = sparse.in;
      in.selector = selector;
      expect_fault(sparse_state, in, Fault::SelectorOutOfRange);
    }
  }
}

TEST(Wgmma_Execute, DescriptorsOutsideSharedMemoryFault) {
  std::mt19937 random(8);
  Problem p({{Type::f32, Type::bf16, Type::bf16, 16}}, MixtureClass::Normal, 3);
  const State state = build(p, random);
  // B: 16 columns, 128-byte columns of K, groups of 8 at +256: 512 bytes from its start.
  const MatrixDescriptor fits{shared_base_sm90 + memory_bytes - 512, 128, 256, 0, Swizzle::None};
  const auto with_b = [&](std::uint32_t start, std::uint32_t sbo) {
    Instruction in = p.in;
    MatrixDescriptor d = fits;
    d.start_bytes = start;
    d.sbo_bytes = sbo;
    in.desc_b = encode(d);
    return in;
  };
  State last = state;
  EXPECT_EQ(execute(last, with_b(fits.start_bytes, 256)), Fault::None);
  State first = state;
  EXPECT_EQ(execute(first, with_b(shared_base_sm90, 256)), Fault::None);
  expect_fault(state, with_b(fits.start_bytes + 16, 256), Fault::SharedMemoryOutOfRange);
  expect_fault(state, with_b(shared_base_sm90 - 16, 256), Fault::SharedMemoryOutOfRange);
  expect_fault(state, with_b(0, 256), Fault::SharedMemoryOutOfRange);
  expect_fault(state, with_b(b_start, 0x3fff0), Fault::SharedMemoryOutOfRange);
  // Sums of addresses do not wrap at 2^18.
  expect_fault(state, with_b(0x3fff0, 0x2000), Fault::SharedMemoryOutOfRange);

  Instruction in = p.in;
  in.desc_a = encode(MatrixDescriptor{0, 128, 256, 0, Swizzle::None});
  expect_fault(state, in, Fault::SharedMemoryOutOfRange);
  in.form.a_place = Place::Registers;
  State registers = state;
  EXPECT_EQ(execute(registers, in), Fault::None) << "desc_a was read with A in registers";
}

// --- shared memory -------------------------------------------------------------------------------

TEST(SharedMemory, ContainsExactlyItsBytes) {
  const SharedMemory shared(1024, 100);
  EXPECT_TRUE(shared.contains(1024, 100));
  EXPECT_TRUE(shared.contains(1123, 1));
  EXPECT_TRUE(shared.contains(1124, 0));
  EXPECT_FALSE(shared.contains(1124, 1));
  EXPECT_FALSE(shared.contains(1023, 1));
  EXPECT_FALSE(shared.contains(1024, 101));
  EXPECT_FALSE(shared.contains(0xfffffff0, 1));
  EXPECT_FALSE(SharedMemory().contains(0, 1));
}

TEST(SharedMemory, IsLittleEndian) {
  SharedMemory shared(16, 8);
  shared.store<std::uint32_t>(18, 0x04030201);
  EXPECT_EQ(shared.load<std::uint8_t>(18), 1);
  EXPECT_EQ(shared.load<std::uint16_t>(20), 0x0403);
  EXPECT_EQ(shared.data()[2], 1);
}

}  // namespace
}  // namespace tcq::wgmma
