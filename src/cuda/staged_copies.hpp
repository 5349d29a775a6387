// Copies between a device and memory of the host that is not pinned, in pieces through two pinned buffers: while one
// travels, threads fill or empty the other one. The driver's own copies of such memory use one thread.
//
// The buffers are kept for later calls until release_staging(), as the device's memory is: pinning takes longer than a
// small copy. What fits into one buffer is copied by the driver, since nothing would overlap.
#pragma once

#include "cuda/runtime.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Two pinned buffers, and events that tell when each has travelled.
struct PinnedBuffers {
    std::int64_t bytes = 0; ///< of each; 0: none
    std::array<std::byte*, 2> memory{};
    std::array<cudaEvent_t, 2> has_travelled{};
};

/// Those of one call.
class StagedCopies {
public:
    /// 0 threads are all cores.
    StagedCopies(int device, cudaStream_t stream, int threads) : device_(device), stream_(stream), threads_(threads) {}
    StagedCopies(const StagedCopies&) = delete;
    StagedCopies& operator=(const StagedCopies&) = delete;
    ~StagedCopies(); ///< the stream has been waited for

    /// Whether the copy was made: large, from or to memory that is not pinned, and if there are buffers. The caller's
    /// memory may then be used: it was read, or it has been written.
    [[nodiscard]] bool copy(void* to, const void* from, std::int64_t bytes);

private:
    [[nodiscard]] bool take_buffers();
    void to_device(std::byte* to, const std::byte* from, std::int64_t bytes);
    void to_host(std::byte* to, const std::byte* from, std::int64_t bytes);
    void send(int buffer, void* to, const void* from, std::int64_t bytes);
    void wait_for(int buffer);
    void copy_by_threads(std::byte* to, const std::byte* from, std::int64_t bytes) const;

    int device_;
    cudaStream_t stream_;
    int threads_;
    PinnedBuffers buffers_;
    std::array<bool, 2> travels_{}; ///< each of them, as far as the host knows
};

/// Frees the buffers of a device that no call uses.
void release_staging(int device);

} // namespace kith::detail::inline KITH_GPU
