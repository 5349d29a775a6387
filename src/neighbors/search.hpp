// The neighbor search of the plane tree, as its callers see it.
//
// A search is a number of independent tasks, one per node of a receiving plane (plane_of_tasks). Finished rows leave
// through a sink, leaf by leaf, or are written to their places in the memory that the sink gives. The kernels are in
// knn_policy-inl.hpp, compiled for each instruction set and chosen at run time.
#pragma once

#include "neighbors/reach.hpp"
#include "neighbors/selection_scratch.hpp"
#include "support/donated_memory.hpp"
#include "tree/view.hpp"
#include "walk/schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith::detail {

template <Coordinate T>
struct KnnRequest {
    std::int64_t k = 1;
    bool exclude_self = false;
    Candidate<T> limit; ///< max_distance squared, in working units; all indices at that distance count
    ReportScale<T> report;

    /// Points to be found: one more if the point itself does not count.
    [[nodiscard]] std::int64_t needed() const noexcept { return k + (exclude_self ? 1 : 0); }
};

/// Finished rows of some queries, row-major, missing neighbors filled in. Valid during the call only.
template <Coordinate T>
struct RowBlock {
    std::int64_t first; ///< position of the first query among the sorted receivers
    std::int64_t rows;
    const std::int32_t* queries; ///< original index of each query
    std::int64_t k;
    const std::int32_t* indices;
    const T* distances;
};

/// Where a row goes, or rows one after the other. What is null is not wanted; indices have one width or the other.
template <Coordinate T>
struct RowMemory {
    T* distances = nullptr;
    std::int32_t* indices = nullptr;
    std::int64_t* wide_indices = nullptr;

    [[nodiscard]] RowMemory row(std::int64_t i, std::int64_t k) const {
        return {distances != nullptr ? distances + i * k : nullptr, indices != nullptr ? indices + i * k : nullptr,
                wide_indices != nullptr ? wide_indices + i * k : nullptr};
    }
};

/// Memory for all rows: at the original indices of their queries, or in the order of the search, with these indices in
/// memory of their own, if they are wanted.
template <Coordinate T>
struct DirectRows {
    RowMemory<T> rows;
    bool in_order_of_search = false;
    std::int32_t* queries = nullptr;

    /// The row of a query at a position among the sorted receivers.
    [[nodiscard]] RowMemory<T> row(std::int64_t position, std::int32_t query, std::int64_t k) const {
        return rows.row(in_order_of_search ? position : query, k);
    }
    /// Stores the original indices of queries from a position on.
    void name(std::int64_t first, std::int64_t count, const std::int32_t* indices) const {
        if (queries != nullptr) {
            std::copy_n(indices, count, queries + first);
        }
    }
};

/// Where finished rows go. Calls are concurrent.
template <Coordinate T>
class RowSink {
public:
    RowSink() = default;
    RowSink(const RowSink&) = delete;
    RowSink& operator=(const RowSink&) = delete;
    virtual ~RowSink() = default;
    virtual void take(const RowBlock<T>& block) = 0;
    /// Memory for all rows, if there is such: rows written there are not handed on by take().
    [[nodiscard]] virtual std::optional<DirectRows<T>> direct() const { return {}; }
    /// The memory for the rows, until the first of them is written.
    [[nodiscard]] virtual DonatedMemory spare() const { return {}; }
};

/// Memory of one thread, kept from task to task so that the inner loops allocate nothing.
template <Coordinate T>
struct SearchScratch : SelectionScratch<T> {
    using typename SelectionScratch<T>::LaneIndex;

    /// The smallest greatest-distances seen so far, and how many sources lie within each.
    struct Guarantee {
        T greatest;
        std::int32_t points;
        std::int32_t last_index; ///< none of these sources has a larger one
    };

    std::vector<Guarantee> guarantees;
    ScratchArray<T> shared; ///< a block for the leaves below one node
    ScratchArray<LaneIndex> shared_indices;
    ScratchArray<std::int32_t> pending; ///< rows of a leaf that are not finished
    Reach<T> reach;
    std::int64_t max_points_without_bound = 0; ///< among which a leaf's neighbors are sought before a guaranteed bound
    T guess = std::numeric_limits<T>::infinity();      ///< squared k-th distance expected of the next query
    T last_guess = std::numeric_limits<T>::infinity(); ///< what the last query alone would have expected
};

template <Coordinate T>
struct SearchJob : WalkJob<T> {
    bool self_search; ///< the receivers are the sources
    const KnnRequest<T>* request;
    RowSink<T>* sink;
};

/// Finds the neighbors of all points of one node of the plane of the tasks.
void search_node(const SearchJob<float>& job, std::int64_t node, SearchScratch<float>& scratch);
void search_node(const SearchJob<double>& job, std::int64_t node, SearchScratch<double>& scratch);

} // namespace kith::detail
