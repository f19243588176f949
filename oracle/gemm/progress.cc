#include "oracle/gemm/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

namespace tcq::oracle::gemm {
namespace {

volatile std::sig_atomic_t signalled = 0;
void notice(int) { signalled = 1; }

std::string time_text(double seconds) {
  constexpr std::int64_t minute = 60;
  constexpr std::int64_t hour = 60 * minute;
  const auto s = static_cast<std::int64_t>(std::ceil(seconds));
  if (s < minute) return fmt::format("{} s", s);
  if (s < hour) return fmt::format("{} min {} s", s / minute, s % minute);
  return fmt::format("{} h {} min", s / hour, s % hour / minute);
}

}  // namespace

std::string progress_text(std::int64_t done, std::int64_t all, double seconds) {
  const double part = all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all);
  std::string text = fmt::format("{} % of {} rows", static_cast<int>(100 * part), all);
  if (done > 0 && done < all) text += ", " + time_text(seconds / part - seconds) + " left";
  return text;
}

Progress::Progress(std::FILE* err)
    : err_(err), shown_(err != nullptr && isatty(fileno(err)) != 0) {}

Progress::~Progress() {
  if (shown_) fmt::print(err_, "\r\033[K");
}

void Progress::begin(std::string_view title, std::int64_t rows) {
  title_ = title;
  rows_ = rows;
  start_ = std::chrono::steady_clock::now();
}

bool Progress::at(std::int64_t rows) {
  if (shown_) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start_;
    fmt::print(err_, "\r\033[K{}: {}", title_, progress_text(rows, rows_, since.count()));
    std::fflush(err_);
  }
  return !ended();
}

bool Progress::ended() { return signalled != 0; }

void Progress::notice_signals() { noticed_.emplace(); }

Progress::SignalsNoticed::SignalsNoticed() : before_{} {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    before_[i] = std::signal(signals[i], notice);
    if (before_[i] == SIG_IGN) std::signal(signals[i], SIG_IGN);
  }
}

Progress::SignalsNoticed::~SignalsNoticed() {
  for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], before_[i]);
}

}  // namespace tcq::oracle::gemm
