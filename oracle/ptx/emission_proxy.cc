// Following stores to shared memory; see emission_proxy.h.
#include "oracle/ptx/emission_proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "oracle/explain/explain.h"
#include "oracle/ptx/address_bases.h"
#include "oracle/ptx/emission_statements.h"
#include "oracle/ptx/instructions.h"

namespace tcq::oracle {
namespace {

using Base = AddressBases::Base;
using ptx::Index;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;
using ptx::Value;

bool is_bulk_copy(Opcode opcode) {
  return opcode == Opcode::CpAsyncBulk || opcode == Opcode::CpAsyncBulkTensor ||
         opcode == Opcode::CpReduceAsyncBulk || opcode == Opcode::CpReduceAsyncBulkTensor;
}

// Through the generic proxy. A store without a state space may go anywhere.
bool may_store_shared(const ptx::Form& form) {
  switch (form.opcode) {
    case Opcode::St:
    case Opcode::Stmatrix:
    case Opcode::CpAsync:
    case Opcode::StBulk:
    case Opcode::WmmaStore: return form.space() == Space::Generic || is_shared(form.space());
    default: return false;
  }
}

bool synchronises(Opcode opcode) {
  switch (opcode) {
    case Opcode::BarSync:
    case Opcode::BarArrive:
    case Opcode::BarRed:
    case Opcode::BarWarpSync:
    case Opcode::BarrierClusterArrive:
    case Opcode::BarrierClusterWait:
    case Opcode::MbarrierArrive:
    case Opcode::MbarrierArriveDrop:
    case Opcode::MbarrierTestWait:
    case Opcode::MbarrierTryWait:
    case Opcode::CpAsyncMbarrierArrive: return true;
    default: return false;
  }
}

// Whatever may have been a fence: nothing is concluded across it. An acquire publishes nothing that its thread stored.
bool may_fence(const ptx::Form& form) {
  switch (form.opcode) {
    case Opcode::Unknown:
    case Opcode::Call: return true;
    case Opcode::FenceProxy:
    case Opcode::MembarProxy: {
      const auto proxy = form.get<ptx::Proxy>();
      const bool publishes =
          proxy == ptx::Proxy::Async || (proxy == ptx::Proxy::AsyncGeneric &&
                                         form.get<ptx::Semantics>() != ptx::Semantics::Acquire);
      return publishes && form.space() != Space::Global;
    }
    default: return false;
  }
}

// Where the address says so, as addresses without a state space are most often of global memory.
bool is_shared_atomic(const ptx::Form& form) {
  return (form.opcode == Opcode::Atom || form.opcode == Opcode::Red) && is_shared(form.space());
}

// A store that no fence followed yet, by its base and by what stored.
struct Stored {
  Index at = ptx::none;
  bool is_published = false;   // threads synchronised since, on some path
  bool may_be_fenced = false;  // by a fence under a guard
};

// A store, and what reads through the async proxy behind it.
struct Met {
  Index reader, store;
  Base base;
  bool is_certain;  // as far as the path tells
};

// More are not told apart on one path.
constexpr std::size_t most_bases = 64;

struct Stores {
  using Key = std::pair<Base, bool>;  // true: cp.async
  std::map<Key, Stored> by_key;

  bool join(const Stores& other) {
    bool changed = false;
    for (const auto& [key, theirs] : other.by_key) {
      const auto [at, is_new] = by_key.emplace(key, theirs);
      Stored& ours = at->second;
      for (bool Stored::*const what : {&Stored::is_published, &Stored::may_be_fenced})
        if (theirs.*what && !(ours.*what)) ours.*what = changed = true;
      changed = changed || is_new;
    }
    return changed;
  }
};

class Finder {
 public:
  Finder(const ptx::Program& text, const ptx::Code& code, std::vector<EmissionFinding>& findings)
      : text_(text), code_(code), bases_(text, code), findings_(findings) {
    for (Index i = code.instructions.first; i < code.instructions.end(); ++i) {
      const Instruction& one = text.instructions[i];
      const ptx::Form& form = text.form_of(one);
      if ((is_bulk_copy(one.opcode) && is_shared(form.space())) || is_shared_atomic(form))
        filled_.insert(bases_.of(text.operand(one, 0)));
      if (may_store_shared(form)) ++stores_of_[bases_.of(text.operand(one, 0))];
    }
  }

  void find() {
    for (const Base base : filled_) fills_anything_ |= !bases_.is_variable(base);
    follow_paths(text_, code_, Stores{}, [&](Stores& stores, Index i) { step(stores, i); });
    for (const Met& met : met_) note(met);
  }

  static bool has_readers(const ptx::Program& text, const ptx::Code& code) {
    for (Index i = code.instructions.first; i < code.instructions.end(); ++i)
      if (!sources(text, text.instructions[i]).empty()) return true;
    return false;
  }

 private:
  std::size_t line_at(Index i) const { return text_.unit.lines.at(text_.instructions[i].at).line; }

  // Addresses and descriptors of what the async proxy reads in shared memory.
  static std::vector<Value> sources(const ptx::Program& text, const Instruction& one) {
    const auto operand = [&](std::size_t k) { return text.operand(one, k); };
    std::vector<Value> all;
    if (one.opcode == Opcode::WgmmaMmaAsync || one.opcode == Opcode::Tcgen05Mma) {
      for (const std::size_t k : {1, 2})
        if (operand(k).kind == ptx::ValueKind::Register) all.push_back(operand(k));
    } else if (one.opcode == Opcode::Tcgen05Cp) {
      all.push_back(operand(1));
    } else if (is_bulk_copy(one.opcode) && is_shared(text.form_of(one).space(ptx::Slot::Space2))) {
      all.push_back(operand(1));
    }
    return all;
  }

  void step(Stores& stores, Index i) {
    const Instruction& one = text_.instructions[i];
    const ptx::Form& form = text_.form_of(one);
    if (may_fence(form)) {
      const bool is_sure = one.guard == ptx::none;
      for (auto& [key, stored] : stores.by_key) {
        fenced_.insert(key.first);
        stored.may_be_fenced = true;
      }
      if (is_sure) stores.by_key.clear();
    } else if (synchronises(one.opcode)) {
      for (auto& [key, stored] : stores.by_key) stored.is_published = true;
    } else if (may_store_shared(form)) {
      const Base base = bases_.of(text_.operand(one, 0));
      if (!bases_.is_variable(base) || bases_.is_shared(base)) store(stores, base, i);
    } else {
      for (const Value& source : sources(text_, one)) read(stores, bases_.of(source), i);
    }
  }

  void store(Stores& stores, Base base, Index i) {
    const bool is_copy = text_.instructions[i].opcode == Opcode::CpAsync;
    if (stores.by_key.size() >= most_bases) base = AddressBases::unknown;
    stores.by_key.try_emplace({base, is_copy}, Stored{i, false});
  }

  // Behind a finding the cure is taken as done, so that each is told once.
  void read(Stores& stores, Base source, Index i) {
    for (auto at = stores.by_key.begin(); at != stores.by_key.end();) {
      const auto [key, stored] = *at;
      const auto [base, is_copy] = key;
      if (!bases_.may_meet(base, source)) {
        ++at;
        continue;
      }
      const bool is_certain = !is_copy && base == source && base >= 0 && stored.is_published &&
                              !stored.may_be_fenced && !may_be_filled(source);
      met_.push_back({i, stored.at, base, is_certain});
      at = stores.by_key.erase(at);
    }
  }

  // By a bulk copy of this function, which needs no such fence, or by an atomic, which is not followed.
  bool may_be_filled(Base base) const {
    const bool by_any = fills_anything_ || !bases_.is_variable(base);
    return filled_.contains(base) || (by_any && !filled_.empty());
  }

  // By another store, which a fence follows.
  bool may_be_fenced(Base base) const {
    const auto is_of_any = [&](Base b) { return !bases_.is_variable(b) && b != base; };
    if (std::any_of(fenced_.begin(), fenced_.end(), is_of_any)) return true;
    return fenced_.contains(base) && stores_of_.at(base) > 1;
  }

  void note(const Met& met) {
    const auto [reader, store, base, is_meant] = met;
    const bool is_certain = is_meant && !may_be_fenced(base);
    if (!seen_.emplace(is_certain ? reader : ptx::none, store).second) return;
    const Fault fault = Fault::ProxyFenceMissing;
    const std::string earlier = fmt::format("line {}", line_at(store));
    if (is_certain)
      findings_.push_back({line_at(reader), fault, info(fault).kind,
                           fmt::format("{}; {}; {}", info(fault).sentence, earlier,
                                       fix_at(fault, {.at = "this line", .earlier = earlier}))});
    else
      findings_.push_back(not_followed(
          line_at(reader),
          fmt::format("whether this reads, through the async proxy, bytes that {} stored with "
                      "no fence.proxy.async in between",
                      earlier)));
  }

  const ptx::Program& text_;
  const ptx::Code& code_;
  const AddressBases bases_;
  std::vector<EmissionFinding>& findings_;
  std::set<Base> filled_, fenced_;
  std::map<Base, std::size_t> stores_of_;
  std::vector<Met> met_;
  bool fills_anything_ = false;
  std::set<std::pair<Index, Index>> seen_;
};

}  // namespace

void find_proxy(const ptx::Program& text, const ptx::Code& code,
                std::vector<EmissionFinding>& findings) {
  if (Finder::has_readers(text, code)) Finder(text, code, findings).find();
}

}  // namespace tcq::oracle
