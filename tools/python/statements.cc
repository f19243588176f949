// One method of Role for each instruction of the machine, named as in sim/async/program.h, with the operands of there.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/async/instruction.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/tcgen05/smem_descriptor.h"
#include "tools/python/programs.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace tcq::python {
namespace {

using machine::Address;
using machine::RegisterRange;
using machine::Scope;
using machine::TmemOperand;
using Words = std::vector<std::string>;
using MachineRole = machine::Role;

// The statement that was made last stands where Python made it.
Role& placed(Role& role, const MachineRole&) {
  role.program->machine.segments()[role.segment].statements.back().where =
      calling_line(*role.program);
  return role;
}

template <class... All, std::size_t... I, class... Extra>
void add(nb::class_<Role>& python, const char* name, MachineRole& (MachineRole::*method)(All...),
         std::index_sequence<I...>, const Extra&... extra) {
  using Operands = std::tuple<All...>;
  python.def(
      name,
      [method](Role& role, std::tuple_element_t<I, Operands>... operands) -> Role& {
        return placed(role, (role.role.*method)(operands..., MachineRole::At::current()));
      },
      nb::rv_policy::reference, extra...);
}

// Without the last operand, which is the line of C++.
template <class... All, class... Extra>
void add(nb::class_<Role>& python, const char* name, MachineRole& (MachineRole::*method)(All...),
         const Extra&... extra) {
  add(python, name, method, std::make_index_sequence<sizeof...(All) - 1>(), extra...);
}

// ---- instructions that a mnemonic and keys describe -------------------------------------------------

oracle::Question question_of(const std::string& mnemonic, const Words& keys) {
  oracle::Question question{"describe", {mnemonic}, {}};
  question.words.insert(question.words.end(), keys.begin(), keys.end());
  return question;
}

Role& wgmma(Role& role, const std::string& mnemonic, std::uint64_t desc_a, std::uint64_t desc_b,
            RegisterRange d, RegisterRange a, const Words& words) {
  const auto op = raising([&] {
    const oracle::Question question = question_of(mnemonic, words);
    const oracle::Keys keys(oracle::words_from(question, 1), oracle::instruction_keys);
    const oracle::Instruction in = oracle::instruction_of(question, keys);
    return tcq::wgmma::Instruction{in.form, in.selector, desc_a, desc_b, in.accumulate};
  });
  return placed(role, role.role.wgmma(op, d, a));
}

oracle::Tcgen05Instruction tcgen05_of(const std::string& mnemonic, const Words& words) {
  const oracle::Question question = question_of(mnemonic, words);
  return oracle::tcgen05_instruction_of(
      question, oracle::Keys(oracle::words_from(question, 1), oracle::tcgen05_keys));
}

template <class Form>
const Form& form_of(const oracle::Tcgen05Instruction& in, const std::string& mnemonic) {
  const auto* form = std::get_if<Form>(&in.form);
  if (form == nullptr) throw oracle::UsageError(mnemonic + " is another instruction");
  return *form;
}

machine::SmemOperand smem_of(std::uint64_t word, Major major, Fault fault_of_use) {
  const tcgen05::SmemDescriptor d = tcgen05::decode(word);
  Fault fault = tcgen05::check_word(word);
  if (fault == Fault::None) fault = fault_of_use;
  if (fault == Fault::None && d.lbo_absolute) fault = Fault::UnmodelledMma;  // K = 96
  if (fault != Fault::None) throw oracle::FaultError(fault);
  return {d.start_bytes, canonical_layout(d, major), swizzle_function(d.swizzle), d.base_offset};
}

Role& tcgen05_mma(Role& role, const std::string& mnemonic, TmemOperand d, std::uint64_t desc_a,
                  std::uint64_t desc_b, TmemOperand a, TmemOperand scale_a, TmemOperand scale_b,
                  const Words& words) {
  const auto mma = raising([&] {
    const oracle::Tcgen05Instruction in = tcgen05_of(mnemonic, words);
    machine::Tcgen05Mma made;
    made.opcode = form_of<tcgen05::MmaForm>(in, mnemonic).opcode;
    made.idesc = in.idesc;
    made.accumulate = in.accumulate;
    made.d = d;
    made.a_tmem = a;
    made.scale_a = scale_a;
    made.scale_b = scale_b;
    const auto operand = [&](std::uint64_t word, Type type, Major major) {
      return smem_of(word, major,
                     tcgen05::check_operand(tcgen05::decode(word), made.opcode.kind, type, major));
    };
    if (made.opcode.a_place == tcgen05::Place::Smem)
      made.a = operand(desc_a, in.idesc.a, in.idesc.major_a);
    made.b = operand(desc_b, in.idesc.b, in.idesc.major_b);
    return made;
  });
  return placed(role, role.role.tcgen05_mma(mma));
}

Role& tcgen05_ld(Role& role, const std::string& mnemonic, TmemOperand from, int reg,
                 const Words& words) {
  const auto fragment = raising([&] {
    const oracle::Tcgen05Instruction in = tcgen05_of(mnemonic, words);
    const auto& form = form_of<tcgen05::LdForm>(in, mnemonic);
    return tcgen05::Fragment{form.shape, form.num, form.pack, in.half_split};
  });
  return placed(role, role.role.tcgen05_ld(fragment, from, reg));
}

Role& tcgen05_st(Role& role, const std::string& mnemonic, TmemOperand to, int reg,
                 const Words& words) {
  const auto fragment = raising([&] {
    const oracle::Tcgen05Instruction in = tcgen05_of(mnemonic, words);
    const auto& form = form_of<tcgen05::StForm>(in, mnemonic);
    return tcgen05::Fragment{form.shape, form.num, form.unpack, in.half_split};
  });
  return placed(role, role.role.tcgen05_st(fragment, to, reg));
}

// ---- copies ---------------------------------------------------------------------------------------

tma::Coordinates coordinates(const std::vector<std::int32_t>& at) {
  if (at.empty() || at.size() > tma::max_rank)
    throw oracle::UsageError("expected 1 to 5 coordinates, got " + std::to_string(at.size()));
  tma::Coordinates start;
  std::copy(at.begin(), at.end(), start.at);
  return start;
}

Role& tensor_load(Role& role, int map, const std::vector<std::int32_t>& start, Address to,
                  Address barrier, std::uint16_t multicast) {
  const tma::Coordinates at = raising([&] { return coordinates(start); });
  return placed(role, role.role.tensor_load(map, at, to, barrier, multicast));
}

Role& tensor_store(Role& role, int map, const std::vector<std::int32_t>& start, Address from) {
  const tma::Coordinates at = raising([&] { return coordinates(start); });
  return placed(role, role.role.tensor_store(map, at, from));
}

// ---- all of them ------------------------------------------------------------------------------------

void add_memory(nb::class_<Role>& r) {
  const auto bytes = "bytes"_a = 4;
  const auto transposed = "transposed"_a = false;
  add(r, "move", &MachineRole::move, "to"_a, "immediate"_a);
  add(r, "copy", &MachineRole::copy, "to"_a, "from_"_a);
  add(r, "load_shared", &MachineRole::load_shared, "from_"_a, "reg"_a, bytes);
  add(r, "store_shared", &MachineRole::store_shared, "to"_a, "reg"_a, bytes);
  add(r, "load_global", &MachineRole::load_global, "offset"_a, "stride"_a, "regs"_a);
  add(r, "store_global", &MachineRole::store_global, "offset"_a, "stride"_a, "regs"_a);
  add(r, "ldmatrix", &MachineRole::ldmatrix, "rows"_a, "reg"_a, "count"_a, transposed);
  add(r, "stmatrix", &MachineRole::stmatrix, "rows"_a, "reg"_a, "count"_a, transposed);
  r.def("tensor_load", tensor_load, nb::rv_policy::reference, "map"_a, "start"_a, "to"_a,
        "barrier"_a, "multicast"_a = 0);
  r.def("tensor_store", tensor_store, nb::rv_policy::reference, "map"_a, "start"_a, "from_"_a);
  add(r, "bulk_load", &MachineRole::bulk_load, "from_"_a, "to"_a, "bytes"_a, "barrier"_a,
      "multicast"_a = 0);
  add(r, "bulk_store", &MachineRole::bulk_store, "from_"_a, "to"_a, "bytes"_a);
  add(r, "bulk_send", &MachineRole::bulk_send, "from_"_a, "to"_a, "bytes"_a, "barrier"_a);
  add(r, "bulk_commit", &MachineRole::bulk_commit);
  add(r, "bulk_wait", &MachineRole::bulk_wait, "pending"_a);
  add(r, "bulk_wait_read", &MachineRole::bulk_wait_read, "pending"_a);
}

void add_synchronisation(nb::class_<Role>& r) {
  const auto scope = "scope"_a = Scope::Cta;
  add(r, "mbarrier_init", &MachineRole::mbarrier_init, "barrier"_a, "count"_a);
  add(r, "mbarrier_inval", &MachineRole::mbarrier_inval, "barrier"_a);
  add(r, "mbarrier_arrive", &MachineRole::mbarrier_arrive, "barrier"_a, scope);
  add(r, "mbarrier_arrive_expect_tx", &MachineRole::mbarrier_arrive_expect_tx, "barrier"_a,
      "bytes"_a, scope);
  add(r, "mbarrier_expect_tx", &MachineRole::mbarrier_expect_tx, "barrier"_a, "bytes"_a);
  add(r, "mbarrier_try_wait", &MachineRole::mbarrier_try_wait, "barrier"_a, "parity"_a, scope);
  add(r, "mbarrier_test_wait", &MachineRole::mbarrier_test_wait, "barrier"_a, "parity"_a,
      "predicate"_a);
  add(r, "fence_proxy_async", &MachineRole::fence_proxy_async);
  add(r, "fence_mbarrier_init", &MachineRole::fence_mbarrier_init);
  add(r, "barrier_sync", &MachineRole::barrier_sync, "id"_a = 0, "threads"_a = 0);
  add(r, "barrier_arrive", &MachineRole::barrier_arrive, "id"_a, "threads"_a);
  add(r, "warp_sync", &MachineRole::warp_sync);
  add(r, "cluster_arrive", &MachineRole::cluster_arrive);
  add(r, "cluster_wait", &MachineRole::cluster_wait);
  add(r, "setmaxnreg_inc", &MachineRole::setmaxnreg_inc, "count"_a);
  add(r, "setmaxnreg_dec", &MachineRole::setmaxnreg_dec, "count"_a);
  add(r, "branch", &MachineRole::branch, "target"_a, "predicate"_a = -1, "when"_a = true);
}

void add_matrices(nb::class_<Role>& r) {
  const auto group = "cta_group"_a = 1;
  const auto words = "keys"_a = Words();
  add(r, "wgmma_fence", &MachineRole::wgmma_fence);
  r.def("wgmma", wgmma, nb::rv_policy::reference, "mnemonic"_a, "desc_a"_a, "desc_b"_a, "d"_a,
        "a"_a = RegisterRange{}, words,
        "Keys as `tcq describe` takes them: [\"a=regs\", \"accumulate=0\"].");
  add(r, "wgmma_commit", &MachineRole::wgmma_commit);
  add(r, "wgmma_wait", &MachineRole::wgmma_wait, "pending"_a);
  add(r, "tcgen05_alloc", &MachineRole::tcgen05_alloc, "to"_a, "columns"_a, group);
  add(r, "tcgen05_dealloc", &MachineRole::tcgen05_dealloc, "from_"_a, "columns"_a, group);
  add(r, "tcgen05_relinquish", &MachineRole::tcgen05_relinquish, group);
  r.def("tcgen05_ld", tcgen05_ld, nb::rv_policy::reference, "mnemonic"_a, "from_"_a, "reg"_a,
        words);
  r.def("tcgen05_st", tcgen05_st, nb::rv_policy::reference, "mnemonic"_a, "to"_a, "reg"_a, words);
  add(r, "tcgen05_wait_ld", &MachineRole::tcgen05_wait_ld);
  add(r, "tcgen05_wait_st", &MachineRole::tcgen05_wait_st);
  r.def("tcgen05_mma", tcgen05_mma, nb::rv_policy::reference, "mnemonic"_a, "d"_a, "desc_a"_a,
        "desc_b"_a, "a"_a = TmemOperand{}, "scale_a"_a = TmemOperand{}, "scale_b"_a = TmemOperand{},
        words);
  add(r, "tcgen05_commit", &MachineRole::tcgen05_commit, "barrier"_a, group, "multicast"_a = 0);
  add(r, "tcgen05_fence_before", &MachineRole::tcgen05_fence_before);
  add(r, "tcgen05_fence_after", &MachineRole::tcgen05_fence_after);
}

}  // namespace

void add_statements(nb::class_<Role>& r) {
  const auto part = [&](const char* name, MachineRole (MachineRole::*of)() const, const char* doc) {
    r.def(
        name,
        [of](const Role& role) {
          return Role{role.program, role.segment, (role.role.*of)()};
        },
        nb::keep_alive<0, 1>(), doc);
  };
  part("elect", &MachineRole::elect, "One thread of the first warp.");
  part("elect_per_warp", &MachineRole::elect_per_warp, "One thread of each warp.");
  r.def(
      "lanes",
      [](const Role& role, std::uint32_t mask) {
        return Role{role.program, role.segment, role.role.lanes(mask)};
      },
      nb::keep_alive<0, 1>(), "mask"_a, "These lanes of each warp.");
  r.def(
      "next", [](const Role& role) { return role.role.next(); },
      "The index that the next statement will have: a branch's target.");
  add_memory(r);
  add_synchronisation(r);
  add_matrices(r);
}

}  // namespace tcq::python
