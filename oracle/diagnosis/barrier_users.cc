#include "oracle/diagnosis/barrier_users.h"

#include <fmt/format.h>

#include <variant>

#include "oracle/diagnosis/instruction_text.h"

namespace tcq::oracle {

using namespace machine;

namespace {

// Which of the lists an instruction belongs to, with its barrier and its number.
struct Use {
  std::vector<BarrierUse> BarrierUsers::*list = nullptr;
  const Address* barrier = nullptr;
  std::int64_t number = 0;
  std::uint16_t multicast = 0;
};

std::int64_t bytes_of(const Program& program, const TensorLoad& i) {
  return tma::complete_tx_bytes(program.maps()[static_cast<std::size_t>(i.map)]);
}

Use use_of(const Program&, const MbarrierInit& i) {
  return {&BarrierUsers::inits, &i.barrier, i.count};
}
Use use_of(const Program&, const MbarrierArrive& i) {
  return {&BarrierUsers::arrivals, &i.barrier};
}
Use use_of(const Program&, const MbarrierArriveExpectTx& i) {
  return {&BarrierUsers::expects, &i.barrier, i.bytes};
}
Use use_of(const Program&, const MbarrierExpectTx& i) {
  return {&BarrierUsers::expects, &i.barrier, i.bytes};
}
Use use_of(const Program&, const MbarrierTryWait& i) {
  return {&BarrierUsers::waits, &i.barrier, i.parity};
}
Use use_of(const Program&, const MbarrierTestWait& i) {
  return {&BarrierUsers::waits, &i.barrier, i.parity};
}
Use use_of(const Program& program, const TensorLoad& i) {
  return {&BarrierUsers::copies, &i.barrier, bytes_of(program, i), i.multicast};
}
Use use_of(const Program&, const BulkLoad& i) {
  return {&BarrierUsers::copies, &i.barrier, i.bytes, i.multicast};
}
Use use_of(const Program&, const BulkSend& i) {
  return {&BarrierUsers::copies, &i.barrier, i.bytes};
}
Use use_of(const Program&, const Tcgen05Commit& i) {
  return {&BarrierUsers::arrivals, &i.barrier, 0, i.multicast};
}
Use use_of(const Program&, const StoreAsync& i) {
  return {&BarrierUsers::copies, &i.barrier, i.bytes};
}
Use use_of(const Program&, const ReduceAsync& i) {
  return {&BarrierUsers::copies, &i.barrier, tma::element_bytes(i.type)};
}
Use use_of(const Program&, const BulkSendReduce& i) {
  return {&BarrierUsers::copies, &i.barrier, i.bytes};
}
Use use_of(const Program&, const TryCancel& i) {
  return {&BarrierUsers::copies, &i.barrier, launch_answer_bytes, i.multicast};
}
// In none of the lists.
Use use_of(const Program&, const CpAsyncTrack&) { return {}; }
Use use_of(const Program&, const MbarrierInval&) { return {}; }
Use use_of(const Program&, const MbarrierCompleteTx&) { return {}; }

// Whatever has a member `barrier` uses one: without an answer above it does not compile.
Use use_of(const Program& program, const Statement& statement) {
  return std::visit(
      [&](const auto& i) -> Use {
        if constexpr (requires { i.barrier; })
          return use_of(program, i);
        else
          return {};
      },
      statement.what);
}

// Does the statement, executed by this segment, use the mbarrier of this CTA?
bool uses(const Use& use, const Segment& segment, int cta, std::uint32_t address) {
  if (use.barrier == nullptr || use.barrier->of(0) != address) return false;
  if (use.multicast != 0) return (use.multicast >> cta & 1) != 0;
  if (use.barrier->cta != own_cta) return use.barrier->cta == cta;
  return segment.cta == every_cta || segment.cta == cta;
}

void note(std::vector<BarrierUse>& list, BarrierUse use) {
  for (const BarrierUse& known : list)
    if (known.line == use.line && known.role == use.role) return;
  list.push_back(std::move(use));
}

std::string with_roles(const std::vector<BarrierUse>& list) {
  std::string text;
  for (const BarrierUse& use : list)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", use.line, use.role);
  return text.empty() ? "nowhere" : text;
}

}  // namespace

BarrierUsers users_of_barrier(const Program& program, int cta, std::uint32_t address) {
  BarrierUsers users;
  std::size_t number = 0;
  for (const Segment& segment : program.segments())
    for (const Statement& statement : segment.statements) {
      const Use use = use_of(program, statement);
      if (uses(use, segment, cta, address))
        note(users.*use.list, {number, line_text(statement), segment.name, use.number});
      ++number;
    }
  return users;
}

std::int64_t barrier_of(const Statement& statement) {
  static const Program none({});
  if (std::holds_alternative<TensorLoad>(statement.what))
    return std::get<TensorLoad>(statement.what).barrier.of(0);
  const Use use = use_of(none, statement);
  return use.barrier == nullptr ? -1 : std::int64_t{use.barrier->of(0)};
}

std::string lines_text(const std::vector<BarrierUse>& uses) {
  std::string text;
  for (std::size_t i = 0; i < uses.size(); ++i)
    text += (i == 0 ? "" : i + 1 == uses.size() ? " and " : ", ") + uses[i].line;
  return text;
}

std::string users_text(const Program& program, int cta, std::uint32_t address) {
  const BarrierUsers users = users_of_barrier(program, cta, address);
  if (users.unknown()) return "";
  std::string text = address_text(program, address) + ": ";
  if (users.inits.empty())
    text += "initialised nowhere";
  else
    text += fmt::format("count {} from {}", users.inits.front().number, lines_text(users.inits));
  if (!users.expects.empty()) text += "; expect_tx at " + with_roles(users.expects);
  if (!users.copies.empty()) text += "; copies at " + with_roles(users.copies);
  if (!users.arrivals.empty() || users.expects.empty())
    text += "; arrivals at " + with_roles(users.arrivals);
  return text + "; waits at " + with_roles(users.waits);
}

}  // namespace tcq::oracle
