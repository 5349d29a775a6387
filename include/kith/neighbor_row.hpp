// One row of a result: the neighbors of one query; and what searches report besides their rows.
#pragma once

#include <kith/box.hpp>
#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/progress.hpp>
#include <kith/types.hpp>

#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>

namespace kith {

namespace detail {
/// Throw invalid_argument if a result does not hold what is asked for.
void require_indices(IndexType held, IndexType asked);
void require_distances(DType held, DType asked);
void require_row(std::int64_t row, std::int64_t rows);

/// Indices that a result holds, as those of one width. Throws invalid_argument if it is the other one.
template <class Index>
std::span<const Index> indices_of(const void* indices, IndexType held, std::int64_t count) {
    require_indices(held, sizeof(Index) == 4 ? IndexType::int32 : IndexType::int64);
    return {static_cast<const Index*>(indices), static_cast<std::size_t>(count)};
}
} // namespace detail

struct Neighbor {
    std::int64_t index; ///< original index; -1: there is none
    double distance;    ///< as the result holds it, float32 converted
};

/// A view of one row, nearest first unless another order was asked for: row[j].index, row[j].distance, or
/// `for (const auto [index, distance] : row)`. Valid as long as the result.
class NeighborRow {
public:
    class Iterator;

    NeighborRow() = default;
    NeighborRow(const void* indices, IndexType index_type, const void* distances, DType dtype, std::int64_t size)
        : indices_(indices), distances_(distances), size_(size), index_type_(index_type), dtype_(dtype) {}

    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] Neighbor operator[](std::int64_t j) const noexcept {
        return {index_type_ == IndexType::int32 ? static_cast<const std::int32_t*>(indices_)[j]
                                                : static_cast<const std::int64_t*>(indices_)[j],
                dtype_ == DType::float32 ? static_cast<double>(static_cast<const float*>(distances_)[j])
                                         : static_cast<const double*>(distances_)[j]};
    }
    [[nodiscard]] Iterator begin() const noexcept;
    [[nodiscard]] Iterator end() const noexcept;

private:
    const void* indices_ = nullptr;
    const void* distances_ = nullptr;
    std::int64_t size_ = 0;
    IndexType index_type_ = IndexType::int32;
    DType dtype_ = DType::float32;
};

class NeighborRow::Iterator {
public:
    using value_type = Neighbor;
    using difference_type = std::int64_t;

    Iterator() = default;
    Neighbor operator*() const noexcept { return row_[at_]; }
    Iterator& operator++() noexcept {
        ++at_;
        return *this;
    }
    Iterator operator++(int) noexcept {
        Iterator old = *this;
        ++at_;
        return old;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.at_ == b.at_; }

private:
    friend class NeighborRow;
    Iterator(const NeighborRow& row, std::int64_t at) : row_(row), at_(at) {}
    NeighborRow row_;
    std::int64_t at_ = 0;
};

inline NeighborRow::Iterator NeighborRow::begin() const noexcept {
    return {*this, 0};
}
inline NeighborRow::Iterator NeighborRow::end() const noexcept {
    return {*this, size_};
}

/// Rows with unresolved neighbors. An unresolved neighbor is not at the position of its query, but so near to it,
/// relative to the largest absolute coordinate or period, that the squared distance loses digits or vanishes
/// (docs/semantics.md, "Numbers"): its distance and place in the row are unreliable. The usual reason is a placeholder
/// far from all other points.
struct UnresolvedRows {
    std::int64_t rows = 0;            ///< number of such rows; the rest is meaningful if there are any
    std::int64_t first_query = -1;    ///< original index of the first query with such a row
    std::int64_t farthest_point = -1; ///< index of the first point with the largest coordinate; -1: a period is larger
    int axis = -1;                    ///< of that coordinate
    double value = 0;                 ///< that coordinate, or the period
    DType dtype = DType::float32;     ///< of the points

    /// A warning for users that names the remedy; empty if there are no such rows.
    [[nodiscard]] std::string warning() const;
};

/// What a search reports besides its rows.
struct SearchSummary {
    StageReports stages;          ///< cost of each stage, including the tree build
    UnresolvedRows unresolved;    ///< rows whose distances and order are unreliable
    Engine engine = Engine::tree; ///< algorithm used, not automatic
    Box box;                      ///< in which the distances are, with the origins of all periodic axes resolved
    /// Number of points outside the box, which were wrapped into it (box.hpp); separate queries are not counted. If all
    /// points should be in the box, a number above 0 means that box and points have different units.
    std::int64_t wrapped_points = 0;
    std::optional<Distribution> distribution = {}; ///< of the rows, if the search ran over ranks
};

/// A read-only row-major matrix: rows[i] is a span of columns() elements.
template <class T>
class MatrixView {
public:
    MatrixView(std::span<const T> elements, std::int64_t rows, std::int64_t columns)
        : elements_(elements), rows_(rows), columns_(columns) {}

    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
    [[nodiscard]] const T* data() const noexcept { return elements_.data(); }
    [[nodiscard]] std::span<const T> operator[](std::int64_t row) const {
        return elements_.subspan(static_cast<std::size_t>(row * columns_), static_cast<std::size_t>(columns_));
    }
    [[nodiscard]] const T& operator()(std::int64_t row, std::int64_t column) const {
        return elements_[static_cast<std::size_t>(row * columns_ + column)];
    }

private:
    std::span<const T> elements_;
    std::int64_t rows_;
    std::int64_t columns_;
};

} // namespace kith

/// Iterators outlive the row that they came from.
template <>
inline constexpr bool std::ranges::enable_borrowed_range<kith::NeighborRow> = true;
