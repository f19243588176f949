// Memory, roles and exploring of a program; its statements: statements.cc.
#include "tools/python/programs.h"

#include <nanobind/stl/array.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis/diagnosis.h"
#include "oracle/diagnosis/schedule_text.h"
#include "oracle/ptx/mnemonic.h"
#include "sim/async/explore.h"
#include "sim/isa/copy/tensor_map.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace tcq::python {

machine::Where calling_line(Program& program) {
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return {};
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const auto file = nb::cast<std::string>(code.attr("co_filename"));
  return {program.files.insert(file).first->c_str(),
          static_cast<std::uint32_t>(PyFrame_GetLineNumber(frame))};
}

void raise(const Reply& reply) {
  const nb::object error = nb::module_::import_("tcq._reply").attr("error_of")(to_python(reply));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

namespace {

using machine::Report;

// ---- memory ---------------------------------------------------------------------------------------

std::vector<std::uint32_t> mbarriers(Program& program, const std::string& name, int count) {
  return raising([&] {
    constexpr int most = 4096;
    if (count < 0 || count > most)
      throw oracle::UsageError(name + ": expected 0 to 4096 mbarriers, got " +
                               std::to_string(count));
    std::vector<std::uint32_t> addresses;
    for (const machine::Address& a : program.machine.mbarriers(name, count))
      addresses.push_back(a.base);
    return addresses;
  });
}

std::uint64_t global(Program& program, const nb::bytes& bytes) {
  const auto* first = static_cast<const std::uint8_t*>(bytes.data());
  return program.machine.global({first, first + bytes.size()});
}

template <class Enum>
Enum named(std::string_view word, const std::vector<Enum>& all, std::string_view what) {
  std::vector<std::string_view> names;
  for (const Enum e : all) {
    names.emplace_back(name(e));
    if (names.back() == word) return e;
  }
  oracle::throw_unknown(what, word, names);
}

const std::vector<tma::DataType>& data_types() {
  static const std::vector<tma::DataType> all = [] {
    std::vector<tma::DataType> types;
    for (int i = 0; i <= static_cast<int>(tma::DataType::U6Align16); ++i)
      types.push_back(static_cast<tma::DataType>(i));
    return types;
  }();
  return all;
}

const std::vector<Swizzle>& swizzles() {
  static const std::vector<Swizzle> all = [] {
    std::vector<Swizzle> modes;
    for (int i = 0; i < swizzle_count; ++i) modes.push_back(static_cast<Swizzle>(i));
    return modes;
  }();
  return all;
}

// Of [d]; the contiguous dimension first. Without strides: rows one behind the other.
tma::TensorMap tensor_map(const std::string& type, const std::vector<std::uint64_t>& dims,
                          const std::vector<std::uint32_t>& box, std::uint64_t address,
                          const std::vector<std::uint64_t>& strides, const std::string& swizzle) {
  tma::TensorMap map;
  map.type = named(type, data_types(), "data type");
  map.swizzle = named(swizzle, swizzles(), "swizzle");
  map.address = address;
  if (dims.empty() || dims.size() > tma::max_rank || box.size() != dims.size())
    throw oracle::UsageError("expected 1 to 5 dims, and as many of box");
  if (!strides.empty() && strides.size() != dims.size() - 1)
    throw oracle::UsageError("expected a stride for each dimension but the first");
  map.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), map.dims);
  std::copy(box.begin(), box.end(), map.box);
  std::uint64_t pitch = dims[0] * element_bytes(map.type);
  for (std::size_t d = 1; d < dims.size(); ++d) {
    map.stride_bytes[d - 1] = strides.empty() ? pitch : strides[d - 1];
    pitch *= dims[d];
  }
  return map;
}

int tensor(Program& program, const std::string& type, const std::vector<std::uint64_t>& dims,
           const std::vector<std::uint32_t>& box, std::uint64_t address,
           const std::vector<std::uint64_t>& strides, const std::string& swizzle,
           const std::string& name) {
  return raising([&] {
    return program.machine.tensor(tensor_map(type, dims, box, address, strides, swizzle), name);
  });
}

// ---- exploring ------------------------------------------------------------------------------------

nb::tuple explore(const Program& program, std::uint64_t max_executions,
                  std::uint64_t random_executions, std::uint64_t max_instructions,
                  std::uint64_t seed, bool find_slow) {
  const machine::Program copy = program.machine;
  machine::ExploreOptions options;
  options.max_executions = max_executions;
  options.random_executions = random_executions;
  options.max_total_instructions = max_instructions;
  options.seed = seed;
  options.find_slow = find_slow;
  Report report;
  std::string json;
  std::string text;
  {
    const nb::gil_scoped_release released;
    report = machine::explore(copy, options);
    json = oracle::report_json(copy, report);
    text = oracle::report_text(copy, report);
  }
  const Reply reply = {0, std::move(json), ""};
  return nb::make_tuple(to_python(reply), oracle::terminal_text(text),
                        nb::bytes(report.global.data(), report.global.size()),
                        oracle::schedule_text(report.schedule));
}

Role warps(Program& program, const std::string& name, int first, int count, int cta) {
  const machine::Role role = program.machine.warps(name, first, count, cta);
  return {&program, program.machine.segments().size() - 1, role};
}

}  // namespace

void add_programs(nb::module_& m) {
  add_operands(m);
  auto role = nb::class_<Role>(
      m, "Role", "Appends statements to one range of warps; every method returns the role.");
  add_statements(role);
  nb::class_<Program>(
      m, "Program",
      "A program for a cluster of CTAs, put together role by role: tcq.explore(program).")
      .def(
          "__init__",
          [](Program* to, int cluster, int threads, int registers) {
            new (to) Program({cluster, threads, registers});
          },
          "cluster"_a = 1, "threads"_a = 128, "registers"_a = 0,
          "CTAs; threads of each; registers of a thread at launch, 0: not bounded.")
      .def(
          "shared",
          [](Program& p, const std::string& name, std::uint64_t bytes, std::uint32_t alignment) {
            return p.machine.shared(name, bytes, alignment);
          },
          "name"_a, "bytes"_a, "alignment"_a = 128,
          "The address of shared memory, the same in every CTA.")
      .def(
          "mbarrier",
          [](Program& p, const std::string& name) { return p.machine.mbarrier(name).base; },
          "name"_a, "The address of an mbarrier.")
      .def("mbarriers", mbarriers, "name"_a, "count"_a, "name[0], name[1], ...")
      .def("global_", global, "bytes"_a,
           "Global memory with these bytes; its offset, a multiple of 256.")
      .def("tensor", tensor, "type"_a, "dims"_a, "box"_a, "address"_a = 0,
           "strides"_a = std::vector<std::uint64_t>(), "swizzle"_a = "none", "name"_a = "",
           "A tensor map over global memory, the contiguous dimension first: FLOAT16, dims and box "
           "in elements, "
           "strides in bytes. Its number.")
      .def("warps", warps, "name"_a, "first"_a, "count"_a, "cta"_a = machine::every_cta,
           nb::keep_alive<0, 1>(), "A role: these warps of one CTA or, with -1, of each.");
  m.def("explore", explore, "program"_a, "max_executions"_a, "random_executions"_a,
        "max_instructions"_a, "seed"_a, "find_slow"_a, "(reply, text, global memory, schedule).");
}

}  // namespace tcq::python
