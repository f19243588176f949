// Writing PTX; see printer.h.
#include "sim/ptx/printer.h"

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tcq::ptx {
namespace {

std::string hex(std::uint64_t value, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; value /= 16) text[i] = "0123456789ABCDEF"[value % 16];
  return text;
}

class Printer {
 public:
  explicit Printer(const Unit& unit) : unit_(unit) {}

  std::string whole() {
    if (unit_.version_major != 0)
      add(".version ", unit_.version_major, ".", unit_.version_minor, "\n");
    for (std::size_t i = 0; i < unit_.targets.size(); ++i)
      add(i == 0 ? ".target " : ", ", word(unit_.targets[i]));
    if (!unit_.targets.empty()) add("\n");
    if (unit_.address_size != 0) add(".address_size ", unit_.address_size, "\n");
    for (const Item& item : unit_.items) {
      if (item.kind == ItemKind::Variable) {
        variable(unit_.variables[item.index]);
        add(";\n");
      } else {
        function(unit_.functions[item.index]);
      }
    }
    for (const FileDirective& file : unit_.files)
      add(".file ", file.index, " \"", word(file.path), "\"\n");
    return std::move(text_);
  }

  void statement(const Statement& s) {
    using enum StatementKind;
    switch (s.kind) {
      case Instruction: return instruction(s);
      case Label: return add(word(s.name), ":");
      case Open: return add("{");
      case Close: return add("}");
      case Registers: return registers(s.items);
      case Variable: variable(unit_.variables[s.items.first]); return add(";");
      case Location: return location(unit_.locations[s.items.first]);
      case Pragma: return list(".pragma ", s.items, ";");
      case Targets: return list(std::string(word(s.name)) + ": .branchtargets ", s.items, ";");
      case Callees: return list(std::string(word(s.name)) + ": .calltargets ", s.items, ";");
      case Prototype: return prototype(s);
      case Malformed: return;
    }
  }

  void operand(const Operand& o) {
    using enum OperandKind;
    if (o.negated) add("!");
    if (o.minus) add("-");
    switch (o.kind) {
      case Name: return name(o);
      case Sink: return add("_");
      case Integer: return integer(o);
      case Float32: return add("0f", hex(static_cast<std::uint64_t>(o.value), 8));
      case Float64: return add("0d", hex(static_cast<std::uint64_t>(o.value), 16));
      case Vector: return list("{", o.items, "}");
      case Span: return add(word(o.name), "..", word(o.selector));
      case Address: return list("[", o.items, "]");
      case Pair: return pair(o);
      case List: return list("(", o.items, ")");
      case Generic: add("generic(", word(o.name), ")"); return offset(o.value);
      case Masked: return masked(o);
      case String: return add("\"", word(o.name), "\"");
    }
  }

  std::string take() { return std::move(text_); }

 private:
  std::string_view word(tcq::ptx::Name name) const { return unit_.names.text(name); }

  void add() {}
  template <class First, class... Rest>
  void add(const First& first, const Rest&... rest) {
    if constexpr (std::is_integral_v<First>)
      text_ += std::to_string(first);
    else
      text_ += first;
    add(rest...);
  }

  void offset(std::int64_t value) {
    if (value > 0) add("+");
    if (value != 0) add(value);
  }

  void name(const Operand& o) {
    add(word(o.name));
    if (o.selector != 0) add(".", word(o.selector));
    offset(o.value);
  }

  void integer(const Operand& o) {
    if (o.is_unsigned)
      add(static_cast<std::uint64_t>(o.value), "U");
    else
      add(o.value);
  }

  void pair(const Operand& o) {
    operand(unit_.operands[o.items.first]);
    add("|");
    operand(unit_.operands[o.items.first + 1]);
  }

  void masked(const Operand& o) {
    operand(unit_.operands[o.items.first]);
    add("(", word(o.name));
    offset(o.value);
    add(")");
  }

  void list(std::string_view before, Range items, std::string_view after) {
    add(before);
    for (std::uint32_t i = items.first; i < items.end(); ++i) {
      if (i > items.first) add(", ");
      operand(unit_.operands[i]);
    }
    add(after);
  }

  void instruction(const Statement& s) {
    if (s.guard != 0) add(s.guard_negated ? "@!" : "@", word(s.guard), " ");
    add(word(s.name));
    list(s.items.count == 0 ? "" : " ", s.items, ";");
  }

  void registers(Range items) {
    for (std::uint32_t i = items.first; i < items.end(); ++i) {
      const RegisterItem& item = unit_.registers[i];
      if (i == items.first) {
        add(".reg ");
        vector(item.vector);
        add(".", tcq::ptx::name(item.type), " ");
      } else {
        add(", ");
      }
      add(word(item.name));
      if (item.count != 0) add("<", item.count, ">");
    }
    add(";");
  }

  void vector(int width) {
    if (width > 1) add(".v", width, " ");
  }

  void linkage(Linkage linkage) {
    constexpr std::array<std::string_view, 5> words = {"", ".visible ", ".extern ", ".weak ",
                                                       ".common "};
    add(words[static_cast<std::size_t>(linkage)]);
  }

  void variable(const tcq::ptx::Variable& v) {
    linkage(v.linkage);
    add(".", tcq::ptx::name(v.space), " ");
    if (v.align != 0) add(".align ", v.align, " ");
    vector(v.vector);
    add(".", tcq::ptx::name(v.type), " ");
    if (v.is_pointer) {
      add(".ptr ");
      if (v.pointee_space != Space::Generic) add(".", tcq::ptx::name(v.pointee_space), " ");
      if (v.pointee_align != 0) add(".align ", v.pointee_align, " ");
    }
    add(word(v.name));
    for (std::uint32_t i = v.sizes.first; i < v.sizes.end(); ++i) {
      add("[");
      if (unit_.sizes[i] != 0) add(unit_.sizes[i]);
      add("]");
    }
    if (v.values.count == 0) return;
    add(" = ");
    value(unit_.operands[v.values.first]);
  }

  void value(const Operand& o) {
    if (o.kind != OperandKind::List) return operand(o);
    add("{");
    for (std::uint32_t i = o.items.first; i < o.items.end(); ++i) {
      if (i > o.items.first) add(", ");
      value(unit_.operands[i]);
    }
    add("}");
  }

  void parameters(Range items) {
    add("(");
    for (std::uint32_t i = items.first; i < items.end(); ++i) {
      if (i > items.first) add(", ");
      variable(unit_.variables[i]);
    }
    add(")");
  }

  void directives(Range items) {
    for (std::uint32_t i = items.first; i < items.end(); ++i) {
      const Directive& d = unit_.directives[i];
      add("\n.", word(d.name));
      for (std::uint32_t k = d.numbers.first; k < d.numbers.end(); ++k)
        add(k > d.numbers.first ? ", " : " ", unit_.sizes[k]);
    }
  }

  void prototype(const Statement& s) {
    const Function& f = unit_.functions[s.items.first];
    add(word(s.name), ": .callprototype ");
    if (f.returns.count != 0) parameters(f.returns);
    add(" _ ");
    parameters(f.parameters);
    directives(f.directives);
    add(";");
  }

  void function(const Function& f) {
    if (f.kind == FunctionKind::Loose) return body(f);
    linkage(f.linkage);
    add(f.kind == FunctionKind::Entry ? ".entry " : ".func ");
    if (f.returns.count != 0) parameters(f.returns);
    add(word(f.name));
    parameters(f.parameters);
    directives(f.directives);
    if (!f.has_body) return add("\n;\n");
    add("\n{\n");
    body(f);
    add("}\n");
  }

  void body(const Function& f) {
    for (std::uint32_t i = f.body.first; i < f.body.end(); ++i) {
      statement(unit_.statements[i]);
      add("\n");
    }
  }

  void location(const LocationDirective& l) {
    add(".loc ", l.file, " ", l.line, " ", l.column);
    if (l.function_name != 0) add(", function_name ", word(l.function_name));
    if (l.name_offset != 0) add("+", l.name_offset);
    if (l.is_inlined) add(", inlined_at ", l.at_file, " ", l.at_line, " ", l.at_column);
  }

  const Unit& unit_;
  std::string text_;
};

}  // namespace

std::string print(const Unit& unit) { return Printer(unit).whole(); }

std::string print(const Unit& unit, const Statement& statement) {
  Printer printer(unit);
  printer.statement(statement);
  return printer.take();
}

std::string print(const Unit& unit, const Operand& operand) {
  Printer printer(unit);
  printer.operand(operand);
  return printer.take();
}

}  // namespace tcq::ptx
