// From points to planes.
//
// Order, gather, cut, then fill each node's box and smallest index, leaves from their points and coarser nodes from
// their children. Regularization (jz-tree paper, section II-D) keeps every cut whose cell is larger than f_max times
// the mean cell of the smallest nodes that hold 90 % of the points; it may at most double the leaves, and never keeps a
// coarser plane from having half the nodes of the finer one, so that a sprinkling of far points cannot stop the
// coarsening.
//
// Points of phase space are ordered and cut by their positions alone, and have boxes of all coordinates: friends in
// phase space are near in position, too (GPU halo-finding thesis, equation 4.1), and keys of three axes are cheaper and
// finer than those of six.
//
// Compiled for each scalar type on its own by CMake's kith_add_scalar_instances().

#include "tree/plane_tree.hpp"

#include "order/order.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"
#include "tree/cuts.hpp"
#include "tree/level_counts.hpp"
#include "tree/summaries.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kith::detail {

/// That points lie along.
struct Curve {
    int axes = 0;
    int sign_exponent = 0;
};

/// Makes the working copy in the order of the curve.
template <Coordinate T>
Curve sort_along_curve(Context& context, const NormalizedPoints<T>& points, PointSet<T>& sorted,
                       const DonatedMemory& spare) {
    Curve curve{points.view.dimension()};
    sorted = make_point_set(context, points.frame, points.view.count());
    with_dimension(curve.axes, [&]<int D>(std::integral_constant<int, D>) {
        curve.sign_exponent = ZOrderSort<T, D>(context, points, sorted, spare).sign_exponent();
    });
    return curve;
}

/// log2 of the largest cell a node of this plane may have, or +infinity. The nodes that hold 90 % of the points are
/// taken level by level, the smallest cells first.
template <Coordinate T>
double highest_level(const Cutter<T>& cutter, const Cuts& cuts, std::int64_t count, double factor) {
    const std::int64_t nodes = cuts.size() + 1;
    const LevelCounts points_at = counts_by_level(nodes, [&](std::int64_t node, LevelCounts& counts) {
        const std::int64_t begin = node == 0 ? 0 : cuts[node - 1].position;
        const std::int64_t end = node == nodes - 1 ? count : cuts[node].position;
        counts.add(cutter.level(begin, end), end - begin);
    });
    const double wanted = 0.9 * static_cast<double>(count);
    auto points = static_cast<double>(points_at.coincident_points()); // first those, which have no cell
    double volume = 0; // sum of points times 2^(level - top), where top is the largest level so far
    int top = points_at.lowest();
    for (int level = points_at.lowest(); points < wanted; ++level) {
        const auto size = static_cast<double>(points_at[level]);
        if (size > 0) {
            volume = std::ldexp(volume, std::max(top - level, -4096)) + size;
            top = level;
            points += size;
        }
    }
    if (volume == 0) { // nine tenths are coincident: there is no mean cell to compare with
        return std::numeric_limits<double>::infinity();
    }
    return top + std::log2(volume / points) + std::log2(factor);
}

/// Of the candidates, which have cells, those with the highest levels, at most `allowance` of them; ties are all left
/// out.
inline Cuts highest(Context& context, Cuts candidates, std::int64_t allowance) {
    if (candidates.size() <= std::max<std::int64_t>(allowance, 0)) {
        return candidates;
    }
    const LevelCounts cuts_at = counts_by_level(
        candidates.size(), [&](std::int64_t i, LevelCounts& counts) { counts.add(candidates[i].level, 1); });
    int left_out = cuts_at.highest();
    for (std::int64_t kept = cuts_at[left_out]; kept <= allowance; kept += cuts_at[left_out]) {
        --left_out;
    }
    return selected(context, candidates, [left_out](const Cut& cut) { return cut.level > left_out; });
}

/// Two lists of different positions as one. The blocks of the longer one are merged side by side.
inline Cuts merge(Context& context, const Cuts& a, const Cuts& b) {
    constexpr std::int64_t block_size = 1 << 12;
    const Cuts& longer = a.size() < b.size() ? b : a;
    const Cuts& shorter = a.size() < b.size() ? a : b;
    const auto is_before = [](const Cut& p, const Cut& q) { return p.position < q.position; };
    const auto begin_in_shorter = [&](std::int64_t i) -> std::int64_t {
        return i == 0 ? 0
               : i == longer.size()
                   ? shorter.size()
                   : std::lower_bound(shorter.data(), shorter.data() + shorter.size(), longer[i], is_before) -
                         shorter.data();
    };
    Cuts merged(context.memory_tracker(), a.size() + b.size());
    parallel_blocks(longer.size(), block_size, [&](std::int64_t /*block*/, std::int64_t begin, std::int64_t end) {
        std::merge(longer.data() + begin, longer.data() + end, shorter.data() + begin_in_shorter(begin),
                   shorter.data() + begin_in_shorter(end), merged.data() + begin + begin_in_shorter(begin), is_before);
    });
    return merged;
}

template <Coordinate T>
Plane<T> make_plane(Context& context, const Cuts& cuts, std::int64_t count, int dimension) {
    Plane<T> plane;
    plane.nodes = cuts.size() + 1;
    plane.first_point = Buffer<std::int32_t>(context.memory_tracker(), plane.nodes + 1);
    add_boxes(context, plane, dimension);
    plane.first_point[0] = 0;
    parallel_each(cuts.size(), 1 << 14, [&](std::int64_t i) { plane.first_point[i + 1] = cuts[i].position; });
    plane.first_point[plane.nodes] = static_cast<std::int32_t>(count);
    return plane;
}

/// Of points that are in the order of the curve by their first coordinates, as many as it has axes.
template <Coordinate T>
std::vector<Plane<T>> cut_planes(Context& context, const PointSet<T>& points, const Curve& curve,
                                 const TreeShape& options) {
    std::vector<Plane<T>> planes;
    if (points.count == 0) {
        return planes;
    }
    const Cutter<T> cutter(context, points, curve.axes, curve.sign_exponent);
    std::int64_t n_max = options.leaf_size;
    Cuts cuts = cutter.cut(n_max);
    if (options.regularization > 0) {
        const double level = highest_level(cutter, cuts, points.count, options.regularization);
        if (std::isfinite(level)) {
            cuts = merge(context, cuts, highest(context, cutter.cut_leaves(cuts, level), cuts.size() + 1));
        }
    }
    while (true) {
        Plane<T> plane = make_plane<T>(context, cuts, points.count, points.dimension());
        if (planes.empty()) {
            summarize_points(plane, points);
        } else {
            const Plane<T>& below = planes.back();
            find_children(context, plane, below);
            summarize_nodes(plane, below, points.dimension());
        }
        planes.push_back(std::move(plane));
        if (planes.back().nodes <= options.top_size || n_max >= points.count) {
            return planes;
        }
        n_max = std::min<std::int64_t>(n_max * options.coarsening, points.count);
        Cuts coarser = selected(context, cuts, [n_max](const Cut& cut) { return cut.size > n_max; });
        if (options.regularization > 0) {
            const double level = highest_level(cutter, coarser, points.count, options.regularization);
            Cuts extra = selected(context, cuts,
                                  [n_max, level](const Cut& cut) { return cut.size <= n_max && cut.level > level; });
            extra = highest(context, std::move(extra), planes.back().nodes / 2 - coarser.size() - 1);
            coarser = merge(context, coarser, extra);
        }
        cuts = std::move(coarser);
    }
}

template <Coordinate T>
PlaneTree<T> build_plane_tree(Context& context, const NormalizedPoints<T>& points, const TreeShape& options,
                              const DonatedMemory& spare) {
    PlaneTree<T> tree;
    Curve curve;
    context.stage("order", [&] { curve = sort_along_curve(context, points, tree.points, spare); });
    context.stage("tree", [&] { tree.planes = cut_planes(context, tree.points, curve, options); });
    return tree;
}

template <Coordinate T>
PlaneTree<T> build_plane_tree(Context& context, const PhaseSpacePoints<T>& points, const TreeShape& options) {
    PlaneTree<T> tree;
    Curve curve;
    context.stage("order", [&] {
        curve = sort_along_curve(context, points.positions, tree.points, DonatedMemory{});
        points.add_velocities(tree.points);
    });
    context.stage("tree", [&] { tree.planes = cut_planes(context, tree.points, curve, options); });
    return tree;
}

template PlaneTree<KITH_SCALAR> build_plane_tree(Context&, const NormalizedPoints<KITH_SCALAR>&, const TreeShape&,
                                                 const DonatedMemory&);
template PlaneTree<KITH_SCALAR> build_plane_tree(Context&, const PhaseSpacePoints<KITH_SCALAR>&, const TreeShape&);

} // namespace kith::detail
