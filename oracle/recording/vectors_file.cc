// The bytes of a wgmma case, in the file of container.h; and files as such (vectors.h).
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "oracle/answer/words.h"
#include "oracle/recording/vectors.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view magic = "tcq recording 2\n";
constexpr std::size_t max_outputs = 64 * 256;
constexpr std::uint32_t max_shared_bytes = 256 * 1024;

void put_form(PayloadWriter& w, const wgmma::Form& f) {
  for (const Type type : {f.d, f.a, f.b}) w.put(static_cast<std::uint64_t>(type), 1);
  w.put(static_cast<std::uint64_t>(f.n), 2);
  for (const bool flag : {f.sparse, f.a_place == wgmma::Place::Registers, f.major_a == Major::MN,
                          f.major_b == Major::MN, f.negate_a, f.negate_b, f.satfinite})
    w.put(flag ? 1 : 0, 1);
}

wgmma::Form get_form(PayloadReader& r) {
  wgmma::Form f{};
  for (Type* type : {&f.d, &f.a, &f.b})
    *type = static_cast<Type>(r.get_below(1, type_count, "type"));
  f.n = static_cast<int>(r.get(2));
  f.sparse = r.get_flag();
  f.a_place = r.get_flag() ? wgmma::Place::Registers : wgmma::Place::Smem;
  f.major_a = r.get_flag() ? Major::MN : Major::K;
  f.major_b = r.get_flag() ? Major::MN : Major::K;
  f.negate_a = r.get_flag();
  f.negate_b = r.get_flag();
  f.satfinite = r.get_flag();
  if (wgmma::check(f) != Fault::None) throw BadFile("recording holds an illegal instruction");
  return f;
}

int output_bytes(const wgmma::Form& f) { return bits(f.d) / 8; }

void put_case(PayloadWriter& w, const Case& c) {
  put_form(w, c.instruction.form);
  w.put(static_cast<std::uint64_t>(c.instruction.selector), 1);
  w.put(c.instruction.accumulate ? 1 : 0, 1);
  w.put(static_cast<std::uint64_t>(c.content), 1);
  w.put(static_cast<std::uint64_t>(c.mixture), 1);
  w.put(static_cast<std::uint64_t>(c.keep), 1);
  w.put(c.shared_bytes, 4);
  for (const std::uint64_t word :
       {c.instruction.desc_a, c.instruction.desc_b, c.seed, c.input_hash})
    w.put(word, 8);
  w.put(c.outputs.size(), 4);
  for (const std::uint32_t output : c.outputs) w.put(output, output_bytes(c.instruction.form));
}

Case get_case(PayloadReader& r) {
  Case c;
  c.instruction.form = get_form(r);
  const auto selectors = static_cast<std::uint64_t>(wgmma::max_selector(c.instruction.form.a)) + 1;
  c.instruction.selector = static_cast<int>(r.get_below(1, selectors, "selector"));
  c.instruction.accumulate = r.get_flag();
  c.content = static_cast<Content>(r.get_below(1, 2, "content"));
  c.mixture = static_cast<MixtureClass>(r.get_below(1, mixture_class_count, "mixture class"));
  c.keep = static_cast<Keep>(r.get_below(1, 3, "selection of outputs"));
  c.shared_bytes = static_cast<std::uint32_t>(r.get_below(4, max_shared_bytes + 1, "size"));
  if (c.shared_bytes % 8 != 0) throw BadFile("recording holds an impossible size");
  c.instruction.desc_a = r.get(8);
  c.instruction.desc_b = r.get(8);
  c.seed = r.get(8);
  c.input_hash = r.get(8);
  const std::uint64_t count = r.get_below(4, max_outputs + 1, "number of outputs");
  if (count != kept_elements(c).size())
    throw BadFile("recording holds an impossible number of outputs");
  for (std::uint64_t i = 0; i < count; ++i)
    c.outputs.push_back(static_cast<std::uint32_t>(r.get(output_bytes(c.instruction.form))));
  return c;
}

}  // namespace

std::string serialize(const Recording& recording) {
  PayloadWriter writer;
  for (const Case& c : recording.cases) put_case(writer, c);
  return pack(magic, recording.header, recording.cases.size(), writer.take());
}

Recording parse_recording(std::string_view bytes) {
  const Container container = unpack(magic, bytes);
  Recording recording{container.header, {}};
  PayloadReader reader(container.payload);
  while (!reader.at_end()) recording.cases.push_back(get_case(reader));
  check_cases(recording.header, recording.cases.size());
  return recording;
}

std::string read_file(const std::string& path) {
  const std::string shown = shown_path(path);
  constexpr std::uintmax_t limit = 256 << 20;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw BadFile(fmt::format("{}: is a directory", shown));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) throw BadFile(fmt::format("{}: {}", shown, std::strerror(errno)));
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get());
    bytes.append(buffer, count);
    if (bytes.size() > limit) throw BadFile(fmt::format("{}: larger than any recording", shown));
    if (count < sizeof buffer) break;
  }
  if (std::ferror(file.get()) != 0) throw BadFile(fmt::format("{}: read error", shown));
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::string shown = shown_path(path);
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  // The rename would replace a device or a pipe by a file.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw BadFile(fmt::format("{}: cannot be written: it is no regular file", shown));
  const std::string temporary = path + ".partial";
  const auto fail = [&](const char* what) {
    const int code = errno;
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw BadFile(fmt::format("{}: {}: {}", shown, what, std::strerror(code)));
  };
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail("cannot be written");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
                       std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  if (std::fclose(file) != 0 || !written) fail("write error");
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    errno = error.value();
    fail("cannot be renamed into place");
  }
}

}  // namespace tcq::oracle
