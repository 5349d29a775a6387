// Tree algorithms of your own over the planes of a kept kith::Tree: the arrays that walks read, attributes of nodes,
// and the walks themselves (device/plane_view.hpp, device/plane_walks.hpp).
//
//   const kith::Tree tree(points);
//   const kith::walk::Planes<float, 3> planes(tree);
//   const auto view = planes.view();
//   const std::vector<double> masses = kith::walk::reduce<double>(view, MassOf{view, mass});
//   for (const kith::walk::Node leaf : kith::walk::nodes_of(view, 0)) { // or std::for_each(std::execution::par, ...)
//       Gravity policy(view, masses, leaf);
//       kith::walk::receive(view, policy);
//   }
//
// Header only, and free of what the library is built with, such as SIMD wrappers and thread pools: compile it with the
// flags of your own loops. For distances that is -march=x86-64-v3 or native: without fused multiply-add each one calls
// a library function. The caller runs tasks side by side: nothing here starts a thread. On a device the same view reads
// a copy of Planes::bytes().
#pragma once

#include <kith/device/plane_view.hpp>
#include <kith/device/plane_walks.hpp>
#include <kith/error.hpp>
#include <kith/tree.hpp>
#include <kith/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::walk {

/// The planes and points of a tree in one piece of memory of the host. It is a copy: the tree may go.
template <Coordinate T, int D>
class Planes {
public:
    static_assert(D >= 1 && D <= max_dimension);
    using View = TreeView<T, D>;

    /// Throws Error: invalid_argument (a tree of another scalar type or dimension), unsupported (an index on a GPU, or
    /// of another engine than the tree). Cost: O(N d) time; memory 4 + d sizeof(T) bytes per point, and 8 + 2 d
    /// sizeof(T) per node.
    explicit Planes(const Tree& tree) {
        if (tree.dimension() != D) {
            throw Error(ErrorKind::invalid_argument, "the tree has points of " + std::to_string(tree.dimension()) +
                                                         " coordinates, but planes of " + std::to_string(D) +
                                                         " were asked for");
        }
        const std::vector<T> points = tree.sorted_points<T>(); // the tree says what else it has not
        layout_.count = static_cast<std::int32_t>(tree.size());
        layout_.plane_count = tree.plane_count();
        for (int axis = 0; axis < D; ++axis) {
            const T period = static_cast<T>(tree.box().period(axis));
            layout_.space.periods[axis] = period > 0 ? period : std::numeric_limits<T>::infinity();
        }
        for (int plane = 0; plane < layout_.plane_count; ++plane) {
            layout_.planes[plane].nodes = static_cast<std::int32_t>(tree.plane(plane).size()) - 1;
            layout_.planes[plane].first_number =
                plane == 0 ? 0 : layout_.planes[plane - 1].first_number + layout_.planes[plane - 1].nodes;
        }
        std::size_t size = 0;
        each_array(layout_, [&](auto*& array, std::size_t length) { size = aligned(size) + length * sizeof(*array); });
        memory_.resize(aligned(size) / sizeof(Word));
        fill(tree, points);
    }

    /// Valid as long as this object.
    [[nodiscard]] View view() const { return view_at(memory_.data()); }

    /// All arrays, to be copied to a device, say.
    [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(memory_)); }
    /// Of a copy of them at another address, aligned to 16 bytes, which is not read here.
    [[nodiscard]] View view_at(const void* copy) const {
        View view = layout_;
        std::size_t offset = 0;
        each_array(view, [&](auto*& array, std::size_t length) {
            offset = aligned(offset);
            array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(static_cast<const std::byte*>(copy) +
                                                                               offset);
            offset += length * sizeof(*array);
        });
        return view;
    }

private:
    using Word = std::uint64_t;
    static constexpr std::size_t aligned(std::size_t offset) { return (offset + 63) / 64 * 64; }

    /// Calls visit(array, length) for every array of a view, in the order in which they are stored.
    template <class Visit>
    static void each_array(View& view, const Visit& visit) {
        const auto count = static_cast<std::size_t>(view.count);
        visit(view.coordinates, count * D);
        visit(view.order, count);
        for (int i = 0; i < view.plane_count; ++i) {
            PlaneView<T, D>& plane = view.planes[i];
            const auto nodes = static_cast<std::size_t>(plane.nodes);
            visit(plane.first_point, nodes + 1);
            if (i > 0) {
                visit(plane.first_child, nodes + 1);
            }
            visit(plane.boxes, nodes);
        }
    }

    void fill(const Tree& tree, const std::vector<T>& points) {
        const View view = this->view();
        auto* const coordinates = const_cast<T*>(view.coordinates);
        const std::int64_t count = view.count;
        for (std::int64_t i = 0; i < count; ++i) {
            for (int axis = 0; axis < D; ++axis) {
                coordinates[axis * count + i] = points[i * D + axis];
            }
        }
        std::ranges::copy(tree.order(), const_cast<std::int32_t*>(view.order));
        for (int i = 0; i < view.plane_count; ++i) {
            const PlaneView<T, D>& plane = view.planes[i];
            std::ranges::copy(tree.plane(i), const_cast<std::int32_t*>(plane.first_point));
            const NodeBoxes<T> boxes = tree.node_boxes<T>(i);
            auto* const to = const_cast<NodeBox<T, D>*>(plane.boxes);
            for (std::int32_t node = 0; node < plane.nodes; ++node) {
                std::copy_n(boxes.lower.data() + std::int64_t{node} * D, D, to[node].lower.x);
                std::copy_n(boxes.upper.data() + std::int64_t{node} * D, D, to[node].upper.x);
            }
            if (i > 0) { // a node's children are the finer nodes from its first point on
                auto* const first_child = const_cast<std::int32_t*>(plane.first_child);
                const PlaneView<T, D>& finer = view.planes[i - 1];
                std::int32_t child = 0;
                for (std::int32_t node = 0; node <= plane.nodes; ++node) {
                    while (finer.first_point[child] < plane.first_point[node]) {
                        ++child;
                    }
                    first_child[node] = child;
                }
            }
        }
    }

    View layout_; ///< without addresses
    std::vector<Word> memory_;
};

/// The nodes of a plane, in order. Of the plane tree.plane_of_tasks(16 * threads) they are tasks for these threads.
template <class View>
[[nodiscard]] std::vector<Node> nodes_of(const View& tree, int plane) {
    std::vector<Node> nodes(static_cast<std::size_t>(tree.plane_count == 0 ? 0 : tree.planes[plane].nodes));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i] = {plane, static_cast<std::int32_t>(i)};
    }
    return nodes;
}

/// One node's part of a reduction, whose children have theirs: for kernels, a plane at a time from plane 0 up.
template <class View, class Reducer, class Value>
KITH_HOST_DEVICE void reduce_node(const View& tree, Node node, const Reducer& reducer, Value* values) {
    values[tree.number(node)] = node.plane == 0
                                    ? reducer.leaf(node)
                                    : reducer.join(node, values + tree.number({node.plane - 1, tree.first_child(node)}),
                                                   tree.end_child(node) - tree.first_child(node));
}

/// How reduce() goes through the nodes of a plane by default.
struct InTurn {
    template <class Body>
    void operator()(std::int32_t count, const Body& body) const {
        for (std::int32_t i = 0; i < count; ++i) {
            body(i);
        }
    }
};

/// An attribute of every node, from the leaves up: values[tree.number(node)]. The reducer has
///
///   Value leaf(Node leaf) const                                             from its points
///   Value join(Node node, const Value* children, std::int32_t count) const  from its children, in order
///
/// for_each(count, body) calls body(i) for i in [0, count), in any order, also side by side; such as a parallel loop of
/// yours.
template <class Value, class View, class Reducer, class ForEach = InTurn>
[[nodiscard]] std::vector<Value> reduce(const View& tree, const Reducer& reducer, const ForEach& for_each = {}) {
    static_assert(!std::is_same_v<Value, bool>, "std::vector<bool> has no elements to write to side by side: use char");
    std::vector<Value> values(static_cast<std::size_t>(tree.nodes()));
    for (int plane = 0; plane < tree.plane_count; ++plane) {
        for_each(tree.planes[plane].nodes, [&](std::int32_t node) {
            reduce_node(tree, Node{plane, node}, reducer, values.data());
        });
    }
    return values;
}

/// The cell of a node: the largest cell of the z-order (docs/semantics.md) with its points and no others. A run of
/// coincident points that is cut into several nodes has the point itself for their cell.
template <class T, int D>
struct Cell {
    int level =
        std::numeric_limits<int>::min(); ///< log2 of its volume, from 2^(level / D) of every edge; the least int
                                         ///< of a cell that is a point
    NodeBox<T, D> bounds;                ///< contains the node's box; edges are powers of two

    [[nodiscard]] KITH_HOST_DEVICE Point<T, D> center() const {
        Point<T, D> center;
        for (int axis = 0; axis < D; ++axis) {
            center[axis] = bounds.lower[axis] + (bounds.upper[axis] - bounds.lower[axis]) / 2;
        }
        return center;
    }
};

namespace detail {

/// Where two points part on the curve: bits of an axis above the exponent are equal on all axes, those with the
/// exponent on the axes before. Of coincident points, the least exponent.
struct Parting {
    int exponent = std::numeric_limits<int>::min();
    int axis = 0;
    friend bool operator<(const Parting& a, const Parting& b) {
        return a.exponent != b.exponent ? a.exponent < b.exponent : a.axis > b.axis;
    }
};

/// Exponent of the topmost bit in which two numbers of one sign differ.
template <class T>
int differing_exponent(T a, T b) {
    const double larger = std::max(std::abs(static_cast<double>(a)), std::abs(static_cast<double>(b)));
    const double smaller = std::min(std::abs(static_cast<double>(a)), std::abs(static_cast<double>(b)));
    const int exponent = std::ilogb(larger);
    if (smaller == 0 || std::ilogb(smaller) != exponent) {
        return exponent;
    }
    // Their mantissas are whole numbers in one unit.
    const int unit = exponent - std::numeric_limits<double>::digits + 1;
    const auto bits = [unit](double x) { return static_cast<std::uint64_t>(std::scalbn(x, -unit)); };
    return unit + std::ilogb(static_cast<double>(bits(larger) ^ bits(smaller)));
}

template <class View>
Parting parting(const View& tree, std::int32_t i, std::int32_t j, int sign_exponent) {
    Parting found;
    for (int axis = 0; axis < View::dimension; ++axis) {
        const auto a = tree.axis(axis)[i];
        const auto b = tree.axis(axis)[j];
        if (a != b) {
            const int exponent = (a < 0) != (b < 0) ? sign_exponent : differing_exponent(a, b);
            found = found.exponent < exponent ? Parting{exponent, axis} : found;
        }
    }
    return found;
}

/// The half on the side of a point of the cell that is split at a parting; the whole of it if not `half`.
template <class View>
auto cell_around(const View& tree, std::int32_t position, Parting split, bool half, int sign_exponent) {
    using T = typename View::Scalar;
    Cell<T, View::dimension> cell;
    cell.bounds = box_of(tree.point(position));
    if (split.exponent == Parting{}.exponent) {
        return cell;
    }
    cell.level = 0;
    for (int axis = 0; axis < View::dimension; ++axis) {
        const int edge = split.exponent + (axis < split.axis || (half && axis == split.axis) ? 0 : 1);
        cell.level += edge;
        const T x = cell.bounds.lower[axis];
        const T length = std::ldexp(T(1), edge);
        if (edge > sign_exponent) { // of numbers of both signs
            cell.bounds.lower[axis] = -length / 2;
            cell.bounds.upper[axis] = length / 2;
            continue;
        }
        const T edges = std::floor(std::ldexp(std::abs(x), -edge)); // infinite where they are below the digits of x
        const T nearer = std::isinf(edges) ? std::abs(x) : std::ldexp(edges, edge);
        cell.bounds.lower[axis] = x < 0 ? -(nearer + length) : nearer;
        cell.bounds.upper[axis] = x < 0 ? 0 - nearer : nearer + length;
    }
    return cell;
}

} // namespace detail

/// The cells of all nodes: cells[tree.number(node)]. Of host memory. Bounds beyond the range of T, of points near its
/// limit, are infinite. Cost: a few dozen operations per node and axis.
template <class View>
[[nodiscard]] auto cells_of(const View& tree) {
    using T = typename View::Scalar;
    std::vector<Cell<T, View::dimension>> cells(static_cast<std::size_t>(tree.nodes()));
    T largest = 0;
    for (std::int64_t i = 0; i < std::int64_t{tree.count} * View::dimension; ++i) {
        largest = std::max(largest, std::abs(tree.coordinates[i]));
    }
    const int sign_exponent = largest > 0 ? std::ilogb(largest) + 1 : 0; // of the sign, as a bit: above all others
    for (int plane = 0; plane < tree.plane_count; ++plane) {
        for (std::int32_t index = 0; index < tree.planes[plane].nodes; ++index) {
            const Node node{plane, index};
            const std::int32_t first = tree.first_point(node);
            const std::int32_t end = tree.end_point(node);
            const bool is_all = first == 0 && end == tree.count;
            detail::Parting split; // the nearer one of those from the points before and after
            if (is_all) {
                split = detail::parting(tree, first, end - 1, sign_exponent);
            } else {
                const detail::Parting before =
                    first == 0 ? detail::Parting{} : detail::parting(tree, first - 1, first, sign_exponent);
                const detail::Parting after =
                    end == tree.count ? detail::Parting{} : detail::parting(tree, end - 1, end, sign_exponent);
                split = first == 0 ? after : end == tree.count ? before : std::min(before, after);
            }
            cells[tree.number(node)] = detail::cell_around(tree, first, split, !is_all, sign_exponent);
        }
    }
    return cells;
}

} // namespace kith::walk
