// Memory of a device that messages between ranks are sent from and received into.
//
// It comes from cudaMalloc() and not from the library's pool: MPI libraries share memory of GPUs between processes by
// handles that memory of a pool does not have, and many fail on it. It is outside the memory budget of a call. Both
// functions may wait for the device; a call takes such memory twice for each exchange of points.
#pragma once

#include "cuda/runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

class MessageMemory {
public:
    /// Of the current device, uninitialized; null for no bytes. Throws out_of_memory.
    explicit MessageMemory(std::int64_t bytes) {
        if (bytes > 0) {
            check_cuda(cudaMalloc(&memory_, static_cast<std::size_t>(bytes)), "taking memory for messages");
        }
    }
    MessageMemory(const MessageMemory&) = delete;
    MessageMemory& operator=(const MessageMemory&) = delete;
    ~MessageMemory() { (void)cudaFree(memory_); }

    [[nodiscard]] void* data() const noexcept { return memory_; }

private:
    void* memory_ = nullptr;
};

} // namespace kith::detail::inline KITH_GPU
