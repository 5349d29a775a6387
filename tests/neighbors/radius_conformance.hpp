// One suite of radius searches for every engine, device and kind of call, like that of k nearest neighbors
// (conformance.hpp). The suite is radius_conformance_test.cpp.
#pragma once

#include "support/cases.hpp"

#include <kith/radius.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::test {

template <class T>
struct RadiusRequest {
    PointsView points;                   ///< in memory of the host, row-major
    const PointsView* queries = nullptr; ///< likewise; null: a self-search
    Radii radii = 0.0;
    RadiusOptions options = {}; ///< the backend chooses the engine

    [[nodiscard]] std::int64_t rows() const { return queries != nullptr ? queries->count() : points.count(); }
};

/// What the three calls say.
template <class T>
struct RadiusAnswers {
    oracle::RaggedRows<T> rows;
    oracle::RaggedRows<T> visited;
    std::vector<std::int64_t> counts;
};

/// One way to search: an engine on a device. What does not change the answer (threads, the side on which arrays are) it
/// draws.
struct RadiusBackend {
    std::string name;
    std::function<RadiusAnswers<float>(const RadiusRequest<float>&, Random&)> of_floats;
    std::function<RadiusAnswers<double>(const RadiusRequest<double>&, Random&)> of_doubles;

    template <class T>
    [[nodiscard]] RadiusAnswers<T> search(const RadiusRequest<T>& request, Random& draw) const {
        if constexpr (std::is_same_v<T, float>) {
            return of_floats(request, draw);
        } else {
            return of_doubles(request, draw);
        }
    }
};

/// A backend from a function template: search(request, draw).
template <class Search>
RadiusBackend radius_backend(std::string name, const Search& search) {
    return {std::move(name), search, search};
}

/// Those of this program.
std::vector<RadiusBackend> radius_backends();

/// How much of the suite this program has time for.
struct RadiusEffort {
    int searches = 3;                   ///< of each set, box and kind of queries, by one backend each
    std::int64_t self_points = 1 << 20; ///< at most, of a self-search
    std::int64_t points = 1 << 20;      ///< at most, of separate queries
    std::int64_t queries = 1 << 20;     ///< at most
};
RadiusEffort radius_effort();

/// Rows of a visitor, put in the order of the queries.
template <class T>
class CollectedRows {
public:
    explicit CollectedRows(std::int64_t queries)
        : indices_(static_cast<std::size_t>(queries)), distances_(indices_.size()), seen_(indices_.size(), 0) {}

    /// A block's rows, in memory of the host.
    void add(std::span<const std::int32_t> queries, std::span<const std::int64_t> offsets,
             std::span<const std::int32_t> indices, std::span<const T> distances) {
        const std::scoped_lock lock(adding_);
        for (std::size_t row = 0; row < queries.size(); ++row) {
            const auto query = static_cast<std::size_t>(queries[row]);
            ++seen_.at(query);
            for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
                indices_[query].push_back(indices[static_cast<std::size_t>(i)]);
                distances_[query].push_back(distances[static_cast<std::size_t>(i)]);
            }
        }
    }

    [[nodiscard]] oracle::RaggedRows<T> rows() const {
        EXPECT_EQ(seen_, std::vector<int>(seen_.size(), 1));
        oracle::RaggedRows<T> all;
        for (std::size_t query = 0; query < indices_.size(); ++query) {
            all.indices.insert(all.indices.end(), indices_[query].begin(), indices_[query].end());
            all.distances.insert(all.distances.end(), distances_[query].begin(), distances_[query].end());
            all.offsets.push_back(static_cast<std::int64_t>(all.indices.size()));
        }
        return all;
    }

private:
    std::vector<std::vector<std::int64_t>> indices_;
    std::vector<std::vector<T>> distances_;
    std::vector<int> seen_;
    std::mutex adding_;
};

template <class T>
oracle::RaggedRows<T> rows_of_result(const RadiusResult& found) {
    oracle::RaggedRows<T> rows;
    rows.offsets.assign(found.offsets().begin(), found.offsets().end());
    if (found.index_type() == IndexType::int32) {
        rows.indices.assign(found.indices().begin(), found.indices().end());
    } else {
        rows.indices.assign(found.indices64().begin(), found.indices64().end());
    }
    rows.distances.assign(found.distances<T>().begin(), found.distances<T>().end());
    return rows;
}

/// Where rows first differ, for the reader of a failure.
template <class T>
std::string difference(const oracle::RaggedRows<T>& found, const oracle::RaggedRows<T>& expected) {
    if (found.offsets != expected.offsets) {
        const auto at =
            std::mismatch(found.offsets.begin(), found.offsets.end(), expected.offsets.begin(), expected.offsets.end());
        return "offsets differ from row " + std::to_string(at.first - found.offsets.begin() - 1) +
               " on: " + std::to_string(found.offsets.size()) + " of them, " + std::to_string(expected.offsets.size()) +
               " expected";
    }
    for (std::size_t i = 0; i < expected.indices.size(); ++i) {
        if (found.indices[i] != expected.indices[i] || found.distances[i] != expected.distances[i]) {
            return "element " + std::to_string(i) + " is (" + std::to_string(found.indices[i]) + ", " +
                   std::to_string(found.distances[i]) + "), not (" + std::to_string(expected.indices[i]) + ", " +
                   std::to_string(expected.distances[i]) + ")";
        }
    }
    return "";
}

} // namespace kith::test
