// What statements name, as Python writes it: 1024 or Address(1024, 4), (first, count) of registers, Tmem(...).
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <utility>

#include "sim/async/instruction.h"
#include "tools/python/programs.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace tcq::python {

using machine::Address;
using machine::RegisterRange;
using machine::TmemOperand;

void add_operands(nb::module_& m) {
  nb::enum_<machine::Scope>(m, "Scope", "How far an arrival, a wait or a fence reaches.")
      .value("CTA", machine::Scope::Cta)
      .value("CLUSTER", machine::Scope::Cluster);

  nb::class_<Address>(
      m, "Address",
      "base + thread * stride bytes in the shared window; an int is one for all threads.")
      .def(nb::init<std::uint32_t, std::int32_t>(), "base"_a, "stride"_a = 0)
      .def("in_cta", &Address::in, "rank"_a, "The same in a CTA of the cluster.")
      .def_ro("base", &Address::base)
      .def_ro("stride", &Address::stride_bytes)
      .def_ro("cta", &Address::cta, "-1: the CTA that executes.");
  nb::implicitly_convertible<std::uint32_t, Address>();

  nb::class_<RegisterRange>(
      m, "Registers", "Registers [first, first + count) of a thread, 32 bits each; also a pair.")
      .def(
          "__init__",
          [](RegisterRange* to, int first, int count) {
            new (to) RegisterRange{first, count};
          },
          "first"_a, "count"_a = 1)
      .def(
          "__init__",
          [](RegisterRange* to, std::pair<int, int> r) {
            new (to) RegisterRange{r.first, r.second};
          },
          "range"_a)
      .def_ro("first", &RegisterRange::first)
      .def_ro("count", &RegisterRange::count);
  nb::implicitly_convertible<std::pair<int, int>, RegisterRange>();

  nb::class_<TmemOperand>(
      m, "Tmem", "A place in Tensor Memory: what register `reg` holds, moved; -1: from (0, 0).")
      .def(
          "__init__",
          [](TmemOperand* to, int reg, int lane, int column) {
            new (to) TmemOperand{reg, lane, column};
          },
          "reg"_a = -1, "lane"_a = 0, "column"_a = 0)
      .def_ro("reg", &TmemOperand::reg)
      .def_ro("lane", &TmemOperand::tmem_lane)
      .def_ro("column", &TmemOperand::tmem_column);
}

}  // namespace tcq::python
