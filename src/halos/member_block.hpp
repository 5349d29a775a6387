// A few hundred members of one group, gathered from the columns: weights, offsets from the reference member, velocities.
//
// Rows of a group lie scattered in the input. They are gathered once per block, axis after axis, so that the loops over
// a block read consecutive numbers and keep their sums in registers. A group that fits one block is gathered once for
// all its passes.
#pragma once

#include "halos/columns.hpp"
#include "halos/terms.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace kith::detail::halos {

struct MemberBlock {
    static constexpr int capacity = 256; ///< small enough for the stack and the first cache
    using Numbers = std::array<double, capacity>;

    int count = 0;
    std::array<SplitNumber, capacity> weight;
    std::array<std::uint8_t, capacity> type;
    std::array<Numbers, max_dimension> offset;
    std::array<Numbers, max_dimension> velocity;
};

/// One group as its passes see it.
struct Members {
    const Columns* columns;
    std::span<const std::int32_t> rows;
    std::array<double, max_dimension> reference{}; ///< position of the lowest-index member
    bool weighted = false;                         ///< by mass; else every weight is 1

    [[nodiscard]] std::int64_t count() const noexcept { return static_cast<std::int64_t>(rows.size()); }

    /// Gathers members first to first + count - 1.
    void gather(std::int64_t first, std::int64_t count, MemberBlock& block) const noexcept {
        const auto some = rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
        block.count = static_cast<int>(count);
        for (int i = 0; i < block.count; ++i) {
            block.weight[i] = split(weighted ? (*columns->masses)[some[i]] : 1.0);
            block.type[i] = columns->type(some[i]);
        }
        for (int axis = 0; axis < columns->dimension; ++axis) {
            columns->positions.read(some, axis, block.offset[axis].data());
            to_offsets(axis, block);
            if (columns->velocities) {
                columns->velocities->read(some, axis, block.velocity[axis].data());
            }
        }
    }

private:
    void to_offsets(int axis, MemberBlock& block) const noexcept {
        const double period = columns->box.period[axis];
        for (int i = 0; i < block.count; ++i) {
            block.offset[axis][i] = nearest_offset(block.offset[axis][i], reference[axis], period);
        }
    }
};

} // namespace kith::detail::halos
