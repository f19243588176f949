// sweep: holds the arithmetic model against the real instruction over billions of outputs on a GPU.
//
// Work is cut into units: one form, a fixed number of tiles. A shard takes every n-th unit;
// finished units are appended to a state file, so that an interrupted run resumes where it stopped,
// and the states of many shards add up in one report. The kernels are cuda/probe/sweep_sm90.h.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cuda/probe/sweep_sm90.h"
#include "cuda/runtime/launch.h"
#include "oracle/answer/table.h"
#include "oracle/ptx/mnemonic.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t tiles_per_unit = 4096;
constexpr std::uint64_t outputs_per_unit = std::uint64_t{tiles_per_unit} * 64 * 64;
constexpr int exit_interrupted = 130;

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

struct Arguments {
  double outputs = 1e10;
  std::uint64_t seed = 1;
  std::string shard = "0/1";
  std::string state = "sweep.jsonl";
  std::vector<std::string> report;
  bool csv = false;
};

struct Unit {
  int form;
  std::uint64_t index;  // of this form
  friend auto operator<=>(const Unit&, const Unit&) = default;
};

struct Shard {
  std::uint64_t index;
  std::uint64_t count;
};

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos)
    throw oracle::UsageError(fmt::format("--shard '{}': expected i/n, for example 3/16", text));
  const Shard shard{oracle::parse_number(std::string_view(text).substr(0, slash), "shard"),
                    oracle::parse_number(std::string_view(text).substr(slash + 1), "shards")};
  if (shard.count == 0 || shard.index >= shard.count)
    throw oracle::UsageError(fmt::format("--shard '{}': i must be in [0, n)", text));
  return shard;
}

std::vector<Unit> units_of(const Arguments& args) {
  const Shard shard = parse_shard(args.shard);
  const int forms = cuda::sweep_form_count();
  const double per_form = args.outputs / forms;
  const auto units_per_form =
      static_cast<std::uint64_t>(per_form / static_cast<double>(outputs_per_unit)) + 1;
  std::vector<Unit> units;
  std::uint64_t number = 0;
  for (std::uint64_t index = 0; index < units_per_form; ++index)
    for (int form = 0; form < forms; ++form)
      if (number++ % shard.count == shard.index) units.push_back({form, index});
  return units;
}

// Lines of a state file; a last line without its end was cut off and does not count.
std::vector<Json> read_lines(const std::string& path) {
  std::vector<Json> lines;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  while (std::getline(file, line) && !file.eof()) {
    lines.push_back(Json::parse(line, nullptr, false));
    if (lines.back().is_discarded() || !lines.back().is_object())
      throw oracle::UsageError(
          fmt::format("{}: line {} is not JSON: not a state file of sweep", path, lines.size()));
  }
  return lines;
}

struct State {
  Json header;
  std::vector<Json> units;
};

State read_state(const std::string& path) {
  State state;
  for (Json& line : read_lines(path)) {
    if (line.contains("tcq sweep"))
      state.header = std::move(line);
    else if (line.contains("form"))
      state.units.push_back(std::move(line));
  }
  if (state.header.is_null())
    throw oracle::UsageError(fmt::format("{}: has no header: not a state file of sweep", path));
  return state;
}

Json header_of(const Arguments& args) {
  const cuda::DeviceIdentity id = cuda::identity(cuda::current_device());
  return {{"tcq sweep", 1},
          {"seed", args.seed},
          {"tiles_per_unit", tiles_per_unit},
          {"device", id.name},
          {"driver", id.driver}};
}

void drop_cut_off_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::resize_file(path, bytes.find_last_of('\n') + 1);
}

// Opens the state to append to, and says which units are done.
std::set<Unit> resume(const Arguments& args, std::FILE*& file) {
  std::set<Unit> done;
  const Json header = header_of(args);
  if (std::ifstream(args.state).good()) {
    const State state = read_state(args.state);
    for (const char* key : {"seed", "tiles_per_unit", "device"}) {
      if (state.header.value(key, Json()) != header[key])
        throw oracle::UsageError(
            fmt::format("{} belongs to a sweep with {} {}; this one has {}", args.state, key,
                        state.header.value(key, Json()).dump(), header[key].dump()));
    }
    for (const Json& unit : state.units)
      done.insert({unit.value("form", -1), unit.value("unit", std::uint64_t{0})});
  }
  const bool is_new = !std::ifstream(args.state).good();
  if (!is_new) drop_cut_off_line(args.state);
  file = std::fopen(args.state.c_str(), "ab");
  if (file == nullptr) throw oracle::UsageError(fmt::format("{}: cannot be written", args.state));
  if (is_new) fmt::print(file, "{}\n", header.dump());
  return done;
}

Json unit_line(const Unit& unit, const cuda::SweepCounts& counts) {
  Json line = {{"form", unit.form},
               {"unit", unit.index},
               {"outputs", counts.outputs},
               {"differing_bits", counts.differing_bits}};
  if (counts.has_mismatch) {
    const cuda::SweepMismatch& m = counts.first;
    line["first"] = {{"tile", m.tile},
                     {"row", m.row},
                     {"col", m.col},
                     {"got", fmt::format("{:08x}", m.got)},
                     {"want", fmt::format("{:08x}", m.want)}};
  }
  return line;
}

void show_progress(std::size_t done, std::size_t all) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{} of {} units, {:.2e} outputs", done, all,
             static_cast<double>(done) * static_cast<double>(outputs_per_unit));
}

using Count = std::array<std::uint64_t, 2>;  // outputs, differing bits

std::vector<std::string> row(std::string kind, std::string mixture, const Count& count,
                             const std::string& seed) {
  return {std::move(kind), std::move(mixture), std::to_string(count[0]), std::to_string(count[1]),
          seed};
}

std::string kind_of(const wgmma::Form& f) {
  return fmt::format("{}{}.{}.{}", f.sparse ? "sp." : "", name(f.d), name(f.a), name(f.b));
}

std::uint64_t count_of(const Json& unit, const char* key, int mixture) {
  const Json& counts = unit.value(key, Json::array());
  if (!counts.is_array() || counts.size() != mixture_class_count ||
      !counts[static_cast<std::size_t>(mixture)].is_number_unsigned())
    throw oracle::UsageError(fmt::format(
        "a unit's {} are not {} numbers: not a state file of sweep", key, mixture_class_count));
  return counts[static_cast<std::size_t>(mixture)].get<std::uint64_t>();
}

int report(const std::vector<std::string>& files, bool csv) {
  std::map<std::string, std::map<int, Count>> kinds;
  std::map<int, Count> classes;
  Count total{};
  std::set<std::string> seeds;
  for (const std::string& file : files) {
    const State state = read_state(file);
    seeds.insert(state.header.value("seed", Json()).dump());
    for (const Json& unit : state.units) {
      const int form = unit["form"].is_number_integer() ? unit["form"].get<int>() : -1;
      if (form < 0 || form >= cuda::sweep_form_count())
        throw oracle::UsageError(fmt::format("{}: names a form that does not exist", file));
      for (int c = 0; c < mixture_class_count; ++c) {
        const Count count{count_of(unit, "outputs", c), count_of(unit, "differing_bits", c)};
        for (Count* sum : {&kinds[kind_of(cuda::sweep_form(form))][c], &classes[c], &total})
          for (std::size_t i = 0; i < 2; ++i) (*sum)[i] += count[i];
      }
      if (unit.contains("first"))
        fmt::print(stderr, "first mismatch of {}: {}\n",
                   oracle::mnemonic_with_keys({cuda::sweep_form(form)}), unit["first"].dump());
    }
  }
  const std::string seed = fmt::format("{}", fmt::join(seeds, " "));
  oracle::Table table{{"kind", "mixture", "outputs", "differing bits", "seed"}, {}};
  for (const auto& [kind, by_class] : kinds) {
    Count sum{};
    for (const auto& [c, count] : by_class) {
      if (csv) table.rows.push_back(row(kind, name(static_cast<MixtureClass>(c)), count, seed));
      for (std::size_t i = 0; i < 2; ++i) sum[i] += count[i];
    }
    if (!csv) table.rows.push_back(row(kind, "weighted", sum, seed));
  }
  for (const auto& [c, count] : classes)
    if (!csv) table.rows.push_back(row("all", name(static_cast<MixtureClass>(c)), count, seed));
  if (!csv) table.rows.push_back(row("all", "all", total, seed));
  fmt::print("{}\n", oracle::render(table, csv ? oracle::Style::Csv : oracle::Style::Text));
  return total[1] == 0 ? 0 : tools::exit_mismatch;
}

int run(const Arguments& args) {
  if (!args.report.empty()) return report(args.report, args.csv);
  const std::vector<Unit> units = units_of(args);
  if (cuda::device_count() == 0) throw oracle::UsageError("no CUDA device was found");
  std::FILE* file = nullptr;
  const std::set<Unit> done = resume(args, file);
  std::signal(SIGINT, interrupt);
  std::size_t finished = 0;
  for (const Unit& unit : units) {
    ++finished;
    if (done.contains(unit)) continue;
    const cuda::SweepCounts counts =
        cuda::run_sweep(unit.form, args.seed, unit.index * tiles_per_unit, tiles_per_unit);
    fmt::print(file, "{}\n", unit_line(unit, counts).dump());
    std::fflush(file);
    show_progress(finished, units.size());
    if (interrupted != 0) {
      fmt::print(stderr, "\ninterrupted; run the same command again to go on\n");
      std::fclose(file);
      return exit_interrupted;
    }
  }
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  if (std::fclose(file) != 0) throw std::runtime_error(args.state + ": write error");
  return report({args.state}, args.csv);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app("Compares the model with wgmma on the GPU over many outputs; prints a table.");
  app.add_option("--outputs", args.outputs, "outputs over all kinds and shards (default 1e10)")
      ->check(CLI::Range(1.0, 1e16));
  app.add_option("--seed", args.seed, "seed of all tiles (default 1)");
  app.add_option("--shard", args.shard, "i/n: take every n-th unit (default 0/1)");
  app.add_option("--state", args.state, "file of finished units (default sweep.jsonl)");
  app.add_option("--report", args.report, "only add up these state files");
  app.add_flag("--csv", args.csv, "one row per kind and mixture class, as CSV");
  return tools::tool_main(app, "sweep", argc, argv, [&] { return run(args); });
}
