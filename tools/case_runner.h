// Cases of a device in child processes: many in one context, a watchdog, and controls that tell what
// an instruction did from what the probe, the driver or an earlier case did.
//
// A case that answers costs no context of its own. One that does not ends its context; it is
// repeated as the only one of a new context, behind a control, and followed by a control in a third.
// Only what fails again between two controls that answer is reported as the case's own: a control is
// the same work without what is under test. When a control fails nothing more is run. A device
// without controls is believed at once. The process that calls
// never uses the device, so that it can always start another child. What a case is and what its
// bytes mean is the caller's: CaseDevice is all that this file knows of a device, and a test's is
// made of functions that hang, die and lie.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>

namespace tcq::tools {

enum class Ending : std::uint8_t {
  Answered,
  TimedOut,  // it answered that it waited in vain; the context is not used again
  Trapped,   // an instruction of a kernel that had begun raised `error`
  Leaked,    // Tensor Memory was still allocated when the kernel ended
  Hung,      // no answer within the limit; the process was killed
  Refused,   // the driver did not encode the case's tensor map: nothing was run
  Failed,    // anything else: it says nothing about the instruction
};

struct Attempt {
  Ending ending = Ending::Answered;
  int error = 0;         // CUDA's number
  std::string sentence;  // what happened, unless it answered
  std::string answer;    // bytes
};

// Everything runs in a child. Whatever is thrown is Failed.
struct CaseDevice {
  std::function<void()> open;                   // makes the context
  std::function<Attempt(std::size_t)> run;      // a case
  std::function<Attempt(std::size_t)> control;  // of a case; may be empty
};

struct Limits {
  std::chrono::milliseconds open{120'000};  // until there is a context
  std::chrono::milliseconds one{30'000};    // for each case and control, its assembling included
  std::chrono::milliseconds end{60'000};    // until a killed process is gone
};

// SIGINT, SIGTERM or SIGHUP arrived.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

// While one lives, these signals end run() with Interrupted instead of the process.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();
  static void demand_none();  // throws Interrupted
};

// Takes what a case did; false: run no more.
using Report = std::function<bool(std::size_t index, Attempt attempt)>;

class CaseRunner {
 public:
  CaseRunner(CaseDevice device, Limits limits) : device_(std::move(device)), limits_(limits) {}

  // Runs the cases in their order, each reported once: `together` in as few contexts as there can
  // be, or each in its own. Returns "", or why the rest was not run. Throws Interrupted, and
  // std::runtime_error if there is no child process or it can not be ended.
  std::string run(std::span<const std::size_t> cases, bool together, const Report& report);

  // How many child processes have opened the device.
  int contexts() const { return contexts_; }

 private:
  struct Walk;
  Walk walk(std::span<const std::size_t> cases, const Report& report);
  std::string control_alone(std::size_t index);
  std::string settle(std::size_t index, Attempt first, const Report& report, bool& stopped);

  CaseDevice device_;
  Limits limits_;
  int contexts_ = 0;
};

// What `work` returns, executed in a child; throws std::runtime_error with the sentence of what it
// threw there, or how the child ended.
std::string ask_child(const std::function<std::string()>& work, std::chrono::milliseconds limit);

}  // namespace tcq::tools
