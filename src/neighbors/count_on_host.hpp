// Counting unresolved rows of a search on a GPU: where coordinates are tiny, indices are brought to the host, which
// goes over them (unresolved.hpp). That may be slow: such points are rare, and their answers mean little.
#pragma once

#include "neighbors/device_rows.hpp"
#include "neighbors/unresolved.hpp"
#include "points/transfer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T>
class CountOnHost {
public:
    /// given() returns the sources as given, row-major; null queries mean a self-search. Neither is read unless needed.
    template <class Given>
    CountOnHost(DeviceContext& context, const Frame<T>& frame, bool is_needed, const Given& given,
                const PointsView* queries)
        : frame_(frame) {
        if (!is_needed) {
            return;
        }
        sources_ = given();
        const PointsView sources(sources_, frame_.dimension);
        if (queries != nullptr) {
            queries_ = host_rows<T>(context, *queries);
        }
        counter_.emplace(frame_, sources, queries != nullptr ? PointsView(queries_, frame_.dimension) : sources);
    }
    CountOnHost(const CountOnHost&) = delete;
    CountOnHost& operator=(const CountOnHost&) = delete;

    [[nodiscard]] bool is_needed() const { return counter_.has_value(); }

    /// Takes rows of k indices each. Their queries are named, or follow each other from the first.
    template <class Index>
    void take(const std::vector<Index>& indices, std::int64_t k, std::int64_t first, const std::int32_t* queries) {
        const auto rows = std::ssize(indices) / k;
        for (std::int64_t row = 0; row < rows; ++row) {
            counter_->take(queries != nullptr ? queries[row] : first + row, indices.data() + row * k, k);
        }
    }
    /// Takes rows of different lengths. Their queries are named, or follow each other.
    template <class Index>
    void take_rows(std::span<const std::int64_t> offsets, const Index* indices, const std::int32_t* queries,
                   bool by_distance) {
        for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
            counter_->take(queries != nullptr ? queries[row] : static_cast<std::int64_t>(row), indices + offsets[row],
                           offsets[row + 1] - offsets[row], by_distance);
        }
    }
    /// Of a whole result, in input order or of these queries, which are the device's.
    [[nodiscard]] SearchSummary of(DeviceContext& context, const RowsOnDevice<T>& rows, std::int64_t k,
                                   std::span<const std::int32_t> queries = {}) {
        if (is_needed()) {
            const std::vector<std::int32_t> named = context.to_host(queries.data(), std::ssize(queries));
            rows.indices_to_host(
                context, [&](const auto& indices) { take(indices, k, 0, named.empty() ? nullptr : named.data()); });
        }
        return summary();
    }
    /// Of what was taken.
    [[nodiscard]] SearchSummary summary() const {
        SearchSummary summary;
        summary.box = resolved_box(frame_);
        summary.wrapped_points = frame_.outside;
        if (is_needed()) {
            summary.unresolved = counter_->rows();
        }
        return summary;
    }

private:
    Frame<T> frame_;
    std::vector<T> sources_;
    std::vector<T> queries_;
    std::optional<UnresolvedCounter<T>> counter_;
};

} // namespace kith::detail::inline KITH_GPU
