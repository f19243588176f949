#include "tests/fuzz/bodies.h"

#include <array>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/ptx/check_stream.h"
#include "oracle/recording/directed.h"
#include "oracle/recording/recording.h"
#include "tests/support/sealed_file.h"

namespace tcq::fuzz {
namespace {

void demand(bool holds, std::string_view law, std::string_view of) {
  if (!holds) throw Broken(std::string(law) + ": " + std::string(of));
}

void demand_sensible(const oracle::Answer& reply, std::string_view of) {
  const int status = static_cast<int>(reply.status);
  demand(status >= 0 && status <= 3, "status is none", of);
  demand(reply.complaint.find("internal error") == std::string::npos, reply.complaint, of);
  demand(reply.complaint.size() < 2000, "a long complaint", of);
  if (reply.status == oracle::Status::Yes) return;  // answers may come with several notes
  demand(reply.complaint.find('\n') == std::string::npos, "a complaint of several lines", of);
  demand(!reply.text.empty() || !reply.complaint.empty(), "refused without a sentence", of);
  demand(reply.status != oracle::Status::Usage || !reply.complaint.empty(), "no usage", of);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

oracle::Question question_of(std::string_view text, const oracle::Options& options = {}) {
  const std::vector<std::string_view> words = split(text, ' ');
  return {words[0], {words.begin() + 1, words.end()}, options};
}

template <class List>
auto choose(const List& list, char by) {
  return list[static_cast<unsigned char>(by) % std::size(list)];
}

constexpr std::array<std::string_view, 8> architectures = {"",     "",        "",      "sm_90a",
                                                           "h100", "sm_100a", "sm_90", "x"};

constexpr std::array<std::string_view, 11> word_formats = {"wgmma.desc",
                                                           "tcgen05.desc",
                                                           "tcgen05.idesc.f16",
                                                           "tcgen05.idesc.tf32",
                                                           "tcgen05.idesc.i8",
                                                           "tcgen05.idesc.f8f6f4",
                                                           "tcgen05.idesc.mxf4",
                                                           "tcgen05.zero_mask",
                                                           "tcgen05.idesc.mxf8f6f4",
                                                           "tcgen05.idesc.mxf4nvf4",
                                                           "tmem.addr"};

constexpr std::array<std::string_view, 4> word_uses = {
    " type=bf16", " type=bf16 mn=256", " type=tf32 major=MN mn=256", " type=e2m1 kind=mxf4 mn=128"};

// The fields that decode prints, as keys of encode.
std::string keys_of(std::string_view decoded) {
  std::string keys;
  for (const std::string_view line : split(decoded, '\n')) {
    if (!line.starts_with("bits") || line.find("  ignored  ") != line.npos) continue;
    const std::size_t name = line.find("  ") + 2;
    keys += ' ';
    keys += line.substr(name, line.find("  ", name) - name);
    keys += '=';
    keys += line.substr(line.rfind("  ") + 2);
  }
  return keys;
}

std::string_view payload_of(std::string_view bytes) { return bytes.substr(bytes.find("\n\n") + 2); }

}  // namespace

void question(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const auto bits = static_cast<unsigned char>(bytes[0] ^ '0');
  oracle::Options options;
  if (bits % 8 < 5) options.style = static_cast<oracle::Style>(bits % 8);
  options.transpose = (bits & 8) != 0;
  options.by_slot = (bits & 16) != 0;
  options.inputs = (bits & 32) != 0;
  if ((bits & 64) != 0) options.family = (bits & 128) != 0 ? "wgmma" : "x";
  options.arch = choose(architectures, static_cast<char>(bytes[1] ^ '0'));
  bytes.remove_prefix(2);
  demand_sensible(oracle::answer(question_of(bytes, options)), bytes);
}

// Any word is decoded; whatever encode makes of the fields decodes to the same fields again.
void word(std::string_view bytes) {
  if (bytes.size() < 3 || bytes.size() > 10) return;
  const std::string format(choose(word_formats, bytes[0]));
  const bool narrow = format.find("idesc") != std::string::npos || format == "tmem.addr";
  std::uint64_t value = 0;
  for (const char c : bytes.substr(2)) value = value << 8 | static_cast<unsigned char>(c);
  if (narrow) value &= 0xffffffffu;
  const std::string asked = "decode " + format + " " + std::to_string(value);
  const oracle::Answer decoded = oracle::answer(question_of(asked));
  demand(decoded.status == oracle::Status::Yes, "a word that is not decoded", asked);
  if (format == "tcgen05.desc") {
    const std::string of_use = asked + std::string(choose(word_uses, bytes[1]));
    demand_sensible(oracle::answer(question_of(of_use)), of_use);
  }
  const std::string keys = "encode " + format + keys_of(decoded.text);
  const oracle::Answer encoded = oracle::answer(question_of(keys));
  demand_sensible(encoded, keys);
  if (encoded.status != oracle::Status::Yes) return;
  const std::string back = "decode " + format + " " + encoded.text;
  demand(keys_of(oracle::answer(question_of(back)).text) == keys_of(decoded.text),
         "other fields come back", asked);
}

void statement(std::string_view bytes) {
  const auto sensible = [&](const oracle::Answer& reply) { demand_sensible(reply, bytes); };
  const std::vector<std::string_view> lines = split(bytes, '\n');
  if (lines.size() == 1) {
    const oracle::Answer reply = oracle::answer_line({"check", {}, {}}, bytes);
    sensible(reply);
    demand(reply.text.find('\n') == std::string::npos, "one line in, several out", bytes);
  }
  int answers = 0;
  oracle::CheckStream check({"check", {}, {}}, [&](const oracle::Answer& reply) {
    ++answers;
    sensible(reply);
  });
  for (const std::string_view line : lines) check.add_line(line);
  check.end();
  demand(answers > 0, "no answer", bytes);
}

void stream(std::string_view bytes) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(bytes, '\n')) lines.emplace_back(line);
  demand_sensible(oracle::answer_stream({"emission", {}, {}}, lines), bytes);
}

void sum(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == bytes.npos) return;
  oracle::Question asked = question_of(bytes.substr(0, end));
  asked.verb = "mma";
  const oracle::Answer reply = oracle::answer_line(asked, bytes.substr(end + 1));
  demand_sensible(reply, bytes);
  demand(reply.text.find('\n') == std::string::npos, "one line in, several out", bytes);
}

// Either the file is refused, or it holds what was read and nothing else.
void recording(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto kind = static_cast<unsigned char>(bytes[0] ^ '0');
  const bool directed = (kind & 1) != 0;
  std::string file(bytes.substr(1));
  if ((kind & 2) != 0)
    file = sealed(directed ? "# tcq directed 2\n" : "tcq recording 2\n", file, kind >> 2 & 7);
  try {
    if (directed || oracle::is_directed(file)) {
      const oracle::DirectedFile read = oracle::parse_directed(file);
      oracle::compare(read);
      const std::string text = oracle::serialize(read);
      demand(oracle::serialize(oracle::parse_directed(text)) == text, "not what was read", text);
    } else {
      const oracle::Recording read = oracle::parse_recording(file);
      demand(payload_of(oracle::serialize(read)) == payload_of(file), "not what was read", file);
      oracle::compare(read);
    }
  } catch (const oracle::BadFile& error) {
    demand(*error.what() != 0, "refused without a sentence", file);
  }
}

}  // namespace tcq::fuzz
