// A left-balanced k-d tree as searches read it, on the host and on a device: pointers to arrays that others own.
//
// Nodes are the caller's own structs in level order (kdtree_layout.hpp), or separate arrays of coordinates. All other
// arrays are optional. PointTraits says where the coordinates of a struct are; specialize it for structs of your own:
//
//   template <>
//   struct kith::kdtree::PointTraits<Photon> {
//       using Scalar = float;               // float, double or std::int32_t
//       static constexpr int dimension = 3; // 1 to 8
//       KITH_KDTREE_HD static float coordinate(const Photon& photon, int axis) { return photon.position[axis]; }
//   };
#pragma once

#include <kith/device/kdtree_layout.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::kdtree {

template <class T>
concept TreeScalar = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t>;

/// What distances are computed in: the coordinates' type, double for integers.
template <TreeScalar T>
using DistanceOf = std::conditional_t<std::is_same_v<T, float>, float, double>;

/// Where the coordinates of a point are. Here for arrays, std::array<T, d> and T[d], and for structs with members x and
/// y, and, in 3-D, z; other members are payload.
template <class Point>
struct PointTraits;

template <TreeScalar T, std::size_t d>
struct PointTraits<std::array<T, d>> {
    using Scalar = T;
    static constexpr int dimension = static_cast<int>(d);
    KITH_KDTREE_HD static T coordinate(const std::array<T, d>& point, int axis) {
        return reinterpret_cast<const T*>(&point)[axis]; // std::array has no functions on a device
    }
};

template <TreeScalar T, std::size_t d>
struct PointTraits<T[d]> {
    using Scalar = T;
    static constexpr int dimension = static_cast<int>(d);
    KITH_KDTREE_HD static T coordinate(const T (&point)[d], int axis) { return point[axis]; }
};

template <class Point>
    requires requires(const Point& p) {
        requires TreeScalar<std::remove_cvref_t<decltype(p.x)>>;
        requires std::same_as<decltype(p.x), decltype(p.y)>;
    }
struct PointTraits<Point> {
    using Scalar = std::remove_cvref_t<decltype(Point::x)>;
    static constexpr int dimension = requires(const Point& p) { p.z; }
    ? 3 : 2;
    KITH_KDTREE_HD static Scalar coordinate(const Point& point, int axis) {
        if constexpr (dimension == 3) {
            static_assert(std::same_as<decltype(point.x), decltype(point.z)>, "a coordinate z of another type");
            return axis == 0 ? point.x : (axis == 1 ? point.y : point.z);
        } else {
            return axis == 0 ? point.x : point.y;
        }
    }
};

/// A query, or a corner of a box.
template <class T, int D>
struct Position {
    T x[D];
};

/// The position of a point.
template <class Traits, class Point>
KITH_KDTREE_HD Position<DistanceOf<typename Traits::Scalar>, Traits::dimension> position_by(const Point& point) {
    using T = DistanceOf<typename Traits::Scalar>;
    Position<T, Traits::dimension> position;
    KITH_KDTREE_UNROLL
    for (int axis = 0; axis < Traits::dimension; ++axis) {
        position.x[axis] = static_cast<T>(Traits::coordinate(point, axis));
    }
    return position;
}
template <class Point>
KITH_KDTREE_HD auto position_of(const Point& point) {
    return position_by<PointTraits<Point>>(point);
}

/// Coordinates of the nodes: an array of structs.
template <class Point, class Traits = PointTraits<Point>>
struct StructNodes {
    using Scalar = typename Traits::Scalar;
    static constexpr int dimension = Traits::dimension;
    const Point* points = nullptr; ///< in level order
    KITH_KDTREE_HD Scalar operator()(Node node, int axis) const { return Traits::coordinate(points[node], axis); }
};

/// Coordinates of the nodes: one array for each axis, `stride` scalars from one to the next.
template <TreeScalar T, int D>
struct ArrayNodes {
    using Scalar = T;
    static constexpr int dimension = D;
    const T* coordinates = nullptr;
    std::int64_t stride = 0;
    KITH_KDTREE_HD T operator()(Node node, int axis) const { return coordinates[axis * stride + node]; }
};

/// The least and greatest coordinates of all points.
template <class T, int D>
struct Bounds {
    Position<T, D> lower;
    Position<T, D> upper;
};

/// The tree. `NodesType` is one of the two above, or anything with their members.
template <class NodesType>
struct TreeView {
    using Nodes = NodesType;
    using Scalar = typename Nodes::Scalar;
    using T = DistanceOf<Scalar>;
    static constexpr int dimension = Nodes::dimension;
    static_assert(TreeScalar<Scalar> && dimension >= 1 && dimension <= 8);

    Nodes nodes;
    Node count = 0;
    Bounds<T, dimension> bounds{};               ///< of the points
    const std::int32_t* indices = nullptr;       ///< original index of each node; if null, its own position
    const std::uint8_t* split_axes = nullptr;    ///< of each node; if null, its level modulo the dimension
    const std::int32_t* least_indices = nullptr; ///< of each subtree; without it, runs of coincident points are slow
    Position<T, dimension> periods{};            ///< 0 on an open axis; points and queries are within the box

    KITH_KDTREE_HD T coordinate(Node node, int axis) const { return static_cast<T>(nodes(node, axis)); }
    KITH_KDTREE_HD std::int32_t index(Node node) const {
        return indices == nullptr ? static_cast<std::int32_t>(node) : indices[node];
    }
    KITH_KDTREE_HD int split_axis(Node node) const {
        return split_axes == nullptr ? level_of(node) % dimension : split_axes[node];
    }
    /// No original index in the subtree is smaller. If unknown, the smallest number of all: nothing is culled by it.
    KITH_KDTREE_HD std::int32_t least_index(Node node) const {
        return least_indices == nullptr ? -1 : least_indices[node];
    }
    KITH_KDTREE_HD bool is_periodic() const {
        bool periodic = false;
        for (int axis = 0; axis < dimension; ++axis) {
            periodic = periodic || periods.x[axis] != 0;
        }
        return periodic;
    }
};

/// A view of points that are in level order. The rest is optional; set it as members.
template <class Point>
TreeView<StructNodes<Point>>
view_of(const Point* points, Node count,
        const Bounds<DistanceOf<typename PointTraits<Point>::Scalar>, PointTraits<Point>::dimension>& bounds) {
    return {{points}, count, bounds};
}

} // namespace kith::kdtree
