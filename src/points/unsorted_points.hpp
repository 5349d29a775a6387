// Points that an index is built from: those of a set, in any order, or a caller's, which no stage has copied yet.
#pragma once

#include "points/frame.hpp"
#include "points/point_set.hpp"

#include <array>
#include <cstdint>

namespace kith::detail {

template <Coordinate T>
struct UnsortedPoints {
    const PointSet<T>* set = nullptr;                ///< or else
    const NormalizedPoints<T>* normalized = nullptr; ///< in the order given

    [[nodiscard]] const Frame<T>& frame() const { return set != nullptr ? set->frame : normalized->frame; }
    [[nodiscard]] std::int64_t count() const { return set != nullptr ? set->count : normalized->view.count(); }

    /// Calls function(coordinates, index): coordinates(i) are those of point i in working units, index(i) is its
    /// original index.
    template <int D, class Function>
    void read(const Function& function) const {
        if (set == nullptr) {
            function(PointReader<T, D>(*normalized), [](std::int64_t i) { return static_cast<std::int32_t>(i); });
            return;
        }
        const auto coordinates = [points = set->view()](std::int64_t i) {
            std::array<T, D> x;
            for (int axis = 0; axis < D; ++axis) {
                x[axis] = points.axis(axis)[i];
            }
            return x;
        };
        function(coordinates, [points = set](std::int64_t i) { return points->indices[i]; });
    }
};

} // namespace kith::detail
