#include "tools/sm90_jobs.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "cuda/probe/bulk_sm90.h"
#include "cuda/probe/groups_sm90.h"
#include "cuda/probe/mbarrier_sm90.h"
#include "cuda/probe/scalar_sm90.h"
#include "cuda/probe/statement_sm90.h"
#include "cuda/probe/tma_sm90.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/tensor_map.h"
#include "oracle/recording/statement_rows.h"
#include "tools/device_jobs.h"

namespace tcq::tools {
namespace {

using oracle::BulkCopy;
using oracle::bytes_of;
using oracle::Case;
using oracle::Inputs;
using oracle::Memories;
using oracle::TileCopy;
using Bytes = std::vector<std::uint8_t>;

static_assert(cuda::tile_shared_base == shared_base_sm90);

// What came back from a kernel that ended.
struct Ran {
  Bytes output;
  bool completed = true;  // the mbarrier's phase
};

Ran run(const oracle::WgmmaCase& e, const Inputs& in) {
  std::array<Job, 1> jobs{Job{e.instruction, state(e, in)}};
  run_on_device(jobs);
  return {kept_outputs(e, jobs[0].state)};
}

Ran run(const TileCopy& e, const Inputs& in) {
  const Memories before = state(e, in);
  Bytes shared = bytes_of(before.shared);
  Ran ran{before.global};
  switch (e.kind) {
    case TileCopy::Kind::Load:
      ran.completed = cuda::probe_load(e.tile, shared, before.global);
      ran.output = std::move(shared);
      break;
    case TileCopy::Kind::Multicast:
      ran.completed = cuda::probe_multicast(e.tile, e.how, shared, before.global, ran.output);
      break;
    case TileCopy::Kind::Store: cuda::probe_store(e.tile, shared, ran.output); break;
    case TileCopy::Kind::Reduce: cuda::probe_reduce(e.reduction, e.tile, shared, ran.output); break;
  }
  return ran;
}

Ran run(const BulkCopy& e, const Inputs& in) {
  const Memories before = state(e, in);
  Bytes shared = bytes_of(before.shared);
  Ran ran{before.global};
  switch (e.kind) {
    case BulkCopy::Kind::Load:
      ran.completed = cuda::probe_bulk_load(e.range, shared, before.global);
      ran.output = std::move(shared);
      break;
    case BulkCopy::Kind::Multicast:
      ran.completed = cuda::probe_bulk_multicast(e.range, e.how, shared, before.global, ran.output);
      break;
    case BulkCopy::Kind::Store: cuda::probe_bulk_store(e.range, shared, ran.output); break;
    case BulkCopy::Kind::Reduce:
      cuda::probe_bulk_reduce(e.reduction, e.type, e.range, shared, ran.output);
      break;
    case BulkCopy::Kind::Send:
      ran.completed = cuda::probe_bulk_send(send_of(e), e.how.cluster, shared, ran.output);
      break;
    case BulkCopy::Kind::SendReduce:
      ran.completed = cuda::probe_bulk_send_reduce(e.reduction, e.type, send_of(e), e.how.cluster,
                                                   shared, ran.output);
      break;
  }
  return ran;
}

Ran run(const oracle::MatrixMove& e, const Inputs& in) {
  Memories before = state(e, in);
  Bytes shared = bytes_of(before.shared);
  cuda::probe_matrix({returns_shared(e), e.operand.count, e.operand.transposed},
                     e.operand.addresses, shared,
                     {before.registers.front().data(), sizeof before.registers / 4});
  return {returns_shared(e) ? std::move(shared) : bytes_of(before.registers)};
}

Ran run(const oracle::MapEncoding& e, const Inputs&) {
  return {{static_cast<std::uint8_t>(cuda::encode_accepts(e.map) ? 1 : 0)}};
}

Ran run(const oracle::MbarrierScript& e, const Inputs& in) {
  return {oracle::to_bytes(cuda::probe_mbarrier(mbarrier_steps(e, in), e.cluster, e.misplaced_by))};
}

Ran run(const oracle::WgmmaGroups& e, const Inputs& in) {
  Memories before = state(e, in);
  oracle::GroupsSequence sequence = groups_sequence(e, in);
  std::vector<std::uint32_t> d(before.global.size() / sizeof(std::uint32_t));
  std::memcpy(d.data(), before.global.data(), before.global.size());
  cuda::probe_groups({groups_form(e), std::move(sequence.statements), sequence.accumulators,
                      e.pending, std::move(sequence.covered)},
                     bytes_of(before.shared), d);
  std::memcpy(before.global.data(), d.data(), before.global.size());
  return {std::move(before.global)};
}

Ran run(const oracle::ScalarCase& e, const Inputs& in) {
  const oracle::ScalarSources sources = state(e, in);
  Bytes results(scalar_result_bytes(e));
  cuda::probe_scalar(e.spelling, row_count(e.kind), sources.words, results);
  return {std::move(results)};
}

Ran run(const oracle::StatementCase& e, const Inputs& in) {
  auto [memory, text] = state(e, in);
  cuda::probe_statement(e.name, text, oracle::statement_ctas, oracle::statement_threads, memory,
                        oracle::find_statement(e.name)->map);
  return {std::move(memory)};
}

Ran run(const oracle::LaunchCase& e, const Inputs& in) {
  auto [memory, text] = state(e, in);
  cuda::probe_statement(describe(e, in), text, 1, oracle::launch_threads, memory, {},
                        has_attribute(e) ? 1 : 0);
  return {std::move(memory)};
}

Ran run(const oracle::Tcgen05Case&, const Inputs&) {
  throw std::runtime_error("tcgen05 needs a device of compute capability 10");
}

Ran run_case(const Case& c) {
  return on(c, [](const auto& e, const Inputs& in) { return run(e, in); });
}

Attempt attempt(const Case& c) {
  try {
    const Ran ran = run_case(c);
    return {ran.completed ? Ending::Answered : Ending::TimedOut,
            0,
            ran.completed ? "" : "the mbarrier's phase did not complete",
            {ran.output.begin(), ran.output.end()}};
  } catch (const cuda::MapRefused& error) {
    return {Ending::Refused, 0, error.what(), ""};
  } catch (const cuda::KernelError& error) {
    return {cuda::is_exception(error.status()) ? Ending::Trapped : Ending::Failed,
            static_cast<int>(error.status()), error.what(), ""};
  } catch (const std::exception& error) {
    return {is_trap(error.what()) ? Ending::Trapped : Ending::Failed, 0, error.what(), ""};
  }
}

}  // namespace

void answer_here(Case& c) {
  try {
    Ran ran = run_case(c);
    set_answer(c, ran.completed ? oracle::Outcome::Completed : oracle::Outcome::Timeout,
               std::move(ran.output));
  } catch (const cuda::MapRefused&) {
    set_answer(c, oracle::Outcome::Refused, {});
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", describe(c), error.what()));
  }
}

std::optional<FoundDevice> find_sm90() {
  return find_device([] {
    require_sm90();
    return Target::sm_90a;
  });
}

Device sm90_device() {
  return {[] { require_sm90(); }, attempt, {}};
}

}  // namespace tcq::tools
