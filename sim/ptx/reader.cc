// The module level of a text; see reader.h.
#include "sim/ptx/reader.h"

#include <string>
#include <utility>

#include "sim/ptx/declaration_reader.h"
#include "sim/ptx/operand_reader.h"
#include "sim/ptx/statement_reader.h"

namespace tcq::ptx {
namespace {

class ModuleReader {
 public:
  ModuleReader(Unit& unit, const ReadOptions& options)
      : unit_(unit),
        options_(options),
        cursor_(unit),
        operands_(cursor_),
        declarations_(cursor_, operands_),
        statements_(cursor_, operands_, declarations_, options) {}

  void read() {
    while (!cursor_.is_end()) {
      const Offset begin = cursor_.token().at;
      try {
        read_item();
      } catch (const Refused& refused) {
        if (options_.loose) {
          statements_.recover(refused, begin);
          cursor_.take(';');
        } else {
          statements_.note(refused.at, refused.message);
          skip_to_declaration(begin);
        }
      }
    }
  }

 private:
  void read_item() {
    if (cursor_.take(';')) return;
    if (cursor_.is(TokenKind::Dotted)) return read_directive();
    if (options_.loose) return read_loose();
    cursor_.refuse("a directive such as .entry");
  }

  // What is left of a declaration that is wrong may be a whole function.
  void skip_to_declaration(Offset begin) {
    if (cursor_.token().at == begin) cursor_.advance();
    while (!cursor_.is_end() && !(cursor_.token().begins_line && is_declaration()))
      cursor_.advance();
  }

  bool is_declaration() const {
    for (const std::string_view word :
         {".visible", ".extern", ".weak", ".entry", ".func", ".global", ".const", ".version",
          ".target", ".section", ".file"})
      if (cursor_.is_dotted(word)) return true;
    return false;
  }

  void read_directive() {
    const std::string_view word = cursor_.token().text;
    if (word == ".version") return read_version();
    if (word == ".target") return read_target();
    if (word == ".address_size") {
      cursor_.advance();
      unit_.address_size = cursor_.demand_small("32 or 64");
      return;
    }
    if (word == ".file") return read_file();
    if (word == ".section") return read_section();
    if (word == ".alias") return skip_to_semicolon();
    if (word == ".pragma") {
      std::vector<Directive> none;
      declarations_.read_directive(none);
      return;
    }
    if (options_.loose && (word == ".loc" || word == ".reg")) return read_loose();
    read_declaration();
  }

  void read_version() {
    cursor_.advance();
    const std::string_view text = cursor_.token().text;
    const std::size_t dot = text.find('.');
    std::uint64_t major = 0, minor = 0;
    bool suffix = false;
    if (!cursor_.is(TokenKind::Number) || dot == text.npos ||
        !integer_value(text.substr(0, dot), major, suffix) || suffix ||
        !integer_value(text.substr(dot + 1), minor, suffix) || suffix || major > 99 || minor > 99)
      cursor_.refuse("a version such as 9.0");
    unit_.version_major = static_cast<std::uint32_t>(major);
    unit_.version_minor = static_cast<std::uint32_t>(minor);
    cursor_.advance();
  }

  void read_target() {
    cursor_.advance();
    unit_.targets.clear();
    do {
      unit_.targets.push_back(cursor_.demand_word("a target such as sm_90a"));
    } while (cursor_.take(','));
  }

  // .file 1 "path"[, time, size]
  void read_file() {
    cursor_.advance();
    FileDirective file;
    file.index = cursor_.demand_small("the number of a file");
    if (!cursor_.is(TokenKind::String)) cursor_.refuse("the name of a file in quotes");
    const std::string_view quotes = cursor_.token().text;
    file.path = unit_.names.intern(quotes.substr(1, quotes.size() - 2));
    cursor_.advance();
    while (cursor_.take(',')) cursor_.demand_number("a time or a size");
    unit_.files.push_back(file);
  }

  void skip_to_semicolon() {
    while (!cursor_.is_end() && !cursor_.is(';')) cursor_.advance();
    cursor_.demand(';');
  }

  // The data of debuggers is passed over; of .debug_str the names of inlined functions are kept.
  void read_section() {
    const Offset at = cursor_.token().at;
    cursor_.advance();
    const bool strings = cursor_.is_dotted(".debug_str");
    if (!cursor_.is(TokenKind::Dotted) && !cursor_.is(TokenKind::Word)) cursor_.refuse("a section");
    cursor_.advance();
    cursor_.demand('{');
    Name label = 0;
    std::string bytes;
    for (; !cursor_.is('}'); cursor_.advance()) {
      if (cursor_.is_end() || cursor_.is('{'))
        cursor_.refuse_at(at, "expected the '}' that ends this section");
      if (strings) read_debug_token(label, bytes);
    }
    cursor_.advance();
  }

  // "$L__info_string0:" and the bytes up to a zero.
  void read_debug_token(Name& label, std::string& bytes) {
    if (cursor_.is(TokenKind::Word)) {
      label = unit_.names.intern(cursor_.token().text);
      bytes.clear();
    }
    std::uint64_t byte = 0;
    bool suffix = false;
    if (label == 0 || !cursor_.is(TokenKind::Number) ||
        !integer_value(cursor_.token().text, byte, suffix))
      return;
    if (byte != 0) {
      bytes += static_cast<char>(byte);
      return;
    }
    unit_.debug_strings.push_back({label, unit_.names.keep(std::exchange(bytes, {}))});
    label = 0;
  }

  void read_declaration() {
    Linkage linkage = declarations_.take_linkage();
    for (Linkage more = declarations_.take_linkage(); more != Linkage::None;)
      linkage = std::exchange(more, declarations_.take_linkage());
    if (cursor_.take_dotted(".entry")) return read_function(FunctionKind::Entry, linkage);
    if (cursor_.take_dotted(".func")) return read_function(FunctionKind::Func, linkage);
    if (!cursor_.is(TokenKind::Dotted) || !is_variable_space(cursor_.token().text))
      cursor_.refuse("a directive such as .entry, .func or .global");
    const Range range = declarations_.read_variables(linkage);
    for (std::uint32_t i = 0; i < range.count; ++i)
      unit_.items.push_back({ItemKind::Variable, range.first + i});
    if (!options_.loose || cursor_.is(';')) cursor_.demand(';');
  }

  void read_function(FunctionKind kind, Linkage linkage) {
    Function function = declarations_.read_header(kind, linkage);
    const std::uint32_t index = add(function);
    if (cursor_.take(';')) return;
    cursor_.demand('{');
    function.has_body = true;
    function.body.first = index_of(unit_.statements.size());
    statements_.read_body();
    function.body.count = index_of(unit_.statements.size()) - function.body.first;
    function.end = cursor_.last_end();
    unit_.functions[index] = function;
  }

  // Statements up to the next function or the end.
  void read_loose() {
    Function function;
    function.kind = FunctionKind::Loose;
    function.at = cursor_.token().at;
    function.has_body = true;
    function.body.first = index_of(unit_.statements.size());
    const std::uint32_t index = add(function);
    while (!begins_declaration() && !cursor_.is_end()) {
      if (statements_.read_one()) continue;
      if (!cursor_.is('}')) break;
      statements_.note(cursor_.token().at, "a block that ends and did not begin");
      cursor_.advance();
    }
    function.body.count = index_of(unit_.statements.size()) - function.body.first;
    function.end = cursor_.last_end();
    unit_.functions[index] = function;
  }

  bool begins_declaration() const {
    return cursor_.is(TokenKind::Dotted) && statements_.depth() == 0 &&
           !cursor_.is_dotted(".reg") && !cursor_.is_dotted(".loc") &&
           !cursor_.is_dotted(".pragma");
  }

  std::uint32_t add(const Function& function) {
    unit_.items.push_back({ItemKind::Function, index_of(unit_.functions.size())});
    unit_.functions.push_back(function);
    return index_of(unit_.functions.size() - 1);
  }

  Unit& unit_;
  const ReadOptions& options_;
  Cursor cursor_;
  OperandReader operands_;
  DeclarationReader declarations_;
  StatementReader statements_;
};

// Roughly what a text of this size needs, so that arrays seldom grow.
void reserve(Unit& unit) {
  const std::size_t size = unit.text.size();
  unit.statements.reserve(size / 32);
  unit.operands.reserve(size / 12);
}

}  // namespace

Unit read(std::string_view text, const ReadOptions& options) {
  Unit unit;
  unit.text = text;
  if (text.size() > longest_text) {
    unit.diagnostics.push_back(
        {{1, 1}, "the text has " + std::to_string(text.size()) + " bytes: expected at most 2^30"});
    return unit;
  }
  unit.lines = LineTable(text);
  reserve(unit);
  try {
    ModuleReader(unit, options).read();
  } catch (const TooMany&) {
    unit.diagnostics.back().message += "; the rest is not read";
    unit.is_cut = true;
  }
  return unit;
}

}  // namespace tcq::ptx
