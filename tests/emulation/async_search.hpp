// A search that only puts work on a stream, and all that it is given on the emulated device.
#pragma once

#include "calls/device_calls.hpp"

#include "emulation/async_memory.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kith::test {

template <class T, class Index>
class AsyncTrial {
public:
    AsyncTrial(const PointsOrTree& points, const std::optional<PointsView>& queries, std::int64_t k, KnnOptions options)
        : rows_of_(queries ? queries->count() : points.count()), indices_(context_, rows_of_ * k),
          distances_(context_, rows_of_ * k), queries_(context_, options.z_order ? rows_of_ : 0), status_(context_, 1),
          rows_(indices_.span(), distances_.span(), queries_.span()), search_{points,
                                                                              queries,
                                                                              {k, std::move(options), &rows_, nullptr},
                                                                              false,
                                                                              status_.data()} {
        search_.call.options.execution = cuda(1);
    }

    [[nodiscard]] std::int64_t bytes_needed() const {
        const KnnOptions& options = search_.call.options;
        const auto queries = search_.queries ? std::optional(rows_of_) : std::nullopt;
        if (const Tree* const tree = search_.points.tree()) {
            return detail::knn_async_bytes_on_device(*tree, queries, search_.call.k, Engine::automatic, {});
        }
        return detail::knn_async_bytes_on_device(
            AsyncTreeSize{search_.points.dtype(), search_.points.dimension(), search_.points.count()}, queries,
            search_.call.k, options.engine, options.execution);
    }
    void run() {
        const Scratch scratch(context_, bytes_needed());
        expect_no_requests([&] { detail::knn_async_on_device(search_, scratch.span()); });
        EXPECT_TRUE(scratch.is_alone());
    }
    [[nodiscard]] DeviceStatus status() { return context_.to_host(status_.data()); }
    [[nodiscard]] oracle::Rows<T> rows() const {
        const std::vector<Index> indices = indices_.on_host();
        const oracle::Rows<T> rows{{indices.begin(), indices.end()}, distances_.on_host()};
        return search_.call.options.z_order ? in_input_order(rows, queries_.on_host(), search_.call.k) : rows;
    }
    [[nodiscard]] std::vector<std::int32_t> queries() const { return queries_.on_host(); } ///< of rows in z-order
    [[nodiscard]] detail::DeviceKnnAsync& search() { return search_; }
    [[nodiscard]] detail::DeviceContext& context() { return context_; }

private:
    std::int64_t rows_of_;
    detail::DeviceContext context_{cuda(1)};
    ThereOn<Index> indices_;
    ThereOn<T> distances_;
    ThereOn<std::int32_t> queries_;
    ThereOn<DeviceStatus> status_;
    NeighborRows rows_;
    detail::DeviceKnnAsync search_;
};

} // namespace kith::test
