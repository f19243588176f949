// The bytes of a case of async_case.h, in the file of container.h.
#include <algorithm>

#include "oracle/recording/async_case.h"
#include "oracle/recording/async_groups.h"
#include "oracle/recording/async_mbarrier_scripts.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view magic = "tcq async recording 2\n";
constexpr std::uint32_t max_shared_bytes = 256 * 1024;
constexpr std::uint32_t max_global_bytes = 64 * 1024 * 1024;
constexpr std::uint64_t max_output_bytes = 64 * 1024 * 1024;
constexpr int max_cluster = 16;

template <class T>
void put_all(PayloadWriter& w, const T& values, int byte_count) {
  for (const auto value : values) w.put(static_cast<std::uint64_t>(value), byte_count);
}

template <class T>
void get_all(PayloadReader& r, T& values, int byte_count) {
  for (auto& value : values)
    value = static_cast<std::remove_reference_t<decltype(value)>>(r.get(byte_count));
}

void put_map(PayloadWriter& w, const tma::TensorMap& map) {
  w.put(static_cast<std::uint64_t>(map.type), 1);
  w.put(static_cast<std::uint64_t>(map.rank), 1);
  w.put(map.address, 8);
  put_all(w, map.dims, 8);
  put_all(w, map.stride_bytes, 8);
  put_all(w, map.box, 4);
  put_all(w, map.element_strides, 4);
  w.put(static_cast<std::uint64_t>(map.interleave), 1);
  w.put(static_cast<std::uint64_t>(map.swizzle), 1);
  w.put(static_cast<std::uint64_t>(map.fill), 1);
}

tma::TensorMap get_map(PayloadReader& r) {
  tma::TensorMap map;
  map.type = static_cast<tma::DataType>(r.get_below(1, tma::data_type_count, "element type"));
  map.rank = static_cast<int>(r.get(1));
  map.address = r.get(8);
  get_all(r, map.dims, 8);
  get_all(r, map.stride_bytes, 8);
  get_all(r, map.box, 4);
  get_all(r, map.element_strides, 4);
  map.interleave = static_cast<tma::Interleave>(r.get_below(1, 3, "interleave"));
  map.swizzle = static_cast<Swizzle>(r.get_below(1, swizzle_count, "swizzle"));
  map.fill = static_cast<tma::Fill>(r.get_below(1, 2, "fill"));
  return map;
}

bool is_matrix(Move move) { return move == Move::LoadMatrix || move == Move::StoreMatrix; }

void put_tile(PayloadWriter& w, const AsyncCase& c) {
  put_map(w, c.tile.map);
  put_all(w, c.tile.start.at, 4);
  w.put(c.tile.shared_address, 4);
}

void get_tile(PayloadReader& r, AsyncCase& c) {
  c.tile.map = get_map(r);
  get_all(r, c.tile.start.at, 4);
  c.tile.shared_address = static_cast<std::uint32_t>(r.get(4));
}

void put_bulk(PayloadWriter& w, const AsyncCase& c) {
  w.put(c.bulk.global, 8);
  w.put(c.bulk.shared, 4);
  w.put(c.bulk.bytes, 4);
  w.put(c.bulk.destination, 4);
  w.put(c.bulk.destination_rank, 1);
  w.put(static_cast<std::uint64_t>(c.bulk.type), 1);
}

void get_bulk(PayloadReader& r, AsyncCase& c) {
  c.bulk.global = r.get(8);
  c.bulk.shared = static_cast<std::uint32_t>(r.get(4));
  c.bulk.bytes = static_cast<std::uint32_t>(r.get(4));
  c.bulk.destination = static_cast<std::uint32_t>(r.get(4));
  c.bulk.destination_rank = static_cast<std::uint32_t>(r.get_below(1, max_cluster, "rank"));
  c.bulk.type = static_cast<tma::DataType>(r.get_below(1, tma::data_type_count, "element type"));
}

void put_mbarrier(PayloadWriter& w, const AsyncCase& c) {
  w.put(static_cast<std::uint64_t>(c.cluster), 1);
  w.put(static_cast<std::uint64_t>(c.mbarrier.script), 1);
  w.put(c.mbarrier.misplaced_by, 1);
}

void get_mbarrier(PayloadReader& r, AsyncCase& c) {
  const auto scripts = directed_mbarrier_scripts().size();
  c.cluster = static_cast<int>(r.get_below(1, max_cluster + 1, "cluster"));
  c.mbarrier.script = static_cast<int>(r.get_below(1, scripts + 1, "script"));
  c.mbarrier.misplaced_by = static_cast<std::uint32_t>(r.get(1));
}

void put_groups(PayloadWriter& w, const AsyncCase& c) {
  w.put(c.groups.type == Type::bf16 ? 1 : 0, 1);
  w.put(static_cast<std::uint64_t>(c.groups.groups), 1);
  w.put(static_cast<std::uint64_t>(c.groups.pending), 1);
  w.put(static_cast<std::uint64_t>(c.groups.between), 1);
}

void get_groups(PayloadReader& r, AsyncCase& c) {
  c.groups.type = r.get_flag() ? Type::bf16 : Type::f16;
  c.groups.groups = static_cast<int>(r.get_below(1, max_groups + 1, "number of groups"));
  c.groups.pending = static_cast<int>(r.get(1));
  c.groups.between = static_cast<Between>(r.get_below(1, between_count, "sequence of groups"));
}

void put_how(PayloadWriter& w, const AsyncCase& c) {
  w.put(static_cast<std::uint64_t>(c.reduction), 1);
  w.put(static_cast<std::uint64_t>(c.cluster), 1);
  w.put(static_cast<std::uint64_t>(c.issuer), 1);
  w.put(c.mask, 2);
}

void get_how(PayloadReader& r, AsyncCase& c) {
  c.reduction = static_cast<tma::Reduction>(r.get_below(1, tma::reduction_count, "reduction"));
  c.cluster = static_cast<int>(r.get_below(1, max_cluster + 1, "cluster"));
  c.issuer = static_cast<int>(r.get_below(1, max_cluster, "issuer"));
  c.mask = static_cast<std::uint16_t>(r.get(2));
}

void put_operand(PayloadWriter& w, const matrix::Operand& operand) {
  w.put(static_cast<std::uint64_t>(operand.count), 1);
  w.put(operand.transposed ? 1 : 0, 1);
  put_all(w, operand.addresses, 4);
}

void get_operand(PayloadReader& r, matrix::Operand& operand) {
  operand.count = static_cast<int>(r.get(1));
  operand.transposed = r.get_flag();
  get_all(r, operand.addresses, 4);
}

void put_operands(PayloadWriter& w, const AsyncCase& c) {
  if (is_matrix(c.move)) return put_operand(w, c.operand);
  if (c.move == Move::Mbarrier) return put_mbarrier(w, c);
  if (c.move == Move::WgmmaGroups) return put_groups(w, c);
  if (is_bulk(c.move))
    put_bulk(w, c);
  else
    put_tile(w, c);
  put_how(w, c);
}

void get_operands(PayloadReader& r, AsyncCase& c) {
  if (is_matrix(c.move)) return get_operand(r, c.operand);
  if (c.move == Move::Mbarrier) return get_mbarrier(r, c);
  if (c.move == Move::WgmmaGroups) return get_groups(r, c);
  if (is_bulk(c.move))
    get_bulk(r, c);
  else
    get_tile(r, c);
  get_how(r, c);
}

void put_case(PayloadWriter& w, const AsyncCase& c) {
  w.put(static_cast<std::uint64_t>(c.move), 1);
  put_operands(w, c);
  w.put(static_cast<std::uint64_t>(c.content), 1);
  w.put(c.keep_bytes ? 1 : 0, 1);
  w.put(c.shared_bytes, 4);
  w.put(c.global_bytes, 4);
  w.put(c.seed, 8);
  w.put(c.input_hash, 8);
  w.put(static_cast<std::uint64_t>(c.outcome), 1);
  w.put(c.hashes.size(), 4);
  for (const std::uint64_t hash : c.hashes) w.put(hash, 8);
  w.put(c.keep_bytes ? c.output.size() : 0, 4);
  if (c.keep_bytes) w.put_bytes({reinterpret_cast<const char*>(c.output.data()), c.output.size()});
}

void get_output(PayloadReader& r, AsyncCase& c) {
  const std::uint64_t blocks = r.get_below(4, max_output_bytes / 1024, "number of hashes");
  for (std::uint64_t i = 0; i < blocks; ++i) c.hashes.push_back(r.get(8));
  const std::string_view bytes = r.get_bytes(r.get_below(4, max_output_bytes, "size of an output"));
  c.output.assign(bytes.begin(), bytes.end());
  if (!c.output.empty() && hash_blocks(c.output) != c.hashes)
    throw BadFile("recording holds an output that does not have its hashes");
}

AsyncCase get_case(PayloadReader& r) {
  AsyncCase c;
  c.move = static_cast<Move>(r.get_below(1, move_count, "kind of case"));
  get_operands(r, c);
  c.content = static_cast<MemoryContent>(r.get_below(1, content_count, "content"));
  c.keep_bytes = r.get_flag();
  c.shared_bytes = static_cast<std::uint32_t>(r.get_below(4, max_shared_bytes + 1, "size"));
  c.global_bytes = static_cast<std::uint32_t>(r.get_below(4, max_global_bytes + 1, "size"));
  c.seed = r.get(8);
  c.input_hash = r.get(8);
  c.outcome = static_cast<Outcome>(r.get_below(1, outcome_count, "outcome"));
  get_output(r, c);
  return c;
}

}  // namespace

bool is_async_recording(std::string_view bytes) { return bytes.starts_with(magic); }

std::string serialize(const AsyncRecording& recording) {
  PayloadWriter writer;
  for (const AsyncCase& c : recording.cases) put_case(writer, c);
  return pack(magic, recording.header, recording.cases.size(), writer.take());
}

AsyncRecording parse_async_recording(std::string_view bytes) {
  const Container container = unpack(magic, bytes);
  AsyncRecording recording{container.header, {}};
  PayloadReader reader(container.payload);
  while (!reader.at_end()) recording.cases.push_back(get_case(reader));
  check_cases(recording.header, recording.cases.size());
  return recording;
}

}  // namespace tcq::oracle
