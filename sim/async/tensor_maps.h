// Tensor maps that change while a program runs: the value each has, who patched it last and with
// which fences behind, and which copies may still read it.
//
// A patch is a write of the map's 128 bytes through the generic proxy; a copy reads them through the
// tensormap proxy. Between the two stand a release by every thread that patched, an order (a barrier,
// or program order) and an acquire of this map, by the thread that copies or by one of its CTA that it
// knows to have acquired; one thread needs both fences, too. Before the next patch its warp must know that every copy which uses the map is over:
// a phase of the copy's mbarrier, or its bulk group, wait_group.read included. Maps that no statement
// of the program patches are not followed. What a gap is as a Fault: copies.h. Example:
// warp 0 patches map 0, releases and arrives on an mbarrier, warp 1 waits for it and copies: Acquire.
//
// Source: PTX ISA 9.2, 8.6 "Proxies", 9.7.13.4 "fence.proxy.tensormap", 9.7.9.28
// "tensormap.replace", 9.7.9.27.2.2 "cp.async.bulk.wait_group".
// Inferred: a release of one thread does not serve another one, as for fence.proxy.async. An acquire
// does, as the manual's causality order accepts a fence on the way and Triton relies on it: one warp
// acquires, another one's thread copies behind a barrier. Of several patches only the last
// needs a release, if its thread knew the others. A multicast copy uses the map until it has landed
// in all CTAs. Refuted by a program that breaks one of these rules and is documented to be right.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/async/finding.h"
#include "sim/isa/copy/tensor_map.h"

namespace tcq::machine {

enum class MapGap : std::uint8_t {
  None,
  Unordered,
  Release,
  Acquire,
  NarrowRelease,
  NarrowAcquire,
  InUse,
  DrainAssumed  // the patch is made: behind a wait_group of the copies' thread, which covers no loads
};

struct MapVerdict {
  MapGap gap = MapGap::None;
  Place earlier = {};  // the patch, or the copy that still uses the map
  Place hint = {};     // a fence whose scope is too narrow
  Stream stream = 0;   // of a patch that is not ordered
  Tick tick = 0;
};

// Some lanes of a warp, and what the warp knows.
struct MapActor {
  Place at;
  int cta = 0;
  std::uint32_t lanes = 0;
  Stream stream = 0;  // its epochs
  const Clock& knows;
};

class PatchableMap {
 public:
  PatchableMap(const tma::TensorMap* value, bool is_patched)
      : value_(value), is_patched_(is_patched) {}

  // At its present; the object lives as long as the program.
  const tma::TensorMap* value() const { return value_; }
  bool is_patched() const { return is_patched_; }  // by some statement of the program

  MapVerdict patch(const MapActor& actor, const tma::TensorMap* value);
  void release(const MapActor& actor, Scope scope);
  void acquire(const MapActor& actor, Scope scope);

  MapVerdict check_use(const MapActor& actor) const;
  // The copy reads the map until (stream, tick); the tick is not known at first.
  void begin_use(std::uint64_t copy, Stream stream, Place at);
  void end_use(std::uint64_t copy, Tick tick);
  // A thread has waited for all its bulk groups.
  void drain(int warp, int lane, Stream epochs, Tick now);

 private:
  // Which lanes of the last patch have not released it, and the epoch in which the last of them did.
  struct Release {
    std::uint32_t missing = 0;
    Tick tick = never;
    Place at;
    bool is_known(Stream stream, const Clock& clock) const {
      return tick != never && clock.at(stream) >= tick;
    }
  };
  // A warp of which lanes have acquired the last patch, and since when.
  struct Acquire {
    int cta = 0;
    Stream stream = 0;
    Tick tick = 0;
    bool is_narrow = false;
    Place at;
  };
  struct Use {
    std::uint64_t copy = 0;
    Stream stream = 0;
    Tick tick = never;
    Place at;
    Stream drained = 0;  // the epochs of its warp, and when its thread had drained its groups
    Tick drained_tick = never;
  };

  bool patched() const { return patch_at_.statement >= 0; }
  bool is_ordered(const Clock& clock) const { return clock.at(stream_) >= tick_; }
  MapVerdict unordered() const { return {MapGap::Unordered, patch_at_, {}, stream_, tick_}; }
  const Release& release_for(int cta) const { return cta == cta_ ? any_scope_ : wide_scope_; }
  const Acquire* find_acquire(const MapActor& actor, bool is_narrow) const;

  const tma::TensorMap* value_;
  bool is_patched_;
  Place patch_at_;
  int cta_ = 0;
  Stream stream_ = 0;
  Tick tick_ = 0;
  Release any_scope_;
  Release wide_scope_;
  std::vector<Acquire> acquires_;
  std::vector<Use> uses_;
};

}  // namespace tcq::machine
