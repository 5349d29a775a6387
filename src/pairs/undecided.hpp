// The limits between the bounds of a pair of nodes: what is decided about all their pairs, on the CPU and on a GPU.
#pragma once

#include "support/host_device.hpp"

#include <cstdint>

namespace kith::detail {

/// The limits of both axes between the bounds of a pair: [begin, end). Behind them come all pairs, as if they were
/// within one more limit, unless that is behind the last one.
struct UndecidedLimits {
    std::int32_t first_begin;
    std::int32_t first_end;
    std::int32_t second_begin;
    std::int32_t second_end;
    std::int32_t rows;    ///< limits of the first axis to count for
    std::int32_t columns; ///< and of the second

    /// Of as many limits of both axes; begin and end are the numbers of limits below the least and the greatest square.
    KITH_HOST_DEVICE UndecidedLimits(std::int64_t first_below, std::int64_t first_up_to, std::int64_t first_count,
                                     std::int64_t second_below, std::int64_t second_up_to, std::int64_t second_count)
        : first_begin(static_cast<std::int32_t>(first_below)), first_end(static_cast<std::int32_t>(first_up_to)),
          second_begin(static_cast<std::int32_t>(second_below)), second_end(static_cast<std::int32_t>(second_up_to)),
          rows(counted(first_below, first_up_to, first_count)),
          columns(counted(second_below, second_up_to, second_count > 0 ? second_count : 1)) {}

    /// Some pair may be within the last limits.
    [[nodiscard]] KITH_HOST_DEVICE bool is_near() const { return rows > 0 && columns > 0; }
    /// No limit is between the bounds.
    [[nodiscard]] KITH_HOST_DEVICE bool is_whole() const {
        return first_begin == first_end && second_begin == second_end;
    }
    /// All pairs are within these limits.
    [[nodiscard]] KITH_HOST_DEVICE bool is_all(std::int64_t row, std::int64_t column) const {
        return row == first_end - first_begin && column == second_end - second_begin;
    }
    /// The slot of the pairs that are within these limits alone.
    [[nodiscard]] KITH_HOST_DEVICE std::int64_t slot(std::int64_t row, std::int64_t column,
                                                     std::int64_t second_slots) const {
        return (first_begin + row) * second_slots + second_begin + column;
    }

private:
    static KITH_HOST_DEVICE std::int32_t counted(std::int64_t below, std::int64_t up_to, std::int64_t count) {
        return static_cast<std::int32_t>((up_to + 1 < count ? up_to + 1 : count) - below);
    }
};

} // namespace kith::detail
