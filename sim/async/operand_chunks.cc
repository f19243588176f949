#include "sim/async/operand_chunks.h"

namespace tcq::machine {
namespace {

bool is_a(Operand which) { return which == Operand::A; }

Major major_of(const wgmma::Form& f, Operand which) { return is_a(which) ? f.major_a : f.major_b; }

wgmma::OperandExtent extent_of(const wgmma::Form& f, Operand which) {
  const Type type = is_a(which) ? f.a : f.b;
  const int k = wgmma::stored_k(type) * (!is_a(which) && f.sparse ? 2 : 1);
  return wgmma::operand_extent(major_of(f, which), type,
                               static_cast<std::uint32_t>(is_a(which) ? wgmma::m : f.n),
                               static_cast<std::uint32_t>(k));
}

bool is_in_registers(const wgmma::Form& f, Operand which) {
  return is_a(which) && f.a_place == wgmma::Place::Registers;
}

std::uint64_t descriptor_of(const wgmma::Instruction& op, Operand which) {
  return is_a(which) ? op.desc_a : op.desc_b;
}

}  // namespace

OperandChunks chunks_of(const wgmma::Instruction& op, Operand which) {
  OperandChunks chunks;
  const wgmma::Form& f = op.form;
  if (is_in_registers(f, which)) return chunks;
  const wgmma::OperandExtent extent = extent_of(f, which);
  chunks.addresses.reserve(extent.lines * extent.line_bytes / operand_chunk_bytes);
  wgmma::for_each_chunk(wgmma::decode(descriptor_of(op, which)), major_of(f, which), extent,
                        [&](std::uint32_t, std::uint32_t, std::uint32_t address) {
                          chunks.addresses.push_back(address);
                        });
  return chunks;
}

RowMask rows_of_chunk(const wgmma::Form& f, const OperandChunks& a, std::size_t chunk) {
  if (f.major_a == Major::K) return RowMask{1} << chunk / (a.addresses.size() / wgmma::m);
  const std::size_t rows = 8 * operand_chunk_bytes / static_cast<std::size_t>(bits(f.a));
  return ((RowMask{1} << rows) - 1) << chunk % (wgmma::m / rows) * rows;
}

RowMask rows_at(const wgmma::Form& f, const OperandChunks& a, std::uint32_t begin,
                std::uint32_t end) {
  RowMask rows = 0;
  for (std::size_t i = 0; i < a.addresses.size(); ++i)
    if (a.addresses[i] < end && begin < a.addresses[i] + operand_chunk_bytes)
      rows |= rows_of_chunk(f, a, i);
  return rows;
}

ChunkLists::List ChunkLists::find(const wgmma::Instruction& op, Operand which) {
  const wgmma::Form& f = op.form;
  if (is_in_registers(f, which)) return std::make_shared<OperandChunks>();
  const wgmma::OperandExtent extent = extent_of(f, which);
  const Key key{descriptor_of(op, which), extent.lines, extent.line_bytes, major_of(f, which)};
  if (lists_.size() >= most && !lists_.contains(key)) lists_.clear();
  List& list = lists_[key];
  if (!list) list = std::make_shared<OperandChunks>(chunks_of(op, which));
  return list;
}

}  // namespace tcq::machine
