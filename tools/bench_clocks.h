// The SM clock and the power of a GPU while something runs, through NVML where the machine has it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tcq::tools {

struct Reading {
  double sm_mhz = 0;  // medians
  double watts = 0;
};

class Clocks {
 public:
  // Null if there is no NVML or it does not know the device with this PCI bus id.
  static std::unique_ptr<Clocks> open(const std::string& pci_bus_id);
  ~Clocks();
  Clocks(const Clocks&) = delete;
  Clocks& operator=(const Clocks&) = delete;

  void start();                   // samples every 20 ms, on a thread of its own
  std::optional<Reading> stop();  // nothing if there was no time for a sample

 private:
  struct Library;
  explicit Clocks(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
  std::thread thread_;
  std::atomic<bool> stops_ = false;
  std::vector<double> mhz_;
  std::vector<double> watts_;
};

}  // namespace tcq::tools
