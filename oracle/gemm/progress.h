// What is said while something runs for hours, and how it is ended: a line on a terminal that is wiped
// again, and SIGINT, SIGTERM or SIGHUP, which are noticed between bands of rows. Who has neither a terminal nor the
// signals for himself, as a library within another process, derives from Progress.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace tcq::oracle::gemm {

// "37 % of 4096 rows, 2 min 5 s left"; without an estimate until something is done.
std::string progress_text(std::int64_t done, std::int64_t all, double seconds);

class Progress {
 public:
  // Nothing is shown unless `err` is there and a terminal.
  explicit Progress(std::FILE* err);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress();  // wipes the line

  // What the next rows belong to: "order 2 of 3". The clock begins anew.
  void begin(std::string_view title, std::int64_t rows);
  // False if it is to end.
  bool at(std::int64_t rows);
  virtual bool ended();

  // From here on these signals only make ended() true: there is something to be ended in order. One that is ignored, as
  // under nohup, stays ignored.
  virtual void notice_signals();

 private:
  // They only set a flag while this lives.
  class SignalsNoticed {
   public:
    SignalsNoticed();
    SignalsNoticed(const SignalsNoticed&) = delete;
    SignalsNoticed& operator=(const SignalsNoticed&) = delete;
    ~SignalsNoticed();

   private:
    static constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};
    std::array<void (*)(int), signals.size()> before_;
  };

  std::FILE* err_;
  bool shown_;
  std::string title_;
  std::int64_t rows_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::optional<SignalsNoticed> noticed_;
};

}  // namespace tcq::oracle::gemm
