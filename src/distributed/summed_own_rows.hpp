// Rows of a rank's own points and ghost points (search_parts.hpp), summed as one process sums them.
#pragma once

#include "distributed/joined_points.hpp"
#include "distributed/point_numbers.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/radius_search.hpp"
#include "neighbors/sum_passes.hpp"
#include "neighbors/unresolved.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::detail {

/// Rows of own points and ghost points as the sums want them: by the row of the query as it was passed, without the
/// query itself if it does not count.
template <Coordinate T>
class OwnRows {
public:
    /// Numbers of the receivers if they do not count; the order of the receivers, or empty; a counter, or null.
    OwnRows(const JoinedNumbers& sources, const PointNumbers& queries, std::span<const std::int64_t> order,
            bool exclude_self, UnresolvedCounter<T>* counter)
        : sources_(sources), queries_(queries), order_(order), exclude_self_(exclude_self), counter_(counter) {}

    [[nodiscard]] std::int32_t row_of(std::int32_t receiver) const {
        return order_.empty() ? receiver : static_cast<std::int32_t>(order_[receiver]);
    }
    /// Appends up to `most` neighbors of a receiver.
    void append(std::int32_t receiver, const std::int32_t* indices, const T* distances, std::int64_t size,
                std::int64_t most, bool by_distance, std::vector<std::int32_t>& to,
                std::vector<T>& distances_to) const {
        const std::size_t begin = to.size();
        for (std::int64_t i = 0; i < size && std::ssize(to) - static_cast<std::int64_t>(begin) < most; ++i) {
            if (exclude_self_ && indices[i] >= 0 && sources_[indices[i]] == queries_[receiver]) {
                continue;
            }
            to.push_back(indices[i]);
            distances_to.push_back(distances[i]);
        }
        if (counter_ != nullptr) {
            counter_->take_numbered(queries_[receiver], row_of(receiver), to.data() + begin,
                                    std::ssize(to) - static_cast<std::int64_t>(begin), by_distance);
        }
    }

private:
    const JoinedNumbers& sources_;
    const PointNumbers& queries_;
    std::span<const std::int64_t> order_;
    bool exclude_self_;
    UnresolvedCounter<T>* counter_;
};

/// Sums rows of up to k neighbors, found as rows of one more where the query does not count.
template <Coordinate T>
class SummedOwnRows final : public RowSink<T> {
public:
    SummedOwnRows(const OwnRows<T>& rows, const SumJob<T>& job, std::int64_t k) : rows_(rows), sums_(job), k_(k) {}

    void take(const RowBlock<T>& block) override {
        std::vector<std::int32_t> queries;
        std::vector<std::int32_t> indices;
        std::vector<T> distances;
        for (std::int64_t row = 0; row < block.rows; ++row) {
            const std::int32_t query = block.queries[row];
            queries.push_back(rows_.row_of(query));
            rows_.append(query, block.indices + row * block.k, block.distances + row * block.k, block.k, k_, true,
                         indices, distances);
            indices.resize((row + 1) * k_, -1);
            distances.resize(indices.size(), std::numeric_limits<T>::infinity());
        }
        sums_.take({block.first, block.rows, queries.data(), k_, indices.data(), distances.data()});
    }

private:
    const OwnRows<T>& rows_;
    SummedRows<T> sums_;
    std::int64_t k_;
};

/// Sums rows of neighbors within radii.
template <Coordinate T>
class SummedOwnBalls {
public:
    SummedOwnBalls(const OwnRows<T>& rows, const SumJob<T>& job, const Radii& radii) : rows_(rows), sums_(job, radii) {}

    void operator()(const RadiusBlock& block) {
        std::vector<std::int32_t> queries;
        std::vector<std::int64_t> offsets{0};
        std::vector<std::int32_t> indices;
        std::vector<T> distances;
        const T* const from = static_cast<const T*>(block.distances_data);
        for (std::size_t row = 0; row < block.query_indices.size(); ++row) {
            const std::int32_t query = block.query_indices[row];
            const std::int64_t begin = block.offsets[row];
            const std::int64_t size = block.offsets[row + 1] - begin;
            queries.push_back(rows_.row_of(query));
            rows_.append(query, block.indices().data() + begin, from + begin, size, size, false, indices, distances);
            offsets.push_back(std::ssize(indices));
        }
        sums_({queries,
               offsets,
               std::ssize(indices),
               indices.data(),
               IndexType::int32,
               distances.data(),
               dtype_of<T>,
               {},
               nullptr});
    }

private:
    const OwnRows<T>& rows_;
    SummedBalls<T> sums_;
};

} // namespace kith::detail
