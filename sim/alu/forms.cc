// The forms as patterns; see forms.h.
//
// {a,b} is a choice, and so is the name of one: {R} is {.rn,.rz,.rm,.rp}.
#include "sim/alu/forms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "sim/isa/base/mma_fragment.h"
#include "sim/ptx/roles.h"

namespace tcq::alu {
namespace {

using ptx::Flag;
using ptx::Opcode;

struct Choice {
  std::string_view name, words;
};
constexpr std::array choices = {
    Choice{"R", ".rn,.rz,.rm,.rp"},
    Choice{"R?", ",.rn,.rz,.rm,.rp"},
    Choice{"N?", ",.rn"},
    Choice{"I", ".rni,.rzi,.rmi,.rpi"},
    Choice{"ftz?", ",.ftz"},
    Choice{"sat?", ",.sat"},
    Choice{"relu?", ",.relu"},
    Choice{"half", ".f16,.f16x2"},
    Choice{"brain", ".bf16,.bf16x2"},
    Choice{"int", ".u16,.u32,.u64,.s16,.s32,.s64"},
    Choice{"int8", ".u8,.u16,.u32,.u64,.s8,.s16,.s32,.s64"},
    Choice{"word", ".u32,.u64,.s32,.s64"},
    Choice{"bits", ".b16,.b32,.b64"},
    Choice{"any", ".b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64"},
    Choice{"bool?", ",.and,.or,.xor"},
    Choice{"equal", ".eq,.ne"},
    Choice{"signed", ".eq,.ne,.lt,.le,.gt,.ge"},
    Choice{"unsigned", ".eq,.ne,.lt,.le,.gt,.ge,.lo,.ls,.hi,.hs"},
    Choice{"float", ".eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan"},
};

constexpr std::string_view patterns[] = {
    // integers
    "{add,sub}{int}",
    "add{.u16x2,.s16x2}",
    "{add,sub}.sat.s32",
    "{add,sub}.cc{word}",
    "{addc,subc}{,.cc}{word}",
    "addc.u32 borrow",
    "subc.u32 carry",
    "add.cc.u32 borrow",
    "sub.cc.u32 carry",
    "{mul,mad}{.lo,.hi}{int}",
    "{mul,mad}.wide{.u16,.u32,.s16,.s32}",
    "mad.hi.sat.s32",
    "mad{.lo,.hi}.cc{word}",
    "madc{.lo,.hi}{,.cc}{word}",
    "{mul24,mad24}{.lo,.hi}{.u32,.s32}",
    "mad24.hi.sat.s32",
    "{div,rem}{int}",
    "sad{int}",
    "{min,max}{int}",
    "{min,max}{.u16x2,.s16x2}",
    "{min,max}.relu{.s32,.s16x2}",
    "{neg,abs}{.s16,.s32,.s64}",
    "dp4a{.u32,.s32}{.u32,.s32}",
    "dp2a{.lo,.hi}{.u32,.s32}{.u32,.s32}",
    // bits
    "bfe{word}",
    "bfi{.b32,.b64}",
    "bfind{,.shiftamt}{word}",
    "{brev,clz,popc}{.b32,.b64}",
    "bmsk{.clamp,.wrap}.b32",
    "szext{.clamp,.wrap}{.u32,.s32}",
    "fns.b32",
    "prmt{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}.b32",
    "{and,or,xor,not}{.pred,.b16,.b32,.b64}",
    "cnot{bits}",
    "{shl,shr}{bits}",
    "shr{int}",
    "shf{.l,.r}{.clamp,.wrap}.b32",
    "lop3.b32 {0,1,2,4,8,16,22,32,64,105,128,150,170,184,202,204,216,232,240,248,254,255}",
    "lop3{.and,.or}.b32 {0,128,150,202,254}",
    // floats
    "{add,sub,mul}{R?}{ftz?}{sat?}.f32",
    "{add,sub,mul}{R?}.f64",
    "{add,sub,mul}{N?}{ftz?}{sat?}{half}",
    "{add,sub,mul}{N?}{brain}",
    "{fma,mad}{R}{ftz?}{sat?}.f32",
    "{fma,mad}{R}.f64",
    "fma.rn{ftz?}{,.sat,.relu}{half}",
    "fma.rn{relu?}{brain}",
    "{div,rcp,sqrt}{R}{ftz?}.f32",
    "{div,rcp,sqrt}{R}.f64",
    "rcp.rn.ftz.f64",
    "{neg,abs}{.f32,.f64,.f16,.f16x2,.bf16,.bf16x2}",
    "{neg,abs}.ftz{.f32,.f16,.f16x2}",
    "copysign{.f32,.f64}",
    "{min,max}.f64",
    "{min,max}{ftz?}{,.NaN}{,.xorsign.abs}{.f32,.f16,.f16x2}",
    "{min,max}{,.NaN}{,.xorsign.abs}{brain}",
    "testp{.finite,.infinite,.number,.notanumber,.normal,.subnormal}{.f32,.f64}",
    // approximate ones
    "div{.approx,.full}{ftz?}.f32",
    "{rcp,sqrt,rsqrt,sin,cos,lg2,ex2}.approx{ftz?}.f32",
    "ex2.approx{half}",
    "ex2.approx.ftz{brain}",
    "tanh.approx{.f32,.f16,.f16x2,.bf16,.bf16x2}",
    "{rcp,rsqrt}.approx.ftz.f64",
    "rsqrt.approx.f64",
    // comparisons and choices
    "setp{equal}{bool?}{bits}",
    "setp{signed}{bool?}{.s16,.s32,.s64}",
    "setp{unsigned}{bool?}{.u16,.u32,.u64}",
    "setp{float}{bool?}{ftz?}{.f32,.f16}",
    "setp{float}{bool?}{.f64,.bf16}",
    "set{equal}{bool?}{.u32,.s32,.f32}{bits}",
    "set{signed}{bool?}{.u32,.s32,.f32}{.s16,.s32,.s64}",
    "set{unsigned}{bool?}{.u32,.s32,.f32}{.u16,.u32,.u64}",
    "set{float}{bool?}{ftz?}{.u32,.s32,.f32}.f32",
    "set{float}{bool?}{.u32,.s32,.f32}.f64",
    "set{float}{bool?}{ftz?}{.u32,.s32}.f16",
    "set{float}{bool?}{.u32,.s32}.bf16",
    "selp{any}",
    "slct{any}.s32",
    "slct{ftz?}{any}.f32",
    "mov{any}",
    "mov{.pred,.b128}",
    // conversions
    "cvt{int8}{int8}",
    "cvt.sat.s8{.u8,.u16,.u32,.u64,.s16,.s32,.s64}",
    "cvt.sat.s16{.u16,.u32,.u64,.s32,.s64}",
    "cvt.sat.s32{.u32,.u64,.s64}",
    "cvt.sat.s64.u64",
    "cvt.sat.u8{.u16,.u32,.u64,.s8,.s16,.s32,.s64}",
    "cvt.sat.u16{.u32,.u64,.s8,.s16,.s32,.s64}",
    "cvt.sat.u32{.u64,.s8,.s16,.s32,.s64}",
    "cvt.sat.u64{.s8,.s16,.s32,.s64}",
    "cvt{I}{sat?}{int8}{.f16,.f64}",
    "cvt{I}{ftz?}{sat?}{int8}.f32",
    "cvt{I}{int}.bf16",
    "cvt{R}{sat?}{.f16,.f64}{int8}",
    "cvt{R}{ftz?}{sat?}.f32{int8}",
    "cvt{R}.bf16{int}",
    "cvt{I}{sat?}{.f16.f16,.f64.f64}",
    "cvt{I}.bf16.bf16",
    "cvt{I}{ftz?}{sat?}.f32.f32",
    "cvt{R}{sat?}.f16.f64",
    "cvt{R}{ftz?}{sat?}{.f16.f32,.f32.f64}",
    "cvt{R}{.bf16.f16,.bf16.f64,.f16.bf16,.f64.bf16}",
    "cvt{R}{ftz?}{.bf16.f32,.f32.bf16}",
    "cvt{sat?}{.f16.f16,.f64.f64,.f64.f16}",
    "cvt{ftz?}{sat?}{.f32.f16,.f32.f32,.f64.f32}",
    "cvt{.bf16.bf16,.bf16.f16,.f16.bf16,.f64.bf16}",
    "cvt{ftz?}.f32.bf16",
    "cvt{.rn,.rz}{,.satfinite}{relu?}{.f16x2,.bf16x2}.f32",
    "cvt{.rn,.rz}{.satfinite,.relu,.satfinite.relu}{.f16,.bf16}.f32",
    "cvt{.rn,.rz}{relu?}.tf32.f32",
    "cvt.rna{,.satfinite}.tf32.f32",
    "cvt.rn.satfinite{relu?}{.e4m3x2,.e5m2x2}{.f32,.f16x2}",
    "cvt.rn{relu?}.f16x2{.e4m3x2,.e5m2x2}",
    // lanes of a warp
    "shfl.sync{.up,.down,.bfly,.idx}.b32",
    "vote.sync{.all,.any,.uni}.pred",
    "{vote.sync.ballot,activemask}.b32",
    "match{.any,.all}.sync{.b32,.b64}",
    "redux.sync{.add,.min,.max}{.u32,.s32}",
    "redux.sync{.and,.or,.xor}.b32",
    "elect.sync",
    "set{equal}{bool?}{.f16,.bf16}{bits}",
    "set{signed}{bool?}{.f16,.bf16}{.s16,.s32,.s64}",
    "set{unsigned}{bool?}{.f16,.bf16}{.u16,.u32,.u64}",
    "set{float}{bool?}{ftz?}.f16{.f16,.f32}",
    "set{float}{bool?}.f16.f64",
    "set{float}{bool?}.bf16{.f16,.bf16,.f32,.f64}",
    "set{float}{bool?}{ftz?}{.u16,.s16}.f16",
    "set{float}{bool?}{.u16,.s16}.bf16",
    "set{float}{bool?}{ftz?}{.u32,.s32,.f16x2}.f16x2",
    "set{float}{bool?}{.u32,.s32,.bf16x2}.bf16x2",
    "setp{float}{bool?}{ftz?}.f16x2",
    "setp{float}{bool?}.bf16x2",
};

constexpr std::string_view matrix_patterns[] = {
    "mma.sync.aligned{.m16n8k8,.m16n8k16}.row.col{.f16.f16.f16.f16,.f32.f16.f16.f32}",
    "mma.sync.aligned{.m16n8k8,.m16n8k16}.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned{.m16n8k4,.m16n8k8}.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned{.m16n8k16,.m16n8k32}.row.col.f16{.e4m3,.e5m2}{.e4m3,.e5m2}.f16",
    "mma.sync.aligned{.m16n8k16,.m16n8k32}.row.col.f32{.e4m3,.e5m2}{.e4m3,.e5m2}.f32",
    "mma.sync.aligned{.m8n8k4,.m16n8k4,.m16n8k8,.m16n8k16}.row.col.f64.f64.f64.f64",
    "mma.sync.aligned{.m8n8k16,.m16n8k16,.m16n8k32}.row.col{,.satfinite}.s32{.s8,.u8}{.s8,.u8}.s32",
    "mma.sync.aligned{.m8n8k32,.m16n8k32,.m16n8k64}.row.col{,.satfinite}.s32{.s4,.u4}{.s4,.u4}.s32",
    "mma.sync.aligned{.m8n8k128,.m16n8k128,.m16n8k256}.row.col.s32.b1.b1.s32{.xor,.and}.popc",
    "movmatrix.sync.aligned.m8n8.trans.b16",
};

std::string_view words_of(std::string_view name) {
  for (const Choice& choice : choices)
    if (choice.name == name) return choice.words;
  return name;
}

// Adds what the pattern, from its first choice on, can be behind `begun`.
void expand(const std::string& begun, std::string_view pattern, std::vector<std::string>& out) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) {
    out.push_back(begun + std::string(pattern));
    return;
  }
  const std::size_t close = pattern.find('}', open);
  const std::string left = begun + std::string(pattern.substr(0, open));
  std::string_view words = words_of(pattern.substr(open + 1, close - open - 1));
  for (bool more = true; more;) {
    const std::size_t comma = words.find(',');
    more = comma != std::string_view::npos;
    expand(left + std::string(words.substr(0, comma)), pattern.substr(close + 1), out);
    if (more) words.remove_prefix(comma + 1);
  }
}

// ---- operands -----------------------------------------------------------------------------------

bool is_pair(ptx::Type type) {
  return type == ptx::Type::F16x2 || type == ptx::Type::BF16x2 || type == ptx::Type::E4M3x2 ||
         type == ptx::Type::E5M2x2;
}

// A source that only some forms of the opcode have.
bool has_optional(const ptx::Form& form, char type) {
  switch (form.opcode) {
    case Opcode::Setp:
    case Opcode::Set:
    case Opcode::Lop3: return form.has(ptx::Slot::BoolOp);
    case Opcode::Cvt: return type == '1' && is_pair(form.types[0]) && !is_pair(form.types[1]);
    default: return false;  // three sources of min and max, random bits of cvt: not on sm_90
  }
}

bool has_second_result(const ptx::Form& form) {
  switch (form.opcode) {
    case Opcode::Lop3: return form.has(ptx::Slot::BoolOp);
    case Opcode::MatchSync: return form.get<ptx::Vote>() == ptx::Vote::All;
    // PTX says that there is one, ptxas 13.0 refuses it.
    case Opcode::Setp: return form.types[0] != ptx::Type::F16 && form.types[0] != ptx::Type::BF16;
    default: return true;
  }
}

bool read_suffix(std::string_view text, ScalarForm& s) {
  if (text == "borrow" || text == "carry") {
    s.chain = text == "borrow" ? Chain::Borrow : Chain::Carry;
    return s.reads_carry != s.sets_carry;  // of both, whose is said would not be known
  }
  std::uint32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (s.form.opcode != Opcode::Lop3 || read.ec != std::errc{} || number > 255) return false;
  s.immediate = number;
  return read.ptr == text.data() + text.size();
}

void read_carry(ScalarForm& s) {
  const Opcode opcode = s.form.opcode;
  const bool subtracts = opcode == Opcode::Sub || opcode == Opcode::Subc;
  s.chain = subtracts ? Chain::Borrow : Chain::Carry;
  s.reads_carry = opcode == Opcode::Addc || opcode == Opcode::Subc || opcode == Opcode::Madc;
  s.sets_carry = s.form.has(Flag::Cc);
}

bool read_operands(ScalarForm& s) {
  int sources = 0;
  for (const ptx::Role& role : ptx::roles_of(s.form.opcode)) {
    if (role.place != ptx::Role::Place::Value) return false;
    const bool is_result = role.access == ptx::Access::Write;
    if (role.is_optional && !has_optional(s.form, role.type)) continue;
    if (!is_result && s.form.opcode == Opcode::Lop3 && ++sources == 4) continue;  // the table
    (is_result ? s.out : s.in).push_back(ptx::type_of(s.form, role.type));
    if (role.second_type != 0 && has_second_result(s.form))
      s.out.push_back(ptx::type_of(s.form, role.second_type));
  }
  return true;
}

// Registers one by one, whatever they hold.
void read_fragments(ScalarForm& s) {
  const int m = s.form.shape[0];
  const int k = s.form.shape[2];
  const int width = ptx::bits(s.form.types[1]);
  const int sum_width = ptx::bits(s.form.types[0]);
  const int d = warp_mma::d_registers(m, sum_width);
  s.vectors = {d, warp_mma::a_registers(m, k, width), warp_mma::b_registers(k, width), d};
  const auto add = [](std::vector<ptx::Type>& to, int count, int bits) {
    to.insert(to.end(), static_cast<std::size_t>(count),
              bits == 64 ? ptx::Type::B64 : ptx::Type::B32);
  };
  add(s.out, d, sum_width);
  add(s.in, s.vectors[1] + s.vectors[2], width);
  add(s.in, d, sum_width);
}

int words_of(const std::vector<ptx::Type>& types) {
  int words = 0;
  for (const ptx::Type type : types) words += ptx::bits(type) == 128 ? 2 : 1;
  return words;
}

std::vector<std::string> expanded(std::span<const std::string_view> patterns) {
  std::vector<std::string> spellings;
  for (const std::string_view pattern : patterns) expand("", pattern, spellings);
  std::ranges::sort(spellings);
  spellings.erase(std::unique(spellings.begin(), spellings.end()), spellings.end());
  return spellings;
}

}  // namespace

int source_words(const ScalarForm& s) { return words_of(s.in) + (s.reads_carry ? 1 : 0); }

int result_count(const ScalarForm& s) { return words_of(s.out) + (s.sets_carry ? 1 : 0); }

int result_bytes(const ScalarForm& s) {
  int bits = 16;
  for (const ptx::Type type : s.out) bits = std::max(bits, std::min(ptx::bits(type), 64));
  return bits / 8;
}

const std::vector<std::string>& scalar_forms() {
  static const std::vector<std::string> all = expanded(patterns);
  return all;
}

const std::vector<std::string>& matrix_forms() {
  static const std::vector<std::string> all = expanded(matrix_patterns);
  return all;
}

// Only what begins like the form is expanded: one question is asked without all the others.
bool is_scalar_form(const ptx::Form& form) {
  const std::string spelling = ptx::print(form);
  const std::string_view name = std::string_view(spelling).substr(0, spelling.find('.'));
  std::vector<std::string> some;
  for (const std::string_view pattern : patterns)
    if (pattern.substr(0, pattern.find('}')).find(name) != pattern.npos) expand("", pattern, some);
  return std::ranges::any_of(some, [&](const std::string& listed) {
    return std::string_view(listed).substr(0, listed.find(' ')) == spelling;
  });
}

std::optional<ScalarForm> read_scalar_form(std::string_view spelling) {
  const std::size_t space = spelling.find(' ');
  ScalarForm s;
  s.form = ptx::read_form(spelling.substr(0, space));
  if (s.form.opcode == Opcode::Unknown || operation(s.form).evaluate == nullptr) return {};
  read_carry(s);
  if (s.form.opcode == Opcode::Mma)
    read_fragments(s);
  else if (!read_operands(s))
    return {};
  if (space != std::string_view::npos && !read_suffix(spelling.substr(space + 1), s)) return {};
  if ((s.form.opcode == Opcode::Lop3) != s.immediate.has_value()) return {};
  return s;
}

}  // namespace tcq::alu
