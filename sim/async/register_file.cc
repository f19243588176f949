#include "sim/async/register_file.h"

#include <algorithm>

#include "sim/async/tmem_access.h"

namespace tcq::machine {

bool check_order(Step& s, const wgmma::OrderFault& found, RegisterRange range) {
  if (found.fault == Fault::None) return true;
  Finding finding;
  finding.fault = found.fault;
  finding.at = s.place();
  if (found.fault != Fault::RegisterUninitialized && found.has_earlier)
    finding.earlier = {found.earlier, s.warp.number, -1};
  finding.registers = found.reg >= 0 ? RegisterRange{found.reg, 1} : range;
  finding.number = found.group;
  return !s.c.stops_at(std::move(finding));
}

namespace {

void note_lost(Step& s, RegisterRange range) {
  for (int r = range.first; r < range.first + range.count; ++r) {
    LoadedRegister& loaded = s.warp.loaded[static_cast<std::size_t>(r)];
    if ((loaded.lanes & s.lanes) == 0) continue;
    loaded.lanes &= ~s.lanes;
    Access& load = s.c.log[loaded.load];
    if (load.loaded == Loaded::Waiting) load.loaded = Loaded::Lost;
  }
}

}  // namespace

bool reads(Step& s, RegisterRange range, bool moved) {
  use_registers(s, range, true);
  note_used(s, range);
  return check_order(s, s.warp.order.read(range, s.number, moved), range);
}

bool writes(Step& s, RegisterRange range, bool moved) {
  const int limit = s.c.feed ? 0 : s.warp.max_registers;  // a feed's are virtual
  if (limit != 0 && range.first + range.count > limit) {
    s.fail(Fault::RegisterOutOfRange, -1, range.first + range.count - 1);
    return false;
  }
  use_registers(s, range, false);
  note_lost(s, range);
  return check_order(s, s.warp.order.write(range, s.number, moved), range);
}

namespace {

void note_all_loaded(Step& s, AccessId load, const auto& registers, std::size_t count) {
  for (const int r : registers) s.warp.loaded[static_cast<std::size_t>(r)] = {load, s.lanes};
  s.c.log[load].operation = static_cast<std::uint32_t>(count);
}

}  // namespace

void note_loaded(Step& s, AccessId load, RegisterRange range) {
  note_all_loaded(s, load, range, static_cast<std::size_t>(range.count));
}
void note_loaded(Step& s, AccessId load, wgmma::RegisterList registers) {
  note_all_loaded(s, load, registers, registers.size());
}

// A load is over once every lane has used every register that it brought.
void note_used(Step& s, RegisterRange range) {
  const int end = std::min(range.first + range.count, static_cast<int>(s.warp.loaded.size()));
  for (int r = range.first; r < end; ++r) {
    LoadedRegister& loaded = s.warp.loaded[static_cast<std::size_t>(r)];
    if ((loaded.lanes & s.lanes) == 0) continue;
    loaded.lanes &= ~s.lanes;
    Access& load = s.c.log[loaded.load];
    if (loaded.lanes != 0 || load.loaded != Loaded::Waiting || --load.operation != 0) continue;
    load.loaded = Loaded::Used;
    load.operation = s.warp.clock.at(load.stream);
  }
}

}  // namespace tcq::machine
