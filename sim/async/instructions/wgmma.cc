#include "sim/async/instructions/wgmma.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "sim/async/access.h"
#include "sim/async/gathered.h"
#include "sim/async/lane_sync.h"
#include "sim/async/operand_origin.h"
#include "sim/async/register_file.h"
#include "sim/async/unused_loads.h"
#include "sim/async/warpgroups.h"

namespace tcq::machine {
namespace {

std::uint64_t groups_done(const std::vector<std::uint64_t>& group_end, int pending) {
  const auto n = static_cast<std::uint64_t>(pending);
  return group_end.size() > n ? group_end.size() - n : 0;
}

}  // namespace

void WgmmaFence::execute(Step& s) const {
  if (aligned_in_warpgroup(s)) check_order(s, s.warp.order.fence(s.number), {});
}

namespace {

// The elements of tensors that copies wrote to the CTA's shared memory.
class Origins {
 public:
  Origins(const Step& s, int element_bytes)
      : s_(s), element_bytes_(static_cast<std::uint32_t>(element_bytes)) {}

  // Nothing if no copy wrote there, or one that is not followed.
  std::optional<TensorElement> element_at(std::uint32_t address) {
    const AccessId writer = s_.c.cta(s_.warp.cta).provenance.writer(address);
    if (writer != writer_) tile_ = tile_of(writer);
    writer_ = writer;
    return tile_ ? tile_->element_at(address) : std::nullopt;
  }

  std::optional<WrittenTile> tile_of(AccessId writer) const {
    const Access& access = s_.c.log[writer];
    if (access.kind != AccessKind::CopyWrite || access.load == nullptr) return std::nullopt;
    const PatchableMap& map_now = s_.c.maps[static_cast<std::size_t>(access.load->map)];
    if (map_now.is_patched()) return std::nullopt;
    const tma::TensorMap& map = *map_now.value();
    if (map.rank != 2 || tma::element_bytes(map.type) != element_bytes_) return std::nullopt;
    return WrittenTile(map, access.load->start, access.base);
  }

 private:
  const Step& s_;
  std::uint32_t element_bytes_;
  AccessId writer_ = 0;  // whose tile that is
  std::optional<WrittenTile> tile_;
};

bool other_major_fits(const Step& s, wgmma::Instruction op, Operand which) {
  Major& major = which == Operand::A ? op.form.major_a : op.form.major_b;
  major = major == Major::K ? Major::MN : Major::K;
  if (wgmma::check(op.form) != Fault::None) return false;
  const SharedMemory& shared = s.c.cta(s.warp.cta).shared;
  OriginCheck check(op, which);
  Origins origins(s, check.element_bytes());
  for (const std::uint32_t address : chunks_of(op, which).addresses) {
    if (!shared.contains(address, operand_chunk_bytes)) return false;
    const auto element = origins.element_at(address);
    if (!element || check.next(address, element)) return false;
  }
  return true;
}

// Is all of `read` and the first chunk one tile, and of a shape in which all of it was in order before?
bool was_in_order(const Step& s, const Origins& origins, const OperandChunks& chunks,
                  std::span<const std::uint32_t> read) {
  const Provenance& memory = s.c.cta(s.warp.cta).provenance;
  const AccessId writer = memory.only_writer(read);
  if (writer == 0 || memory.writer(chunks.addresses.front()) != writer) return false;
  const auto tile = origins.tile_of(writer);
  return !tile || std::find(chunks.in_order.begin(), chunks.in_order.end(), tile->shape()) !=
                      chunks.in_order.end();
}

Finding finding_of_scrambled(const Step& s, const WgmmaMma& i, Operand which, Scrambled found) {
  found.other_major_fits = other_major_fits(s, i.op, which);
  return {.fault = Fault::OperandScrambled,
          .at = s.place(),
          .cta = s.warp.cta,
          .bytes = {found.address, found.address + operand_chunk_bytes},
          .number = which == Operand::A ? 0 : 1,
          .scrambled = found};
}

void note_in_order(const Step& s, const Origins& origins, OperandChunks& chunks) {
  const AccessId writer = s.c.cta(s.warp.cta).provenance.only_writer(chunks.addresses);
  if (writer != 0) chunks.note_in_order(origins.tile_of(writer)->shape());
}

void check_origin(Step& s, const WgmmaMma& i, Operand which, OperandChunks& chunks) {
  OriginCheck check(i.op, which);
  Origins origins(s, check.element_bytes());
  if (was_in_order(s, origins, chunks, chunks.addresses)) return;
  for (const std::uint32_t address : chunks.addresses)
    if (const auto found = check.next(address, origins.element_at(address)))
      return s.c.fail(finding_of_scrambled(s, i, which, *found));
  note_in_order(s, origins, chunks);
}

// Rows of A that are another tile's: followed, as nobody may want them. `of` are the present warp's that are read.
void follow_scrambled_rows(Step& s, const WgmmaMma& i, OperandChunks& a, RowMask of) {
  OriginCheck check(i.op, Operand::A);
  Origins origins(s, check.element_bytes());
  const int warp = static_cast<int>(place_in_group(s.warp));
  if (was_in_order(s, origins, a, chunks_of_warp(i.op.form, Operand::A, a, warp))) return;
  std::optional<Scrambled> first;
  RowMask rows = 0;
  bool is_in_order = true;
  for (std::size_t chunk = 0; chunk < a.addresses.size(); ++chunk) {
    const std::uint32_t address = a.addresses[chunk];
    const auto found = check.next(address, origins.element_at(address));
    if (!found) continue;
    is_in_order = false;
    const RowMask own = rows_of_chunk(i.op.form, a, chunk) & of;
    if (own != 0 && !first) first = found;
    rows |= own;
  }
  if (is_in_order) return note_in_order(s, origins, a);
  if (first) follow_rows(s, finding_of_scrambled(s, i, Operand::A, *first), rows);
}

std::size_t index(Operand which) { return static_cast<std::size_t>(which); }

void read_chunk(Step& s, AccessId read, std::uint32_t address) {
  if (!s.cta().shared.contains(address, operand_chunk_bytes))
    return s.fail(Fault::SharedMemoryOutOfRange, -1, address);
  record(s, read, s.warp.cta, {address, address + operand_chunk_bytes});
}

// A warp reads chunks of an operand.
void read_chunks(Step& s, AccessId read, std::span<const std::uint32_t> chunks) {
  while (!chunks.empty() && !s.stopped()) {
    chunks = chunks.subspan(record_ordered(s, read, chunks));
    if (chunks.empty()) return;
    read_chunk(s, read, chunks.front());
    chunks = chunks.subspan(1);
  }
}

// Of A, whose rows are followed: what they make in D may be nobody's (unused_loads.h).
void read_rows(Step& s, AccessId read, const WgmmaMma& i, OperandChunks& a) {
  const int warp = static_cast<int>(place_in_group(s.warp));
  const RowMask own = rows_of_warp(warp);
  const RowMask left_out = leave_out_rows(s, s.c.log[read].operation, own);
  const auto chunks = chunks_of_warp(i.op.form, Operand::A, a, warp);
  const auto first = static_cast<std::size_t>(chunks.data() - a.addresses.data());
  std::size_t next = left_out == 0 ? record_ordered(s, read, chunks) : 0;
  for (; next < chunks.size() && !s.stopped(); ++next) {
    const RowMask rows = rows_of_chunk(i.op.form, a, first + next) & ~left_out;
    if (rows == 0) continue;
    const std::size_t known = s.c.unwritten_reads.size();
    read_chunk(s, read, chunks[next]);
    for (std::size_t n = known; n < s.c.unwritten_reads.size(); ++n) {
      s.c.unwritten_reads[n].rows = rows_in_warp(s.warp, rows);
      s.c.unwritten_reads[n].is_settled = (rows & own) == 0;  // the warp that has them follows them
    }
  }
  if (!a.addresses.empty() && !s.stopped()) follow_scrambled_rows(s, i, a, own & ~left_out);
}

}  // namespace

Fault WgmmaMma::check(const Bounds&) const {
  if (const Fault fault = wgmma::check(op.form); fault != Fault::None) return fault;
  if (d.count != wgmma::accumulator_registers(op.form.d, op.form.n)) return Fault::RegisterCountD;
  const bool a_in_registers = op.form.a_place == wgmma::Place::Registers;
  if (a.count != (a_in_registers ? wgmma::a_registers : 0)) return Fault::RegisterCountA;
  return metadata.count != (op.form.sparse ? 1 : 0) ? Fault::ProgramMalformed : Fault::None;
}

void WgmmaMma::execute(Step& s) const {
  if (!aligned_in_warpgroup(s)) return;
  const wgmma::MmaRegisters registers{op.form, d, a, metadata, op.accumulate, false};
  if (!check_order(s, s.warp.order.mma(registers, s.number), d)) return;
  note_used(s, a);
  note_used(s, metadata);
  Warpgroup& group = warpgroup_of(s.c, s.warp);
  const int in_group = s.warp.index % warps_per_warpgroup;
  const std::uint64_t number = group.mma_count[static_cast<std::size_t>(in_group)]++;
  if (number - group.first_mma == group.mmas.size()) {
    Access access = generic_access(s, AccessKind::WgmmaRead);
    access.stream = s.c.streams.groups(static_cast<int>(&group - s.c.warpgroups.data()));
    access.tick = never;
    access.operation = static_cast<std::uint32_t>(number);
    access.mma = std::get_if<WgmmaMma>(s.kept());
    group.mmas.push_back({s.kept(), s.number, 0, s.c.log.add(access), false});
  }
  Mma& mma = group.mmas[number - group.first_mma];
  if (const auto* first = std::get_if<WgmmaMma>(mma.what); first != nullptr && first->op != op)
    return s.fail(Fault::WgmmaOperandsDiffer, s.first_lane());

  // One access for the warpgroup; what it knows, and whose fences count, are this warp's.
  const auto issuer =
      std::exchange(s.c.log[mma.read].warp, static_cast<std::uint16_t>(s.warp.number));
  const ChunkLists::List lists[] = {s.c.cache.chunks.find(op, Operand::A),
                                    s.c.cache.chunks.find(op, Operand::B)};
  const bool follows_rows = static_cast<bool>(s.c.feed);
  for (const Operand which : {Operand::A, Operand::B})
    if (which == Operand::A && follows_rows)
      read_rows(s, mma.read, *this, *lists[index(which)]);
    else
      read_chunks(s, mma.read, chunks_of_warp(op.form, which, *lists[index(which)], in_group));
  s.c.log[mma.read].warp = issuer;
  note_issued(s, mma);
  if (mma.issued_by != issued_by_all || s.stopped()) return;
  for (const Operand which : {Operand::A, Operand::B})
    if (which == Operand::B || !follows_rows) check_origin(s, *this, which, *lists[index(which)]);
  if (s.c.timing == Timing::Earliest) execute_mmas(s.c, group, number + 1);
}

void WgmmaCommit::execute(Step& s) const {
  if (!aligned_in_warpgroup(s) || !check_order(s, s.warp.order.commit(s.number), {})) return;
  Warpgroup& group = warpgroup_of(s.c, s.warp);
  const std::size_t in_group = place_in_group(s.warp);
  auto& ends = group.group_end[in_group];
  const std::uint64_t begin = std::max(ends.empty() ? 0 : ends.back(), group.first_mma);
  ends.push_back(group.mma_count[in_group]);
  for (std::uint64_t n = begin; n < ends.back(); ++n) {
    Access& read = s.c.log[group.mmas[n - group.first_mma].read];
    if (read.tick == never) read.tick = static_cast<Tick>(ends.size());
  }
}

Fault WgmmaWait::check(const Bounds&) const {
  return pending < 0 ? Fault::ImmediateWaitGroup : Fault::None;
}

// Until all four warps have issued what the groups hold.
bool WgmmaWait::is_blocked(const Standing& at) const {
  const Warpgroup& group = warpgroup_of(at.c, at.warp);
  const auto& ends = group.group_end[place_in_group(at.warp)];
  const std::uint64_t done = groups_done(ends, pending);
  const std::uint64_t end = done == 0 ? 0 : ends[done - 1];
  for (std::uint64_t n = group.first_mma; n < end; ++n)
    if (group.mmas[n - group.first_mma].issued_by != issued_by_all) return true;
  return false;
}

Waiting WgmmaWait::waiting(const Standing& at) const { return at.waits_for(WaitFor::Warpgroup); }

std::string WgmmaWait::text(const Names&) const { return joined("wgmma.wait_group ", pending); }

void WgmmaWait::execute(Step& s) const {
  if (!aligned_in_warpgroup(s) || !check_order(s, s.warp.order.wait(pending, s.number), {})) return;
  Warpgroup& group = warpgroup_of(s.c, s.warp);
  const auto& ends = group.group_end[place_in_group(s.warp)];
  const std::uint64_t done = groups_done(ends, pending);
  if (done == 0) return;
  execute_mmas(s.c, group, ends[done - 1]);
  learn(s, s.lanes, s.c.streams.groups(static_cast<int>(&group - s.c.warpgroups.data())),
        static_cast<Tick>(done));
  while (!group.mmas.empty() && group.first_mma < ends[done - 1] &&
         group.mmas.front().issued_by == issued_by_all) {
    note_gathered(group);
    group.mmas.pop_front();
    ++group.first_mma;
  }
  note_waited(s, group, ends[done - 1]);
}

}  // namespace tcq::machine
