// Execution policies: where and how a call runs.
#pragma once

#include <kith/progress.hpp>
#include <kith/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// Search algorithm; the answer does not depend on it. A call with an engine that does not support it throws Error:
/// unsupported; the table "Engines" in docs/api/cpp.md lists what each engine supports. A kith::Tree is an index of one
/// engine; without one, an index is built for each call.
enum class Engine : std::uint8_t {
    automatic,   ///< that of a kith::Tree; of points, brute force for few points or few queries, otherwise the tree
    tree,        ///< planes of boxes over z-ordered points
    brute_force, ///< all pairs
    kdtree,      ///< k-d tree
    clover,      ///< cells around random hubs and a graph of near cells (CLOVER)
};

/// Names of the engines, in the order of Engine, as the program and Python use them.
inline constexpr std::array<std::string_view, 5> engine_names{"auto", "tree", "brute", "kdtree", "clover"};

[[nodiscard]] inline std::string name_of(Engine engine) {
    return std::string(engine_names.at(static_cast<std::size_t>(engine)));
}
/// The engine with this name, or nullopt if there is none.
[[nodiscard]] constexpr std::optional<Engine> engine_named(std::string_view name) noexcept {
    for (std::size_t i = 0; i < engine_names.size(); ++i) {
        if (engine_names[i] == name) {
            return static_cast<Engine>(i);
        }
    }
    return std::nullopt;
}

namespace detail {
struct Team;
}

/// The maximum of Execution::threads.
inline constexpr int max_threads = 65536;

/// Execution policy of one call. The answer does not depend on it. Calls with different policies can run concurrently.
/// A call throws Error: invalid_argument for threads outside 0 to max_threads (CPU) or a negative memory_budget (GPU),
/// and device if the GPU does not exist.
struct Execution {
    Device device = {};
    int threads = 0;        ///< CPU threads; 0 means all cores, over ranks Communicator::threads()
    Progress progress = {}; ///< optional

    CudaStream stream = nullptr;      ///< GPU stream on which all work is ordered
    std::int64_t memory_budget = 0;   ///< maximum working memory on the GPU, in bytes; 0 means the free memory
    DeviceResource* memory = nullptr; ///< allocator of working memory on the GPU; null means the library's own pool

    /// The ranks that make the call together, set by over() (distributed.hpp); null: this process alone.
    std::shared_ptr<const detail::Team> team = {};
};

/// Whether calls can run on a GPU: kith was built with CUDA, and the driver finds a device.
[[nodiscard]] bool has_cuda() noexcept;

/// Returns to the driver the memory of a GPU that the library keeps for later calls, except what a call, tree or result
/// still holds; the next call takes longer. On the CPU nothing is kept. Throws Error: device if the GPU does not exist,
/// unsupported for any GPU if kith was built without CUDA.
void release_memory(const Device& device);

/// Run on the CPU with `threads` threads; 0 means all cores.
inline Execution cpu(int threads = 0, Progress progress = {}) {
    return Execution{Device{}, threads, std::move(progress)};
}

/// Run on a GPU. The call returns when its work on the stream is complete; it synchronizes with that stream, never with
/// the whole device, but where ranks exchange points from memory of GPUs (distributed.hpp). Points and results may be
/// in device or host memory; the stages include the time of copies between them.
inline Execution cuda(int device = 0, CudaStream stream = nullptr, Progress progress = {}) {
    return Execution{Device{DeviceKind::cuda, device}, 0, std::move(progress), stream};
}

} // namespace kith
