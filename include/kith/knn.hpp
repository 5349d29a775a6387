// Exact k nearest neighbors.
//
// Neighbors of a query are ordered by (distance, original index); the first k of that order are the answer, the same
// bits on every machine and for every engine. Source: jz-tree paper, section III (arXiv:2604.05885). Cost: close to
// O(N k) for N queries in low dimensions; scratch memory does not grow with N.
#pragma once

#include <kith/execution.hpp>
#include <kith/neighbor_row.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace kith {

struct KnnOptions {
    /// Box of the points; leave it open for a tree, which has its own.
    Box box = {};
    /// Exclude the query point itself, by index, not by distance. Self-searches only.
    bool exclude_self = false;
    /// Return only neighbors within this distance, inclusive; in the units of the points, rounded to their type once.
    double max_distance = std::numeric_limits<double>::infinity();
    /// Return squared distances.
    bool squared = false;
    /// Search algorithm.
    Engine engine = Engine::automatic;
    /// Type of the indices of a KnnResult; over ranks always int64.
    IndexType index_type = IndexType::int32;
    /// Leave the rows in z-order of their queries (docs/semantics.md), as they are found: writing them in input order
    /// scatters them over memory. The result has the query of each row; of a kept tree's own points that is order().
    /// Of Engine::tree, within one process. knn_visit() has an order of its own.
    bool z_order = false;
    /// Must name the tree's device if the points are a tree.
    Execution execution = {};
};

/// The caller's row-major n x k arrays, in host memory or, for GPU searches, in memory of that device; in z-order also
/// an array of n indices of queries. A missing neighbor is index -1 at distance +infinity. An array whose pointer is
/// null is not written. Distances must be of the points' type, and all arrays aligned for their types. The arrays must
/// not overlap each other, the points or the queries: they also serve as working memory. If a call throws, their
/// contents are unspecified.
class NeighborRows {
public:
    NeighborRows() = default;
    template <class Index, Coordinate T>
        requires(std::is_same_v<Index, std::int32_t> || std::is_same_v<Index, std::int64_t>)
    NeighborRows(std::span<Index> indices, std::span<T> distances, std::span<std::int32_t> query_indices = {})
        : indices_(indices.data()), distances_(distances.data()), query_indices_(query_indices),
          index_count_(static_cast<std::int64_t>(indices.size())),
          distance_count_(static_cast<std::int64_t>(distances.size())),
          index_type_(sizeof(Index) == 4 ? IndexType::int32 : IndexType::int64), dtype_(dtype_of<T>) {}
    /// Ranges of the caller, such as std::vector: knn_into({indices, distances}, points, k).
    template <std::ranges::contiguous_range Indices, std::ranges::contiguous_range Distances>
    NeighborRows(Indices& indices, Distances& distances, std::span<std::int32_t> query_indices = {})
        : NeighborRows(std::span(std::ranges::data(indices), std::ranges::size(indices)),
                       std::span(std::ranges::data(distances), std::ranges::size(distances)), query_indices) {}

    [[nodiscard]] void* indices() const noexcept { return indices_; }
    [[nodiscard]] void* distances() const noexcept { return distances_; }
    [[nodiscard]] std::span<std::int32_t> query_indices() const noexcept { return query_indices_; }
    [[nodiscard]] std::int64_t index_count() const noexcept { return index_count_; }
    [[nodiscard]] std::int64_t distance_count() const noexcept { return distance_count_; }
    [[nodiscard]] IndexType index_type() const noexcept { return index_type_; }
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }

private:
    void* indices_ = nullptr;
    void* distances_ = nullptr;
    std::span<std::int32_t> query_indices_;
    std::int64_t index_count_ = 0;
    std::int64_t distance_count_ = 0;
    IndexType index_type_ = IndexType::int32;
    DType dtype_ = DType::float32;
};

/// An owned result: rows() x k() indices and distances, row-major, in the input order of the queries, or in z-order if
/// that was asked for. A missing neighbor is index -1 at distance +infinity. The result of a GPU search is in the
/// memory of the queries, or of the points of a self-search: host or device; other results are in host memory. Device
/// work that reads the result must complete before it is destroyed. A result that was moved from has no rows.
class KnnResult : public SearchSummary {
public:
    /// Uninitialized host memory for rows x k. Throws Error: invalid_argument (rows below 0, k below 1), out_of_memory
    /// (the text gives the bytes needed).
    KnnResult(std::int64_t rows, std::int64_t k, IndexType index_type, DType dtype);
    KnnResult(KnnResult&& other) noexcept
        : SearchSummary(std::move(other)), indices_(std::move(other.indices_)), distances_(std::move(other.distances_)),
          query_indices_(std::move(other.query_indices_)), rows_(std::exchange(other.rows_, 0)), k_(other.k_),
          index_type_(other.index_type_), dtype_(other.dtype_), device_(other.device_) {}
    KnnResult& operator=(KnnResult&& other) noexcept {
        SearchSummary::operator=(std::move(other));
        indices_ = std::move(other.indices_);
        distances_ = std::move(other.distances_);
        query_indices_ = std::move(other.query_indices_);
        rows_ = std::exchange(other.rows_, 0);
        k_ = other.k_;
        index_type_ = other.index_type_;
        dtype_ = other.dtype_;
        device_ = other.device_;
        return *this;
    }
    ~KnnResult() = default;

    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::int64_t k() const noexcept { return k_; }
    [[nodiscard]] IndexType index_type() const noexcept { return index_type_; }
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] Device device() const noexcept { return device_; } ///< device that owns the memory

    /// Throws Error: invalid_argument (index_type() is the other one).
    [[nodiscard]] std::span<const std::int32_t> indices() const;
    [[nodiscard]] std::span<const std::int64_t> indices64() const;

    /// Throws Error: invalid_argument (dtype() is not T).
    template <Coordinate T>
    [[nodiscard]] std::span<const T> distances() const {
        detail::require_distances(dtype_, dtype_of<T>);
        return {static_cast<const T*>(distances_.get()), static_cast<std::size_t>(rows_ * k_)};
    }

    /// Original index of the query of each row, in the memory of the rows; empty for rows in input order.
    [[nodiscard]] std::span<const std::int32_t> query_indices() const noexcept {
        return {static_cast<const std::int32_t*>(query_indices_.get()),
                query_indices_ ? static_cast<std::size_t>(rows_) : 0};
    }

    /// Row i, which in z-order is not that of query i. Throws Error: invalid_argument (i outside 0 to rows() - 1, a
    /// result in memory of a GPU).
    [[nodiscard]] NeighborRow row(std::int64_t i) const;
    /// The same memory as indices() and distances(), as matrices: result.index_rows()[i][j].
    [[nodiscard]] MatrixView<std::int32_t> index_rows() const { return {indices(), rows_, k_}; }
    template <Coordinate T>
    [[nodiscard]] MatrixView<T> distance_rows() const {
        return {distances<T>(), rows_, k_};
    }

    /// A writable view of the rows.
    [[nodiscard]] NeighborRows rows_view() noexcept;

private:
    friend struct KnnResultAccess;
    KnnResult(std::int64_t rows, std::int64_t k, IndexType index_type, DType dtype, Device device)
        : rows_(rows), k_(k), index_type_(index_type), dtype_(dtype), device_(device) {}
    std::shared_ptr<void> indices_;
    std::shared_ptr<void> distances_;
    std::shared_ptr<void> query_indices_;
    std::int64_t rows_ = 0;
    std::int64_t k_ = 0;
    IndexType index_type_;
    DType dtype_;
    Device device_;
};

/// One block of rows, passed to a visitor and valid only during the call.
struct NeighborBlock {
    /// Position of the first query in the order of the search: along the curve for Engine::tree.
    std::int64_t first = 0;
    std::span<const std::int32_t> query_indices; ///< original index of each query, over ranks its row here
    std::int64_t k = 0;
    const void* indices_data = nullptr; ///< rows x k of index_type
    IndexType index_type = IndexType::int32;
    const void* distances_data = nullptr; ///< rows x k of dtype
    DType dtype = DType::float32;
    Device device;               ///< device that owns the memory
    CudaStream stream = nullptr; ///< on a GPU: stream on which the rows are being written

    [[nodiscard]] std::int64_t rows() const noexcept { return static_cast<std::int64_t>(query_indices.size()); }
    /// Throws Error: invalid_argument (index_type is the other one).
    [[nodiscard]] std::span<const std::int32_t> indices() const {
        return detail::indices_of<std::int32_t>(indices_data, index_type, rows() * k);
    }
    [[nodiscard]] std::span<const std::int64_t> indices64() const {
        return detail::indices_of<std::int64_t>(indices_data, index_type, rows() * k);
    }

    /// Throws Error: invalid_argument (dtype is not T).
    template <Coordinate T>
    [[nodiscard]] std::span<const T> distances() const {
        detail::require_distances(dtype, dtype_of<T>);
        return {static_cast<const T*>(distances_data), static_cast<std::size_t>(rows() * k)};
    }
};

/// Visitor, for reductions: receives every row exactly once. It is called concurrently, in unspecified order. An
/// exception from it stops the search and propagates to the caller.
using NeighborVisitor = std::function<void(const NeighborBlock&)>;

/// The k nearest points of every point (a self-search: a point is its own neighbor unless exclude_self). Throws Error:
/// invalid_argument (k < 1, NaN or negative max_distance, an invalid box, a box in addition to a tree, a tree on
/// another device), invalid_points (a point that is not finite, extent over twice the period), too_large (more than
/// 2^31 - 1 points), unsupported (dimension or CUDA not built, an engine without z-order), out_of_memory, device,
/// canceled.
[[nodiscard]] KnnResult knn(const PointsOrTree& points, std::int64_t k, const KnnOptions& options = {});
/// The k nearest points of every query. Queries have the type and dimension of the points. Few queries of a tree on the
/// CPU, up to 500 / (8 + k), or 300000 / (8 + k)^2 with one thread, and one in any case, are searched by the calling
/// thread: such a call starts no tasks and reports no stages, and up to k = 128 knn_into() takes no working memory.
/// Throws Error: as above, and invalid_argument (exclude_self, queries of another type or dimension), invalid_points (a
/// query that is not finite or too far away), too_large (more than 2^31 - 1 queries).
[[nodiscard]] KnnResult knn(const PointsOrTree& points, const PointsView& queries, std::int64_t k,
                            const KnnOptions& options = {});

/// The same two searches, written to the caller's arrays of rows * k elements each. Return the cost of each stage, the
/// unresolved rows and the engine. Throw as above, and invalid_argument (arrays of the wrong size, type or alignment,
/// an array for the queries of rows in input order).
SearchSummary knn_into(const NeighborRows& rows, const PointsOrTree& points, std::int64_t k,
                       const KnnOptions& options = {});
SearchSummary knn_into(const NeighborRows& rows, const PointsOrTree& points, const PointsView& queries, std::int64_t k,
                       const KnnOptions& options = {});

/// The same, streamed in blocks to a visitor; never stores rows * k numbers. Throw as above, whatever the visitor
/// throws, and invalid_argument (z_order).
SearchSummary knn_visit(const NeighborVisitor& visitor, const PointsOrTree& points, std::int64_t k,
                        const KnnOptions& options = {});
SearchSummary knn_visit(const NeighborVisitor& visitor, const PointsOrTree& points, const PointsView& queries,
                        std::int64_t k, const KnnOptions& options = {});

} // namespace kith
