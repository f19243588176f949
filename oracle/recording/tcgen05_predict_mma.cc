// The prediction for one tcgen05.mma: its operands gathered from shared and Tensor Memory, multiplied
// by sim/machine/tcgen05_mma.h, and D put back into its cells. See tcgen05_predict.h.
#include <optional>

#include "oracle/recording/tcgen05_predict.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tcgen05/sparse.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/tmem/operand.h"
#include "sim/isa/tmem/scale_layout.h"
#include "sim/machine/tcgen05_mma.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

// Why a case cannot be predicted; caught in predict_mma().
struct Unpredictable {
  const char* why;
};

void require(bool holds, const char* why) {
  if (!holds) throw Unpredictable{why};
}

void require(Fault fault) {
  if (fault != Fault::None) throw Unpredictable{info(fault).sentence};
}

class Gatherer {
 public:
  Gatherer(const Tcgen05Case& c, const Tcgen05State& state)
      : o_(c.operands),
        state_(state),
        form_(std::get<MmaForm>(c.form)),
        op_(form_.opcode),
        d_(decode(c.operands.idesc, op_.kind)),
        path_(datapath(op_, d_.m)),
        scale_input_d_(form_.scale_input_d ? c.immediate : 0) {
    require_modelled();
  }

  Tcgen05Prediction predict() const {
    MmaTile tile;
    tile.form = {op_, d_, o_.accumulate, scale_input_d_};
    tile.a = gather_a();
    tile.b = gather_b();
    if (op_.sparse) tile.selected_k = gather_selection();
    if (is_block_scaled(op_.kind)) {
      tile.scales_a = gather_scales(true);
      tile.scales_b = gather_scales(false);
    }
    std::vector<std::uint32_t> d = gather_d();
    require(multiply(tile, d));
    return scattered(d);
  }

 private:
  void require_modelled() const {
    require(check_word(o_.idesc, op_.kind));
    require(check(op_, d_));
    require(scale_input_d_ <= max_scale_input_d, "scale-input-d is at most 15");
    require_words();
    require(!op_.ashift, "what .ashift reads at the edges of 32 lanes is open");
    if (op_.a_place == Place::Tmem) require(check(a_of_tmem()));
    if (op_.sparse) {
      require(check(metadata()));
      require(check_metadata_column(decode_tmem_address(o_.metadata).tmem_column));
    }
    if (form_.zero_column_mask) require(check(decode_zero_mask(o_.zero_column_mask), d_.m));
    require(is_lane_base(path_, d_at().tmem_lane), "the address of D names a lane in its middle");
    require(d_at().tmem_column + columns(accumulator()) <= tmem_columns,
            "D reaches beyond Tensor Memory");
  }

  void require_words() const {
    if (op_.a_place == Place::Smem) require(check_word(o_.desc_a));
    require(check_word(o_.desc_b));
    if (form_.zero_column_mask) require(check_zero_mask_word(o_.zero_column_mask));
    for (const std::uint32_t word : {o_.metadata, o_.scale_a, o_.scale_b})
      require(decode_tmem_address(word).tmem_lane == 0,
              "nobody says what a lane in the address of metadata or scale factors means");
    if (op_.a_place == Place::Tmem)
      require(decode_tmem_address(o_.a).tmem_lane == d_at().tmem_lane,
              "the addresses of A and D name different lanes");
  }

  // ---- Places -----------------------------------------------------------------------------------

  TmemAddress d_at() const { return decode_tmem_address(o_.d); }
  Accumulator accumulator() const { return {path_, d_.n, d_at().tmem_lane}; }
  TmemA a_of_tmem() const { return {path_, op_.kind, decode_tmem_address(o_.a).tmem_lane}; }
  int rows_per_cta() const { return rows(path_); }
  int k_stored() const { return stored_k(op_, d_); }
  int k_logical() const { return tcgen05::k(op_, d_); }

  std::uint32_t word_at(int cta, int tmem_lane, int tmem_column) const {
    require(tmem_lane < tmem_lanes && tmem_column < tmem_columns,
            "an operand reaches beyond Tensor Memory");
    return state_.tmem[static_cast<std::size_t>(cta)]
                      [static_cast<std::size_t>(tmem_lane * tmem_columns + tmem_column)];
  }

  // Bits of one cell, from every place that the instruction may read: they must agree.
  template <class PlaceOf>
  std::uint32_t agreed_bits(int cta, int copies, int width, PlaceOf&& place_of) const {
    std::uint32_t agreed = 0;
    for (int copy = 0; copy < copies; ++copy) {
      const CellBit at = place_of(copy);
      const std::uint32_t word = word_at(cta, at.tmem_lane, at.tmem_column) >> at.low_bit;
      const std::uint32_t bits = width == 32 ? word : word & ((1u << width) - 1);
      require(copy == 0 || bits == agreed, "copies of an operand differ");
      agreed = bits;
    }
    return agreed;
  }

  // ---- Shared memory ----------------------------------------------------------------------------

  std::uint32_t shared_bits(int cta, ElementPlace at, Type type) const {
    require(at.byte >= tcgen05_shared_base, "an operand lies outside the recorded memory");
    const std::vector<std::uint8_t>& shared = state_.shared[static_cast<std::size_t>(cta)];
    const std::size_t first = at.byte - tcgen05_shared_base;
    const auto width = static_cast<std::uint32_t>(bits(type));
    const std::size_t bytes = (at.bit + width + 7) / 8;
    require(first + bytes <= shared.size(), "an operand lies outside the recorded memory");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{shared[first + i]} << (8 * i);
    return static_cast<std::uint32_t>(value >> at.bit & ((std::uint64_t{1} << width) - 1));
  }

  std::uint32_t a_bits(int row, int k) const {
    const int cta = row / rows_per_cta();
    const int local = row % rows_per_cta();
    if (op_.a_place == Place::Smem)
      return shared_bits(
          cta,
          element_place(decode(o_.desc_a), d_.major_a, op_.kind, d_.a,
                        {static_cast<std::uint32_t>(local), static_cast<std::uint32_t>(k)}),
          d_.a);
    const TmemA a = a_of_tmem();
    return agreed_bits(cta, a_copies(a), bits(d_.a), [&](int copy) {
      CellBit at = a_place(a, {local, k}, copy);
      at.tmem_column += decode_tmem_address(o_.a).tmem_column;
      at.low_bit += tmem_payload_low_bit(op_.kind, d_.a);
      return at;
    });
  }

  std::vector<std::uint32_t> gather_a() const {
    if (op_.a_place == Place::Smem)
      require(check_operand(decode(o_.desc_a), op_.kind, d_.a, d_.major_a));
    std::vector<std::uint32_t> a;
    for (int row = 0; row < d_.m; ++row)
      for (int k = 0; k < k_stored(); ++k) a.push_back(a_bits(row, k));
    return a;
  }

  bool reads_as_zero(int column) const {
    return form_.zero_column_mask &&
           column_is_zeroed(decode_zero_mask(o_.zero_column_mask), d_.m, d_.n, column);
  }

  std::vector<std::uint32_t> gather_b() const {
    const SmemDescriptor desc = decode(o_.desc_b);
    require(check_operand(desc, op_.kind, d_.b, d_.major_b));
    const int per_cta = d_.n / op_.cta_group;
    std::vector<std::uint32_t> b;
    for (int column = 0; column < d_.n; ++column)
      for (int k = 0; k < k_logical(); ++k) {
        const OperandElement e = {static_cast<std::uint32_t>(column % per_cta),
                                  static_cast<std::uint32_t>(k)};
        const ElementPlace at = element_place(desc, d_.major_b, op_.kind, d_.b, e);
        b.push_back(reads_as_zero(column) ? 0 : shared_bits(column / per_cta, at, d_.b));
      }
    return b;
  }

  // ---- Metadata, scale factors ------------------------------------------------------------------

  TmemMetadata metadata() const { return {path_, op_.kind, d_.selector, op_.ws}; }

  int selected(int row, int stored) const {
    const TmemMetadata e = metadata();
    const int chunk = stored / stored_per_code(op_.kind);
    const std::uint32_t code =
        agreed_bits(row / rows_per_cta(), metadata_copies(e), metadata_code_bits, [&](int copy) {
          CellBit at = metadata_place(e, {row % rows_per_cta(), chunk}, copy);
          at.tmem_column += decode_tmem_address(o_.metadata).tmem_column;
          return at;
        });
    require(check_code(op_.kind, code));
    return selected_k(op_.kind, code, stored);
  }

  std::vector<std::uint16_t> gather_selection() const {
    std::vector<std::uint16_t> k;
    for (int row = 0; row < d_.m; ++row)
      for (int stored = 0; stored < k_stored(); ++stored)
        k.push_back(static_cast<std::uint16_t>(selected(row, stored)));
    return k;
  }

  std::uint8_t factor(bool of_a, int cta, ScaleFactor f) const {
    const ScaleBuffer buffer =
        of_a ? sfa_buffer(d_.m, op_.cta_group) : sfb_buffer(d_.m, d_.n, op_.cta_group);
    const int column = decode_tmem_address(of_a ? o_.scale_a : o_.scale_b).tmem_column;
    f.s += of_a ? d_.scale_a_id : d_.scale_b_id;
    return static_cast<std::uint8_t>(
        agreed_bits(cta, scale_copies(buffer), 8, [&](int copy) -> CellBit {
          const CellByte at = scale_place(buffer, f, copy);
          return {at.tmem_lane, column + at.tmem_column, 8 * at.byte};
        }));
  }

  std::vector<std::uint8_t> gather_scales(bool of_a) const {
    std::vector<std::uint8_t> scales;
    const int count = of_a ? d_.m : d_.n;
    for (int mn = 0; mn < count; ++mn)
      for (int s = 0; s < scale_factors(op_, d_); ++s) {
        const int cta = of_a ? mn / rows_per_cta() : 0;
        const ScaleFactor f = {of_a ? mn % rows_per_cta() : mn, s};
        scales.push_back(factor(of_a, cta, f));
        if (!of_a && op_.cta_group == 2)
          require(factor(of_a, 1, f) == scales.back(), "the SFB of the two CTAs differ");
      }
    return scales;
  }

  // ---- D ----------------------------------------------------------------------------------------

  std::size_t d_word(int row, int col) const {
    Cell cell = d_cell(accumulator(), {row % rows_per_cta(), col});
    cell.tmem_column += d_at().tmem_column;
    return static_cast<std::size_t>(row / rows_per_cta() * tmem_words +
                                    cell.tmem_lane * tmem_columns + cell.tmem_column);
  }

  std::vector<std::uint32_t> gather_d() const {
    const Tcgen05Prediction before = unchanged(state_);
    std::vector<std::uint32_t> d;
    for (int row = 0; row < d_.m; ++row)
      for (int col = 0; col < d_.n; ++col) {
        const std::uint32_t word = before.output[d_word(row, col)];
        d.push_back(bits(d_.d) == 16 ? word & low_half : word);
      }
    return d;
  }

  bool is_disabled(std::size_t word) const {
    if (!form_.disable_output_lane) return false;
    const auto lane = static_cast<int>(word % tmem_words / tmem_columns);
    const DisableBit at = disable_bit({word >= tmem_words, lane});
    return o_.disable_output_lane[static_cast<std::size_t>(at.word)] >> at.bit & 1;
  }

  Tcgen05Prediction scattered(const std::vector<std::uint32_t>& d) const {
    Tcgen05Prediction p = unchanged(state_);
    for (int row = 0; row < d_.m; ++row)
      for (int col = 0; col < d_.n; ++col) {
        const std::size_t word = d_word(row, col);
        if (is_disabled(word)) continue;
        p.output[word] = d[static_cast<std::size_t>(row * d_.n + col)];
        if (bits(d_.d) == 16) p.known[word] = low_half;
      }
    return p;
  }

  const Tcgen05Operands& o_;
  const Tcgen05State& state_;
  const MmaForm& form_;
  const MmaOpcode& op_;
  InstructionDescriptor d_;
  Datapath path_;
  int scale_input_d_;
};

}  // namespace

Tcgen05Prediction predict_mma(const Tcgen05Case& c, const Tcgen05State& before) {
  try {
    return Gatherer(c, before).predict();
  } catch (const Unpredictable& reason) {
    return {reason.why};
  }
}

}  // namespace tcq::oracle
