// Bulk copies, with a tensor map and without: loads, stores, reductions, and the groups of a thread; what else comes as they do.
//
// Each has one more member, move(): what its bytes are when they move, which is later than its
// execution (copies.h).
//
// Source: PTX ISA 9.2, 9.7.9.25-27.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/async/instructions/clause.h"
#include "sim/isa/copy/bulk_copy.h"
#include "sim/isa/copy/tma_reduction.h"
#include "sim/isa/copy/tma_tile.h"

namespace tcq::machine {

struct CopyData;  // copies.h

// cp.async.bulk.tensor, global -> shared; with a mask to all CTAs in it, at the same addresses.
struct TensorLoad {
  int map = 0;
  tma::Coordinates start;
  Address to;
  Address barrier;
  std::uint16_t multicast = 0;

  static constexpr None registers{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};
struct TensorStore {
  int map = 0;
  tma::Coordinates start;
  Address from;

  static constexpr None registers{}, touches{}, is_blocked{}, waiting{};
  Fault check(const Bounds&) const;
  void writes_global(GlobalWrites&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
  friend bool operator==(const TensorStore&, const TensorStore&) = default;
};
struct TensorReduce {
  int map = 0;
  tma::Coordinates start;
  Address from;
  tma::Reduction op = tma::Reduction::Add;

  static constexpr None registers{}, touches{}, is_blocked{}, waiting{};
  Fault check(const Bounds&) const;
  void writes_global(GlobalWrites&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};

// cp.async.bulk, global -> shared.
struct BulkLoad {
  std::uint64_t from = 0;
  Address to;
  std::uint32_t bytes = 0;
  Address barrier;
  std::uint16_t multicast = 0;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};
struct BulkStore {
  Address from;
  std::uint64_t to = 0;
  std::uint32_t bytes = 0;
  std::uint16_t byte_mask = bulk::all_bytes;  // .cp_mask

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{};
  void writes_global(GlobalWrites&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
  friend bool operator==(const BulkStore&, const BulkStore&) = default;
};
// cp.reduce.async.bulk, shared -> global.
struct BulkReduce {
  Address from;
  std::uint64_t to = 0;
  std::uint32_t bytes = 0;
  tma::Reduction op = tma::Reduction::Add;
  tma::DataType type = tma::DataType::UInt32;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{};
  void writes_global(GlobalWrites&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};
// cp.async.bulk, shared::cta -> shared::cluster; the mbarrier is in the destination's CTA.
struct BulkSend {
  Address from;
  Address to;
  std::uint32_t bytes = 0;
  Address barrier;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};

// cp.reduce.async.bulk, shared::cta -> shared::cluster, and its mbarrier as BulkSend's. Source: 9.7.9.25.4.2: every
// element is a relaxed operation of its own, so that reductions race with none of their like. Its bits:
// sim/machine/bulk.h.
struct BulkSendReduce {
  Address from;
  Address to;
  std::uint32_t bytes = 0;
  Address barrier;
  tma::Reduction op = tma::Reduction::Add;
  tma::DataType type = tma::DataType::UInt32;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};

// st.async: a lane's register into shared memory of a CTA, whose mbarrier counts the bytes. In the generic proxy.
struct StoreAsync {
  Address to;
  Address barrier;
  std::uint32_t bytes = 0;
  std::array<std::uint8_t, 16> value = {};
  static constexpr std::uint16_t multicast = 0;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};

// red.async: an element of shared memory of a CTA, whose mbarrier counts the bytes. In the generic proxy as st.async, and
// relaxed: strong among its like and atom. Source: PTX ISA 9.2, 9.7.13.7 "red.async".
// Measured: what it adds and that the mbarrier counts it, tests/vectors/statements.tcqv. Inferred: the proxy, as of st.async.
struct ReduceAsync {
  Address to;
  Address barrier;
  std::uint64_t value = 0;
  tma::Reduction op = tma::Reduction::Add;
  tma::DataType type = tma::DataType::UInt32;
  static constexpr std::uint16_t multicast = 0;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};

// clusterlaunchcontrol.try_cancel: an answer into shared memory, whose mbarrier counts its bytes; with a mask into all CTAs
// in it, at the same addresses. Which cluster it names, or that it names none, is decided when it lands: of several requests
// in flight PTX does not say which comes first. Written through the async proxy, its mbarrier is used through the generic one.
// Source: PTX ISA 9.2, 9.7.13.17
struct TryCancel {
  Address to;
  Address barrier;
  std::uint16_t multicast = 0;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
  void move(const CopyData&) const;
};

struct BulkCommit {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const { return "cp.async.bulk.commit_group"; }
  void execute(Step&) const;
};
struct BulkWait {
  int pending = 0;
  bool read = false;

  static constexpr None registers{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

}  // namespace tcq::machine
