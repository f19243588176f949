#include "cuda/gemm/tune_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "cuda/gemm/check.h"
#include "cuda/gemm/guard.h"
#include "cuda/gemm/json.h"

namespace tcq::gemm {
namespace {

namespace fs = std::filesystem;
using Choices = std::map<TuneKey, std::string>;

constexpr const char* format_name = "tcq gemm choices";
constexpr std::uint64_t format_version = 2;  // 1 has no FP8
constexpr std::uintmax_t max_file_bytes = 256 * 1024 * 1024;

// --- a choice as JSON ------------------------------------------------------------------------------

const char* word(Major major) { return major == Major::K ? "K" : "MN"; }
const char* word(Scaling scaling) {
  constexpr std::array<const char*, 5> words = {"none", "tensor", "row x column", "1x128 x 128x128",
                                                "1x128 x 1x128"};
  static_assert(words.size() == scaling_count);
  return words[static_cast<std::size_t>(scaling)];
}
const char* word(bool flag) { return flag ? "true" : "false"; }

// One line for each field.
class ChoiceText {
 public:
  void text(const char* field, const std::string& value) { add(field, json_string(value)); }
  void number(const char* field, std::int64_t value) { add(field, std::to_string(value)); }
  void flag(const char* field, bool value) { add(field, word(value)); }
  std::string whole() const { return "  {\n" + fields_ + "\n  }"; }

 private:
  void add(const char* field, const std::string& value) {
    fields_ += (fields_.empty() ? "   " : ",\n   ") + json_string(field) + ": " + value;
  }

  std::string fields_;
};

constexpr std::size_t field_count = 20;
constexpr std::size_t fp8_field_count = 3;            // besides, of FP8 alone
constexpr const char* quantized_field = "quantized";  // only where it is true

std::string choice_text(const TuneKey& key, const std::string& kernel) {
  ChoiceText out;
  out.text("device", key.device);
  out.number("major", key.major);
  out.number("minor", key.minor);
  out.number("sm_count", key.sm_count);
  out.number("m", key.m);
  out.number("n", key.n);
  out.number("k", key.k);
  out.number("batch", key.batch);
  out.text("in", name(key.in));
  out.text("out", name(key.out));
  out.text("major_a", word(key.major_a));
  out.text("major_b", word(key.major_b));
  out.flag("tma_loads", key.tma_loads);
  out.flag("tma_stores", key.tma_stores);
  out.flag("scales", key.scales);
  out.flag("reads_c", key.reads_c);
  out.flag("has_bias", key.has_bias);
  out.text("activation", name(key.activation));
  out.flag("batch_invariant", key.batch_invariant);
  if (is_fp8(key.in)) {
    out.text("in_b", name(key.in_b));
    out.text("scaling", word(key.scaling));
    out.flag("promotes", key.promotes);
  }
  if (key.quantized) out.flag(quantized_field, true);
  out.text("kernel", kernel);
  return out.whole();
}

// The readers throw TuneFileDamaged if the field is not there or not what it should be.

const JsonValue& field(const JsonValue& choice, const char* name, JsonValue::Kind kind) {
  const JsonValue* value = choice.find(name);
  if (value == nullptr || value->kind != kind) throw Status::TuneFileDamaged;
  return *value;
}

template <class Number>
Number number(const JsonValue& choice, const char* name) {
  const std::uint64_t value = field(choice, name, JsonValue::Kind::Unsigned).number;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  if (value > most) throw Status::TuneFileDamaged;
  return static_cast<Number>(value);
}

bool flag(const JsonValue& choice, const char* name) {
  return field(choice, name, JsonValue::Kind::Boolean).boolean;
}

const std::string& text(const JsonValue& choice, const char* name) {
  return field(choice, name, JsonValue::Kind::String).text;
}

template <class Enum, class Word>
Enum one_of(const JsonValue& choice, const char* name, int count, Word word_of) {
  const std::string& value = text(choice, name);
  for (int i = 0; i < count; ++i)
    if (value == word_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  throw Status::TuneFileDamaged;
}

Type type(const JsonValue& choice, const char* name) {
  return one_of<Type>(choice, name, type_count, [](Type t) { return tcq::name(t); });
}

Major major(const JsonValue& choice, const char* name) {
  return one_of<Major>(choice, name, 2, [](Major m) { return word(m); });
}

bool has_quantized(const JsonValue& choice) { return choice.find(quantized_field) != nullptr; }

TuneKey key_of(const JsonValue& choice) {
  TuneKey key;
  key.device = text(choice, "device");
  key.major = number<int>(choice, "major");
  key.minor = number<int>(choice, "minor");
  key.sm_count = number<int>(choice, "sm_count");
  key.m = number<std::int64_t>(choice, "m");
  key.n = number<std::int64_t>(choice, "n");
  key.k = number<std::int64_t>(choice, "k");
  key.batch = number<std::int64_t>(choice, "batch");
  key.in = type(choice, "in");
  key.out = type(choice, "out");
  key.major_a = major(choice, "major_a");
  key.major_b = major(choice, "major_b");
  key.tma_loads = flag(choice, "tma_loads");
  key.tma_stores = flag(choice, "tma_stores");
  key.scales = flag(choice, "scales");
  key.reads_c = flag(choice, "reads_c");
  key.has_bias = flag(choice, "has_bias");
  key.activation = one_of<Activation>(choice, "activation", activation_count,
                                      [](Activation a) { return name(a); });
  key.batch_invariant = flag(choice, "batch_invariant");
  key.in_b = is_fp8(key.in) ? type(choice, "in_b") : key.in;
  if (is_fp8(key.in)) {
    key.scaling =
        one_of<Scaling>(choice, "scaling", scaling_count, [](Scaling s) { return word(s); });
    key.promotes = flag(choice, "promotes");
  }
  key.quantized = has_quantized(choice) && flag(choice, quantized_field);
  return key;
}

// --- the file --------------------------------------------------------------------------------------

Status parse_choices(const JsonValue& list, Choices& choices) {
  if (list.kind != JsonValue::Kind::Array) return Status::TuneFileDamaged;
  for (const JsonValue& choice : list.items) {
    const std::string& kernel = text(choice, "kernel");
    const TuneKey key = key_of(choice);
    const std::size_t fields =
        field_count + (is_fp8(key.in) ? fp8_field_count : 0) + (has_quantized(choice) ? 1 : 0);
    const bool is_new = choices.emplace(key, kernel).second;
    if (choice.items.size() != fields || kernel.empty() || !is_new) return Status::TuneFileDamaged;
  }
  return Status::Ok;
}

Status parse(const std::string& file, Choices& choices) {
  JsonValue json;
  if (!parse_json(file, json)) return Status::TuneFileDamaged;
  const JsonValue* format = json.find("format");
  if (format == nullptr || format->text != format_name) return Status::TuneFileForeign;
  const JsonValue* version = json.find("version");
  if (version == nullptr || version->number < 1) return Status::TuneFileDamaged;
  if (version->number > format_version) return Status::TuneFileNewer;
  const JsonValue* list = json.find("choices");
  if (list == nullptr || json.items.size() != 3) return Status::TuneFileDamaged;
  return parse_choices(*list, choices);
}

Status read(const fs::path& path, Choices& choices) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Status::TuneFileMissing;
  if (error || !fs::is_regular_file(status)) return Status::TuneFileUnreadable;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error || bytes > max_file_bytes) return Status::TuneFileUnreadable;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::TuneFileUnreadable;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return Status::TuneFileUnreadable;
  return parse(text, choices);
}

std::string text_of(const Choices& choices) {
  std::string list;
  for (const auto& [key, kernel] : choices)
    list += (list.empty() ? "\n" : ",\n") + choice_text(key, kernel);
  if (!list.empty()) list += "\n ";
  return "{\n \"format\": " + json_string(format_name) +
         ",\n \"version\": " + std::to_string(format_version) + ",\n \"choices\": [" + list +
         "]\n}\n";
}

bool write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t now = ::write(file, text.data() + done, text.size() - done);
    if (now <= 0) return false;
    done += static_cast<std::size_t>(now);
  }
  return true;
}

Status replace(const fs::path& path, const std::string& text) {
  static std::atomic<int> count = 0;
  const fs::path temporary =
      path.string() + "." + std::to_string(::getpid()) + "." + std::to_string(++count) + ".tmp";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return Status::TuneFileNotWritten;
  const bool is_whole = write_all(file, text) && ::fsync(file) == 0;
  const bool is_written = ::close(file) == 0 && is_whole;
  std::error_code error;
  if (is_written) fs::rename(temporary, path, error);
  if (is_written && !error) return Status::Ok;
  fs::remove(temporary, error);
  return Status::TuneFileNotWritten;
}

}  // namespace

TuneKey tune_key(const Problem& problem, const Device& device, const std::string& device_name) {
  const Problem p = resolved(problem);
  TuneKey key;
  key.device = device_name;
  key.major = device.major;
  key.minor = device.minor;
  key.sm_count = usable_sms(p, device.sm_count);
  key.m = p.m;
  key.n = p.n;
  key.k = p.k;
  key.batch = p.batch;
  key.in = p.in;
  key.out = p.out;
  key.major_a = p.major_a;
  key.major_b = p.major_b;
  key.tma_loads =
      tma_addresses(p.a, view_a(p), matrices_of_a(p)) && tma_addresses(p.b, view_b(p), p.batch);
  key.tma_stores = tma_stores(p);
  key.scales = p.alpha != 1;
  key.reads_c = p.beta != 0;
  key.has_bias = p.has_bias;
  key.activation = p.activation;
  key.batch_invariant = p.batch_invariant;
  key.in_b = type_b(p);
  key.scaling = p.scaling;
  key.promotes = is_promoted(p);
  key.quantized = p.quantized.has_value();
  return key;
}

Status TuneCache::remember(const TuneKey& key, const std::string& kernel) noexcept {
  return guarded(Status::NoMemory, [&] {
    std::string name = kernel;  // before there is a place for it, which else would stay empty
    const std::lock_guard lock(mutex_);
    choices_.insert_or_assign(key, std::move(name));
    return Status::Ok;
  });
}

std::string TuneCache::find(const TuneKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto at = choices_.find(key);
  return at == choices_.end() ? std::string() : at->second;
}

std::size_t TuneCache::size() const {
  const std::lock_guard lock(mutex_);
  return choices_.size();
}

Status TuneCache::load(const std::string& path) noexcept {
  return guarded(Status::TuneFileUnreadable, [&] {
    Choices choices;
    if (const Status status = read(path, choices); status != Status::Ok) return status;
    const std::lock_guard lock(mutex_);
    choices.merge(choices_);
    choices_.swap(choices);
    return Status::Ok;
  });
}

Status TuneCache::save(const std::string& path) const noexcept {
  return guarded(Status::TuneFileNotWritten, [&] {
    std::error_code error;
    const fs::path target = fs::weakly_canonical(path, error);  // a link stays a link
    if (error || target.empty()) return Status::TuneFileNotWritten;
    Choices of_file;
    const Status status = read(target, of_file);
    if (status != Status::Ok && status != Status::TuneFileMissing) return status;
    Choices choices;
    {
      const std::lock_guard lock(mutex_);
      choices = choices_;
    }
    choices.merge(of_file);
    return replace(target, text_of(choices));
  });
}

}  // namespace tcq::gemm
