// Memory for a result, on either side: kernels write straight into the caller's memory if that is the device's, or else
// into scratch that is copied to the host at the end.
#pragma once

#include "cuda/device_context.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Whether the memory is that of the context's device. Null is nobody's.
inline bool is_on_device(const DeviceWork& work, const void* memory) {
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, memory), "asking where memory is");
    return attributes.type == cudaMemoryTypeManaged ||
           (attributes.type == cudaMemoryTypeDevice && attributes.device == work.device().index);
}

/// Memory that the caller gives for a result.
class ResultMemory {
public:
    ResultMemory(DeviceContext& context, void* memory, std::int64_t bytes) : memory_(memory) {
        if (memory != nullptr && bytes > 0 && !is_on_device(context, memory)) {
            scratch_ = context.buffer<std::uint8_t>(bytes);
        }
    }
    [[nodiscard]] void* on_device() const { return scratch_.size() > 0 ? scratch_.data() : memory_; }
    [[nodiscard]] bool must_be_copied() const { return scratch_.size() > 0; }
    /// To the host, if that is where the result was asked for.
    void copy(DeviceContext& context) const { context.copy(memory_, scratch_.data(), scratch_.size()); }

private:
    void* memory_;
    DeviceBuffer<std::uint8_t> scratch_;
};

} // namespace kith::detail::inline KITH_GPU
