// Statements that a warp makes while it runs: those of a compiled kernel, whose operands are known only then.
//
// A program without a feed has all its statements beforehand (program.h). With one, its only segment holds a
// statement for each instruction of the kernel, which gives findings their text and line; what is executed
// comes from the Feed, with the same numbers. The feed of PTX: sim/run.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace tcq::machine {

struct ClusterState;
class Program;
struct Statement;
struct Warp;

// A statement that a warp stands before, and its number in the program.
struct Candidate {
  const Statement* statement = nullptr;
  std::uint32_t number = 0;
};

// Of one execution.
class Feed {
 public:
  virtual ~Feed() = default;
  virtual void begin(ClusterState& c, Warp& warp) = 0;
  // One for each group of lanes that goes its own way; none: the warp has ended.
  virtual std::span<const Candidate> candidates(const Warp& warp) const = 0;
  // The warp has executed candidate `which`.
  virtual void executed(ClusterState& c, Warp& warp, std::size_t which) = 0;
  // Lanes that wait to meet others of the warp, which wait for what they did: nothing but part() lets either go on.
  virtual bool may_part([[maybe_unused]] const Warp& warp) const { return false; }
  virtual void part([[maybe_unused]] ClusterState& c, [[maybe_unused]] Warp& warp) {}
};

// The feed of a state. A state without one may be copied; one with a feed may not, as the feed goes with it.
class OwnFeed {
 public:
  OwnFeed() = default;
  explicit OwnFeed(std::unique_ptr<Feed> feed) : feed_(std::move(feed)) {}
  OwnFeed([[maybe_unused]] const OwnFeed& other) { assert(!other); }
  OwnFeed& operator=(const OwnFeed&) = delete;
  OwnFeed(OwnFeed&&) = default;
  OwnFeed& operator=(OwnFeed&&) = default;
  ~OwnFeed() = default;

  explicit operator bool() const { return feed_ != nullptr; }
  Feed* operator->() const { return feed_.get(); }

 private:
  std::unique_ptr<Feed> feed_;
};

class Feeder {
 public:
  virtual ~Feeder() = default;
  virtual std::unique_ptr<Feed> start(const Program& program) const = 0;
  virtual int registers() const = 0;  // of a warp, those with an owner first
  virtual std::uint64_t fingerprint() const = 0;
};

}  // namespace tcq::machine
