// A search that only puts work on a stream, and all that it is given on the emulated device.
#pragma once

#include "calls/device_async_calls.hpp"

#include "emulation/async_memory.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::test {

template <class T, class Index>
class AsyncTrial {
public:
    AsyncTrial(const PointsView& points, const std::optional<PointsView>& queries, const Box& box, std::int64_t k,
               const KnnOptions& options)
        : rows_of_(queries ? queries->count() : points.count()), k_(k), options_(options),
          indices_(context_, rows_of_ * k), distances_(context_, rows_of_ * k), status_(context_, 1),
          rows_(indices_.span(), distances_.span()), search_{points, queries,       box, {k, options, &rows_, nullptr},
                                                             false,  status_.data()} {}

    [[nodiscard]] std::int64_t bytes_needed() const {
        KnnSize size{search_.points.dtype(), search_.points.dimension(), search_.points.count(), {}, k_,
                     options_.engine};
        if (search_.queries) {
            size.queries = search_.queries->count();
        }
        return detail::knn_async_bytes_on_device(size, context_execution());
    }
    void run() {
        const Scratch scratch(context_, bytes_needed());
        expect_no_requests([&] { detail::knn_async_on_device(search_, scratch.span(), context_execution()); });
        EXPECT_TRUE(scratch.is_alone());
    }
    [[nodiscard]] DeviceStatus status() { return context_.to_host(status_.data()); }
    [[nodiscard]] oracle::Rows<T> rows() const {
        const std::vector<Index> indices = indices_.on_host();
        return {{indices.begin(), indices.end()}, distances_.on_host()};
    }
    [[nodiscard]] detail::DeviceKnnAsync& search() { return search_; }
    [[nodiscard]] detail::DeviceContext& context() { return context_; }
    static Execution context_execution() { return cuda(1); }

private:
    std::int64_t rows_of_;
    std::int64_t k_;
    KnnOptions options_;
    detail::DeviceContext context_{context_execution()};
    ThereOn<Index> indices_;
    ThereOn<T> distances_;
    ThereOn<DeviceStatus> status_;
    NeighborRows rows_;
    detail::DeviceKnnAsync search_;
};

} // namespace kith::test
