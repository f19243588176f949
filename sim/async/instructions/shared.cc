#include "sim/async/instructions/shared.h"

#include <array>
#include <vector>

#include "sim/async/access.h"
#include "sim/async/register_file.h"
#include "sim/isa/base/matrix_fragment.h"
#include "sim/machine/matrix.h"

namespace tcq::machine {
namespace {

// Do the lanes' bytes follow each other without a gap?
bool is_contiguous(const Step& s, const Address& address, int bytes) {
  return !address.table && s.lanes == all_lanes && address.stride_bytes == bytes;
}

bool addresses_exist(Step& s, const SharedMemory& shared, const Address& address, int bytes) {
  const auto width = static_cast<std::uint32_t>(bytes);
  const std::uint32_t first = address.of(s.thread_of(0));
  if (is_contiguous(s, address, bytes) && first % width == 0 &&
      shared.contains(first, width * warp_threads))
    return true;
  bool exist = true;
  const auto refuse = [&](Fault fault, int lane, std::uint32_t at) {
    if (exist) s.fail(fault, lane, at);
    exist = false;
  };
  s.for_each_lane([&](int lane) {
    const std::uint32_t at = address.of(s.thread_of(lane));
    if (at % width != 0) refuse(Fault::SharedUnaligned, lane, at);
    if (!shared.contains(at, width)) refuse(Fault::SharedMemoryOutOfRange, lane, at);
  });
  return exist;
}

// All lanes' bytes, in one range where they are adjacent.
bool shared_access(Step& s, AccessKind kind, const Address& address, int bytes, AccessId& id) {
  const int cta = s.cta_of(address);
  if (!reach_cta(s, cta, s.first_lane()) || !has_started(s, cta, s.first_lane())) return false;
  if (!addresses_exist(s, s.c.cta(cta).shared, address, bytes)) return false;

  const auto width = static_cast<std::uint32_t>(bytes);
  Access access = generic_access(s, kind);
  access.base = address.of(s.thread_of(0));
  access.stride_bytes = address.stride_bytes;
  access.width = static_cast<std::uint16_t>(width);
  if (address.table) {
    access.base = address.base;
    access.table = address.table->data() + s.thread_of(0);
  }
  id = s.c.log.add(access);
  if (is_contiguous(s, address, bytes))
    return record(s, id, cta, {access.base, access.base + width * warp_threads});
  bool fine = true;
  s.for_each_lane([&](int lane) {
    const std::uint32_t at = address.of(s.thread_of(lane));
    fine = fine && record(s, id, cta, {at, at + width});
  });
  return fine;
}

// The words of all lanes; lane by lane where their bytes are adjacent.
template <class Visit>
void for_each_word(Step& s, const Address& address, int bytes, Visit visit) {
  if (is_contiguous(s, address, bytes)) {
    const std::uint32_t first = address.of(s.thread_of(0));
    for (int word = 0; word < bytes / 4; ++word)
      for (std::uint32_t lane = 0; lane < warp_threads; ++lane)
        visit(lane, word,
              first + lane * static_cast<std::uint32_t>(bytes) +
                  4u * static_cast<std::uint32_t>(word));
    return;
  }
  s.for_each_lane([&](int lane) {
    const std::uint32_t at = address.of(s.thread_of(lane));
    for (int word = 0; word < bytes / 4; ++word)
      visit(static_cast<std::size_t>(lane), word, at + 4 * static_cast<std::uint32_t>(word));
  });
}

// 4, 8 or 16.
Fault check_bytes(int bytes) {
  return bytes == 4 || bytes == 8 || bytes == 16 ? Fault::None : Fault::ProgramMalformed;
}

const char* remote(const Address& a) { return a.cta == own_cta ? "" : "::cluster"; }

}  // namespace

Fault LoadShared::check(const Bounds& bounds) const {
  const Fault fault = check_bytes(bytes);
  return fault != Fault::None ? fault : machine::check(from, bounds);
}
Fault StoreShared::check(const Bounds& bounds) const {
  const Fault fault = check_bytes(bytes);
  return fault != Fault::None ? fault : machine::check(to, bounds);
}

std::string LoadShared::text(const Names& names) const {
  return joined("ld.shared", remote(from), ".b32 ", text_of(range()), ", [", names.at(from), "]");
}
std::string StoreShared::text(const Names& names) const {
  return joined("st.shared", remote(to), ".b32 [", names.at(to), "], ", text_of(range()));
}

void LoadShared::execute(Step& s) const {
  AccessId id = 0;
  if (!shared_access(s, AccessKind::Load, from, bytes, id) || !writes(s, range())) return;
  note_loaded(s, id, range());
  const SharedMemory& shared = s.c.cta(s.cta_of(from)).shared;
  if (bytes == 4 && is_contiguous(s, from, bytes)) {
    s.reg(reg) = shared.load<std::array<std::uint32_t, warp_threads>>(from.of(s.thread_of(0)));
    return;
  }
  for_each_word(s, from, bytes, [&](std::size_t lane, int word, std::uint32_t at) {
    s.reg(reg + word)[lane] = shared.load<std::uint32_t>(at);
  });
}

void StoreShared::execute(Step& s) const {
  AccessId id = 0;
  if (!reads(s, range()) || !shared_access(s, AccessKind::Store, to, bytes, id)) return;
  SharedMemory& shared = s.c.cta(s.cta_of(to)).shared;
  if (bytes == 4 && is_contiguous(s, to, bytes))
    return shared.store(to.of(s.thread_of(0)), s.reg(reg));
  for_each_word(s, to, bytes, [&](std::size_t lane, int word, std::uint32_t at) {
    shared.store(at, s.reg(reg + word)[lane]);
  });
}

// --- matrices --------------------------------------------------------------------------------------

namespace {

bool touch_rows(Step& s, AccessId access, const std::array<std::uint32_t, 32>& rows, int count) {
  constexpr std::uint32_t row_bytes = 16;
  for (int row = 0; row < 8 * count; ++row) {
    const std::uint32_t at = rows[static_cast<std::size_t>(row)];
    if (!record(s, access, s.warp.cta, {at, at + row_bytes})) return false;
  }
  return true;
}

template <class MatrixOp>
void matrices(Step& s, const Address& rows, int first, int count, bool transposed,
              AccessKind kind) {
  if (!s.all_lanes_take_part()) return;
  MatrixOp op;
  op.operand.count = count;
  op.operand.transposed = transposed;
  for (int lane = 0; lane < warp_threads; ++lane)
    op.operand.addresses[static_cast<std::size_t>(lane)] = rows.of(s.thread_of(lane));
  if (const Fault fault = matrix::check(op.operand, s.cta().shared); fault != Fault::None)
    return s.fail(fault);
  const AccessId access = s.c.log.add(generic_access(s, kind));
  if (!touch_rows(s, access, op.operand.addresses, count)) return;
  matrix::WarpRegisters registers{};
  for (std::size_t lane = 0; lane < warp_threads; ++lane)
    for (int r = 0; r < count; ++r)
      registers[lane][static_cast<std::size_t>(r)] = s.reg(first + r)[lane];
  matrix::execute(s.cta().shared, registers, op);
  if (kind != AccessKind::Load) return;
  note_loaded(s, access, {first, count});
  for (std::size_t lane = 0; lane < warp_threads; ++lane)
    for (int r = 0; r < count; ++r)
      s.reg(first + r)[lane] = registers[lane][static_cast<std::size_t>(r)];
}

Fault check_matrices(int count, const Address& rows, const Bounds& bounds) {
  return matrix::count_exists(count) ? check(rows, bounds) : Fault::MatrixCount;
}

std::string matrices_text(const char* opcode, int count, bool transposed) {
  return joined(opcode, ".sync.aligned.m8n8.x", count, transposed ? ".trans" : "", ".shared.b16 ");
}

}  // namespace

Fault LoadMatrices::check(const Bounds& bounds) const {
  return check_matrices(count, rows, bounds);
}
Fault StoreMatrices::check(const Bounds& bounds) const {
  return check_matrices(count, rows, bounds);
}

std::string LoadMatrices::text(const Names& names) const {
  return joined(matrices_text("ldmatrix", count, transposed), text_of(range()), ", [",
                names.at(rows), "]");
}
std::string StoreMatrices::text(const Names& names) const {
  return joined(matrices_text("stmatrix", count, transposed), "[", names.at(rows), "], ",
                text_of(range()));
}

void LoadMatrices::execute(Step& s) const {
  if (!writes(s, range())) return;
  matrices<matrix::LoadMatrix>(s, rows, reg, count, transposed, AccessKind::Load);
}

void StoreMatrices::execute(Step& s) const {
  if (!reads(s, range())) return;
  matrices<matrix::StoreMatrix>(s, rows, reg, count, transposed, AccessKind::Store);
}

// --- the proxy fence -------------------------------------------------------------------------------

namespace {

void release_to_proxy(Step& s, FencedMemory memory) {
  const int warp = s.warp.number;
  if (s.lanes == all_lanes) {
    s.warp.clock.raise(s.c.streams.fences(warp, memory), s.warp.fences);
  } else {
    s.for_each_lane([&](int lane) {
      s.warp.clock.raise(s.c.streams.make_lane_fences(warp, lane, memory), s.warp.fences);
    });
  }
}

void acquire_from_proxy(Step& s, bool global) {
  std::vector<FenceClock>& at_fence = s.warp.at_fence[global];
  for (FenceClock& fence : at_fence) fence.lanes &= ~s.lanes;
  std::erase_if(at_fence, [](const FenceClock& fence) { return fence.lanes == 0; });
  at_fence.push_back({s.lanes, s.warp.clock, s.warp.order_of_lanes.ordered.all()});
}

}  // namespace

void FenceProxyAsync::execute(Step& s) const {
  ++s.warp.fences;
  if (releases && shared) release_to_proxy(s, FencedMemory::Own);
  if (releases && peers) release_to_proxy(s, FencedMemory::Peers);
  if (releases && global) release_to_proxy(s, FencedMemory::Global);
  if (acquires && shared) acquire_from_proxy(s, false);
  if (acquires && global) acquire_from_proxy(s, true);
}

}  // namespace tcq::machine
