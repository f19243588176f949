// stub
#pragma once
#include <cstdint>
#include "sim/ptx/form.h"
namespace tcq::alu {
struct Arguments { void* const* out; const void* const* in; std::uint32_t lanes; std::uint32_t* carry; };
using Evaluate = void (*)(const Arguments&);
struct Operation { Evaluate evaluate = nullptr; bool approximate = false; const char* bound = ""; };
Operation operation(const ptx::Form& form);
}
