#include "oracle/diagnosis/instruction_text.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <variant>

#include "sim/ptx/opcode_reader.h"

namespace tcq::oracle {

using namespace machine;

std::string address_text(const Program& program, std::uint32_t address) {
  for (const Allocation& a : program.allocations()) {
    if (address < a.address || address >= a.address + a.bytes) continue;
    const std::uint64_t offset = address - a.address;
    return offset == 0 ? a.name : fmt::format("{}+{:#x}", a.name, offset);
  }
  return fmt::format("{:#x}", address);
}

std::string bytes_text(const Program& program, ByteRange bytes) {
  for (const Allocation& a : program.allocations())
    if (bytes.begin >= a.address && bytes.begin < a.address + a.bytes)
      return fmt::format("{} [{:#x},{:#x})", a.name, bytes.begin, bytes.end);
  return fmt::format("[{:#x},{:#x})", bytes.begin, bytes.end);
}

namespace {

class ProgramNames : public Names {
 public:
  explicit ProgramNames(const Program& program) : program_(program) {}

  using Names::at;
  std::string at(std::uint32_t address) const override { return address_text(program_, address); }
  std::string map(int number) const override { return program_.map_name(number); }
  std::string opcode(const PtxText& full) const override { return ptx::shortened(full.chars); }

 private:
  const Program& program_;
};

}  // namespace

std::string instruction_text(const Program& program, const machine::Instruction& what) {
  const ProgramNames names(program);
  return std::visit([&](const auto& i) { return i.text(names); }, what);
}

namespace {

std::string line_text(const Where& where) {
  std::string_view file = where.file;
  if (const auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, where.line);
}

// Of a long chain its two ends: who calls a library's innermost function, and where the kernel does.
std::string chain_text(const std::vector<std::string>& lines) {
  constexpr std::size_t shown = 4;
  std::string text = lines.front();
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool is_cut = lines.size() > shown && i >= 2 && i + 1 < lines.size();
    if (!is_cut) text += (i == 1 ? ", inlined at " : ", at ") + lines[i];
    if (is_cut && i == 2) text += ", ...";
  }
  return text;
}

}  // namespace

std::string line_text(const Statement& statement) { return line_text(statement.where); }

std::string line_text(const Program& program, const Place& place) {
  return line_text(program.statement(static_cast<std::size_t>(place.statement)));
}

std::string who_text(const Program& program, const Place& place) {
  const int warps = program.warps_per_cta();
  const int warp = place.warp % warps;
  const std::string cta =
      program.launch().cluster > 1 ? fmt::format("CTA {} ", place.warp / warps) : "";
  return place.lane < 0 ? fmt::format("{}warp {}", cta, warp)
                        : fmt::format("{}thread {}", cta, warp * warp_threads + place.lane);
}

std::vector<std::string> lines_of(const Program& program, const Place& place) {
  std::vector<std::string> lines;
  const Where* at = &program.statement(static_cast<std::size_t>(place.statement)).where;
  for (; at != nullptr; at = at->caller)
    if (std::string line = line_text(*at); lines.empty() || lines.back() != line)
      lines.push_back(std::move(line));
  return lines;
}

std::string place_text(const Program& program, const Place& place) {
  const auto number = static_cast<std::size_t>(place.statement);
  const Statement& statement = program.statement(number);
  return fmt::format("{} at {} ({}, {})", instruction_text(program, statement.what),
                     chain_text(lines_of(program, place)), program.segment_of(number).name,
                     who_text(program, place));
}

}  // namespace tcq::oracle
