#include "tools/sm100_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cuda/probe/alloc_sm100.h"
#include "cuda/probe/tcgen05_sm100.h"
#include "cuda/runtime/launch.h"
#include "tools/device_jobs.h"

namespace tcq::tools {
namespace {

using cuda::Probed;
using oracle::Case;
using oracle::Inputs;
using oracle::Tcgen05Case;
using oracle::Tcgen05State;

static_assert(oracle::tmem_words == cuda::tmem_image_words);

using Words = std::vector<std::uint32_t>;

// What came back from a kernel that ended.
struct Ran {
  bool completed = true;
  Words output;      // as in Tcgen05Case
  bool same = true;  // all state is what went in
};

ptx::Tcgen05MmaOperands mma_operands(const oracle::Tcgen05Operands& o) {
  ptx::Tcgen05MmaOperands operands;
  operands.d = o.d;
  operands.desc_a = o.desc_a;
  operands.a = o.a;
  operands.desc_b = o.desc_b;
  operands.metadata = o.metadata;
  operands.idesc = o.idesc;
  std::ranges::copy(o.disable_output_lane, operands.disable_output_lane);
  operands.scale_a = o.scale_a;
  operands.scale_b = o.scale_b;
  operands.accumulate = o.accumulate;
  operands.zero_column_mask = o.zero_column_mask;
  return operands;
}

// Tensor Memory of all CTAs.
Ran run_issue(const cuda::IssueProbe& probe, const Tcgen05Case& c, const Inputs& in) {
  if (probe.shared_base() != oracle::tcgen05_shared_base)
    throw std::runtime_error(fmt::format("dynamic shared memory starts at {}, not at {}",
                                         probe.shared_base(), oracle::tcgen05_shared_base));
  const Tcgen05State state = oracle::state(c, in);
  Ran r;
  r.output.resize(state.tmem.size() * oracle::tmem_words);
  cuda::IssueCase one;
  one.mma = mma_operands(c.operands);
  one.taddr = c.operands.taddr[0];
  one.desc = c.operands.desc;
  for (std::size_t rank = 0; rank < state.tmem.size(); ++rank)
    one.cta[rank] = {state.shared[rank].data(), state.tmem[rank].data(),
                     r.output.data() + rank * oracle::tmem_words};
  one.completed = &r.completed;
  probe.run({&one, 1}, static_cast<std::uint32_t>(state.shared.front().size()));
  for (std::size_t rank = 0; rank < state.tmem.size(); ++rank)
    r.same = r.same && std::ranges::equal(state.tmem[rank],
                                          std::span(r.output).subspan(rank * oracle::tmem_words,
                                                                      oracle::tmem_words));
  return r;
}

// ld and ld.red: registers, reduced words; all: Tensor Memory.
Ran run_registers(const cuda::RegisterProbe& probe, const Tcgen05Case& c, const Inputs& in,
                  bool loads, bool reduces) {
  constexpr std::size_t threads = 128;
  const Tcgen05State state = oracle::state(c, in);
  Words registers(state.registers.size());
  Words reduced(reduces ? threads : 0);
  Words tmem(oracle::tmem_words);
  cuda::RegisterCase one;
  std::ranges::copy(c.operands.taddr, one.taddr);
  one.cta = {nullptr, state.tmem.front().data(), tmem.data()};
  one.registers_in = state.registers.data();
  one.registers_out = registers.data();
  one.reduced = reduces ? reduced.data() : nullptr;
  probe.run({&one, 1});
  Ran r;
  if (loads) r.output.insert(r.output.end(), registers.begin(), registers.end());
  r.output.insert(r.output.end(), reduced.begin(), reduced.end());
  r.output.insert(r.output.end(), tmem.begin(), tmem.end());
  r.same = tmem == state.tmem.front() && registers == state.registers;
  return r;
}

// Three words for each step of each CTA; how long it took is no output.
Ran run_alloc(const oracle::AllocSequence& sequence) {
  Ran r;
  for (const cuda::AllocResult& result : cuda::probe_alloc(sequence.cta_group, sequence.steps)) {
    r.output.insert(r.output.end(), {result.address, result.blocked, result.skipped});
    r.same = r.same && result.blocked == 0 && result.skipped == 0;
  }
  return r;
}

Ran run_form(const tcgen05::MmaForm& form, const Tcgen05Case& c, const Inputs& in, Probed probed) {
  return run_issue(cuda::IssueProbe(form, c.immediate, probed), c, in);
}
Ran run_form(const tcgen05::CpForm& form, const Tcgen05Case& c, const Inputs& in, Probed probed) {
  return run_issue(cuda::IssueProbe(form, probed), c, in);
}
Ran run_form(const tcgen05::ShiftForm& form, const Tcgen05Case& c, const Inputs& in,
             Probed probed) {
  return run_issue(cuda::IssueProbe(form, probed), c, in);
}
Ran run_form(const tcgen05::LdForm& form, const Tcgen05Case& c, const Inputs& in, Probed probed) {
  return run_registers(cuda::RegisterProbe(form, c.immediate, probed), c, in, true, false);
}
Ran run_form(const tcgen05::StForm& form, const Tcgen05Case& c, const Inputs& in, Probed probed) {
  return run_registers(cuda::RegisterProbe(form, c.immediate, probed), c, in, false, false);
}
Ran run_form(const tcgen05::LdRedForm& form, const Tcgen05Case& c, const Inputs& in,
             Probed probed) {
  return run_registers(cuda::RegisterProbe(form, c.immediate, probed), c, in, true, true);
}
// Without its steps nothing of the kernel is left: the control is the least that allocates.
Ran run_form(const oracle::AllocSequence& sequence, const Tcgen05Case&, const Inputs&,
             Probed probed) {
  using Action = tcgen05::AllocStep::Action;
  if (probed == Probed::Instruction) return run_alloc(sequence);
  return run_alloc({sequence.cta_group,
                    {{Action::Alloc, 32, 0}, {Action::Dealloc, 0, 0}, {Action::Relinquish, 0, 0}}});
}

Ran execute(const Case& any, Probed probed) {
  const auto& c = std::get<Tcgen05Case>(any.experiment);
  return std::visit([&](const auto& form) { return run_form(form, c, any, probed); }, c.form);
}

// What an error of a kernel that had begun says about it.
Attempt attempt_of(const cuda::KernelError& error) {
  Attempt a{Ending::Failed, static_cast<int>(error.status()), error.what(), ""};
  if (cuda::is_exception(error.status())) a.ending = Ending::Trapped;
  if (error.status() == cudaErrorTensorMemoryLeak) a.ending = Ending::Leaked;
  if (error.status() == cudaErrorLaunchTimeout)
    a.ending = Ending::Hung;  // a watchdog of the driver
  return a;
}

template <class Work>
Attempt attempt(Work work) {
  try {
    return work();
  } catch (const cuda::KernelError& error) {
    return attempt_of(error);
  }
}

Attempt run_case(const Case& c) {
  return attempt([&] {
    const Ran r = execute(c, Probed::Instruction);
    if (!r.completed) return Attempt{Ending::TimedOut, 0, "the mbarrier did not complete", ""};
    return Attempt{
        Ending::Answered,
        0,
        "",
        {reinterpret_cast<const char*>(r.output.data()), r.output.size() * sizeof r.output[0]}};
  });
}

Attempt run_control(const Case& c) {
  return attempt([&] {
    const Ran r = execute(c, Probed::Nothing);
    if (!r.completed) return Attempt{Ending::Failed, 0, "an empty commit does not arrive", ""};
    if (!r.same) return Attempt{Ending::Failed, 0, "what went in does not come back", ""};
    return Attempt{};
  });
}

}  // namespace

std::optional<FoundDevice> find_sm100() { return find_device(cuda::sm100_target); }

std::optional<FoundDevice> find_any() {
  return find_device([] {
    const bool is_sm90 =
        cuda::device_count() != 0 && cuda::identity(cuda::current_device()).major == 9;
    return is_sm90 ? Target::sm_90a : cuda::sm100_target();
  });
}

Device sm100_device() {
  return {[] { CUDA_CHECK(cudaFree(nullptr)); }, run_case, run_control};
}

}  // namespace tcq::tools
