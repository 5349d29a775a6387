// Where a search on a GPU writes its rows: straight into the caller's memory if that is the device's, or else into scratch
// that is copied to the host at the end.
#pragma once

#include <kith/knn.hpp>

#include "cuda/result_memory.hpp"
#include "knn/device_request.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

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
            for (const ResultMemory* half : {&distances_, &indices_}) {
                if (half->must_be_copied()) {
                    half->copy(context);
                }
            }
            context.wait();
        });
    }

private:
    bool wide_;
    ResultMemory distances_;
    ResultMemory indices_;
};

} // namespace kith::detail::inline KITH_GPU
