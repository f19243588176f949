// One PTX statement, taken apart: guard, opcode, qualifiers, operands. No opinion on what is legal.
//
// Registers are what their declaration says (ptx_scopes.h), or else known by their conventional names
// (%f: .f32, %r: .b32, %rd: .b64, %p: .pred, ...); other names may be anything. `{%f0..%f63}`
// abbreviates a vector; an address is [base], [base+offset] or [number]. Example: "@%p1
// wgmma.fence.sync;" has guard %p1 (Pred), opcode "wgmma" and qualifiers "fence", "sync".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle {

// B16, I32 and I64 are signed or unsigned integers, too; Other: declared, and of no use here.
enum class RegisterClass : std::uint8_t {
  Unknown,
  Pred,
  B16,
  B32,
  I32,
  F16x2,
  F32,
  B64,
  I64,
  F64,
  Other
};
inline constexpr std::size_t register_class_count = 11;

// Where a name is looked up (ptx_scopes.h); without scopes nothing is declared.
class PtxScopes;
struct RegisterScope {
  const PtxScopes* scopes = nullptr;
  int scope = 0;
};

struct PtxOperand {
  enum class Kind : std::uint8_t { Register, Immediate, Vector, Address, Other };
  Kind kind = Kind::Other;
  std::string_view text;
  bool negated = false;                                   // !%p0
  RegisterClass register_class = RegisterClass::Unknown;  // Register; Address: of its base
  std::int64_t value = 0;                                 // Immediate; Address: offset
  bool has_base = false;                                  // Address: [7] has none
  std::uint64_t count = 0;                                // Vector: registers in it
  std::array<bool, register_class_count> holds = {};      // Vector: classes in it
  bool only_registers = true;                             // Vector
  bool only_values = true;                                // Vector: registers and constants
  bool has_sink = false;                                  // Vector: `_` is in it
  std::uint64_t sinks = 0;                                // Vector: that often
  std::uint64_t integers = 0, floats = 0, doubles = 0;    // Vector: 7, 0f00000000, 0d... in it
};

struct PtxStatement {
  std::optional<PtxOperand> guard;
  std::string_view opcode;  // up to the first dot
  std::vector<std::string_view> qualifiers;
  std::size_t joined = 0;  // that many qualifiers follow the opcode without a blank
  std::vector<PtxOperand> operands;
};

// `text` must not hold comments and must outlive the result. Empty text (or only `;`) has no
// opcode. std::nullopt, and why in `malformed`, for text that is not one statement.
std::optional<PtxStatement> parse_statement(std::string_view text, std::string& malformed,
                                            RegisterScope scope = {});

// "7", "-1", "0x10", "0b1": what an immediate says. std::nullopt for what is none.
std::optional<std::int64_t> immediate_value(std::string_view text);

// A register of one of these classes, or a name that may be anything.
bool is_register(const PtxOperand& operand, std::initializer_list<RegisterClass> allowed);

// A vector of nothing but such registers.
bool is_vector_of(const PtxOperand& operand, std::initializer_list<RegisterClass> allowed);

}  // namespace tcq::oracle
