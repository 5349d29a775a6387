// A few hundred members of one group, gathered from the columns: weights, offsets from the reference member,
// velocities.
//
// Rows of a group lie scattered in the input. They are gathered once per block, axis after axis, so that the loops over
// a block read consecutive numbers and keep their sums in registers. A group that fits one block is gathered once for
// all its passes.
#pragma once

#include "halos/columns.hpp"
#include "halos/terms.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace kith::detail::halos {

struct MemberBlock {
    static constexpr int capacity = 256; ///< small enough for the stack and the first cache
    using Numbers = std::array<double, capacity>;

    int count = 0;
    bool is_below = true; ///< all positions are (PositionFrame)
    std::array<SplitNumber, capacity> weight;
    std::array<std::uint8_t, capacity> type;
    std::array<std::array<Numbers, max_dimension>, 2> vectors; ///< offsets, and velocities if there are any
};

/// One group as its passes see it.
struct Members {
    const Columns* columns;
    std::span<const std::int32_t> rows;
    std::array<double, max_dimension> reference{}; ///< position of the lowest-index member
    bool weighted = false;                         ///< by mass; else every weight is 1

    [[nodiscard]] std::int64_t count() const noexcept { return std::ssize(rows); }

    /// Of each member: one without velocities.
    [[nodiscard]] int vectors() const noexcept { return columns->velocities ? 2 : 1; }

    /// Gathers members first to first + count - 1.
    void gather(std::int64_t first, std::int64_t count, MemberBlock& block) const noexcept {
        const auto some = rows.subspan(first, count);
        block.count = static_cast<int>(count);
        bool is_below = true;
        for (int i = 0; i < block.count; ++i) {
            block.weight[i] = split(weighted ? (*columns->masses)[some[i]] : 1.0);
            block.type[i] = columns->type(some[i]);
        }
        for (int axis = 0; axis < columns->dimension; ++axis) {
            MemberBlock::Numbers& offset = block.vectors[0][axis];
            columns->positions.read(some, axis, offset.data());
            for (int i = 0; i < block.count; ++i) {
                is_below = is_below & (std::abs(offset[i]) < columns->positions_below);
                offset[i] = nearest_offset(offset[i], reference[axis], columns->box.period[axis]);
            }
            if (columns->velocities) {
                columns->velocities->read(some, axis, block.vectors[1][axis].data());
            }
        }
        block.is_below = is_below;
    }
};

} // namespace kith::detail::halos
