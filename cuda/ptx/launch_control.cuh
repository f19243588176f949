// clusterlaunchcontrol: a cluster that runs asks for one of its grid that has not begun, and takes over its work.
//
// The way of an answer: mbarrier_arrive_expect_tx(barrier, launch_answer_bytes), one thread: try_cancel(), all who want it
// wait for the barrier, canceled_cluster(), fence_proxy_async_shared() before the place is used again. Once an answer was no,
// no thread of the CTA may ask again. Answers come in an order that nothing says: ask again once the last one is there.
//
// Compiled, run on the machine (tests/run), not on silicon: no device of compute capability 10 was at hand.
// Source: PTX ISA 9.2, 9.7.13.17 "clusterlaunchcontrol.try_cancel", 9.7.13.18 "clusterlaunchcontrol.query_cancel".
#pragma once

#include <cstdint>

#include "sim/isa/base/cluster.h"

namespace tcq::ptx {

// The answer comes to shared memory at `answer`, a multiple of 16, and its bytes count on `barrier`.
__device__ __forceinline__ void try_cancel(std::uint32_t answer, std::uint32_t barrier) {
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], "
      "[%1];" ::"r"(answer),
      "r"(barrier)
      : "memory");
}

// The same in every CTA of the cluster, none of which may have ended.
__device__ __forceinline__ void try_cancel_for_all(std::uint32_t answer, std::uint32_t barrier) {
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
      ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(answer),
      "r"(barrier)
      : "memory");
}

// %ctaid.x of the first CTA of the cluster that will not begin; -1: there was none.
__device__ __forceinline__ int canceled_cluster(std::uint32_t answer) {
  int first;
  asm volatile(
      "{\n.reg .b128 answer;\n.reg .pred p;\nld.shared.b128 answer, [%1];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer;\nmov.b32 %0, -1;\n"
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, answer;\n}"
      : "=r"(first)
      : "r"(answer)
      : "memory");
  return first;
}

}  // namespace tcq::ptx
