// The one macro that lets a fact compile for the CPU and for the GPU. Nothing else lives here.
#pragma once

#if defined(__CUDACC__)
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif
