#include "oracle/recording/directed.h"

#include <fmt/format.h>

#include <bit>

#include "oracle/answer/words.h"
#include "sim/isa/wgmma/sparse.h"
#include "sim/num/dot.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view directed_magic = "# tcq directed 2\n";

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

int hex_digits(Type type) { return bits(type) == 1 ? 1 : bits(type) / 4; }

// "k:hex,k:hex": every other element is 0. `k-k:hex` fills a range.
std::vector<std::uint32_t> parse_elements(std::string_view text, Type type, int count) {
  std::vector<std::uint32_t> elements(static_cast<std::size_t>(count));
  for (const std::string_view item : split(text, ',')) {
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos)
      throw UsageError(fmt::format("{} is not k:hex", quoted(item)));
    const std::string_view range = item.substr(0, colon);
    const std::size_t dash = range.find('-');
    const std::uint64_t first = parse_number(range.substr(0, dash), "k");
    const std::uint64_t last =
        dash == std::string_view::npos ? first : parse_number(range.substr(dash + 1), "k");
    if (last >= elements.size() || first > last)
      throw UsageError(fmt::format("k {} is outside [0, {})", quoted(range), count));
    const std::uint32_t value = parse_hex(item.substr(colon + 1), hex_digits(type), "element");
    for (std::uint64_t k = first; k <= last; ++k) elements[k] = value;
  }
  return elements;
}

std::string print_elements(const std::vector<std::uint32_t>& elements, Type type) {
  std::string text;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    std::size_t last = k;
    while (last + 1 < elements.size() && elements[last + 1] == elements[k]) ++last;
    if (elements[k] != 0) {
      text += text.empty() ? "" : ",";
      text += last == k ? fmt::format("{}:", k) : fmt::format("{}-{}:", k, last);
      text += fmt::format("{:0{}x}", elements[k], hex_digits(type));
    }
    k = last;
  }
  return text;
}

std::vector<std::uint32_t> parse_codes(std::string_view text, Type a) {
  if (text.size() != static_cast<std::size_t>(wgmma::chunks_per_row(a)))
    throw UsageError(fmt::format("codes need {} hex digits", wgmma::chunks_per_row(a)));
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < text.size(); ++i)
    codes.push_back(parse_hex(text.substr(i, 1), 1, "codes"));
  return codes;
}

Probe parse_probe(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() < 4) throw UsageError("a probe is: id mnemonic key=value ...");
  Probe probe;
  probe.id = words[0];
  std::vector<std::string_view> keys_of_instruction;
  std::map<std::string_view, std::string_view> operands;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string_view key = words[i].substr(0, equals);
    const bool is_operand = key == "A" || key == "B" || key == "C" || key == "D" || key == "codes";
    if (!is_operand)
      keys_of_instruction.push_back(words[i]);
    else if (equals != std::string_view::npos)
      operands[key] = words[i].substr(equals + 1);
  }
  const Keys keys(keys_of_instruction, instruction_keys);
  probe.instruction = parse_instruction(words[1], keys);
  const wgmma::Form& f = probe.instruction.form;
  probe.a = parse_elements(operands["A"], f.a, wgmma::stored_k(f.a));
  probe.b = parse_elements(operands["B"], f.b, wgmma::k(f));
  if (f.sparse) probe.codes = parse_codes(operands["codes"], f.a);
  probe.c = parse_hex(operands["C"], hex_digits(f.d), "C");
  probe.recorded = operands["D"] != "?";
  if (probe.recorded) probe.d = parse_hex(operands["D"], hex_digits(f.d), "D");
  return probe;
}

std::string print_probe(const Probe& p) {
  const wgmma::Form& f = p.instruction.form;
  std::string text =
      fmt::format("{} {} A={} B={} C={:0{}x}", p.id, mnemonic_with_keys(p.instruction),
                  print_elements(p.a, f.a), print_elements(p.b, f.b), p.c, hex_digits(f.d));
  if (f.sparse) {
    text += " codes=";
    for (const std::uint32_t code : p.codes) text += fmt::format("{:x}", code);
  }
  return text + (p.recorded ? fmt::format(" D={:0{}x}\n", p.d, hex_digits(f.d)) : " D=?\n");
}

std::vector<Probe> parse_probes(std::string_view lines, int number) {
  std::vector<Probe> probes;
  for (; !lines.empty(); ++number) {
    const std::string_view line = take_line(lines);
    if (line.empty() || line.starts_with("#")) continue;
    try {
      probes.push_back(parse_probe(line));
    } catch (const std::runtime_error& error) {  // unknown words, illegal instructions
      throw BadFile(fmt::format("line {}: {}", number, error.what()));
    }
  }
  return probes;
}

// Written by hand: questions, and no answer that would need a checksum.
DirectedFile parse_questions(std::string_view bytes) {
  constexpr int second_line = 2;
  DirectedFile file{{}, parse_probes(bytes.substr(directed_magic.size()), second_line)};
  for (const Probe& probe : file.probes)
    if (probe.recorded)
      throw BadFile(fmt::format("{} has recorded bits, but the header has no checksum: corrupted",
                                quoted(probe.id)));
  return file;
}

}  // namespace

bool is_directed(std::string_view bytes) { return bytes.starts_with("# tcq directed "); }

DirectedFile parse_directed(std::string_view bytes) {
  if (bytes.starts_with(directed_magic) && !is_sealed(bytes)) return parse_questions(bytes);
  const Container container = unpack(directed_magic, bytes);
  DirectedFile file{container.header, parse_probes(container.payload, container.first_line)};
  check_cases(file.header, file.probes.size());
  return file;
}

std::string serialize(const DirectedFile& file) {
  std::string lines;
  for (const Probe& probe : file.probes) lines += print_probe(probe);
  return pack(directed_magic, file.header, file.probes.size(), lines);
}

std::uint32_t simulate(const Probe& p) {
  const wgmma::Form& f = p.instruction.form;
  std::vector<std::uint32_t> b = p.b;
  if (f.sparse) {
    const int per_chunk = wgmma::stored_per_chunk(f.a);
    b.clear();
    for (int k = 0; k < wgmma::stored_k(f.a); ++k) {
      const int chunk = k / per_chunk;
      const std::uint32_t code = p.codes[static_cast<std::size_t>(chunk)];
      b.push_back(wgmma::selected_b(f.a, chunk, code, k % per_chunk, p.b.data()));
    }
  }
  return dot({f.d, f.a, f.b}, p.a.data(), b.data(), wgmma::stored_k(f.a), p.c,
             {p.instruction.accumulate, f.negate_a, f.negate_b, f.satfinite});
}

Comparison compare(const DirectedFile& file, std::int64_t only) {
  Comparison total;
  for (std::size_t i = 0; i < file.probes.size(); ++i) {
    const Probe& p = file.probes[i];
    if ((only >= 0 && static_cast<std::size_t>(only) != i) || !p.recorded) continue;
    ++total.cases;
    ++total.outputs;
    const std::uint32_t got = simulate(p);
    if (got == p.d) continue;
    total.add(i, 1, static_cast<std::size_t>(std::popcount(got ^ p.d)), [&] {
      return fmt::format("case {}: {}: {}: device {:x}, simulator {:x}", i, p.id,
                         mnemonic_with_keys(p.instruction), p.d, got);
    });
  }
  return total;
}

}  // namespace tcq::oracle
