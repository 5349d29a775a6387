// Memory of a device that messages between ranks are sent from and received into.
//
// It comes from cudaMalloc() and not from the memory of the call, which may be that of a pool: MPI libraries share
// memory of GPUs between processes by handles that memory of a pool does not have, and many fail on it; and another GPU
// may copy it without rights to a pool. It counts in the memory budget of the call, and in its peaks. Taking and
// freeing it may wait for all work of the device; a call does each twice for an exchange of points.
#pragma once

#include <kith/error.hpp>

#include "cuda/device_context.hpp"
#include "cuda/runtime.hpp"
#include "support/message.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace kith::detail::inline KITH_GPU {

class MessageMemory {
public:
    /// Of the context's device, uninitialized; null for no bytes. Throws out_of_memory, with the bytes needed, those
    /// held and those left.
    MessageMemory(DeviceContext& context, std::int64_t bytes) : of_call_(context.memory()), bytes_(bytes) {
        if (bytes == 0) {
            return;
        }
        if (of_call_->has_room_for(bytes)) {
            memory_ = take(context, bytes);
        }
        if (memory_ == nullptr) {
            throw error(ErrorKind::out_of_memory, "out of memory on the GPU: ", bytes,
                        " bytes more are needed for messages between ranks, beside the ",
                        of_call_->memory_tracker().held(), " that the call holds; left are ", left(), " bytes");
        }
        of_call_->memory_tracker().add(bytes);
    }
    MessageMemory(const MessageMemory&) = delete;
    MessageMemory& operator=(const MessageMemory&) = delete;
    ~MessageMemory() {
        if (memory_ != nullptr) {
            (void)cudaFree(memory_);
            of_call_->memory_tracker().release(bytes_);
        }
    }

    [[nodiscard]] void* data() const noexcept { return memory_; }

private:
    /// Null if there is not so much, even once the driver has back what the library's pool keeps.
    static void* take(DeviceContext& context, std::int64_t bytes) {
        for (const bool is_retry : {false, true}) {
            void* memory = nullptr;
            const cudaError_t result = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
            if (result != cudaErrorMemoryAllocation) {
                check_cuda(result, "taking memory for messages");
                return memory;
            }
            (void)cudaGetLastError();
            if (!is_retry) {
                context.wait(); // for what the call has freed
                release_pool(context.device().index);
            }
        }
        return nullptr;
    }

    /// Of the budget, and of what the device has free.
    [[nodiscard]] std::int64_t left() const {
        std::size_t free = 0;
        std::size_t total = 0;
        check_cuda(cudaMemGetInfo(&free, &total), "asking for free memory");
        return std::min(of_call_->left(), static_cast<std::int64_t>(free));
    }

    std::shared_ptr<DeviceMemory> of_call_;
    std::int64_t bytes_;
    void* memory_ = nullptr;
};

} // namespace kith::detail::inline KITH_GPU
