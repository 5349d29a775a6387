// Exact neighbors within a radius.
//
// The answer for a query is every source with d2 <= R * R (docs/semantics.md, "Neighbors within a radius"), the same
// bits on every machine, for every engine and number of threads. Source: the dual walk of the jz-tree paper, section
// III (arXiv:2604.05885), with a fixed bound. Cost: close to O(N (1 + m)) for N queries with m neighbors each in low
// dimensions. Rows are counted first, then filled; scratch memory is that of the points near one leaf per thread. Few
// separate queries of a kept tree on the CPU (one always, up to 32, on one thread up to 1,024) are searched by the
// calling thread: such a call starts no tasks and reports no stages. Long rows of several queries are shared by
// threads.
#pragma once

#include <kith/execution.hpp>
#include <kith/neighbor_row.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <vector>

namespace kith {

/// One radius for all queries, or one per query, in the units of the points; a view of the caller's memory, on the
/// host. Each is rounded to the points' type once. Radii are 0 or more, or infinity.
class Radii {
public:
    Radii(double radius) : uniform_(radius) {} // NOLINT(google-explicit-constructor): a number is a radius
    template <CoordinateRange Range>
    Radii(const Range& radii) // NOLINT(google-explicit-constructor): a view of what is passed, like std::span
        : data_(std::ranges::data(radii)), count_(static_cast<std::int64_t>(std::ranges::size(radii))),
          dtype_(dtype_of<std::ranges::range_value_t<Range>>), is_uniform_(false) {}

    [[nodiscard]] bool is_uniform() const noexcept { return is_uniform_; }
    [[nodiscard]] std::int64_t count() const noexcept { return count_; } ///< of the radii, if there is one per query
    /// The radius of a query.
    [[nodiscard]] double operator[](std::int64_t query) const noexcept {
        return is_uniform_                ? uniform_
               : dtype_ == DType::float32 ? static_cast<double>(static_cast<const float*>(data_)[query])
                                          : static_cast<const double*>(data_)[query];
    }

private:
    double uniform_ = 0;
    const void* data_ = nullptr;
    std::int64_t count_ = 0;
    DType dtype_ = DType::float64;
    bool is_uniform_ = true;
};

/// The order of the neighbors within a row.
enum class RowOrder : std::uint8_t {
    distance, ///< by (squared distance, index), as rows of knn
    index,
};

struct RadiusOptions {
    Box box = {};                        ///< of the points; a tree has its own
    bool exclude_self = false;           ///< leave the query itself out, by index; self-searches only
    bool squared = false;                ///< report squared distances
    RowOrder order = RowOrder::distance; ///< ignored by counts
    Engine engine = Engine::automatic;
    IndexType index_type = IndexType::int32; ///< of an owned result; over ranks always int64
    /// Maximum bytes of an owned result; 0 means the machine's memory. A larger result throws out_of_memory with the
    /// bytes needed before any row is computed.
    std::int64_t max_result_bytes = 0;
    Execution execution = {}; ///< on a GPU only Engine::tree and kdtree
};

/// Rows of different lengths, one after the other: row i is elements offsets()[i] to offsets()[i + 1] (the CSR format).
/// Rows are in the order of the queries as given, in host memory, also those of a search on a GPU. A result that was
/// moved from has no rows.
class RadiusResult : public SearchSummary {
public:
    RadiusResult() = default;
    RadiusResult(RadiusResult&&) noexcept = default;
    RadiusResult& operator=(RadiusResult&&) noexcept = default;

    [[nodiscard]] std::int64_t rows() const noexcept { return std::ssize(offsets()) - 1; }
    [[nodiscard]] std::span<const std::int64_t> offsets() const noexcept { ///< rows + 1
        static constexpr std::int64_t of_no_rows[] = {0};
        return offsets_.empty() ? std::span<const std::int64_t>(of_no_rows) : offsets_;
    }
    [[nodiscard]] std::int64_t size() const noexcept { return offsets().back(); } ///< neighbors of all rows
    [[nodiscard]] IndexType index_type() const noexcept { return index_type_; }
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    /// Row i. Throws Error: invalid_argument (i outside 0 to rows() - 1).
    [[nodiscard]] NeighborRow row(std::int64_t i) const;

    /// Throws invalid_argument if the result holds the other width.
    [[nodiscard]] std::span<const std::int32_t> indices() const;
    [[nodiscard]] std::span<const std::int64_t> indices64() const;
    /// Throws invalid_argument if the points were of the other type.
    template <Coordinate T>
    [[nodiscard]] std::span<const T> distances() const {
        return {static_cast<const T*>(distances_as(dtype_of<T>)), static_cast<std::size_t>(size())};
    }

private:
    friend struct RadiusResultAccess;
    [[nodiscard]] const void* distances_as(DType dtype) const;

    std::vector<std::int64_t> offsets_ = {0}; ///< empty after a move
    std::shared_ptr<void> indices_;
    std::shared_ptr<void> distances_;
    IndexType index_type_ = IndexType::int32;
    DType dtype_ = DType::float32;
};

/// Some finished rows, passed to a visitor and valid only during the call.
struct RadiusBlock {
    std::span<const std::int32_t> query_indices; ///< original index of each query
    std::span<const std::int64_t> offsets;       ///< rows + 1, from 0
    std::int64_t size = 0;                       ///< neighbors of all rows
    const void* indices_data = nullptr;          ///< as many, of index_type
    IndexType index_type = IndexType::int32;
    const void* distances_data = nullptr; ///< as many, of dtype
    DType dtype = DType::float32;
    Device device;               ///< device that owns the memory of all four
    CudaStream stream = nullptr; ///< on a GPU: stream on which the rows are being written

    /// Throws Error: invalid_argument (index_type is the other one).
    [[nodiscard]] std::span<const std::int32_t> indices() const {
        return detail::indices_of<std::int32_t>(indices_data, index_type, size);
    }
    [[nodiscard]] std::span<const std::int64_t> indices64() const {
        return detail::indices_of<std::int64_t>(indices_data, index_type, size);
    }
    /// Throws Error: invalid_argument (dtype is not T).
    template <Coordinate T>
    [[nodiscard]] std::span<const T> distances() const {
        detail::require_distances(dtype, dtype_of<T>);
        return {static_cast<const T*>(distances_data), static_cast<std::size_t>(size)};
    }
};

/// Receives every row exactly once. Calls are concurrent, in unspecified order; on a GPU one after the other, from the
/// calling thread, before the work that writes the block is complete: work on its stream comes after that. An exception
/// stops the search and propagates to the caller.
using RadiusVisitor = std::function<void(const RadiusBlock&)>;

/// All points within the radius of every point, or of every query; queries are of the points' type and dimension.
/// Throws Error: invalid_argument (a negative or NaN radius, one above 0 so small that its square underflows relative
/// to the largest coordinate or period in the points' type, a number of radii other than that of the queries,
/// exclude_self with separate queries, queries of another type or dimension, max_result_bytes < 0, an invalid box, a
/// box in addition to a tree, a tree on another device), invalid_points (points or queries that are not finite, extent
/// over twice the period, queries too far away), too_large (more than 2^31 - 1 points or queries), unsupported
/// (dimension not built, an engine that the device does not support, a GPU without CUDA in this build), device,
/// out_of_memory, canceled.
[[nodiscard]] RadiusResult radius_search(const PointsOrTree& points, const Radii& radii,
                                         const RadiusOptions& options = {});
[[nodiscard]] RadiusResult radius_search(const PointsOrTree& points, const PointsView& queries, const Radii& radii,
                                         const RadiusOptions& options = {});

struct RadiusCounts : SearchSummary {
    std::vector<std::int64_t> counts; ///< of the neighbors of each query
};

/// The lengths of the rows alone: Engine::tree counts nodes that lie within the radius as a whole, and visits none of
/// their points.
/// Unresolved rows are not reported. Throws as radius_search().
[[nodiscard]] RadiusCounts radius_count(const PointsOrTree& points, const Radii& radii,
                                        const RadiusOptions& options = {});
[[nodiscard]] RadiusCounts radius_count(const PointsOrTree& points, const PointsView& queries, const Radii& radii,
                                        const RadiusOptions& options = {});

/// Streams the rows in blocks to a visitor; never stores all of them. Throws as radius_search(), and what the visitor
/// throws.
SearchSummary radius_visit(const RadiusVisitor& visitor, const PointsOrTree& points, const Radii& radii,
                           const RadiusOptions& options = {});
SearchSummary radius_visit(const RadiusVisitor& visitor, const PointsOrTree& points, const PointsView& queries,
                           const Radii& radii, const RadiusOptions& options = {});

} // namespace kith
