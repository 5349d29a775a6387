// Where and how a call runs.
#pragma once

#include <kith/progress.hpp>
#include <kith/types.hpp>

#include <cstdint>
#include <utility>

struct CUstream_st; // what a cudaStream_t points to

namespace kith {

/// A cudaStream_t; null is the default stream.
using CudaStream = CUstream_st*;

/// Where a call on a GPU takes its working memory from, instead of the library's own pool. Must be safe to use from
/// several threads if calls are made from several, and must outlive all trees that were built with it.
class DeviceResource {
public:
    virtual ~DeviceResource() = default;
    /// Memory of the current device for use on the stream, aligned to 256 bytes; null if there is no more.
    virtual void* allocate(std::int64_t bytes, CudaStream stream) = 0;
    /// What is still to be done on the stream may use the memory; what comes later does not. The stream is null for
    /// memory that nothing uses any more.
    virtual void deallocate(void* memory, std::int64_t bytes, CudaStream stream) noexcept = 0;
};

/// Who does the searching. `automatic` takes brute force where it was measured to be faster: a handful of points,
/// and few queries of points for which no tree is kept. A tree that is kept on a GPU is always searched as a tree.
enum class Engine : std::uint8_t { automatic, tree, brute_force };

/// The largest number of threads that a call may be given.
inline constexpr int most_threads = 65536;

/// The place and the means of one call. There is no global state: calls with different executions can run side by side.
/// The answer never depends on it.
struct Execution {
    Device device;
    int threads = 0;   ///< of the CPU, at most most_threads; 0 means all that the machine has
    Progress progress; ///< optional

    CudaStream stream = nullptr;      ///< of the GPU: all work is ordered on it
    std::int64_t memory_budget = 0;   ///< most working memory on the GPU, in bytes; 0 means what is free
    DeviceResource* memory = nullptr; ///< optional
};

/// Run on the CPU with that many threads; 0 means all.
inline Execution cpu(int threads = 0, Progress progress = {}) {
    return Execution{Device{}, threads, std::move(progress)};
}

/// Run on a GPU. The call returns when its work on the stream is done; it waits for that stream, never for the device.
/// Points and results may be in the device's memory or the host's; what copies between them cost is among the stages.
inline Execution cuda(int device = 0, CudaStream stream = nullptr, Progress progress = {}) {
    return Execution{Device{DeviceKind::cuda, device}, 0, std::move(progress), stream};
}

} // namespace kith
