// A left-balanced k-d tree as searches read it, on the host and on a device: pointers to arrays that others own.
//
// Nodes are the caller's own structs in level order (kdtree_layout.hpp), or separate arrays of coordinates. All other
// arrays are optional. PointTraits says where the coordinates of a point are; specialize it for structs of your own:
//
//   template <>
//   struct kith::kdtree::PointTraits<Photon> {
//       using Scalar = float;               // float, double or an integer of at most 32 bits
//       static constexpr int dimension = 3; // 1 to 8
//       KITH_KDTREE_HD static float coordinate(const Photon& photon, int axis) { return photon.position[axis]; }
//   };
//
// or, where members are called x, y, z and w, by the number of those that are coordinates, here four:
//
//   template <>
//   struct kith::kdtree::PointTraits<float4> : kith::kdtree::NamedAxes<float4, 4> {};
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

/// Integers of at most 32 bits: float64 holds them, and their differences.
template <class T>
concept TreeScalar = std::same_as<T, float> || std::same_as<T, double> ||
    (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 4);

/// What distances are computed in: the coordinates' type, double for integers.
template <TreeScalar T>
using DistanceOf = std::conditional_t<std::is_same_v<T, float>, float, double>;

/// The first D of the members x, y, z and w are coordinates; other members are payload.
template <class Point, int D>
struct NamedAxes {
    static_assert(D >= 1 && D <= 4);
    using Scalar = std::remove_cvref_t<decltype(Point::x)>;
    static constexpr int dimension = D;
    KITH_KDTREE_HD static Scalar coordinate(const Point& point, int axis) {
        if constexpr (D >= 4) {
            static_assert(std::same_as<decltype(Point::w), decltype(Point::x)>, "a coordinate w of another type");
            if (axis == 3) {
                return point.w;
            }
        }
        if constexpr (D >= 3) {
            static_assert(std::same_as<decltype(Point::z), decltype(Point::x)>, "a coordinate z of another type");
            if (axis == 2) {
                return point.z;
            }
        }
        if constexpr (D >= 2) {
            static_assert(std::same_as<decltype(Point::y), decltype(Point::x)>, "a coordinate y of another type");
            if (axis == 1) {
                return point.y;
            }
        }
        return point.x;
    }
};

/// Where the coordinates of a point are. Here for numbers, for arrays, std::array<T, d> and T[d], and for structs with
/// members x, y and z, or fewer of them; other members are payload. A member w of the type of x may be either, as in
/// CUDA's float4: specialize PointTraits as NamedAxes<Point, 4> or NamedAxes<Point, 3>.
template <class Point>
struct PointTraits;

template <TreeScalar T>
struct PointTraits<T> {
    using Scalar = T;
    static constexpr int dimension = 1;
    KITH_KDTREE_HD static T coordinate(T point, int /*axis*/) { return point; }
};

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

namespace detail {

template <class Point>
inline constexpr int named_axes = requires {
    Point::z;
}
? 3 : requires {
    Point::y;
}
? 2 : 1;

template <class Point>
concept HasFourNumbers = requires {
    requires std::same_as<decltype(Point::w), decltype(Point::x)>;
};

} // namespace detail

template <class Point>
    requires requires {
        requires TreeScalar<std::remove_cvref_t<decltype(Point::x)>>;
    }
struct PointTraits<Point> : NamedAxes<Point, detail::named_axes<Point>> {
    static_assert(!detail::HasFourNumbers<Point>,
                  "whether w is a coordinate or payload must be said: specialize kith::kdtree::PointTraits<Point>, "
                  "deriving it from kith::kdtree::NamedAxes<Point, 4> or NamedAxes<Point, 3>");
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

/// From a number for each axis, such as those of kith::kdtree_order.
template <class T, int D, class Numbers>
Bounds<T, D> bounds_from(const Numbers& lower, const Numbers& upper) {
    Bounds<T, D> bounds;
    for (int axis = 0; axis < D; ++axis) {
        bounds.lower.x[axis] = static_cast<T>(lower[axis]);
        bounds.upper.x[axis] = static_cast<T>(upper[axis]);
    }
    return bounds;
}

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
