// The synchronisation of published Blackwell kernels, each as a program of a few tiles.
//
// The published form keeps their order of loads, copies, multiplications, waits and arrivals, with
// what they leave out; the strict one adds what the manual asks for. Nothing may be called
// undefined in either, nothing be reported at all in the strict one (published_kernels_test.cc).
#pragma once

#include <set>
#include <span>
#include <string_view>

#include "sim/async/program.h"
#include "sim/isa/fault/fault.h"

namespace tcq::catalogue {

struct Kernel {
  std::string_view name;
  std::string_view source;  // which kernel
  machine::Program (*make)(bool strict);
  std::set<Fault> relies_on;  // what the published one is disputed for
};

std::span<const Kernel> published_kernels();

}  // namespace tcq::catalogue
