// The global numbers of points: what ties are broken by, and what results hold.
//
// Without ids the number of a point is its global index, so that numbers ascend with rank and row. Ids are in any
// order. The kernels break ties by 32-bit rows, so the points of a rank are worked on in the order of their ids.
#pragma once

#include "distributed/ownership.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace kith::detail {

class PointNumbers {
public:
    PointNumbers() = default;
    explicit PointNumbers(const Ownership& ownership) : first_(ownership.first()), end_(ownership.end()) {}
    /// `ids` must outlive this.
    PointNumbers(std::span<const std::int64_t> ids, bool are_given) : are_given_(are_given), ids_(ids) {}

    [[nodiscard]] bool are_given() const noexcept { return are_given_; } ///< on all ranks or on none
    [[nodiscard]] std::int64_t operator[](std::int64_t row) const { return are_given_ ? ids_[row] : first_ + row; }
    /// The row of a point, or -1 if it is on another rank. Numbers ascend with rows.
    [[nodiscard]] std::int64_t row_of(std::int64_t number) const {
        if (!are_given_) {
            return number >= first_ && number < end_ ? number - first_ : -1;
        }
        const auto found = std::ranges::lower_bound(ids_, number);
        return found != ids_.end() && *found == number ? found - ids_.begin() : -1;
    }
    /// How many rows, the first ones, have numbers up to this one.
    [[nodiscard]] std::int64_t rows_up_to(std::int64_t number) const {
        if (are_given_) {
            return std::ranges::upper_bound(ids_, number) - ids_.begin();
        }
        return number < end_ ? std::max<std::int64_t>(number - first_ + 1, 0) : end_ - first_;
    }

private:
    std::int64_t first_ = 0;
    std::int64_t end_ = 0;
    bool are_given_ = false;
    std::span<const std::int64_t> ids_;
};

/// The order in which keys ascend.
template <class Key>
std::vector<std::int64_t> order_of(std::span<const Key> keys) {
    std::vector<std::int64_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::int64_t i) { return keys[i]; });
    return order;
}

/// Rows of `width` values each in another order.
template <class Value>
std::vector<Value> rows_in_order(std::span<const Value> rows, std::int64_t width, std::span<const std::int64_t> order) {
    std::vector<Value> ordered(order.size() * static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::copy_n(rows.begin() + order[i] * width, width, ordered.begin() + static_cast<std::int64_t>(i) * width);
    }
    return ordered;
}

} // namespace kith::detail
