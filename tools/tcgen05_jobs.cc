#include "tools/tcgen05_jobs.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/probe_alloc_sm100.h"
#include "cuda/probe_sm100.h"
#include "tools/device_jobs.h"

namespace tcq::tools {
namespace {

using oracle::Tcgen05Case;
using oracle::Tcgen05Outcome;
using oracle::Tcgen05State;
using Group = std::vector<Tcgen05Case*>;

static_assert(oracle::tmem_words == cuda::tmem_image_words);

constexpr std::size_t group_cases = 64;  // bounds memory: up to 1 MiB of images each
constexpr int child_trapped = 3;

// ---- In a child ---------------------------------------------------------------------------------

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

// Tensor Memory of all CTAs of a case becomes its output.
void run_issue(const cuda::IssueProbe& probe, const Group& group) {
  if (probe.shared_base() != oracle::tcgen05_shared_base)
    throw std::runtime_error(fmt::format("dynamic shared memory starts at {}, not at {}",
                                         probe.shared_base(), oracle::tcgen05_shared_base));
  std::vector<Tcgen05State> states;
  for (const Tcgen05Case* c : group) states.push_back(build_state(*c));
  const auto completed = std::make_unique<bool[]>(group.size());
  std::vector<cuda::IssueCase> cases;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const oracle::Tcgen05Operands& o = group[i]->operands;
    const Tcgen05State& state = states[i];
    group[i]->output.resize(state.tmem.size() * oracle::tmem_words);
    cuda::IssueCase c;
    c.mma = mma_operands(o);
    c.taddr = o.taddr[0];
    c.desc = o.desc;
    for (std::size_t rank = 0; rank < state.tmem.size(); ++rank)
      c.cta[rank] = {state.shared[rank].data(), state.tmem[rank].data(),
                     group[i]->output.data() + rank * oracle::tmem_words};
    c.completed = &completed[i];
    cases.push_back(c);
  }
  probe.run(cases, static_cast<std::uint32_t>(states.front().shared.front().size()));
  for (std::size_t i = 0; i < group.size(); ++i)
    group[i]->outcome = completed[i] ? Tcgen05Outcome::Completed : Tcgen05Outcome::Timeout;
}

// st: Tensor Memory; ld and ld.red: registers, reduced words, Tensor Memory.
void run_registers(const cuda::RegisterProbe& probe, const Group& group, bool loads, bool reduces) {
  constexpr std::size_t threads = 128;
  for (Tcgen05Case* c : group) {
    const Tcgen05State state = build_state(*c);
    std::vector<std::uint32_t> registers(state.registers.size());
    std::vector<std::uint32_t> reduced(reduces ? threads : 0);
    std::vector<std::uint32_t> tmem(oracle::tmem_words);
    cuda::RegisterCase one;
    std::ranges::copy(c->operands.taddr, one.taddr);
    one.cta = {nullptr, state.tmem.front().data(), tmem.data()};
    one.registers_in = state.registers.data();
    one.registers_out = registers.data();
    one.reduced = reduces ? reduced.data() : nullptr;
    probe.run({&one, 1});
    c->output.clear();
    if (loads) c->output.insert(c->output.end(), registers.begin(), registers.end());
    c->output.insert(c->output.end(), reduced.begin(), reduced.end());
    c->output.insert(c->output.end(), tmem.begin(), tmem.end());
  }
}

// Three words for each step of each CTA; how long it took is no output.
void run_alloc(const oracle::AllocSequence& sequence, Tcgen05Case& c) {
  std::vector<cuda::AllocStep> steps;
  for (const oracle::AllocStep& step : sequence.steps)
    steps.push_back(
        {static_cast<cuda::AllocStep::Action>(step.action), step.columns, step.allocation});
  c.output.clear();
  for (const cuda::AllocResult& r : cuda::probe_alloc(sequence.cta_group, steps))
    c.output.insert(c.output.end(), {r.address, r.blocked, r.skipped});
}

void run_form(const tcgen05::MmaForm& form, const Group& group) {
  run_issue(cuda::IssueProbe(form, group.front()->immediate), group);
}
void run_form(const tcgen05::CpForm& form, const Group& group) {
  run_issue(cuda::IssueProbe(form), group);
}
void run_form(const tcgen05::ShiftForm& form, const Group& group) {
  run_issue(cuda::IssueProbe(form), group);
}
void run_form(const tcgen05::LdForm& form, const Group& group) {
  run_registers(cuda::RegisterProbe(form, group.front()->immediate), group, true, false);
}
void run_form(const tcgen05::StForm& form, const Group& group) {
  run_registers(cuda::RegisterProbe(form, group.front()->immediate), group, false, false);
}
void run_form(const tcgen05::LdRedForm& form, const Group& group) {
  run_registers(cuda::RegisterProbe(form, group.front()->immediate), group, true, true);
}
void run_form(const oracle::AllocSequence& sequence, const Group& group) {
  for (Tcgen05Case* c : group) run_alloc(sequence, *c);
}

bool write_all(int pipe_end, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size != 0) {
    const ssize_t count = write(pipe_end, bytes, size);
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// Outcome, number of words and words of every case.
[[noreturn]] void run_child(const Group& group, int pipe_end) {
  try {
    std::visit([&group](const auto& form) { run_form(form, group); }, group.front()->form);
  } catch (const std::exception& error) {
    fmt::print(stderr, "  {}: {}\n", describe(*group.front()), error.what());
    _exit(is_trap(error.what()) ? child_trapped : 1);
  }
  bool sent = true;
  for (const Tcgen05Case* c : group) {
    const std::uint32_t head[] = {static_cast<std::uint32_t>(c->outcome),
                                  static_cast<std::uint32_t>(c->output.size())};
    sent = sent && write_all(pipe_end, head, sizeof head) &&
           write_all(pipe_end, c->output.data(), c->output.size() * sizeof c->output[0]);
  }
  _exit(sent ? 0 : 1);
}

// ---- In this process ----------------------------------------------------------------------------

bool read_all(int pipe_end, void* data, std::size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size != 0) {
    const ssize_t count = read(pipe_end, bytes, size);
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

void receive(const Group& group, int pipe_end) {
  for (Tcgen05Case* c : group) {
    std::uint32_t head[2];
    if (!read_all(pipe_end, head, sizeof head)) return;  // the exit status says why
    c->outcome = static_cast<Tcgen05Outcome>(head[0]);
    c->output.resize(head[1]);
    if (!read_all(pipe_end, c->output.data(), c->output.size() * sizeof c->output[0])) return;
  }
}

// Exit status of a child that executes `work`; its end of the pipe goes to both.
template <class Child, class Parent>
int in_child(Child work, Parent meanwhile) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to the child process");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) work(ends[1]);
  close(ends[1]);
  meanwhile(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// All cases of a group have one form. After a trap each runs alone.
void run_group(const Group& group) {
  const int status = in_child([&group](int end) { run_child(group, end); },
                              [&group](int end) { receive(group, end); });
  if (status == 0) return;
  if (status != child_trapped)
    throw std::runtime_error("a case failed: " + describe(*group.front()));
  if (group.size() == 1) {
    group.front()->outcome = Tcgen05Outcome::Trap;
    group.front()->output.clear();
    return;
  }
  for (Tcgen05Case* c : group) run_group({c});
}

}  // namespace

std::optional<Target> find_sm100() {
  constexpr int absent = 100;  // any other status is a target
  const auto ask = [](int) {
    int status = absent;
    try {
      status = static_cast<int>(cuda::sm100_target());
    } catch (const std::exception& error) {
      fmt::print(stderr, "record_tcgen05: {}\n", error.what());
    }
    std::fflush(nullptr);
    _exit(status);
  };
  const int status = in_child(ask, [](int) {});
  if (status != static_cast<int>(Target::sm_100a) && status != static_cast<int>(Target::sm_103a))
    return std::nullopt;
  return static_cast<Target>(status);
}

void record_tcgen05_cases(std::span<Tcgen05Case> cases, void (*progress)(std::size_t done)) {
  Group open;
  for (Tcgen05Case& c : cases) {
    c.input_hash = hash_inputs(build_state(c));
    open.push_back(&c);
  }
  while (!open.empty()) {
    const auto like_first = [first = open.front()](const Tcgen05Case* c) {
      return c->form == first->form && c->immediate == first->immediate;
    };
    const auto rest = std::stable_partition(open.begin(), open.end(), like_first);
    const auto count = std::min(group_cases, static_cast<std::size_t>(rest - open.begin()));
    const auto end = open.begin() + static_cast<std::ptrdiff_t>(count);
    run_group({open.begin(), end});
    for (auto c = open.begin(); c != end; ++c) (*c)->hashes = oracle::hash_lanes((*c)->output);
    open.erase(open.begin(), end);
    progress(cases.size() - open.size());
  }
}

}  // namespace tcq::tools
