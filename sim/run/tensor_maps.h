// Tensor maps of compiled kernels: those of the launch, and those that a kernel makes itself with tensormap.replace and
// tensormap.cp_fenceproxy. What a map's 128 bytes are: sim/isa/copy/tensor_map_object.h.
//
// A map that the launch places is known by its address. Any other address is one in global memory: its bytes are looked at
// when a copy uses it, and who patched them and with which fences is followed from the first patch in this cluster on
// (sim/async/tensor_maps.h). In shared memory a map is bytes like others: nothing uses it from there.
#pragma once

#include "sim/isa/copy/tensor_map_object.h"
#include "sim/run/executor.h"

namespace tcq::run {

// The map's bytes with addresses as kernels see them.
tma::MapObject kernel_object(const tma::TensorMap& of_launch);

inline constexpr int no_map = -1;
inline constexpr int map_by_stores =
    -2;  // ordinary ones, of this cluster: their fences are not followed

// Number of the map at an address, or one of these.
int map_at(Executor& x, const ptx::Value& address, int lane);
const tma::TensorMap& map_value(const Executor& x, int map);

bool make_tensormap_replace(Executor& x);
bool make_tensormap_copy(Executor& x);  // tensormap.cp_fenceproxy
void add_tensormap_fence(Executor& x);  // fence.proxy.tensormap::generic

}  // namespace tcq::run
