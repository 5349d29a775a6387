// Ids that the caller gives to points in place of global indices.
//
// They decide ties, so a rank works on its points in the order of its ids, in a copy unless they are so already. That
// no two points have the same is checked by sorting the ids of all ranks (sorted_keys.hpp), unless the ids of ranks lie
// in ranges that do not overlap.
#pragma once

#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

class GivenIds {
public:
    /// Collective. `count` is the number of this rank's points. Throws invalid_argument, on all ranks, if the ids are
    /// not as many or not unique, or given on some ranks with points only.
    GivenIds(Ranks& ranks, const IntegersView& ids, std::int64_t count);
    GivenIds(const GivenIds&) = delete;
    GivenIds& operator=(const GivenIds&) = delete;

    /// Ids that are known to be valid.
    explicit GivenIds(std::span<const std::int64_t> ids) : given_(ids), are_given_(true) { find_order(); }

    [[nodiscard]] std::span<const std::int64_t> given() const noexcept { return given_; }
    [[nodiscard]] bool are_given() const noexcept { return are_given_; }
    /// The row as passed of each row by ascending id; empty if they are the same.
    [[nodiscard]] std::span<const std::int64_t> order() const noexcept { return order_; }

    /// The numbers of points as passed.
    template <Coordinate T>
    void number(SharedPoints<T>& shared) const {
        if (are_given_) {
            shared.numbers = shared.given_numbers = PointNumbers(given_, true);
        }
    }
    /// Brings points, and their numbers, into the order of ids.
    template <Coordinate T>
    void sort(SharedPoints<T>& shared) const {
        if (!are_given_) {
            return;
        }
        number(shared);
        shared.numbers = PointNumbers(order_.empty() ? given_ : std::span<const std::int64_t>(sorted_), true);
        if (!order_.empty()) {
            const std::vector<std::int32_t> rows(order_.begin(), order_.end());
            shared.in_order = shared.there->joined(shared.points.view, rows, {});
            shared.points.view = shared.in_order.view;
        }
    }
    /// The numbers of points by ascending number.
    [[nodiscard]] PointNumbers sorted_numbers(const Ownership& ownership) const {
        return !are_given_ ? PointNumbers(ownership)
                           : PointNumbers(order_.empty() ? given_ : std::span<const std::int64_t>(sorted_), true);
    }
    /// Brings values of rows by ascending id into the order of the points as passed.
    template <class Value>
    void restore(std::vector<Value>& values) const {
        if (order_.empty()) {
            return;
        }
        std::vector<Value> restored(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            restored[order_[i]] = values[i];
        }
        values = std::move(restored);
    }

private:
    void find_order();
    void require_unique(Ranks& ranks) const;

    std::vector<std::int64_t> converted_; ///< the ids, if they were not passed as contiguous int64
    std::span<const std::int64_t> given_;
    bool are_given_ = false; ///< on any rank
    std::vector<std::int64_t> order_;
    std::vector<std::int64_t> sorted_; ///< if `order_` is not empty
};

} // namespace kith::detail
