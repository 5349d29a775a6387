// A tree of planes as walks of your own read it, on the host and on a device: pointers to arrays that others own
// (kith::walk::Planes, walk.hpp), and the distances of its space.
//
// A plane partitions the points, which are in z-order, into nodes: runs of sorted points that share a cell. Each node
// of a coarser plane consists of whole nodes of the plane below, its children, which follow each other. Plane 0 is that
// of the leaves. A node is named by its plane and its index on it; number() counts the nodes of all planes from 0, so
// that an attribute of yours is one array for the whole tree.
//
// Distances are those of docs/semantics.md, "Distance", bit for bit, if coordinates are within the range of the
// contract ("Numbers") without scaling. Bounds between boxes are computed by the operations of the distance itself, in
// its order, and rounding is monotone: no pair of points in two boxes is nearer than least() or farther than
// greatest(), with no slack. -ffast-math and its parts would change that, as device/kdtree.hpp says.
#pragma once

#include <kith/device/portable.hpp>

#include <cstdint>

namespace kith::walk {

/// A position.
template <class T, int D>
struct Point {
    T x[D];
    KITH_HOST_DEVICE T& operator[](int axis) { return x[axis]; }
    KITH_HOST_DEVICE const T& operator[](int axis) const { return x[axis]; }
};

/// The least and the greatest coordinates of the points of a node, or of anything else.
template <class T, int D>
struct NodeBox {
    Point<T, D> lower;
    Point<T, D> upper;
};

template <class T, int D>
KITH_HOST_DEVICE NodeBox<T, D> box_of(const Point<T, D>& point) {
    return {point, point};
}

/// A node: its plane, 0 for a leaf, and its index on it.
struct Node {
    std::int32_t plane = 0;
    std::int32_t index = 0;
    friend KITH_HOST_DEVICE bool operator==(Node a, Node b) { return a.plane == b.plane && a.index == b.index; }
};

/// A radius as the library compares with it: rounded to T, then squared.
template <class T>
KITH_HOST_DEVICE T squared_radius(double radius) {
    const T rounded = static_cast<T>(radius);
    return rounded * rounded;
}

/// Squared distances to nearest images. Points and boxes are within the periodic box.
template <class T, int D>
struct Space {
    Point<T, D> periods; ///< +infinity on an open axis

    /// Of two points.
    [[nodiscard]] KITH_HOST_DEVICE T squared_distance(const Point<T, D>& a, const Point<T, D>& b) const {
        return sum_of_squares([&](int axis) {
            const T t = a[axis] < b[axis] ? b[axis] - a[axis] : a[axis] - b[axis];
            return portable::least_of(t, periods[axis] - t);
        });
    }
    /// No point of one box is nearer than this to one of the other.
    [[nodiscard]] KITH_HOST_DEVICE T least(const NodeBox<T, D>& a, const NodeBox<T, D>& b) const {
        return sum_of_squares([&](int axis) {
            const T t = portable::least_of(nearest(a, b, axis), periods[axis] - farthest(a, b, axis));
            return portable::greatest_of(t, T(0));
        });
    }
    /// No point of one box is farther than this from one of the other.
    [[nodiscard]] KITH_HOST_DEVICE T greatest(const NodeBox<T, D>& a, const NodeBox<T, D>& b) const {
        return sum_of_squares(
            [&](int axis) { return portable::least_of(farthest(a, b, axis), periods[axis] - nearest(a, b, axis)); });
    }

private:
    static KITH_HOST_DEVICE T nearest(const NodeBox<T, D>& a, const NodeBox<T, D>& b, int axis) {
        const T apart = portable::greatest_of(b.lower[axis] - a.upper[axis], a.lower[axis] - b.upper[axis]);
        return portable::greatest_of(apart, T(0));
    }
    static KITH_HOST_DEVICE T farthest(const NodeBox<T, D>& a, const NodeBox<T, D>& b, int axis) {
        return portable::greatest_of(b.upper[axis] - a.lower[axis], a.upper[axis] - b.lower[axis]);
    }
    template <class OnAxis>
    static KITH_HOST_DEVICE T sum_of_squares(const OnAxis& on_axis) {
        const T first = on_axis(0);
        T sum = first * first;
        KITH_UNROLL
        for (int axis = 1; axis < D; ++axis) {
            const T t = on_axis(axis);
            sum = portable::fused(t, t, sum);
        }
        return sum;
    }
};

/// The nodes of one plane.
template <class T, int D>
struct PlaneView {
    std::int32_t nodes = 0;
    std::int32_t first_number = 0;             ///< number of its first node among those of all planes
    const std::int32_t* first_point = nullptr; ///< nodes + 1 sorted positions
    const std::int32_t* first_child = nullptr; ///< nodes + 1 indices on the plane below; null on plane 0
    const NodeBox<T, D>* boxes = nullptr;
};

/// The greatest number of planes of a tree: n_max at least doubles from one to the next.
inline constexpr int max_planes = 32;

/// The tree. Coordinates are in the units of the points, wrapped into the box.
template <class T, int D>
struct TreeView {
    using Scalar = T;
    static constexpr int dimension = D;

    std::int32_t count = 0;              ///< points
    std::int32_t plane_count = 0;        ///< 0 if there are no points
    const T* coordinates = nullptr;      ///< of the sorted points: axis after axis
    const std::int32_t* order = nullptr; ///< original index of each sorted point
    Space<T, D> space{};
    PlaneView<T, D> planes[max_planes]{};

    /// Coordinates of all sorted points on an axis: what a loop over the points of a leaf should read.
    [[nodiscard]] KITH_HOST_DEVICE const T* axis(int a) const {
        return coordinates + a * static_cast<std::int64_t>(count);
    }
    [[nodiscard]] KITH_HOST_DEVICE Point<T, D> point(std::int32_t position) const {
        Point<T, D> point;
        KITH_UNROLL
        for (int a = 0; a < D; ++a) {
            point[a] = axis(a)[position];
        }
        return point;
    }

    /// Sorted positions of a node's points: from the first to before the end.
    [[nodiscard]] KITH_HOST_DEVICE std::int32_t first_point(Node node) const {
        return planes[node.plane].first_point[node.index];
    }
    [[nodiscard]] KITH_HOST_DEVICE std::int32_t end_point(Node node) const {
        return planes[node.plane].first_point[node.index + 1];
    }
    [[nodiscard]] KITH_HOST_DEVICE std::int32_t points_in(Node node) const {
        return end_point(node) - first_point(node);
    }
    [[nodiscard]] KITH_HOST_DEVICE const NodeBox<T, D>& box(Node node) const {
        return planes[node.plane].boxes[node.index];
    }

    /// Children of a node that is no leaf, on the plane below: from the first to before the end.
    [[nodiscard]] KITH_HOST_DEVICE std::int32_t first_child(Node node) const {
        return planes[node.plane].first_child[node.index];
    }
    [[nodiscard]] KITH_HOST_DEVICE std::int32_t end_child(Node node) const {
        return planes[node.plane].first_child[node.index + 1];
    }
    /// The node on the plane above that has this one as a child. Cost: a binary search.
    [[nodiscard]] KITH_HOST_DEVICE Node parent(Node node) const {
        const PlaneView<T, D>& above = planes[node.plane + 1];
        std::int32_t before = 0; // its children do not begin after the node
        for (std::int32_t size = above.nodes; size > 1;) {
            const std::int32_t half = size / 2;
            before += above.first_child[before + half] <= node.index ? half : 0;
            size -= half;
        }
        return {node.plane + 1, before};
    }

    /// Nodes of all planes, and the number of one among them: those of plane 0 first.
    [[nodiscard]] KITH_HOST_DEVICE std::int32_t nodes() const {
        return plane_count == 0 ? 0 : planes[plane_count - 1].first_number + planes[plane_count - 1].nodes;
    }
    [[nodiscard]] KITH_HOST_DEVICE std::int32_t number(Node node) const {
        return planes[node.plane].first_number + node.index;
    }

    /// The coarsest plane with `at_least` nodes or more, else plane 0: its nodes are tasks of a walk, one after the
    /// other or side by side. Sixteen for each thread even out tasks that differ.
    [[nodiscard]] KITH_HOST_DEVICE int plane_of_tasks(std::int32_t at_least) const {
        int plane = plane_count == 0 ? 0 : plane_count - 1;
        while (plane > 0 && planes[plane].nodes < at_least) {
            --plane;
        }
        return plane;
    }
};

} // namespace kith::walk
