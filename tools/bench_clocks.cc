#include "tools/bench_clocks.h"

#include <dlfcn.h>

#include <chrono>

#include "tools/bench_timing.h"

namespace tcq::tools {

// Source: NVML API Reference, Device Queries. Its header is not part of every toolkit.
struct Clocks::Library {
  using Device = void*;
  static constexpr int sm_clock = 1;  // NVML_CLOCK_SM

  int (*init)() = nullptr;
  int (*handle)(const char*, Device*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  Device device = nullptr;
};

namespace {

template <class Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace

std::unique_ptr<Clocks> Clocks::open(const std::string& pci_bus_id) {
  void* so = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (so == nullptr) return nullptr;
  auto library = std::make_unique<Library>();
  if (!find(so, "nvmlInit_v2", library->init) ||
      !find(so, "nvmlDeviceGetHandleByPciBusId_v2", library->handle) ||
      !find(so, "nvmlDeviceGetClockInfo", library->clock) ||
      !find(so, "nvmlDeviceGetPowerUsage", library->power))
    return nullptr;
  if (library->init() != 0 || library->handle(pci_bus_id.c_str(), &library->device) != 0)
    return nullptr;
  return std::unique_ptr<Clocks>(new Clocks(std::move(library)));
}

Clocks::Clocks(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Clocks::~Clocks() { (void)stop(); }

void Clocks::start() {
  (void)stop();
  mhz_.clear();
  watts_.clear();
  stops_ = false;
  thread_ = std::thread([this] {
    while (!stops_) {
      unsigned mhz = 0;
      unsigned milliwatts = 0;
      if (library_->clock(library_->device, Library::sm_clock, &mhz) == 0) mhz_.push_back(mhz);
      if (library_->power(library_->device, &milliwatts) == 0)
        watts_.push_back(milliwatts / 1000.0);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

std::optional<Reading> Clocks::stop() {
  stops_ = true;
  if (thread_.joinable()) thread_.join();
  if (mhz_.empty() || watts_.empty()) return std::nullopt;
  return Reading{quartiles(mhz_).median, quartiles(watts_).median};
}

}  // namespace tcq::tools
