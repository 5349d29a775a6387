// One group's members in its own frame: what potentials are computed from.
//
// Positions are offsets from the group's lowest corner, nearest image, times the power of two that takes the longest of
// its sides into [2^20, 2^21); masses are multiplied by the power of two that takes the largest into [1, 2). So neither
// place nor units of a group matter to what follows, and float32 coordinates lose nothing. The corner is made of
// coordinates of members, so it does not depend on their order.
#pragma once

#include "halos/columns.hpp"
#include "halos/potential_node.hpp"
#include "support/scratch_array.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace kith::detail::halos {

class BodyArrays {
public:
    /// Makes room for so many, and for a whole block of lanes more.
    void resize(std::int64_t count);
    [[nodiscard]] std::int64_t size() const noexcept { return count_; }
    [[nodiscard]] double* position(int axis) noexcept { return arrays_[axis].data(); }
    [[nodiscard]] double* mass() noexcept { return arrays_[3].data(); }
    /// Fills the block behind the last body with bodies that have no mass.
    void pad() noexcept;
    [[nodiscard]] BodyView view() const noexcept {
        return {{arrays_[0].data(), arrays_[1].data(), arrays_[2].data()}, arrays_[3].data(), count_};
    }

private:
    std::array<ScratchArray<double>, 4> arrays_; ///< positions by axis, masses
    std::int64_t count_ = 0;
};

/// A group in its frame.
struct GroupBodies {
    BodyArrays bodies;
    FrameUnits frame;

    void load(const Columns& columns, std::span<const std::int32_t> rows, const Softening& softening);
};

} // namespace kith::detail::halos
