#include "cuda/gemm_tune_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cuda/gemm_check.h"
#include "cuda/gemm_guard.h"

namespace tcq::gemm {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Choices = std::map<TuneKey, std::string>;

constexpr const char* format_name = "tcq gemm choices";
constexpr int format_version = 1;
constexpr std::uintmax_t max_file_bytes = 256 * 1024 * 1024;

// --- a choice as JSON ------------------------------------------------------------------------------

const char* word(Major major) { return major == Major::K ? "K" : "MN"; }

Json choice_json(const TuneKey& key, const std::string& kernel) {
  return {{"device", key.device},
          {"major", key.major},
          {"minor", key.minor},
          {"sm_count", key.sm_count},
          {"m", key.m},
          {"n", key.n},
          {"k", key.k},
          {"batch", key.batch},
          {"in", name(key.in)},
          {"out", name(key.out)},
          {"major_a", word(key.major_a)},
          {"major_b", word(key.major_b)},
          {"tma_loads", key.tma_loads},
          {"tma_stores", key.tma_stores},
          {"scales", key.scales},
          {"reads_c", key.reads_c},
          {"has_bias", key.has_bias},
          {"activation", name(key.activation)},
          {"batch_invariant", key.batch_invariant},
          {"kernel", kernel}};
}

// The readers throw a std::exception if the field is not there or not what it should be.

template <class Number>
Number number(const Json& json, const char* field) {
  const Json& value = json.at(field);
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  const bool in_range = value.is_number_unsigned() && value.get<std::uint64_t>() <= most;
  if (!in_range) throw std::invalid_argument(field);
  return value.get<Number>();
}

template <class Enum, class Word>
Enum one_of(const Json& json, const char* field, int count, Word word_of) {
  const auto& text = json.at(field).get_ref<const std::string&>();
  for (int i = 0; i < count; ++i)
    if (text == word_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  throw std::invalid_argument(field);
}

Type type(const Json& json, const char* field) {
  return one_of<Type>(json, field, type_count, [](Type t) { return name(t); });
}

Major major(const Json& json, const char* field) {
  const auto& text = json.at(field).get_ref<const std::string&>();
  if (text == word(Major::K)) return Major::K;
  if (text == word(Major::MN)) return Major::MN;
  throw std::invalid_argument(field);
}

TuneKey key_of(const Json& json) {
  TuneKey key;
  key.device = json.at("device").get<std::string>();
  key.major = number<int>(json, "major");
  key.minor = number<int>(json, "minor");
  key.sm_count = number<int>(json, "sm_count");
  key.m = number<std::int64_t>(json, "m");
  key.n = number<std::int64_t>(json, "n");
  key.k = number<std::int64_t>(json, "k");
  key.batch = number<std::int64_t>(json, "batch");
  key.in = type(json, "in");
  key.out = type(json, "out");
  key.major_a = major(json, "major_a");
  key.major_b = major(json, "major_b");
  key.tma_loads = json.at("tma_loads").get<bool>();
  key.tma_stores = json.at("tma_stores").get<bool>();
  key.scales = json.at("scales").get<bool>();
  key.reads_c = json.at("reads_c").get<bool>();
  key.has_bias = json.at("has_bias").get<bool>();
  key.activation = one_of<Activation>(json, "activation", activation_count,
                                      [](Activation a) { return name(a); });
  key.batch_invariant = json.at("batch_invariant").get<bool>();
  return key;
}

// --- the file --------------------------------------------------------------------------------------

Status parse_choices(const Json& json, Choices& choices) {
  try {
    for (const Json& one : json.at("choices")) {
      const TuneKey key = key_of(one);
      const auto kernel = one.at("kernel").get<std::string>();
      const bool has_more = one.size() != choice_json(key, kernel).size();
      const bool is_new = choices.emplace(key, kernel).second;
      if (has_more || kernel.empty() || !is_new) return Status::TuneFileDamaged;
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return Status::TuneFileDamaged;
  }
  return json.at("choices").is_array() ? Status::Ok : Status::TuneFileDamaged;
}

Status parse(const std::string& text, Choices& choices) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Status::TuneFileDamaged;
  if (!json.is_object() || json.value("format", Json()) != format_name)
    return Status::TuneFileForeign;
  const Json version = json.value("version", Json());
  if (!version.is_number_integer() || version < 1) return Status::TuneFileDamaged;
  if (version > format_version) return Status::TuneFileNewer;
  if (!json.contains("choices") || json.size() != 3) return Status::TuneFileDamaged;
  return parse_choices(json, choices);
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
  Json list = Json::array();
  for (const auto& [key, kernel] : choices) list.push_back(choice_json(key, kernel));
  const Json whole = {{"format", format_name}, {"version", format_version}, {"choices", list}};
  return whole.dump(1) + "\n";
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
  key.sm_count = device.sm_count;
  key.m = p.m;
  key.n = p.n;
  key.k = p.k;
  key.batch = p.batch;
  key.in = p.in;
  key.out = p.out;
  key.major_a = p.major_a;
  key.major_b = p.major_b;
  key.tma_loads = tma_addresses(p.a, view_a(p), p.batch) && tma_addresses(p.b, view_b(p), p.batch);
  key.tma_stores = tma_stores(p);
  key.scales = p.alpha != 1;
  key.reads_c = p.beta != 0;
  key.has_bias = p.has_bias;
  key.activation = p.activation;
  key.batch_invariant = p.batch_invariant;
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
