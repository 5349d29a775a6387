// Where a search on a GPU writes its rows: straight into the caller's memory if that is the device's, or else into scratch
// that is copied to the host at the end.
#pragma once

#include <kith/knn.hpp>

#include "cuda/device_context.hpp"
#include "knn/device_request.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Whether a kernel can use the memory. Null is nobody's.
inline bool is_on_device(const void* memory) {
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, memory), "asking where memory is");
    return attributes.type != cudaMemoryTypeUnregistered && attributes.type != cudaMemoryTypeHost;
}

/// One half of the rows.
class HalfOfRows {
public:
    HalfOfRows(DeviceContext& context, void* memory, std::int64_t bytes) : memory_(memory), bytes_(bytes) {
        if (memory != nullptr && bytes > 0 && !is_on_device(memory)) {
            scratch_ = context.buffer<std::uint8_t>(bytes);
        }
    }
    [[nodiscard]] void* on_device() const { return scratch_.size() > 0 ? scratch_.data() : memory_; }
    [[nodiscard]] bool must_be_copied() const { return scratch_.size() > 0; }
    void copy(DeviceContext& context) const { context.copy(memory_, scratch_.data(), scratch_.size()); }

private:
    void* memory_;
    std::int64_t bytes_;
    DeviceBuffer<std::uint8_t> scratch_;
};

template <Coordinate T>
class RowsOnDevice {
public:
    RowsOnDevice(DeviceContext& context, const NeighborRows& rows)
        : wide_(rows.index_type() == IndexType::int64),
          distances_(context, rows.distances(), rows.distance_count() * static_cast<std::int64_t>(sizeof(T))),
          indices_(context, rows.indices(), rows.index_count() * (wide_ ? 8 : 4)) {}

    [[nodiscard]] DeviceRowMemory<T> memory() const {
        return {static_cast<T*>(distances_.on_device()),
                wide_ ? nullptr : static_cast<std::int32_t*>(indices_.on_device()),
                wide_ ? static_cast<std::int64_t*>(indices_.on_device()) : nullptr};
    }

    /// Brings the rows to where they were asked for; runs the stage "download" if that is the host's memory.
    void deliver(DeviceContext& context) const {
        if (!distances_.must_be_copied() && !indices_.must_be_copied()) {
            return;
        }
        context.stage("download", [&] {
            for (const HalfOfRows* half : {&distances_, &indices_}) {
                if (half->must_be_copied()) {
                    half->copy(context);
                }
            }
            context.wait();
        });
    }

private:
    bool wide_;
    HalfOfRows distances_;
    HalfOfRows indices_;
};

} // namespace kith::detail::inline KITH_GPU
