#include "tree/summaries.hpp"

#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kith::detail {

namespace {

/// What a plane is made of: points, or the nodes of the finer plane.
template <Coordinate T, int D>
struct Below {
    std::array<const T*, D> lower;
    std::array<const T*, D> upper;
    const std::int32_t* index;
};

/// Boxes and smallest indices of nodes; node i consists of first[i] to first[i + 1] of what lies below.
template <Coordinate T, int D>
void summarize(Plane<T>& plane, const std::int32_t* first, const Below<T, D>& below) {
    parallel_each(plane.nodes, 512, [&](std::int64_t node) {
        std::array<T, D> lower;
        std::array<T, D> upper;
        std::int32_t index = below.index[first[node]];
        for (int axis = 0; axis < D; ++axis) {
            lower[axis] = below.lower[axis][first[node]];
            upper[axis] = below.upper[axis][first[node]];
        }
        for (std::int32_t i = first[node] + 1; i < first[node + 1]; ++i) {
            for (int axis = 0; axis < D; ++axis) {
                lower[axis] = std::min(lower[axis], below.lower[axis][i]);
                upper[axis] = std::max(upper[axis], below.upper[axis][i]);
            }
            index = std::min(index, below.index[i]);
        }
        for (int axis = 0; axis < D; ++axis) {
            plane.lower_corners[axis * plane.stride + node] = lower[axis];
            plane.upper_corners[axis * plane.stride + node] = upper[axis];
        }
        plane.smallest_index[node] = index;
    });
    for (std::int64_t node = plane.nodes; node < plane.stride; ++node) { // read by whole vectors, then masked
        plane.smallest_index[node] = 0;
        for (int axis = 0; axis < D; ++axis) {
            plane.lower_corners[axis * plane.stride + node] = 0;
            plane.upper_corners[axis * plane.stride + node] = 0;
        }
    }
}

} // namespace

template <Coordinate T>
void add_boxes(Context& context, Plane<T>& plane, int dimension) {
    plane.stride = (plane.nodes + 31) / 16 * 16;
    plane.smallest_index = Buffer<std::int32_t>(context.memory_tracker(), plane.stride);
    plane.lower_corners = Buffer<T>(context.memory_tracker(), plane.stride * dimension);
    plane.upper_corners = Buffer<T>(context.memory_tracker(), plane.stride * dimension);
}

template <Coordinate T>
void find_children(Context& context, Plane<T>& plane, const Plane<T>& below) {
    plane.first_child = Buffer<std::int32_t>(context.memory_tracker(), plane.nodes + 1);
    parallel_for(0, plane.nodes + 1, 1 << 11, [&](std::int64_t begin, std::int64_t end) {
        const std::int32_t* first = below.first_point.data();
        const std::int32_t* child = std::lower_bound(first, first + below.nodes, plane.first_point[begin]);
        for (std::int64_t node = begin; node < end; ++node) {
            while (*child < plane.first_point[node]) {
                ++child;
            }
            plane.first_child[node] = static_cast<std::int32_t>(child - first);
        }
    });
}

template <Coordinate T>
void summarize_points(Plane<T>& plane, const PointSet<T>& points) {
    with_dimension(points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
        Below<T, D> below{{}, {}, points.indices.data()};
        for (int axis = 0; axis < D; ++axis) {
            below.lower[axis] = below.upper[axis] = points.axis(axis);
        }
        summarize(plane, plane.first_point.data(), below);
    });
}

template <Coordinate T>
void summarize_nodes(Plane<T>& plane, const Plane<T>& finer, int dimension) {
    with_dimension(dimension, [&]<int D>(std::integral_constant<int, D>) {
        Below<T, D> below{{}, {}, finer.smallest_index.data()};
        for (int axis = 0; axis < D; ++axis) {
            below.lower[axis] = finer.lower(axis);
            below.upper[axis] = finer.upper(axis);
        }
        summarize(plane, plane.first_child.data(), below);
    });
}

template void add_boxes(Context&, Plane<float>&, int);
template void find_children(Context&, Plane<float>&, const Plane<float>&);
template void summarize_points(Plane<float>&, const PointSet<float>&);
template void summarize_nodes(Plane<float>&, const Plane<float>&, int);
template void add_boxes(Context&, Plane<double>&, int);
template void find_children(Context&, Plane<double>&, const Plane<double>&);
template void summarize_points(Plane<double>&, const PointSet<double>&);
template void summarize_nodes(Plane<double>&, const Plane<double>&, int);

} // namespace kith::detail
