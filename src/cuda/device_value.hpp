// Values in memory of the device, for kernels.
//
// A kernel gets its job by value, and with it a pointer to the part that depends on the points. A call that waits knows
// that part and stores it; in a call that does not, one thread of a kernel before computes it. The kernels are the
// same.
#pragma once

#include "cuda/intrinsics.hpp"
#include "cuda/launch.hpp"

namespace kith::detail::inline KITH_GPU {

/// Does what one thread can do between kernels.
template <class Completion>
__global__ void __launch_bounds__(warp_size) complete_kernel(const __grid_constant__ Completion completion) {
    static_assert(sizeof(Completion) <= 4096, "parameters of a kernel");
    if (threadIdx.x == 0) {
        completion();
    }
}

template <class Completion>
void complete(DeviceWork& work, const char* name, const Completion& completion) {
    launch(work, name, complete_kernel<Completion>, 1, warp_size, completion);
}

template <class Value>
struct StoreValue {
    Value value;
    Value* to;

    __device__ void operator()() const { *to = value; }
};

/// A copy of a value that the host knows.
template <class Value>
DeviceBuffer<Value> stored(DeviceWork& work, const char* name, const Value& value) {
    DeviceBuffer<Value> copy = work.buffer<Value>(1);
    complete(work, name, StoreValue<Value>{value, copy.data()});
    return copy;
}

} // namespace kith::detail::inline KITH_GPU
