// What the machine's instructions name: registers, addresses in shared memory, places in Tensor
// Memory; and how these are written.
//
// Registers are numbers in [0, 256) of one thread, 32 bits each; addresses are absolute addresses in
// the shared window.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/async/scope.h"
#include "sim/async/wgmma_order.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/tcgen05/copy.h"

namespace tcq::machine {

using wgmma::RegisterRange;

inline constexpr int own_cta = -1;

// One address per thread of a role: base + thread * stride_bytes, or base + table[thread].
struct Address {
  std::uint32_t base = 0;
  std::int32_t stride_bytes = 0;
  int cta = own_cta;  // rank in the cluster (shared::cluster)
  std::shared_ptr<const std::vector<std::uint32_t>> table;

  Address() = default;
  Address(std::uint32_t address) : base(address) {}  // the same for every thread
  Address(std::uint32_t address, std::int32_t stride) : base(address), stride_bytes(stride) {}

  Address in(int rank) const {
    Address remote = *this;
    remote.cta = rank;
    return remote;
  }
  bool is_uniform() const { return stride_bytes == 0 && !table; }
  std::uint32_t of(int thread) const {
    if (table) return base + (*table)[static_cast<std::size_t>(thread)];
    return base + static_cast<std::uint32_t>(stride_bytes * thread);
  }
  friend bool operator==(const Address&, const Address&) = default;
};

// A Tensor Memory address: what a register holds, moved; without a register counted from (0, 0).
struct TmemOperand {
  int reg = -1;
  int tmem_lane = 0;
  int tmem_column = 0;

  RegisterRange registers() const { return reg < 0 ? RegisterRange{} : RegisterRange{reg, 1}; }
};
// What a shared memory descriptor says, in bytes.
using SmemOperand = tcgen05::CpOperand;

// --- texts -----------------------------------------------------------------------------------------

// How the things of a program are called.
class Names {
 public:
  std::string at(const Address& address) const;  // `full[1]`, `full[1] of CTA 2`
  virtual std::string at(std::uint32_t shared_address) const = 0;
  virtual std::string map(int number) const = 0;
  virtual std::string opcode(const PtxText& full) const = 0;  // abbreviated, as people write it

 protected:
  ~Names() = default;
};

std::string hex(std::uint64_t number);            // `0x40`
std::string text_of(RegisterRange range);         // `r3`, `{r0..r3}`
std::string text_of(const TmemOperand& operand);  // `r7 + lane 0, column 32`
constexpr const char* text_of(Scope scope) { return scope == Scope::Cluster ? ".cluster" : ".cta"; }

inline std::string text_of(std::string text) { return text; }
inline std::string text_of(int number) { return std::to_string(number); }
inline std::string text_of(std::uint32_t number) { return std::to_string(number); }

// One behind the other; numbers in decimal.
std::string joined(const auto&... parts) {
  std::string text;
  ((text += text_of(parts)), ...);
  return text;
}

}  // namespace tcq::machine
