// Execution policies: where and how a call runs.
#pragma once

#include <kith/progress.hpp>
#include <kith/types.hpp>

#include <cstdint>
#include <utility>

struct CUstream_st; // what a cudaStream_t points to

namespace kith {

/// A cudaStream_t; null is the default stream.
using CudaStream = CUstream_st*;

/// Allocator of the working memory of GPU calls, in place of the library's own pool. Must be thread-safe if calls are
/// made from several threads, and must outlive all trees that were built with it.
class DeviceResource {
public:
    virtual ~DeviceResource() = default;
    /// Allocates memory of the current device for use on the stream, aligned to 256 bytes; returns null on failure.
    virtual void* allocate(std::int64_t bytes, CudaStream stream) = 0;
    /// Stream-ordered: work already enqueued on the stream may still use the memory, later work does not. The stream is
    /// null if no work uses the memory any more.
    virtual void deallocate(void* memory, std::int64_t bytes, CudaStream stream) noexcept = 0;
};

/// Search algorithm; the answer does not depend on it. `automatic` chooses brute force for few points or few queries,
/// unless the points are in a kept tree. A tree that is kept on a GPU is always searched as a tree.
enum class Engine : std::uint8_t { automatic, tree, brute_force };

/// The maximum of Execution::threads.
inline constexpr int max_threads = 65536;

/// Execution policy of one call. Calls with different policies can run concurrently. The answer never depends on it. A
/// call throws Error: invalid_argument for threads outside 0 to max_threads (CPU) or a negative memory_budget (GPU), and
/// device if the GPU does not exist.
struct Execution {
    Device device;
    int threads = 0;   ///< CPU threads; 0 means all cores
    Progress progress; ///< optional

    CudaStream stream = nullptr;      ///< GPU stream on which all work is ordered
    std::int64_t memory_budget = 0;   ///< maximum working memory on the GPU, in bytes; 0 means the free memory
    DeviceResource* memory = nullptr; ///< optional allocator
};

/// Whether calls can run on a GPU here: CUDA was built in, and the driver finds a device.
[[nodiscard]] bool has_cuda() noexcept;

/// Run on the CPU with `threads` threads; 0 means all cores.
inline Execution cpu(int threads = 0, Progress progress = {}) {
    return Execution{Device{}, threads, std::move(progress)};
}

/// Run on a GPU. The call returns when its work on the stream is done; it synchronizes with that stream, never with the
/// device. Points and results may be in device or host memory; the stages include the cost of copies between them.
inline Execution cuda(int device = 0, CudaStream stream = nullptr, Progress progress = {}) {
    return Execution{Device{DeviceKind::cuda, device}, 0, std::move(progress), stream};
}

} // namespace kith
