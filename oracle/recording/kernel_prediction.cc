#include "oracle/recording/kernel_prediction.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "sim/async/explore.h"
#include "sim/run/address_map.h"
#include "sim/run/inline_calls.h"

namespace tcq::oracle {
namespace {

bool is_a_trap(Fault fault) {
  return fault == Fault::TileStartNegative || fault == Fault::Im2colPadding ||
         fault == Fault::ClusterAttributeMissing || fault == Fault::AddressUnaligned ||
         fault == Fault::SharedUnaligned || fault == Fault::SharedMemoryOutOfRange;
}

std::string refusal(const machine::Report& report) {
  if (report.outcome == machine::Outcome::Refused) return info(report.refused.fault).sentence;
  if (report.finding) return info(report.finding->fault).sentence;
  return "";
}

}  // namespace

Prediction predict_kernel(const std::string& text, const std::string& name, run::Launch launch,
                          const std::vector<std::uint8_t>& bytes,
                          std::optional<tma::TensorMap> map) {
  const ptx::Program program = run::load(text);
  Prediction p;
  if (!program.diagnostics.empty()) {
    p.unmodelled = program.diagnostics.front().message;
    return p;
  }
  const auto kernel = std::make_shared<const run::Kernel>(run::lower(program, "tcq_probe", name));
  std::vector<std::uint8_t> global = kernel->global_bytes;
  const std::size_t first = (global.size() + 255) / 256 * 256;
  global.resize(first);
  global.insert(global.end(), bytes.begin(), bytes.end());
  const std::uint64_t address = run::global_window + first;
  launch.parameters.resize(kernel->parameter_bytes);
  std::memcpy(launch.parameters.data(), &address, sizeof address);
  if (map) {
    map->address += first;
    launch.maps = {*map};
    launch.map_places = {{run::param_window + run::parameters_of(*kernel)[1].offset, 0}};
  }
  const machine::Report report =
      machine::explore(run::make_program(kernel, std::move(launch), 0, std::move(global)),
                       {.max_executions = 1, .eager = false, .random_executions = 0});
  if (report.finding && is_a_trap(report.finding->fault)) return trap(report.finding->fault);
  p.unmodelled = refusal(report);
  if (!p.unmodelled.empty()) return p;
  const auto begin = report.global.begin() + static_cast<std::ptrdiff_t>(first);
  p.output.assign(begin, begin + static_cast<std::ptrdiff_t>(bytes.size()));
  return p;
}

}  // namespace tcq::oracle
