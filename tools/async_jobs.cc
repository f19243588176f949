#include "tools/async_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "cuda/probe/bulk_sm90.h"
#include "cuda/probe/groups_sm90.h"
#include "cuda/probe/mbarrier_sm90.h"
#include "cuda/probe/tma_sm90.h"
#include "cuda/runtime/tensor_map.h"
#include "oracle/recording/async_groups.h"
#include "oracle/recording/async_mbarrier.h"
#include "tools/device_jobs.h"

namespace tcq::tools {
namespace {

using oracle::AsyncCase;
using oracle::AsyncState;
using oracle::Move;
using oracle::Outcome;

static_assert(cuda::tile_shared_base == shared_base_sm90);

std::vector<std::uint8_t> bytes_of(const SharedMemory& shared) {
  return {shared.data(), shared.data() + shared.size()};
}

void run_load(AsyncCase& c, const AsyncState& state) {
  c.output = bytes_of(state.shared);
  const bool completed =
      cuda::probe_load(c.tile.map, c.tile.start, c.tile.shared_address, c.output, state.global);
  c.outcome = completed ? Outcome::Completed : Outcome::Timeout;
}

void run_multicast(AsyncCase& c, const AsyncState& state) {
  const bool completed = cuda::probe_multicast(c.tile.map, c.tile.start, c.tile.shared_address,
                                               {c.cluster, c.issuer, c.mask},
                                               bytes_of(state.shared), state.global, c.output);
  c.outcome = completed ? Outcome::Completed : Outcome::Timeout;
}

void run_outward(AsyncCase& c, const AsyncState& state) {
  c.output = state.global;
  const std::vector<std::uint8_t> shared = bytes_of(state.shared);
  if (c.move == Move::Store)
    cuda::probe_store(c.tile.map, c.tile.start, c.tile.shared_address, shared, c.output);
  else
    cuda::probe_reduce(c.reduction, c.tile.map, c.tile.start, c.tile.shared_address, shared,
                       c.output);
}

void run_matrix(AsyncCase& c, const AsyncState& state) {
  const bool store = c.move == Move::StoreMatrix;
  std::vector<std::uint8_t> shared = bytes_of(state.shared);
  std::vector<std::uint32_t> registers(sizeof state.registers / sizeof(std::uint32_t));
  std::memcpy(registers.data(), state.registers.data(), sizeof state.registers);
  cuda::probe_matrix({store, c.operand.count, c.operand.transposed}, c.operand.addresses, shared,
                     registers);
  if (!store) {
    shared.resize(sizeof state.registers);
    std::memcpy(shared.data(), registers.data(), sizeof state.registers);
  }
  c.output = std::move(shared);
}

void run_bulk_cta(AsyncCase& c, const AsyncState& state) {
  const cuda::BulkRange range{c.bulk.global, c.bulk.shared, c.bulk.bytes};
  std::vector<std::uint8_t> shared = bytes_of(state.shared);
  if (c.move == Move::BulkLoad) {
    const bool completed = cuda::probe_bulk_load(range, shared, state.global);
    c.outcome = completed ? Outcome::Completed : Outcome::Timeout;
    c.output = std::move(shared);
    return;
  }
  c.output = state.global;
  if (c.move == Move::BulkStore)
    cuda::probe_bulk_store(range, shared, c.output);
  else
    cuda::probe_bulk_reduce(c.reduction, c.bulk.type, range, shared, c.output);
}

void run_bulk_cluster(AsyncCase& c, const AsyncState& state) {
  const std::vector<std::uint8_t> shared = bytes_of(state.shared);
  const cuda::BulkRange range{c.bulk.global, c.bulk.shared, c.bulk.bytes};
  const cuda::BulkSend send{c.cluster,          static_cast<std::uint32_t>(c.issuer),
                            c.bulk.shared,      c.bulk.destination_rank,
                            c.bulk.destination, c.bulk.bytes};
  const bool completed =
      c.move == Move::BulkMulticast
          ? cuda::probe_bulk_multicast(range, {c.cluster, c.issuer, c.mask}, shared, state.global,
                                       c.output)
      : c.move == Move::BulkSend
          ? cuda::probe_bulk_send(send, shared, c.output)
          : cuda::probe_bulk_send_reduce(c.reduction, c.bulk.type, send, shared, c.output);
  c.outcome = completed ? Outcome::Completed : Outcome::Timeout;
}

void run_mbarrier(AsyncCase& c) {
  std::vector<cuda::MbarrierStep> steps;
  for (const oracle::MbarrierStep& s : oracle::mbarrier_steps(c))
    steps.push_back({s.operation, s.number, static_cast<std::uint32_t>(s.issuer)});
  static_assert(cuda::no_pending_count == oracle::no_pending_count);
  std::vector<oracle::MbarrierAnswer> answers;
  for (const cuda::MbarrierAnswer& a :
       cuda::probe_mbarrier(steps, c.cluster, c.mbarrier.misplaced_by))
    answers.push_back({a.passes, a.pending_count});
  c.output = oracle::to_bytes(answers);
}

void run_groups(AsyncCase& c, const AsyncState& state) {
  const oracle::GroupsSequence sequence = oracle::groups_sequence(c);
  cuda::GroupsProgram program{
      oracle::groups_form(c), {}, sequence.accumulators, c.groups.pending, sequence.covered};
  for (const oracle::GroupsStatement& s : sequence.statements) {
    const auto kind = s.commit ? cuda::GroupsStatement::Commit : cuda::GroupsStatement::Mma;
    program.statements.push_back({kind, s.accumulator, s.instruction.accumulate,
                                  s.instruction.desc_a, s.instruction.desc_b});
  }
  std::vector<std::uint32_t> d(state.global.size() / sizeof(std::uint32_t));
  std::memcpy(d.data(), state.global.data(), state.global.size());
  cuda::probe_groups(program, bytes_of(state.shared), d);
  c.output.resize(state.global.size());
  std::memcpy(c.output.data(), d.data(), c.output.size());
}

void run_instruction(AsyncCase& c) {
  if (c.move == Move::Encode) {
    c.output = {static_cast<std::uint8_t>(cuda::encode_accepts(c.tile.map) ? 1 : 0)};
    return;
  }
  const AsyncState state = oracle::build_state(c);
  switch (c.move) {
    case Move::Load: run_load(c, state); break;
    case Move::Multicast: run_multicast(c, state); break;
    case Move::Store:
    case Move::Reduce: run_outward(c, state); break;
    case Move::BulkLoad:
    case Move::BulkStore:
    case Move::BulkReduce: run_bulk_cta(c, state); break;
    case Move::BulkMulticast:
    case Move::BulkSend:
    case Move::BulkSendReduce: run_bulk_cluster(c, state); break;
    case Move::Mbarrier: run_mbarrier(c); break;
    case Move::WgmmaGroups: run_groups(c, state); break;
    default: run_matrix(c, state); break;
  }
}

void run_case(AsyncCase& c) {
  try {
    run_instruction(c);
  } catch (const cuda::MapRefused&) {
    c.outcome = Outcome::Refused;
    c.output.clear();
  }
}

// The outcome as one byte, then the output.
std::string outcome_and_output(AsyncCase& c) {
  run_case(c);
  std::string bytes(1, static_cast<char>(c.outcome));
  return bytes.append(c.output.begin(), c.output.end());
}

}  // namespace

void record_async_cases(std::span<AsyncCase> cases, void (*progress)(std::size_t done)) {
  std::size_t done = 0;
  for (AsyncCase& c : cases) {
    c.input_hash = oracle::hash_inputs(oracle::build_state(c));
    try {
      run_case(c);
    } catch (const std::exception& error) {
      throw std::runtime_error(
          fmt::format("case {}: {}: {}", done, oracle::describe(c), error.what()));
    }
    c.hashes = oracle::hash_blocks(c.output);
    progress(++done);
  }
}

void record_async_edge_cases(std::span<AsyncCase> cases, void (*progress)(std::size_t done)) {
  const auto run = [cases](std::size_t index) {
    return attempt_to([&] { return outcome_and_output(cases[index]); });
  };
  run_alone(cases.size(), run, [&](std::size_t index, const Attempt& a) {
    AsyncCase& c = cases[index];
    c.input_hash = oracle::hash_inputs(oracle::build_state(c));
    if (a.ending == Ending::Trapped)
      fmt::print(stderr, "  {}: {}\n", oracle::describe(c), a.sentence);
    c.outcome = a.ending == Ending::Trapped ? Outcome::Trap : static_cast<Outcome>(a.answer.at(0));
    c.output.assign(a.answer.begin() + (a.answer.empty() ? 0 : 1), a.answer.end());
    c.hashes = oracle::hash_blocks(c.output);
    progress(index + 1);
  });
}

}  // namespace tcq::tools
