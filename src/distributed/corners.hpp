// Boxes as values, and bounds of the distances between them.
//
// Bounds of boxes use the operations of distances in their order; rounding is monotone, so they need no slack.
#pragma once

#include "distributed/ranks.hpp"
#include "points/frame.hpp"
#include "tree/view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kith::detail {

/// Lower corner, then upper corner.
template <Coordinate T>
using Corners = std::array<T, 2 * max_dimension>;

template <Coordinate T>
Corners<T> corners_of(const PlaneView<T>& plane, std::int64_t node, int dimension) {
    Corners<T> corners{};
    for (int axis = 0; axis < dimension; ++axis) {
        corners[axis] = plane.lower(axis)[node];
        corners[max_dimension + axis] = plane.upper(axis)[node];
    }
    return corners;
}

/// Least and greatest squared distances between boxes, as in geometry/distances-inl.hpp.
template <Coordinate T>
struct BoxDistances {
    T least = 0;
    T greatest = 0;

    BoxDistances(const Frame<T>& frame, const Corners<T>& a, const Corners<T>& b) {
        for (int axis = 0; axis < frame.dimension; ++axis) {
            const T* const p = a.data() + axis;
            const T* const q = b.data() + axis;
            const T period = frame.working_period[axis];
            const T nearest = std::max(std::max(q[0] - p[max_dimension], p[0] - q[max_dimension]), T(0));
            const T farthest = std::max(q[max_dimension] - p[0], p[max_dimension] - q[0]);
            const T near = std::max(std::min(nearest, period - farthest), T(0));
            const T far = std::min(farthest, period - nearest);
            least = axis == 0 ? near * near : std::fma(near, near, least);
            greatest = axis == 0 ? far * far : std::fma(far, far, greatest);
        }
    }
};

/// Writes the corners of the first `dimension` axes into a message, and reads them.
template <Coordinate T>
void put_corners(MessageWriter& writer, const Corners<T>& corners, int dimension) {
    const std::span<const T> all(corners);
    writer.put(all.first(dimension));
    writer.put(all.subspan(max_dimension, dimension));
}
template <Coordinate T>
Corners<T> take_corners(MessageReader& reader, int dimension) {
    Corners<T> corners{};
    for (const int first : {0, max_dimension}) {
        for (int axis = 0; axis < dimension; ++axis) {
            corners[first + axis] = reader.take<T>();
        }
    }
    return corners;
}

/// The box of the boxes of [begin, end).
template <Coordinate T, class Iterator, class BoxOf>
Corners<T> joined_box(Iterator begin, Iterator end, const BoxOf& box_of) {
    Corners<T> joined{};
    for (Iterator each = begin; each != end; ++each) {
        const Corners<T>& box = box_of(*each);
        for (std::size_t c = 0; c < box.size(); ++c) {
            joined[c] = each == begin                                 ? box[c]
                        : c < static_cast<std::size_t>(max_dimension) ? std::min(joined[c], box[c])
                                                                      : std::max(joined[c], box[c]);
        }
    }
    return joined;
}

} // namespace kith::detail
