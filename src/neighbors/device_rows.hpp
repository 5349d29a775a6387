// Where a search on a GPU writes its rows: straight into the caller's memory if that is the device's, or else into
// scratch that is copied to the host at the end.
#pragma once

#include <kith/knn.hpp>

#include "cuda/result_memory.hpp"
#include "neighbors/device_request.hpp"
#include "support/number_types.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T>
class RowsOnDevice {
public:
    /// Indices that nobody wants are kept nevertheless if they are to be counted: so many of them.
    RowsOnDevice(DeviceContext& context, const NeighborRows& rows, std::int64_t counted)
        : index_type_(rows.index_type()), index_count_(std::max(counted, rows.index_count())),
          counted_(rows.indices() == nullptr ? context.buffer<std::uint8_t>(counted * item_size(index_type_))
                                             : DeviceBuffer<std::uint8_t>()),
          distances_(context, rows.distances(), rows.distance_count() * static_cast<std::int64_t>(sizeof(T))),
          indices_(context, rows.indices(), rows.index_count() * item_size(rows.index_type())),
          query_indices_(rows.query_indices()) {}

    [[nodiscard]] DeviceRowMemory<T> memory() const {
        return row_memory<T>(distances_.on_device(), counted_.size() > 0 ? counted_.data() : indices_.on_device(),
                             index_type_);
    }

    /// Passes all indices, on the host, to take(vector).
    template <class Take>
    void indices_to_host(DeviceContext& context, const Take& take) const {
        const DeviceRowMemory<T> rows = memory();
        rows.indices != nullptr ? take(context.to_host(rows.indices, index_count_))
                                : take(context.to_host(rows.wide_indices, index_count_));
    }

    /// Brings the rows to where they were asked for, and the queries of rows in z-order, which are the device's; runs
    /// the stage "download" if some of that is the host's memory.
    void deliver(DeviceContext& context, const std::int32_t* queries = nullptr) const {
        const auto name = [&] {
            context.copy(query_indices_.data(), queries, static_cast<std::int64_t>(query_indices_.size_bytes()));
        };
        const bool stay = query_indices_.empty() || is_on_device(context, query_indices_.data());
        if (stay && !distances_.must_be_copied() && !indices_.must_be_copied()) {
            name();
            return;
        }
        context.stage("download", [&] {
            distances_.copy(context);
            indices_.copy(context);
            name();
            context.wait();
        });
    }

private:
    IndexType index_type_;
    std::int64_t index_count_;
    DeviceBuffer<std::uint8_t> counted_;
    ResultMemory distances_;
    ResultMemory indices_;
    std::span<std::int32_t> query_indices_;
};

} // namespace kith::detail::inline KITH_GPU
