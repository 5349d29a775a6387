// The public friends-of-friends calls: checks first, then the engine, then the numbering.
#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "calls/device_calls.hpp"
#include "groups/checks.hpp"
#include "groups/labels.hpp"
#include "groups/link.hpp"
#include "groups/linking_length.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace kith {

namespace detail {

namespace {

/// Up to this many points, comparing all pairs beats building a tree (docs/performance-log.md).
constexpr std::int64_t brute_force_pays = 512;

template <Coordinate T>
void link_tree(Context& context, const PlaneTree<T>& tree, std::span<std::int32_t> labels, FofSummary& result) {
    const std::int64_t count = tree.points.count;
    Buffer<std::int32_t> parents(context.ledger(), count);
    std::vector<Buffer<std::uint8_t>> whole;
    LinkJob<T> job{&tree.points, &tree, squared_length(tree.points.frame, result), UnionFind(parents.data()), {}};
    for (const Plane<T>& plane : tree.planes) {
        whole.emplace_back(context.ledger(), plane.nodes);
        std::memset(whole.back().data(), 0, static_cast<std::size_t>(plane.nodes));
        job.whole.push_back(whole.back().data());
    }
    if (count > 0) {
        const Plane<T>& top = tree.planes[tree.top()];
        const auto each_top_node = [&](void (*link)(const LinkJob<T>&, std::int64_t)) {
            parallel_for(0, top.nodes, 1, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t node = first; node < last; ++node) {
                    link(job, node);
                    context.done(top.points_in(node));
                }
            });
        };
        context.expect(2 * count);
        each_top_node(link_inside_top_node);
        each_top_node(link_top_node_with_later);
    }
    number_groups(context, job.groups, tree.points.indices.span(), labels, result);
}

template <Coordinate T>
void link_all_pairs(Context& context, const PointSet<T>& points, std::span<std::int32_t> labels, FofSummary& result) {
    constexpr std::int64_t tile = 512;
    Buffer<std::int32_t> parents(context.ledger(), points.count);
    const LinkJob<T> job{&points, nullptr, squared_length(points.frame, result), UnionFind(parents.data()), {}};
    job.groups.separate(0, static_cast<std::int32_t>(points.count));
    const std::int64_t tiles = (points.count + tile - 1) / tile;
    context.expect(tiles * tiles);
    parallel_for(0, tiles * tiles, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t pair = first; pair < last; ++pair) {
            const std::int64_t begin = pair / tiles * tile;
            const std::int64_t other = pair % tiles * tile;
            if (other >= begin) {
                link_tiles(job, begin, std::min(points.count, begin + tile), other,
                           std::min(points.count, other + tile));
            }
            context.done(1);
        }
    });
    number_groups(context, job.groups, points.indices.span(), labels, result);
}

FofSummary link(std::span<std::int32_t> labels, const Tree& tree, LinkingLength linking_length,
                const FofOptions& options, const Execution& execution) {
    require_device_of(tree, execution);
    check_length(linking_length);
    check_labels(labels, tree.size());
    if (is_on_gpu(execution)) {
        return label_tree_on_device(*tree.data().on_device, tree.dtype(), linking_length, labels, execution);
    }
    Context context(execution);
    FofSummary result;
    result.engine = options.engine == Engine::brute_force ? Engine::brute_force : Engine::tree;
    with_dtype(tree.dtype(), [&]<Coordinate T>(T) {
        const PlaneTree<T>& planes = tree.data().as<T>();
        resolve_length(linking_length, planes.points.frame, planes.points.count, result);
        context.stage("link", [&] {
            if (result.engine == Engine::brute_force) {
                link_all_pairs(context, planes.points, labels, result);
            } else {
                link_tree(context, planes, labels, result);
            }
        });
    });
    result.stages = context.take_stages();
    return result;
}

void check_points(const PointsView& points, LinkingLength linking_length, const Execution& execution) {
    check_length(linking_length);
    check_sources(points, execution);
}

/// The points have been checked.
FofSummary link(std::span<std::int32_t> labels, const PointsView& points, LinkingLength linking_length, const Box& box,
                const FofOptions& options, const Execution& execution) {
    check_labels(labels, points.count());
    if (is_on_gpu(execution)) {
        return label_points_on_device(points, box, linking_length, options, labels, execution);
    }
    Context context(execution);
    FofSummary result;
    const bool all_pairs = options.engine == Engine::brute_force ||
                           (options.engine == Engine::automatic && points.count() <= brute_force_pays);
    result.engine = all_pairs ? Engine::brute_force : Engine::tree;
    with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        PlacedPoints<T> placed;
        context.run([&] { placed = place_sources<T>(points, box); });
        resolve_length(linking_length, placed.frame, points.count(), result);
        if (all_pairs) {
            context.stage("link", [&] {
                with_dimension(points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
                    link_all_pairs(context, gather_points<T, D>(context, placed), labels, result);
                });
            });
            return;
        }
        const PlaneTree<T> tree = build_plane_tree<T>(context, placed, TreeOptions{});
        context.stage("link", [&] { link_tree(context, tree, labels, result); });
    });
    result.stages = context.take_stages();
    return result;
}

/// With labels of its own, and the sizes of single points.
template <class Link>
FofResult owned(std::int64_t points, const Link& link) {
    FofResult result;
    result.labels.resize(static_cast<std::size_t>(points));
    FofSummary summary = link(std::span<std::int32_t>(result.labels));
    result.sizes = std::move(summary.sizes);
    result.sizes.resize(static_cast<std::size_t>(summary.groups), 1);
    result.linking_length = summary.linking_length;
    result.volume = summary.volume;
    result.volume_kind = summary.volume_kind;
    result.engine = summary.engine;
    result.stages = std::move(summary.stages);
    return result;
}

} // namespace

} // namespace detail

std::int64_t FofResult::groups_of_at_least(std::int64_t min_members) const {
    const auto first_smaller = std::partition_point(sizes.begin(), sizes.end(),
                                                    [min_members](std::int32_t size) { return size >= min_members; });
    return first_smaller - sizes.begin();
}

FofResult fof(const Tree& tree, LinkingLength linking_length, const FofOptions& options, const Execution& execution) {
    return detail::owned(tree.size(), [&](std::span<std::int32_t> labels) {
        return detail::link(labels, tree, linking_length, options, execution);
    });
}

FofResult fof(const PointsView& points, LinkingLength linking_length, const Box& box, const FofOptions& options,
              const Execution& execution) {
    detail::check_points(points, linking_length, execution);
    return detail::owned(points.count(), [&](std::span<std::int32_t> labels) {
        return detail::link(labels, points, linking_length, box, options, execution);
    });
}

FofSummary fof_into(std::span<std::int32_t> labels, const Tree& tree, LinkingLength linking_length,
                    const FofOptions& options, const Execution& execution) {
    return detail::link(labels, tree, linking_length, options, execution);
}

FofSummary fof_into(std::span<std::int32_t> labels, const PointsView& points, LinkingLength linking_length,
                    const Box& box, const FofOptions& options, const Execution& execution) {
    detail::check_points(points, linking_length, execution);
    return detail::link(labels, points, linking_length, box, options, execution);
}

} // namespace kith
