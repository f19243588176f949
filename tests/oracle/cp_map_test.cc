// The maps of tcgen05.cp against what executes it, byte by byte: the machine of sim/async, and the
// predictions of recordings, which decompress as well. And joined with the maps of scale factors: a
// factor that one cp moves arrives where the mma looks for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "oracle/diagnosis/diagnosis.h"
#include "oracle/map/asked.h"
#include "oracle/ptx/tcgen05_form.h"
#include "oracle/recording/tcgen05_predict.h"
#include "sim/async/explore.h"
#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/tmem/scale_layout.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

using tcgen05::CpForm;
using tcgen05::CpSource;
using tcgen05::SmemDescriptor;

using Bytes = std::vector<std::uint8_t>;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

Map map_of_words(const std::string& text) {
  const std::vector<std::string> words = split(text);
  Question question{"table", {}, {}};
  question.words.assign(words.begin(), words.end());
  return read_map(question, Ask::Whole).map;
}

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// ---- Every form ---------------------------------------------------------------------------------

constexpr int first_column = 8;
constexpr std::uint32_t source_bytes = 16 * 1024;

struct Copy {
  CpForm form;
  SmemDescriptor desc;

  Map map(const std::string& matrix) const {
    const std::string place = matrix == "D" ? fmt::format("address={}", first_column)
                                            : fmt::format("desc={:#x}", encode(desc));
    return map_of_words(fmt::format("{} {} {}", opcode(form).chars, matrix, place));
  }
};

// Rows next to each other, in each mode that a source may have.
std::vector<Copy> copies_from(std::uint32_t start, const CpForm& form) {
  std::vector<Copy> copies = {{form, {start, 2048, 128, 0, false, Swizzle::None}}};
  for (const Swizzle swizzle : {Swizzle::B32, Swizzle::B64, Swizzle::B128})
    copies.push_back({form, {start, 16, 8 * pitch_bytes(swizzle), 0, false, swizzle}});
  return copies;
}

// ---- On the machine -----------------------------------------------------------------------------

constexpr int columns = 32;
constexpr int lanes = 128;
constexpr int address_register = 40;

// Tensor Memory is filled, each CTA's source is loaded, one cp is executed, Tensor Memory is read.
class OneCp {
 public:
  explicit OneCp(int group)
      : group_(group),
        p_({.cluster = group, .threads = lanes}),
        full_(p_.mbarrier("full")),
        ready_(p_.mbarrier("ready")),
        done_(p_.mbarrier("done")),
        slot_(p_.shared("slot", 4)),
        source_(p_.shared("source", source_bytes, 1024)),
        out_(p_.global(Bytes(group * cells))) {}

  std::uint32_t source() const { return source_; }

  // The bytes of Tensor Memory, lane by lane, CTA by CTA.
  Bytes run(const Copy& copy, const Bytes& shared, const Bytes& before) {
    start();
    for (int cta = 0; cta < group_; ++cta) fill(cta, shared, before);
    issue(copy);
    for (int cta = 0; cta < group_; ++cta) read(cta);
    if (group_ == 2) p_.warps("all", 0, 4).cluster_arrive().cluster_wait();
    p_.warps("last", 0, 1).tcgen05_dealloc({address_register, 0, 0}, columns, group_);
    const machine::Report report = explore(p_, {.max_executions = 2, .random_executions = 1});
    EXPECT_EQ(report.outcome, machine::Outcome::Right) << report_text(p_, report);
    const auto first = report.global.begin() + static_cast<std::ptrdiff_t>(out_);
    return {first, first + static_cast<std::ptrdiff_t>(index(group_) * cells)};
  }

  static constexpr std::size_t cells = 4 * lanes * columns;

 private:
  machine::TmemOperand at(int warp) const { return {address_register, 32 * warp, 0}; }
  static tcgen05::Fragment all_columns() { return {tcgen05::LdShape::S32x32b, columns}; }
  void meet(machine::Role& role) const {
    group_ == 2 ? role.cluster_arrive().cluster_wait() : role.barrier_sync();
  }

  void start() {
    machine::Role all = p_.warps("start", 0, 4);
    all.elect().mbarrier_init(full_, 1).mbarrier_init(done_, 1);
    all.elect().mbarrier_init(ready_, static_cast<std::uint32_t>(group_));
    all.elect().fence_mbarrier_init();
    meet(all);
    all.in_warps(1).tcgen05_alloc(slot_, columns, group_);
    meet(all);
    all.barrier_sync().load_shared({slot_, 0}, address_register);
  }

  void fill(int cta, const Bytes& shared, const Bytes& before) {
    const auto part = [cta](const Bytes& all, std::size_t size) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(index(cta) * size);
      return Bytes(first, first + static_cast<std::ptrdiff_t>(size));
    };
    machine::Role all = p_.warps("fill", 0, 4, cta);
    all.load_global(p_.global(part(before, cells)), 4 * columns, {0, columns});
    for (int warp = 0; warp < 4; ++warp)
      all.in_warps(1u << warp).tcgen05_st(all_columns(), at(warp), 0);
    all.tcgen05_wait_st().tcgen05_fence_before();
    machine::Role one = p_.warps("load", 0, 1, cta).elect();
    one.mbarrier_arrive_expect_tx(full_, source_bytes);
    one.bulk_load(p_.global(part(shared, source_bytes)), source_, source_bytes, full_);
    one.mbarrier_try_wait(full_, 0).mbarrier_arrive(ready_.in(0), machine::Scope::Cluster);
  }

  void issue(const Copy& copy) {
    machine::Role all = p_.warps("between", 0, 4);
    meet(all);
    all.tcgen05_fence_after();
    machine::Role one = p_.warps("issue", 0, 1, 0).elect();
    one.mbarrier_try_wait(ready_, 0, machine::Scope::Cluster);
    one.tcgen05_cp(cp_shape(copy.form), {address_register, 0, first_column}, cp_operand(copy.desc),
                   group_);
    one.tcgen05_commit(done_, group_, static_cast<std::uint16_t>(group_ == 2 ? 3 : 0));
  }

  void read(int cta) {
    machine::Role all = p_.warps("read", 0, 4, cta);
    all.mbarrier_try_wait(done_, 0).tcgen05_fence_after();
    for (int warp = 0; warp < 4; ++warp)
      all.in_warps(1u << warp).tcgen05_ld(all_columns(), at(warp), 0);
    all.tcgen05_wait_ld().tcgen05_fence_before();
    all.store_global(out_ + index(cta) * cells, 4 * columns, {0, columns}).barrier_sync();
  }

  int group_;
  machine::Program p_;
  machine::Address full_, ready_, done_;
  std::uint32_t slot_, source_;
  std::uint64_t out_;
};

// What the maps say of `before`: every byte of S at the places of its element in D.
Bytes moved_by_the_maps(const Copy& copy, std::uint32_t source, const Bytes& shared, Bytes cells) {
  const Map d = copy.map("D");
  const Map s = copy.map("S");
  std::set<std::size_t> written;
  for_each(d.element, false, [&](const Coords& e) {
    const std::size_t from = index(s.places(e)[0][1]) - source;
    for (const Coords& place : d.places(e))
      for (int cta = 0; cta < copy.form.cta_group; ++cta) {
        if (place[0] != both_ctas && place[0] != cta) continue;
        const std::size_t to =
            index(cta) * OneCp::cells + index(4 * (columns * place[1] + place[2]) + place[3]);
        EXPECT_TRUE(written.insert(to).second) << place_text(d, place);
        cells[to] = shared[index(cta) * source_bytes + from];
      }
  });
  return cells;
}

TEST(Cp_Maps, SayOfEveryByteWhatTheMachineDoes) {
  for (int group = 1; group <= 2; ++group)
    for (int shape = 0; shape < tcgen05::cp_shape_count; ++shape)
      for (std::size_t mode = 0; mode < 4; ++mode) {
        OneCp program(group);
        const CpForm form = tcgen05::cp_form(static_cast<tcgen05::CpShape>(shape), group);
        const Copy copy = copies_from(program.source(), form)[mode];
        const Bytes shared = random_bytes(index(group) * source_bytes, 1);
        const Bytes before = random_bytes(index(group) * OneCp::cells, 2);
        const Bytes after = program.run(copy, shared, before);
        ASSERT_TRUE(after == moved_by_the_maps(copy, program.source(), shared, before))
            << opcode(form).chars << ", swizzle " << name(copy.desc.swizzle);
      }
}

// ---- With decompression -------------------------------------------------------------------------

std::uint32_t bits_at(const Bytes& bytes, std::size_t bit, int count) {
  std::uint32_t word = 0;
  for (int i = 0; i < count; ++i, ++bit)
    word |= (std::uint32_t{bytes[bit / 8]} >> (bit % 8) & 1u) << i;
  return word;
}

Tcgen05State random_state(int ctas) {
  Tcgen05State state;
  std::mt19937 random(3);
  for (int cta = 0; cta < ctas; ++cta) {
    state.shared.push_back(random_bytes(tcgen05_shared_bytes, 4 + static_cast<unsigned>(cta)));
    state.tmem.emplace_back(tmem_words);
    for (std::uint32_t& word : state.tmem.back()) word = static_cast<std::uint32_t>(random());
  }
  return state;
}

// Output and known bits as the maps have them: of a byte that an element is widened to, its payload.
Tcgen05Prediction predicted_by_the_maps(const Copy& copy, const Tcgen05State& before) {
  const Map d = copy.map("D");
  const Map s = copy.map("S");
  Tcgen05Prediction p = unchanged(before);
  for_each(d.element, false, [&](const Coords& e) {
    const Coords from = s.places(e)[0];
    const std::size_t bit = 8 * (index(from[1]) - tcgen05_shared_base) + index(from[2]);
    for (const Coords& place : d.places(e))
      for (int cta = 0; cta < copy.form.cta_group; ++cta) {
        const std::size_t word =
            index(cta) * tmem_words + index(tcgen05::tmem_columns * place[1] + place[2]);
        const int low = value(d.place[3], place[3]);
        const std::uint32_t payload = ((1u << d.bits) - 1) << low;
        const std::uint32_t byte = 0xffu << (8 * place[3]);
        p.output[word] = (p.output[word] & ~byte) | bits_at(before.shared[index(cta)], bit, d.bits)
                                                        << low;
        p.known[word] = (p.known[word] & ~byte) | payload;
      }
  });
  return p;
}

TEST(Cp_Maps, SayOfEveryBitWhatRecordingsPredict) {
  const Tcgen05State both = random_state(2);
  Tcgen05State one = both;
  one.shared.resize(1);
  one.tmem.resize(1);
  int forms = 0;
  for (const Tcgen05Form& form : all_tcgen05_forms()) {
    if (!std::holds_alternative<CpForm>(form)) continue;
    const CpForm& any = std::get<CpForm>(form);
    ++forms;
    for (const Copy& copy : copies_from(tcgen05_shared_base + 1024, any)) {
      const Tcgen05State& before = any.cta_group == 2 ? both : one;
      Tcgen05Case c{any, 0, {}};
      c.operands.desc = encode(copy.desc);
      c.operands.taddr[0] = first_column;
      const Tcgen05Prediction said = predict_words(c, before);
      const Tcgen05Prediction mapped = predicted_by_the_maps(copy, before);
      ASSERT_EQ(said.unmodelled, "");
      ASSERT_TRUE(said.known == mapped.known) << opcode(any).chars;
      for (std::size_t i = 0; i < said.output.size(); ++i)
        ASSERT_EQ(said.output[i] & said.known[i], mapped.output[i] & said.known[i])
            << opcode(any).chars << ", word " << i;
    }
  }
  EXPECT_EQ(forms, 2 * tcgen05::cp_shape_count * tcgen05::cp_source_count);
}

// ---- Scale factors ------------------------------------------------------------------------------

using CellBit = std::array<int, 3>;  // lane, column, bit

CellBit cell_bit(const Map& map, const Coords& place) {
  return {place[1], place[2], value(map.place[3], place[3])};
}

// Where the bytes of a buffer arrive, counted from its beginning.
using Arrived = std::map<int, std::set<CellBit>>;

constexpr int buffer_start = 0x4000;

std::string atom_desc(int byte) {
  const SmemDescriptor desc{static_cast<std::uint32_t>(buffer_start + byte), 16, 128};
  return fmt::format(" desc={:#x}", encode(desc));
}

void copy_atom(Arrived& arrived, const std::string& cp, int byte, int column) {
  const Map s = map_of_words(cp + " S" + atom_desc(byte));
  const Map d = map_of_words(fmt::format("{} D address={}", cp, column));
  for_each(d.element, false, [&](const Coords& e) {
    for (const Coords& place : d.places(e))
      arrived[s.places(e)[0][1] - buffer_start].insert(cell_bit(d, place));
  });
}

// Rows of one CTA, by cp.32x128b.warpx4 for each atom of 128 x 4; .64x128b for two in a split buffer.
Arrived copied(const tcgen05::ScaleBuffer& buffer, int group, int factors) {
  Arrived arrived;
  const std::string cp = fmt::format("tcgen05.cp.cta_group::{}.", group);
  const int along_k = tcgen05::scale_atoms_along_k(factors);
  for (int i = 0; buffer.split && i < along_k; ++i)
    copy_atom(arrived, cp + "64x128b.warpx2::01_23", 1024 * i, buffer.column_step * i);
  for (int atom = 0; !buffer.split && 128 * atom < buffer.mn; ++atom)
    for (int i = 0; i < along_k; ++i)
      copy_atom(arrived, cp + "32x128b.warpx4", 512 * (atom * along_k + i),
                4 * atom + buffer.column_step * i);
  return arrived;
}

struct Scaled {
  std::string mnemonic;
  int group;
  bool sparse;

  bool has(int m) const { return m == 128 * group || (m == 128 && !sparse); }
};

std::vector<Scaled> scaled_mnemonics() {
  std::vector<Scaled> all;
  for (const Tcgen05Form& form : all_tcgen05_forms())
    if (const auto* mma = std::get_if<tcgen05::MmaForm>(&form);
        mma != nullptr && is_block_scaled(mma->opcode.kind))
      all.push_back({short_opcode(form), mma->opcode.cta_group, mma->opcode.sparse});
  return all;
}

void expect_arrives(const Scaled& mma, const std::string& matrix, int m, int n,
                    const std::string& more) {
  const std::string question = fmt::format("{} {} m={} n={}{}", mma.mnemonic, matrix, m, n, more);
  const Map map = map_of_words(question);
  const Map shared = map_of_words(fmt::format("{} in=smem start={}", question, buffer_start));
  const int factors = map.element[1].extent;
  const tcgen05::ScaleBuffer buffer =
      matrix == "SFA" ? tcgen05::sfa_buffer(m, mma.group) : tcgen05::sfb_buffer(m, n, mma.group);
  const Arrived arrived = copied(buffer, mma.group, factors);
  for_each(map.element, false, [&](const Coords& e) {
    std::set<CellBit> expected;
    for (const Coords& place : map.places(e)) expected.insert(cell_bit(map, place));
    const Coords source = shared.places(e)[0];
    ASSERT_EQ(source[0], map.places(e)[0][0]) << question << ": " << element_text(map, e);
    ASSERT_EQ(shared.element_at({std::max(source[0], 0), source[1], 0}), e);
    ASSERT_EQ(arrived.at(source[1] - buffer_start), expected)
        << question << ": " << element_text(map, e);
  });
}

// From the byte that in=smem names, by one cp, to the cells that the mma reads.
TEST(Cp_ScaleFactors, ArriveWhereTheMmaOfEveryScaleVecReadsThem) {
  int asked = 0;
  for (const Scaled& mma : scaled_mnemonics())
    for (const int m : {128, 256})
      for (const int n : {64, 128, 256}) {
        if (!mma.has(m)) continue;
        for (const char* more : {"", " factors=8"}) {
          expect_arrives(mma, "SFA", m, n, more);
          expect_arrives(mma, "SFB", m, n, more);
          if (HasFatalFailure()) return;
          ++asked;
        }
      }
  EXPECT_GE(asked, 100);
}

std::string behind_equals(const std::string& text) { return text.substr(text.find(" = ")); }

// The same in the words of the verbs: byte by byte of an atom.
TEST(Cp_ScaleFactors, AreAnsweredInTheSameWords) {
  const std::string cp = "where tcgen05.cp.cta_group::1.32x128b.warpx4 ";
  for (const std::string vec :
       {"mxf8f6f4.block_scale.scale_vec::1X", "mxf4.block_scale.scale_vec::2X",
        "mxf4nvf4.block_scale.scale_vec::4X"})
    for (int mn = 0; mn < 128; mn += 7)
      for (int s = 0; s < (vec.ends_with("4X") ? 4 : vec.ends_with("2X") ? 2 : 1); ++s) {
        const std::string at = fmt::format("row={} col={}", mn % 32, 4 * (mn / 32) + s);
        const std::string factor = fmt::format("row={} col={}", mn, s);
        EXPECT_EQ(behind_equals(text_of(cp + "D " + at)),
                  behind_equals(text_of("where tcgen05.mma.cta_group::1.kind::" + vec +
                                        " SFA m=128 n=64 " + factor)));
        EXPECT_EQ(text_of(cp + "S " + at + atom_desc(0)),
                  fmt::format("S[{}][{}] = byte {:#x}", mn % 32, 4 * (mn / 32) + s,
                              buffer_start + tcgen05::scale_byte({mn, s}, 4)));
      }
}

}  // namespace
}  // namespace tcq::oracle
