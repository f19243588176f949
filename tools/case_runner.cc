#include "tools/case_runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tcq::tools {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds glance{50};  // how late a signal may be seen

// ---- Signals ------------------------------------------------------------------------------------

volatile sig_atomic_t interrupted = 0;
constexpr int caught[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction before[std::size(caught)];

void note_signal(int) { interrupted = 1; }

// ---- Messages -----------------------------------------------------------------------------------

struct MessageHead {
  std::uint64_t answer_bytes;
  std::uint32_t sentence_bytes;
  std::int32_t error;
  Ending ending;
};

bool write_all(int pipe_end, const char* bytes, std::size_t size) {
  while (size != 0) {
    const ssize_t count = write(pipe_end, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// In a child: ends it if nobody listens.
void send(int pipe_end, const Attempt& a) {
  MessageHead head{};
  head.answer_bytes = a.answer.size();
  head.sentence_bytes = static_cast<std::uint32_t>(a.sentence.size());
  head.error = a.error;
  head.ending = a.ending;
  const bool sent = write_all(pipe_end, reinterpret_cast<const char*>(&head), sizeof head) &&
                    write_all(pipe_end, a.sentence.data(), a.sentence.size()) &&
                    write_all(pipe_end, a.answer.data(), a.answer.size());
  if (!sent) _exit(1);
}

// Takes the first message off the bytes, if it is whole.
std::optional<Attempt> take_message(std::string& bytes) {
  MessageHead head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::size_t size = sizeof head + head.sentence_bytes + head.answer_bytes;
  if (bytes.size() < size) return std::nullopt;
  Attempt a{head.ending, head.error, bytes.substr(sizeof head, head.sentence_bytes),
            bytes.substr(sizeof head + head.sentence_bytes, head.answer_bytes)};
  bytes.erase(0, size);
  return a;
}

Attempt failed(std::string sentence) { return {Ending::Failed, 0, std::move(sentence), ""}; }

// ---- A child ------------------------------------------------------------------------------------

std::string ending_of(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("the process of the probe died of signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  return fmt::format("the process of the probe ended by itself, status {}", WEXITSTATUS(status));
}

// A process that executes `work(pipe)`; killed and reaped at the end of the scope.
class Child {
 public:
  Child(const std::function<void(int)>& work, milliseconds end) : end_(end) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe to a child process");
    std::fflush(nullptr);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) {
      close(ends[0]);
      close(ends[1]);
      throw std::runtime_error("no child process");
    }
    if (pid_ == 0) {
      close(ends[0]);
      become_child(parent);
      work(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    close(pipe_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      (void)reap(end_);
    }
  }

  // Its next message; Hung after the limit, Failed if it is dead. Throws Interrupted.
  Attempt next(milliseconds limit) {
    const auto deadline = Clock::now() + limit;
    for (;;) {
      if (std::optional<Attempt> a = take_message(bytes_)) return *std::move(a);
      InterruptGuard::demand_none();
      const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return hang(limit);
      pollfd ready{pipe_, POLLIN, 0};
      if (poll(&ready, 1, static_cast<int>(std::min(left, glance).count())) <= 0) continue;
      char buffer[1 << 16];
      const ssize_t got = read(pipe_, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return died();
      bytes_.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  // A signal of the terminal is for the parent, whose end is the child's.
  static void become_child(pid_t parent) {
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (const int number : caught) (void)::signal(number, SIG_DFL);
    interrupted = 0;
  }

  Attempt hang(milliseconds limit) {
    kill(pid_, SIGKILL);
    if (!reap(end_))
      throw std::runtime_error(fmt::format(
          "process {} did not end within {} s of being killed: the driver holds its kernel", pid_,
          end_.count() / 1000));
    return {Ending::Hung, 0,
            fmt::format("no answer within {:.3g} s", 1e-3 * static_cast<double>(limit.count())),
            ""};
  }

  Attempt died() {
    const std::optional<int> status = reap(end_);
    return failed(status ? ending_of(*status) : "the process of the probe closed its pipe");
  }

  std::optional<int> reap(milliseconds limit) {
    const auto deadline = Clock::now() + limit;
    int status = 0;
    for (;;) {
      const pid_t got = waitpid(pid_, &status, WNOHANG);
      if (got == pid_) {
        pid_ = -1;
        return status;
      }
      if ((got < 0 && errno != EINTR) || Clock::now() > deadline) return std::nullopt;
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  pid_t pid_ = -1;
  int pipe_ = -1;
  milliseconds end_;
  std::string bytes_;
};

template <class Work>
Attempt guarded(Work work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

// The life of a child: context, control, cases, until one does not answer.
void run_in_child(const CaseDevice& device, std::span<const std::size_t> cases, std::size_t control,
                  int pipe_end) {
  const auto told = [pipe_end](const Attempt& a) {
    send(pipe_end, a);
    return a.ending == Ending::Answered;
  };
  if (!told(guarded([&] {
        device.open();
        return Attempt{};
      })))
    return;
  if (device.control && !told(guarded([&] { return device.control(control); }))) return;
  for (const std::size_t index : cases)
    if (!told(guarded([&] { return device.run(index); }))) return;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  for (std::size_t i = 0; i < std::size(caught); ++i) sigaction(caught[i], &action, &before[i]);
}

InterruptGuard::~InterruptGuard() {
  interrupted = 0;
  for (std::size_t i = 0; i < std::size(caught); ++i) sigaction(caught[i], &before[i], nullptr);
}

void InterruptGuard::demand_none() {
  if (interrupted != 0) throw Interrupted();
}

// What one context did.
struct CaseRunner::Walk {
  std::size_t answered = 0;     // cases, all reported
  std::optional<Attempt> last;  // of the case behind them, which did not answer; not reported
  std::string broken;           // why not even the control answered
  bool stopped = false;         // by the report
};

CaseRunner::Walk CaseRunner::walk(std::span<const std::size_t> cases, const Report& report) {
  Walk walk;
  const std::size_t first = cases.front();
  ++contexts_;
  Child child([&](int end) { run_in_child(device_, cases, first, end); }, limits_.end);
  const Attempt opened = child.next(limits_.open);
  if (opened.ending != Ending::Answered) {
    walk.broken = "there is no context: " + opened.sentence;
    return walk;
  }
  if (device_.control) {
    const Attempt control = child.next(limits_.one);
    if (control.ending != Ending::Answered) {
      walk.broken = "the control fails: " + control.sentence;
      return walk;
    }
  }
  for (const std::size_t index : cases) {
    Attempt a = child.next(limits_.one);
    if (a.ending != Ending::Answered) {
      walk.last = std::move(a);
      return walk;
    }
    ++walk.answered;
    if (!report(index, std::move(a))) {
      walk.stopped = true;
      return walk;
    }
  }
  return walk;
}

std::string CaseRunner::control_alone(std::size_t index) {
  if (!device_.control) return "";
  ++contexts_;
  Child child([&](int end) { run_in_child(device_, {}, index, end); }, limits_.end);
  const Attempt opened = child.next(limits_.open);
  if (opened.ending != Ending::Answered) return "there is no context: " + opened.sentence;
  const Attempt control = child.next(limits_.one);
  return control.ending == Ending::Answered ? "" : "the control fails: " + control.sentence;
}

// What `first` did when `index` was run, if a second context and the controls agree.
std::string CaseRunner::settle(std::size_t index, Attempt first, const Report& report,
                               bool& stopped) {
  if (!device_.control) {
    stopped = !report(index, std::move(first));
    return "";
  }
  Walk again = walk({&index, 1}, report);
  stopped = again.stopped;
  if (again.answered != 0) return "";
  std::string broken = again.broken.empty() ? control_alone(index) : again.broken;
  if (again.last) first = *std::move(again.last);
  if (!broken.empty()) first = failed(fmt::format("{}; behind it {}", first.sentence, broken));
  stopped = !report(index, std::move(first));
  return broken;
}

std::string CaseRunner::run(std::span<const std::size_t> cases, bool together,
                            const Report& report) {
  while (!cases.empty()) {
    Walk first = walk(together ? cases : cases.first(1), report);
    cases = cases.subspan(first.answered);
    if (!first.broken.empty() || first.stopped) return first.broken;
    if (!first.last) continue;
    bool stopped = false;
    const std::string broken = settle(cases.front(), *std::move(first.last), report, stopped);
    if (!broken.empty() || stopped) return broken;
    cases = cases.subspan(1);
  }
  return "";
}

std::string ask_child(const std::function<std::string()>& work, milliseconds limit) {
  Child child(
      [&work](int end) {
        send(end, guarded([&] { return Attempt{Ending::Answered, 0, "", work()}; }));
      },
      limit);
  Attempt a = child.next(limit);
  if (a.ending != Ending::Answered) throw std::runtime_error(a.sentence);
  return std::move(a.answer);
}

}  // namespace tcq::tools
