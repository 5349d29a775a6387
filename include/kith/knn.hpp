// Exact k nearest neighbors.
//
// Neighbors of a query are ordered by (distance, original index); the first k of that order are the answer, the same
// bits on every machine and for every engine. Source: jz-tree paper, section III. Cost: close to O(N k) for N queries
// in low dimensions; scratch memory does not grow with N.
#pragma once

#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace kith {

struct KnnOptions {
    /// Leave the query point itself out, by index, not by distance. Self-searches only.
    bool exclude_self = false;
    /// Only neighbors within this distance, inclusive, count. Rounded to the points' type once.
    double max_distance = std::numeric_limits<double>::infinity();
    /// Report squared distances.
    bool squared = false;
    Engine engine = Engine::automatic;
    /// Width of the indices in an owned result.
    IndexType index_type = IndexType::int32;
};

/// Row-major n x k memory that the caller owns, the host's or, for searches on a GPU, that GPU's. A missing neighbor is index -1 at distance +infinity. Either pointer
/// may be null: that half is not written. Distances must be of the points' own type, and both be aligned for theirs. The
/// memory must not overlap the points: it serves as working memory before rows are written, and holds anything if a call
/// throws.
class NeighborRows {
public:
    NeighborRows() = default;
    template <class Index, Coordinate T>
        requires(std::is_same_v<Index, std::int32_t> || std::is_same_v<Index, std::int64_t>)
    NeighborRows(std::span<Index> indices, std::span<T> distances)
        : indices_(indices.data()), distances_(distances.data()),
          index_count_(static_cast<std::int64_t>(indices.size())),
          distance_count_(static_cast<std::int64_t>(distances.size())),
          index_type_(sizeof(Index) == 4 ? IndexType::int32 : IndexType::int64), dtype_(dtype_of<T>) {}

    [[nodiscard]] void* indices() const noexcept { return indices_; }
    [[nodiscard]] void* distances() const noexcept { return distances_; }
    [[nodiscard]] std::int64_t index_count() const noexcept { return index_count_; }
    [[nodiscard]] std::int64_t distance_count() const noexcept { return distance_count_; }
    [[nodiscard]] IndexType index_type() const noexcept { return index_type_; }
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }

private:
    void* indices_ = nullptr;
    void* distances_ = nullptr;
    std::int64_t index_count_ = 0;
    std::int64_t distance_count_ = 0;
    IndexType index_type_ = IndexType::int32;
    DType dtype_ = DType::float32;
};

namespace detail {
/// Throws invalid_argument if distances that are held as one type are asked for as the other.
void require_distances(DType held, DType asked);
} // namespace detail

/// An owned result: rows() x k() indices and distances, row-major, rows in the order of the queries as given. It is in the
/// memory in which the queries were, or the points of a self-search: the host's, or a GPU's. Work of yours that reads it
/// on a GPU must be done before the result goes.
class KnnResult {
public:
    /// Uninitialized memory for rows x k; throws out_of_memory with the bytes needed.
    KnnResult(std::int64_t rows, std::int64_t k, IndexType index_type, DType dtype);
    KnnResult(KnnResult&&) noexcept = default;
    KnnResult& operator=(KnnResult&&) noexcept = default;

    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::int64_t k() const noexcept { return k_; }
    [[nodiscard]] IndexType index_type() const noexcept { return index_type_; }
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] Device device() const noexcept { return device_; } ///< in whose memory the rows are

    /// Throws invalid_argument if the result holds the other width.
    [[nodiscard]] std::span<const std::int32_t> indices() const;
    [[nodiscard]] std::span<const std::int64_t> indices64() const;

    /// Throws invalid_argument if the points were of the other type.
    template <Coordinate T>
    [[nodiscard]] std::span<const T> distances() const {
        detail::require_distances(dtype_, dtype_of<T>);
        return {static_cast<const T*>(distances_.get()), static_cast<std::size_t>(rows_ * k_)};
    }

    /// The rows as memory to write to.
    [[nodiscard]] NeighborRows rows_view() noexcept;

    [[nodiscard]] Engine engine() const noexcept { return engine_; } ///< who did it: tree or brute_force
    StageReports stages;                                             ///< what the call took, tree building included

private:
    friend struct KnnResultAccess;
    KnnResult(std::int64_t rows, std::int64_t k, IndexType index_type, DType dtype, Device device)
        : rows_(rows), k_(k), index_type_(index_type), dtype_(dtype), device_(device) {}
    std::shared_ptr<void> indices_;
    std::shared_ptr<void> distances_;
    std::int64_t rows_ = 0;
    std::int64_t k_ = 0;
    IndexType index_type_;
    DType dtype_;
    Device device_;
    Engine engine_ = Engine::tree;
};

/// One block of finished rows, handed to a visitor and valid only during the call.
struct NeighborBlock {
    std::int64_t first = 0;                      ///< z-order position of the first query of the block
    std::span<const std::int32_t> query_indices; ///< original index of each query
    std::int64_t k = 0;
    std::span<const std::int32_t> indices; ///< rows x k
    DType dtype = DType::float32;
    const void* distances_data = nullptr; ///< rows x k of dtype
    Device device;                        ///< in whose memory all of it is
    CudaStream stream = nullptr;          ///< of a GPU: on which the rows are being written

    /// Throws invalid_argument if the points were of the other type.
    template <Coordinate T>
    [[nodiscard]] std::span<const T> distances() const {
        detail::require_distances(dtype, dtype_of<T>);
        return {static_cast<const T*>(distances_data), indices.size()};
    }
};

/// Reductions instead of lists: receives every row exactly once. Calls are concurrent and in no stated order. An
/// exception thrown by it stops the search and reaches the caller.
using NeighborVisitor = std::function<void(const NeighborBlock&)>;

/// The k nearest sources of every source (a self-search: a point is its own neighbor unless exclude_self).
/// Throws Error: invalid_argument (k < 1, NaN or negative max_distance), out_of_memory, canceled.
[[nodiscard]] KnnResult knn(const Tree& tree, std::int64_t k, const KnnOptions& options = {},
                            const Execution& execution = {});
/// The k nearest sources of every query. Queries are of the sources' type and dimension.
[[nodiscard]] KnnResult knn(const Tree& tree, const PointsView& queries, std::int64_t k, const KnnOptions& options = {},
                            const Execution& execution = {});
/// A self-search without keeping a tree.
[[nodiscard]] KnnResult knn(const PointsView& points, std::int64_t k, const Box& box = {},
                            const KnnOptions& options = {}, const Execution& execution = {});
/// Separate queries without keeping a tree.
[[nodiscard]] KnnResult knn(const PointsView& points, const PointsView& queries, std::int64_t k, const Box& box = {},
                            const KnnOptions& options = {}, const Execution& execution = {});

/// The same into the caller's memory, of rows * k elements each.
StageReports knn_into(const NeighborRows& rows, const Tree& tree, std::int64_t k, const KnnOptions& options = {},
                      const Execution& execution = {});
StageReports knn_into(const NeighborRows& rows, const Tree& tree, const PointsView& queries, std::int64_t k,
                      const KnnOptions& options = {}, const Execution& execution = {});

StageReports knn_into(const NeighborRows& rows, const PointsView& points, std::int64_t k, const Box& box = {},
                      const KnnOptions& options = {}, const Execution& execution = {});
StageReports knn_into(const NeighborRows& rows, const PointsView& points, const PointsView& queries, std::int64_t k,
                      const Box& box = {}, const KnnOptions& options = {}, const Execution& execution = {});

/// The same through a visitor; never holds rows * k numbers.
StageReports knn_visit(const NeighborVisitor& visitor, const Tree& tree, std::int64_t k, const KnnOptions& options = {},
                       const Execution& execution = {});
StageReports knn_visit(const NeighborVisitor& visitor, const Tree& tree, const PointsView& queries, std::int64_t k,
                       const KnnOptions& options = {}, const Execution& execution = {});

} // namespace kith
