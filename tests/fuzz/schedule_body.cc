// Any bytes as a schedule for --replay: see bodies.h.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/diagnosis/schedule_text.h"
#include "oracle/run/schedule.h"
#include "sim/async/replay.h"
#include "sim/ptx/decode.h"
#include "sim/run/address_map.h"
#include "sim/run/launch.h"
#include "tests/fuzz/bodies.h"

namespace tcq::fuzz {
namespace {

// A copy in flight, a store in flight, a test whose result depends on the order.
constexpr std::string_view text = R"(
.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 words)
{
  .shared .align 16 .b8 tile[128];
  .shared .align 8 .b64 full;
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 mbarrier.init.shared::cta.b64 [full], 1;
  fence.proxy.async;
  bar.sync 0;
  @%p1 bra look;
  mov.u32 %r3, full;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [%r3];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
  @!%p2 bra wait;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1+128], [%r2], 128;
  cp.async.bulk.commit_group;
  mbarrier.test_wait.parity.shared::cta.b64 %p2, [full], 0;
  cp.async.bulk.wait_group 0;
look:
  mbarrier.test_wait.parity.shared::cta.b64 %p3, [full], 0;
  selp.u32 %r4, 1, 0, %p3;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  st.global.u32 [%rd2+256], %r4;
  ret;
}
)";

machine::Program make() {
  static const ptx::Program program = ptx::load(text);
  const auto kernel = std::make_shared<const run::Kernel>(run::lower(program, "k", "fuzz.ptx"));
  run::Launch launch;
  launch.block = {64};
  for (int i = 0; i < 8; ++i)
    launch.parameters.push_back(static_cast<std::uint8_t>(run::global_window >> 8 * i));
  return run::make_program(kernel, launch, 0, std::vector<std::uint8_t>(512));
}

void demand(bool holds, std::string_view law, std::string_view of) {
  if (!holds) throw Broken(std::string(law) + ": " + std::string(of));
}

// Followed to its end or refused with a sentence; what was followed comes again.
void follow(std::string_view bytes) {
  machine::Schedule schedule;
  try {
    schedule.execution.steps = oracle::parse_steps(bytes);
  } catch (const oracle::BadFile& bad) {
    return demand(*bad.what() != 0, "refused without a sentence", bytes);
  }
  const std::string printed = oracle::steps_text(schedule.execution.steps);
  demand(oracle::parse_steps(printed) == schedule.execution.steps, "not what was read", bytes);
  schedule.program = fingerprint(schedule_program());
  schedule.max_instructions = 1000;
  const machine::Replay first = replay(schedule_program(), schedule);
  const machine::Replay again = replay(schedule_program(), schedule);
  demand(first.misfit == again.misfit && first.step == again.step, "it went otherwise", bytes);
  demand(first.finding == again.finding && first.global == again.global, "other results", bytes);
  demand(oracle::misfit_text(schedule, first).empty() == (first.misfit == machine::Misfit::None),
         "no sentence", bytes);
}

}  // namespace

const machine::Program& schedule_program() {
  static const machine::Program program = make();
  return program;
}

void schedule(std::string_view bytes) {
  try {
    const oracle::run::StoredSchedule read = oracle::run::parse_stored(bytes, 1, "file");
    const std::string printed = oracle::json_text(value_of(read));
    demand(oracle::run::parse_stored(printed, 1, "") == read, "not what was read", bytes);
  } catch (const oracle::UsageError& error) {
    demand(std::string_view(error.what()).size() > 10, "refused without a sentence", bytes);
  }
  follow(bytes);
}

}  // namespace tcq::fuzz
