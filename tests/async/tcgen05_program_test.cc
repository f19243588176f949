// The numbers of tcgen05.mma in the asynchronous machine: programs that bring A, B, C and the scale
// factors to their places, multiply once and read D, against one sum of sim/num per element.
//
// Where each element lies is written out here a second time, for tiles without swizzle; swizzled and
// MN-major ones and metadata are placed by sim/isa.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "sim/isa/tcgen05/operand.h"
#include "tests/async/catalogue_tcgen05_kit.h"
#include "tests/support/tcgen05_inputs.h"

namespace tcq {
namespace {

using namespace machine;
using catalogue::address_register;
using catalogue::at_column;
using catalogue::tmem_base;
using tcgen05::DotForm;
using tcgen05::Place;
using tcgen05::Words;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

void put_bits(std::vector<std::uint8_t>& bytes, std::size_t bit, int count, std::uint32_t word) {
  for (int i = 0; i < count; ++i, ++bit)
    if ((word >> i & 1) != 0) bytes[bit / 8] |= static_cast<std::uint8_t>(1u << (bit % 8));
}

struct Case {
  DotForm form;  // with M and N
  MixtureClass inputs = MixtureClass{};
  bool swizzled_mn_major = false;
  std::array<std::uint32_t, 4> kept{};  // a bit for each lane of D that is not written

  bool is_sparse() const { return form.opcode.sparse; }
  int group() const { return form.opcode.cta_group; }
  int m() const { return form.idesc.m; }
  int n() const { return form.idesc.n; }
  int k() const { return tcgen05::products(form.opcode.kind); }
  int k_of_b() const { return is_sparse() ? 2 * k() : k(); }
  bool halves_n() const { return group() == 2 && m() == 128; }  // D of each CTA: 64 rows twice
  int parts_of_ws() const { return form.opcode.ws ? 128 / m() : 1; }  // side by side, of m lanes
  int d_columns() const { return halves_n() ? n() / 2 : n() / parts_of_ws(); }
  // Row and column of the whole D, in `lane` of a CTA.
  int row(int cta, int lane) const {
    if (halves_n()) return 64 * cta + lane % 64;
    if (form.opcode.ws) return lane % m();
    return m() / group() * cta + (m() / group() == 64 ? 16 * (lane / 32) + lane % 16 : lane);
  }
  int column(int lane, int column) const {
    if (form.opcode.ws) return lane / m() * d_columns() + column;
    return halves_n() ? lane / 64 * d_columns() + column : column;
  }
  bool uses(int lane) const {
    return m() / group() != 64 || group() == 2 || form.opcode.ws || lane % 32 < 16;
  }
  bool keeps(int lane) const { return (kept[index(lane / 32)] >> (lane % 32) & 1) != 0; }
};

class OneMma {
 public:
  explicit OneMma(const Case& c)
      : case_(c),
        drawn_(draw_tile(c.form, c.inputs, 7, c.m(), c.n())),
        p_({.cluster = c.group(), .threads = 128}),
        full_(p_.mbarrier("full")),
        ready_(p_.mbarrier("ready")),
        done_(p_.mbarrier("done")),
        slot_(p_.shared("slot", 4)),
        a_(p_.shared("A", 8192, 1024)),
        b_(p_.shared("B", 8192, 1024)),
        scales_(p_.shared("scales", 1024, 128)),
        out_(p_.global(std::vector<std::uint8_t>(index(c.group() * 128 * 4 * c.d_columns())))) {
    draw_b();
    draw_codes();
    start();
    for (int cta = 0; cta < c.group(); ++cta) load(cta);
    multiply();
    for (int cta = 0; cta < c.group(); ++cta) read(cta);
    if (c.group() == 2) p_.warps("all", 0, 4).cluster_arrive().cluster_wait();
    p_.warps("last", 0, 1).tcgen05_dealloc(tmem_base, 128, c.group());
  }

  void expect_exact_sums() const {
    const Report report = explore(p_, {.max_executions = 4, .random_executions = 1});
    ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p_, report);
    for (int cta = 0; cta < case_.group(); ++cta)
      for (int lane = 0; lane < 128; ++lane)
        for (int c = 0; c < case_.d_columns() && case_.uses(lane); ++c) {
          std::uint32_t word = 0;
          const int at = (cta * 128 + lane) * case_.d_columns() + c;
          std::memcpy(&word, &report.global[out_ + 4 * index(at)], 4);
          const int row = case_.row(cta, lane);
          const int column = case_.column(lane, c);
          ASSERT_EQ(word, case_.keeps(lane) ? c_word(row, column) : sum(row, column))
              << text(case_.form) << " " << row << " " << column;
        }
  }

 private:
  const tcgen05::MmaOpcode& opcode() const { return case_.form.opcode; }
  const tcgen05::InstructionDescriptor& idesc() const { return case_.form.idesc; }
  bool a_in_tmem() const { return opcode().a_place == Place::Tmem; }
  bool is_scaled() const { return is_block_scaled(opcode().kind); }

  // Of a sparse A, B has columns of twice the length.
  void draw_b() {
    const tcgen05::Tile more = draw_tile(case_.form, case_.inputs, 8, case_.m(), case_.n());
    for (int column = 0; column < case_.n(); ++column)
      for (int k = 0; k < case_.k_of_b(); ++k) {
        const tcgen05::Tile& from = k < case_.k() ? drawn_ : more;
        b_elements_.push_back(from.b[index(column * case_.k() + k % case_.k())]);
      }
  }

  int codes_of_row() const { return tcgen05::metadata_chunks(opcode().kind); }
  void draw_codes() {
    constexpr std::array<std::uint32_t, 2> of_two = {0b0100, 0b1110};
    constexpr std::array<std::uint32_t, 6> of_four = {0b0100, 0b1000, 0b1100,
                                                      0b1001, 0b1101, 0b1110};
    std::mt19937 random(9);
    for (int i = 0; i < case_.m() * codes_of_row(); ++i)
      codes_.push_back(opcode().kind == tcgen05::Kind::tf32 ? of_two[random() % 2]
                                                            : of_four[random() % 6]);
  }
  // The k of B that a stored element meets.
  int met(int row, int stored) const {
    const bool of_two = opcode().kind == tcgen05::Kind::tf32;
    const int chunk = of_two ? stored : stored / 2;
    const auto code = static_cast<int>(codes_[index(row * codes_of_row() + chunk)]);
    if (of_two) return 2 * chunk + code / 8;
    return 4 * chunk + (stored % 2 == 0 ? code % 4 : code / 4);
  }

  std::uint32_t sum(int row, int column) const {
    tcgen05::DotOperands operands = drawn_.operands(row, column);
    Words b;
    for (int k = 0; case_.is_sparse() && k < case_.k(); ++k)
      b.push_back(b_elements_[index(column * case_.k_of_b() + met(row, k))]);
    if (case_.is_sparse()) operands.b = b.data();
    return dot(case_.form, operands);
  }

  void meet(Role& role) const {
    case_.group() == 2 ? role.cluster_arrive().cluster_wait() : role.barrier_sync();
  }

  void start() {
    Role all = p_.warps("start", 0, 4);
    all.elect().mbarrier_init(full_, 1).mbarrier_init(done_, 1);
    all.elect().mbarrier_init(ready_, static_cast<std::uint32_t>(case_.group()));
    all.elect().fence_mbarrier_init();
    meet(all);
    all.in_warps(1).tcgen05_alloc(slot_, 128, case_.group());
    meet(all);
    all.barrier_sync().load_shared({slot_, 0}, address_register);
  }

  // `rows` rows of `count` elements in shared memory from row `first` on.
  std::vector<std::uint8_t> smem_bytes(const Words& elements, int count, Type type, int first,
                                       int rows, const SmemOperand& at) const {
    std::vector<std::uint8_t> bytes(8192);
    const int padded = bits(type) < 8 && !is_packed_4bit(opcode().kind);
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < count; ++k) {
        const std::uint32_t word = elements[index((first + r) * count + k)];
        if (case_.swizzled_mn_major) {
          const auto place =
              element_place(mn_major(at.start_bytes), Major::MN, opcode().kind, type,
                            {static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(k)});
          put_bits(bytes, 8 * (place.byte - at.start_bytes) + place.bit, bits(type), word);
          continue;
        }
        const int bit = padded ? k / 16 * 128 + k % 16 * bits(type) : k * bits(type);
        const int byte =
            r / 8 * (256 * count / case_.k()) + bit / 128 * 128 + r % 8 * 16 + bit % 128 / 8;
        put_bits(bytes, 8 * index(byte) + index(bit % 8), bits(type), word);
      }
    return bytes;
  }

  static tcgen05::SmemDescriptor mn_major(std::uint32_t start) {
    return {start, 2048, 1024, 0, false, Swizzle::B128};
  }
  SmemOperand operand(std::uint32_t start) const {
    if (!case_.swizzled_mn_major) return catalogue::smem_operand(start);
    const tcgen05::SmemDescriptor d = mn_major(start);
    return {start, canonical_layout(d, Major::MN), swizzle_function(d.swizzle), 0};
  }
  SmemOperand operand_b() const {
    SmemOperand b = operand(b_);
    if (case_.is_sparse()) b.layout = {Major::K, 16, 128, 512};
    return b;
  }

  // Rows of A in Tensor Memory, 8 cells each.
  std::vector<std::uint8_t> tmem_bytes(int cta) const {
    std::vector<std::uint8_t> bytes(128 * 32);
    const int width = 8 * 32 / case_.k();
    const int low = width == 8 ? (8 - bits(idesc().a)) / 2 : 0;
    for (int lane = 0; lane < 128; ++lane)
      for (int k = 0; k < case_.k() && case_.uses(lane); ++k)
        put_bits(bytes, 8 * 32 * index(lane) + index(k * width + low), bits(idesc().a),
                 drawn_.a[index(case_.row(cta, lane) * case_.k() + k)]);
    return bytes;
  }

  // Atoms of 512 bytes for cp.32x128b.warpx4: A's, then B's.
  std::vector<std::uint8_t> scale_bytes(int cta) const {
    std::vector<std::uint8_t> bytes(1024, 0x7f);
    const int rows = case_.m() / case_.group();
    const auto put = [&](int base, int mn, int id, const tcgen05::Bytes& from, int row) {
      for (int s = 0; s < drawn_.scales; ++s)
        bytes[index(base + 16 * (mn % 32) + 4 * (mn / 32) + id + s)] =
            from[index(row * drawn_.scales + s)];
    };
    for (int r = 0; r < rows; ++r) put(0, r, idesc().scale_a_id, drawn_.scales_a, rows * cta + r);
    for (int col = 0; col < case_.n(); ++col)
      put(512, col, idesc().scale_b_id, drawn_.scales_b, col);
    return bytes;
  }

  std::uint32_t c_word(int row, int column) const {
    const std::uint32_t word = drawn_.c[index(row * case_.n() + column)];
    return idesc().d == Type::f16 ? word | 0xabcd0000u : word;  // the upper half is nobody's
  }
  std::vector<std::uint8_t> c_bytes(int cta) const {
    std::vector<std::uint8_t> bytes(index(128 * 4 * case_.d_columns()));
    for (int lane = 0; lane < 128; ++lane)
      for (int c = 0; c < case_.d_columns() && case_.uses(lane); ++c) {
        const std::uint32_t word = c_word(case_.row(cta, lane), case_.column(lane, c));
        std::memcpy(&bytes[4 * index(lane * case_.d_columns() + c)], &word, 4);
      }
    return bytes;
  }

  // Codes of the only CTA, `words` cells of a lane.
  std::vector<std::uint8_t> metadata_bytes(int words) const {
    const tcgen05::TmemMetadata e = {tcgen05::datapath(opcode(), case_.m()), opcode().kind,
                                     idesc().selector, opcode().ws};
    std::vector<std::uint8_t> bytes(index(128 * 4 * words));
    for (int row = 0; row < case_.m(); ++row)
      for (int chunk = 0; chunk < codes_of_row(); ++chunk)
        for (int copy = 0; copy < metadata_copies(e); ++copy) {
          const tcgen05::CellBit at = metadata_place(e, {row, chunk}, copy);
          put_bits(bytes, index(32 * (at.tmem_lane * words + at.tmem_column) + at.low_bit), 4,
                   codes_[index(row * codes_of_row() + chunk)]);
        }
    return bytes;
  }

  void store_rows(Role& all, const std::vector<std::uint8_t>& rows, int words, int column) {
    all.load_global(p_.global(rows), 4 * words, {0, words});
    for (int warp = 0; warp < 4; ++warp)
      all.in_warps(1u << warp)
          .tcgen05_st({tcgen05::LdShape::S32x32b, words}, at_column(column, 32 * warp), 0);
  }

  void load(int cta) {
    const int rows = case_.m() / case_.group();
    const int columns = case_.n() / case_.group();
    Role all = p_.warps("store", 0, 4, cta);
    store_rows(all, c_bytes(cta), case_.d_columns(), 0);
    if (a_in_tmem()) store_rows(all, tmem_bytes(cta), 8, 64);
    if (case_.is_sparse()) store_rows(all, metadata_bytes(2), 2, 72);
    all.tcgen05_wait_st().tcgen05_fence_before();
    const auto a = smem_bytes(drawn_.a, case_.k(), idesc().a, rows * cta, rows, operand(a_));
    const auto b =
        smem_bytes(b_elements_, case_.k_of_b(), idesc().b, columns * cta, columns, operand_b());
    Role one = p_.warps("load", 0, 1, cta).elect();
    one.mbarrier_arrive_expect_tx(full_, 2 * 8192 + 1024);
    one.bulk_load(p_.global(a), a_, 8192, full_).bulk_load(p_.global(b), b_, 8192, full_);
    one.bulk_load(p_.global(scale_bytes(cta)), scales_, 1024, full_);
    one.mbarrier_try_wait(full_, 0).mbarrier_arrive(ready_.in(0), Scope::Cluster);
  }

  void multiply() {
    Role all = p_.warps("between", 0, 4);
    meet(all);
    all.tcgen05_fence_after();
    Role issue = p_.warps("issue", 0, 1, 0).elect();
    issue.mbarrier_try_wait(ready_, 0, Scope::Cluster);
    Tcgen05Mma mma;
    mma.opcode = opcode();
    mma.idesc = idesc();
    mma.accumulate = case_.form.accumulate;
    mma.d = tmem_base;
    mma.a = operand(a_);
    mma.b = operand_b();
    mma.options.metadata = at_column(72);
    mma.options.scale_input_d = case_.form.scale_input_d;
    if (case_.kept != decltype(case_.kept){})
      mma.options.kept.assign(case_.kept.begin(), case_.kept.end());
    mma.a_tmem = at_column(64);
    mma.scale_a = at_column(80);
    mma.scale_b = at_column(84);
    const int group = case_.group();
    for (std::uint32_t i = 0; is_scaled() && i < 2; ++i)
      issue.tcgen05_cp(tcgen05::CpShape::S32x128b, i == 0 ? mma.scale_a : mma.scale_b,
                       {scales_ + 512 * i, {Major::K, 16, 16, 128}, {0, 4, 3}, 0}, group);
    const std::uint16_t to = group == 2 ? 3 : 0;
    issue.tcgen05_mma(mma).tcgen05_commit(done_, group, to);
  }

  void read(int cta) {
    Role all = p_.warps("read", 0, 4, cta);
    all.mbarrier_try_wait(done_, 0).tcgen05_fence_after();
    const int words = case_.d_columns();
    for (int warp = 0; warp < 4; ++warp)
      all.in_warps(1u << warp)
          .tcgen05_ld({tcgen05::LdShape::S32x32b, words}, at_column(0, 32 * warp), 0);
    all.tcgen05_wait_ld().tcgen05_fence_before();
    all.store_global(out_ + 4 * index(cta * 128 * words), 4 * words, {0, words}).barrier_sync();
  }

  Case case_;
  tcgen05::Tile drawn_;
  Words b_elements_;
  std::vector<std::uint32_t> codes_;  // [row][chunk]
  Program p_;
  Address full_, ready_, done_;
  std::uint32_t slot_, a_, b_, scales_;
  std::uint64_t out_;
};

DotForm shaped(DotForm form, int m, int n, std::mt19937& random) {
  form = with_random_options(form, random);
  form.idesc.m = m;
  form.idesc.n = n;
  const int factors = tcgen05::scale_count(form.opcode);
  if (factors == 1) form.idesc.scale_a_id = static_cast<int>(random() % 4);
  if (factors == 1) form.idesc.scale_b_id = static_cast<int>(random() % 4);
  if (factors == 2) form.idesc.scale_a_id = 2 * static_cast<int>(random() % 2);
  return form;
}

TEST(Tcgen05_Program, EveryFormGivesItsExactSums) {
  std::mt19937 random(1);
  int i = 0;
  for (const DotForm& form : tcgen05::all_forms()) {
    const auto inputs = static_cast<MixtureClass>(i++ % mixture_class_count);
    OneMma({shaped(form, 128, 16, random), inputs}).expect_exact_sums();
    if (HasFatalFailure()) return;
  }
}

TEST(Tcgen05_Program, AInTensorMemoryGivesTheSameSums) {
  std::mt19937 random(2);
  for (const DotForm& form : tcgen05::all_forms()) {
    DotForm in_tmem = shaped(form, 128, 16, random);
    in_tmem.opcode.a_place = Place::Tmem;
    OneMma({in_tmem}).expect_exact_sums();
    if (HasFatalFailure()) return;
  }
}

TEST(Tcgen05_Program, HalfTheLanesGiveTheSameSums) {
  std::mt19937 random(3);
  for (const Place place : {Place::Smem, Place::Tmem})
    for (const DotForm& form : tcgen05::all_forms()) {
      if (is_block_scaled(form.opcode.kind)) continue;
      DotForm half = shaped(form, 64, 16, random);
      half.opcode.a_place = place;
      OneMma({half}).expect_exact_sums();
      if (HasFatalFailure()) return;
    }
}

TEST(Tcgen05_Program, APairOfCtasGivesTheSameSums) {
  std::mt19937 random(4);
  for (const Place place : {Place::Smem, Place::Tmem})
    for (const int m : {128, 256})
      for (const DotForm& form : tcgen05::all_forms()) {
        if (m == 128 && is_block_scaled(form.opcode.kind)) continue;  // SFB is split in two
        if (form.idesc.a != form.idesc.b) continue;
        DotForm pair = shaped(form, m, 32, random);
        pair.opcode.cta_group = 2;
        pair.opcode.a_place = place;
        OneMma({pair}).expect_exact_sums();
        if (HasFatalFailure()) return;
      }
}

// Each stored element of A meets the k of B that its code chooses, both selectors, A in either place.
TEST(Tcgen05_Program, ASparseAGivesTheSumsOfWhatItsCodesChoose) {
  std::mt19937 random(6);
  int i = 0;
  for (const DotForm& form : tcgen05::all_forms()) {
    if (is_block_scaled(form.opcode.kind)) continue;
    for (const Place place : {Place::Smem, Place::Tmem})
      for (int selector = 0; selector < tcgen05::metadata_selectors(form.opcode.kind, false);
           ++selector) {
        DotForm sparse = shaped(form, 128, 16, random);
        sparse.opcode.a_place = place;
        sparse.opcode.sparse = sparse.idesc.sparse = true;
        sparse.idesc.selector = selector;
        OneMma({sparse, static_cast<MixtureClass>(i++ % mixture_class_count)}).expect_exact_sums();
        if (HasFatalFailure()) return;
      }
  }
}

// Of fewer than 128 rows the columns of D lie in parts side by side, and metadata once for each.
TEST(Tcgen05_Program, AWeightStationaryMmaGivesTheSameSums) {
  std::mt19937 random(7);
  for (const DotForm& form : tcgen05::all_forms()) {
    if (is_block_scaled(form.opcode.kind)) continue;
    for (const int m : {32, 64})
      for (const bool is_sparse : {false, true}) {
        DotForm ws = shaped(form, m, 64, random);
        ws.scale_input_d = 0;  // .ws has none
        ws.opcode.ws = true;
        ws.opcode.sparse = ws.idesc.sparse = is_sparse;
        OneMma({ws}).expect_exact_sums();
        if (HasFatalFailure()) return;
      }
  }
}

TEST(Tcgen05_Program, LanesThatAreLeftAloneKeepWhatTheyHold) {
  std::mt19937 random(8);
  for (const DotForm& form : tcgen05::all_forms()) {
    if (is_block_scaled(form.opcode.kind)) continue;
    OneMma({shaped(form, 128, 16, random), {}, false, {1, 0x80000000, 0x00ffff00, ~0u}})
        .expect_exact_sums();
    if (HasFatalFailure()) return;
  }
}

TEST(Tcgen05_Program, SwizzledAndMnMajorTilesGiveTheSameSums) {
  std::mt19937 random(5);
  for (const Type type : {Type::f16, Type::bf16}) {
    DotForm form =
        shaped(tcgen05::plain_form(tcgen05::Kind::f16, Type::f32, type, type), 128, 32, random);
    form.idesc.major_a = form.idesc.major_b = Major::MN;
    OneMma({form, {}, true}).expect_exact_sums();
    if (HasFatalFailure()) return;
  }
}

// --- what is refused -------------------------------------------------------------------------------

Fault refusal(const Tcgen05Mma& mma) {
  Program p({.threads = 32});
  p.warps("one", 0, 1).elect().tcgen05_mma(mma);
  return explore(p, {}).refused.fault;
}

TEST(Tcgen05_Program, AnMmaThatDoesNotExistIsRefused) {
  const Tcgen05Mma right = catalogue::f16_mma(1024, 1024, false);
  EXPECT_EQ(refusal(right), Fault::None);
  Tcgen05Mma mma = right;
  mma.idesc.m = 256;
  EXPECT_EQ(refusal(mma), Fault::Tcgen05ShapeM);
  mma = right;
  mma.idesc.n = 264;
  EXPECT_EQ(refusal(mma), Fault::Tcgen05ShapeN);
  mma = right;
  mma.idesc.a = Type::e4m3;
  EXPECT_EQ(refusal(mma), Fault::TypesOfKind);
  mma = right;
  mma.idesc.major_b = Major::MN;  // and the tile is K-major
  EXPECT_EQ(refusal(mma), Fault::ProgramMalformed);
  mma = right;
  mma.opcode.ashift = true;
  mma.opcode.a_place = tcgen05::Place::Tmem;
  EXPECT_EQ(refusal(mma), Fault::UnmodelledMma);
  mma = right;
  mma.opcode.sparse = mma.idesc.sparse = true;
  EXPECT_EQ(refusal(mma), Fault::None);
  mma.idesc.m = 64;  // where the metadata of 64 rows lie no source says
  EXPECT_EQ(refusal(mma), Fault::UnmodelledTmemOperand);
  mma = right;
  mma.opcode.ws = true;
  mma.idesc.n = 64;
  mma.options.masks_columns = true;
  mma.options.zero_columns = 1;
  EXPECT_EQ(refusal(mma), Fault::None);
  mma.options.zero_columns = std::uint64_t{1} << 36;
  EXPECT_EQ(refusal(mma), Fault::WordReserved);
  mma.options.zero_columns = std::uint64_t{1} << 56;
  EXPECT_EQ(refusal(mma), Fault::UnmodelledColumnShift);
  mma.options = {};
  mma.options.kept = {1, 0, 0, 0};
  EXPECT_EQ(refusal(mma), Fault::UnmodelledMma);
  mma = right;
  mma.options.kept = {1, 0, 0, 0};
  EXPECT_EQ(refusal(mma), Fault::None);
  mma.options.kept.pop_back();
  EXPECT_EQ(refusal(mma), Fault::ProgramMalformed);
  mma.options = {};
  mma.options.masks_columns = true;
  EXPECT_EQ(refusal(mma), Fault::ProgramMalformed);
  mma.options = {};
  mma.options.scale_input_d = tcgen05::max_scale_input_d;
  EXPECT_EQ(refusal(mma), Fault::None);
  ++mma.options.scale_input_d;
  EXPECT_EQ(refusal(mma), Fault::ProgramMalformed);
  mma = catalogue::f16_mma(1024, 1024, false);
  mma.opcode.cta_group = 2;
  mma.idesc.m = 256;
  mma.options.kept.assign(8, 1);
  EXPECT_EQ(refusal(mma), Fault::UnmodelledMma);
}

}  // namespace
}  // namespace tcq
