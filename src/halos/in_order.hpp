// Elements of an array, taken one after the other by a warp, for rounded sums, whose order matters.
//
// The lanes load 32 elements at a time, whatever it takes, into shared memory; then one lane takes them in turn, or a
// lane for each number of an element adds it to its own sum. So memory is read by all lanes side by side, while the
// order is that of one thread. Cost: the latency of one addition, or of one take, for each element.
#pragma once

#include "cuda/intrinsics.hpp"
#include "cuda/launch.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

inline constexpr int in_order_warps = 4; ///< of a block
/// Between numbers of one element in shared memory: lanes that read different ones read different banks.
inline constexpr int in_order_stride = warp_size + 1;

/// For elements of up to `Numbers` numbers.
template <int Numbers>
using InOrderMemory = SharedArray<double, in_order_warps * Numbers * in_order_stride>;

/// A warp's part of the block's memory. All members are called by the whole warp.
template <int Numbers>
class InOrder {
public:
    __device__ explicit InOrder(InOrderMemory<Numbers>& memory)
        : memory_(memory), lane_(static_cast<int>(threadIdx.x) % warp_size),
          first_(static_cast<int>(threadIdx.x) / warp_size * Numbers * in_order_stride) {}

    [[nodiscard]] __device__ int lane() const { return lane_; }
    [[nodiscard]] __device__ bool is_first_lane() const { return lane_ == 0; }

    /// load(i, numbers) fills the numbers of element i of [0, count), in any order and by any lane; take(numbers) is
    /// called by the first lane for each element in order.
    template <class Load, class Take>
    __device__ void visit(std::int64_t count, const Load& load, const Take& take) {
        for_each_block<Numbers>(count, load, [&](int elements) {
            for (int i = 0; lane_ == 0 && i < elements; ++i) {
                double numbers[Numbers];
#pragma unroll
                for (int n = 0; n < Numbers; ++n) {
                    numbers[n] = memory_[first_ + n * in_order_stride + i];
                }
                take(numbers);
            }
        });
    }

    /// Adds the numbers of all elements, as many as there are sums, to the sums, which every lane has.
    template <int Sums, class Load>
    __device__ void add(std::int64_t count, const Load& load, double (&sums)[Sums]) {
        static_assert(Sums <= Numbers);
        double sum = 0; // of the number of this lane
#pragma unroll
        for (int n = 0; n < Sums; ++n) {
            sum = lane_ == n ? sums[n] : sum;
        }
        for_each_block<Sums>(count, load, [&](int elements) {
            for (int i = 0; lane_ < Sums && i < elements; ++i) {
                sum += memory_[first_ + lane_ * in_order_stride + i];
            }
        });
#pragma unroll
        for (int n = 0; n < Sums; ++n) {
            sums[n] = __shfl_sync(whole_warp, sum, n);
        }
    }

private:
    template <int Loaded, class Load, class Use>
    __device__ void for_each_block(std::int64_t count, const Load& load, const Use& use) {
        for (std::int64_t start = 0; start < count; start += warp_size) {
            const int elements = static_cast<int>(device_min(count - start, std::int64_t{warp_size}));
            __syncwarp(); // the block before has been used
            if (lane_ < elements) {
                double numbers[Loaded];
                load(start + lane_, numbers);
#pragma unroll
                for (int n = 0; n < Loaded; ++n) {
                    memory_[first_ + n * in_order_stride + lane_] = numbers[n];
                }
            }
            __syncwarp();
            use(elements);
        }
        __syncwarp();
    }

    InOrderMemory<Numbers>& memory_;
    int lane_;
    int first_;
};

template <class Job>
struct InOrderJob {
    std::int64_t elements;
    Job job;
};

/// Calls job(element, in_order) with a warp for each element; Job::numbers are those of InOrder.
template <class Job>
__global__ void __launch_bounds__(in_order_warps* warp_size)
    in_order_kernel(const __grid_constant__ InOrderJob<Job> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    __shared__ InOrderMemory<Job::numbers> memory;
    const std::int64_t element = std::int64_t{blockIdx.x} * in_order_warps + static_cast<int>(threadIdx.x) / warp_size;
    if (element < job.elements) {
        job.job(element, InOrder<Job::numbers>(memory));
    }
}

template <class Job>
void launch_in_order(DeviceWork& work, const char* name, std::int64_t elements, const Job& job) {
    launch(work, name, in_order_kernel<Job>, (elements + in_order_warps - 1) / in_order_warps,
           in_order_warps * warp_size, {elements, job});
}

} // namespace kith::detail::inline KITH_GPU
