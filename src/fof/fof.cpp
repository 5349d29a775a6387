// The public friends-of-friends calls: checks first, then the engine, then the numbering.
#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "fof/labels.hpp"
#include "fof/link.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kith {

namespace detail {

namespace {

/// Up to this many points, comparing all pairs beats building a tree (docs/performance-log.md).
constexpr std::int64_t brute_force_pays = 512;

void check_length(const LinkingLength& length) {
    if (!(length.value() >= 0) || std::isinf(length.value())) {
        throw Error(ErrorKind::invalid_argument,
                    message(length.is_relative() ? "the relative linking length b" : "the linking length", " is ",
                            length.value(), "; it must be a finite number, 0 or more"));
    }
}

/// b (V / N)^(1/d), and the V that was used.
template <Coordinate T>
void resolve_length(const LinkingLength& length, const Frame<T>& frame, std::int64_t count, FofResult& result) {
    double radius = length.value();
    if (length.is_relative()) {
        double volume = 1;
        double scaled = 1; // the same in working units, which neither overflows nor vanishes
        int periodic_axes = 0;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            const double edge = frame.period[axis] > 0 ? static_cast<double>(frame.period[axis]) : frame.extent[axis];
            volume *= edge;
            scaled *= std::ldexp(edge, frame.exponent);
            periodic_axes += frame.period[axis] > 0 ? 1 : 0;
        }
        if (count > 0 && scaled == 0) {
            throw Error(ErrorKind::invalid_argument,
                        "the volume for a relative linking length is zero: the points have no extent on an open axis; "
                        "give an absolute linking length");
        }
        const double root = 1.0 / frame.dimension;
        const auto points = static_cast<double>(std::max<std::int64_t>(count, 1));
        radius =
            length.value() * (std::isnormal(volume) ? std::pow(volume / points, root)
                                                    : std::ldexp(std::pow(scaled / points, root), -frame.exponent));
        result.volume = volume;
        result.volume_kind = periodic_axes == 0                 ? VolumeKind::extent
                             : periodic_axes == frame.dimension ? VolumeKind::box
                                                                : VolumeKind::mixed;
    }
    result.linking_length = static_cast<double>(static_cast<T>(radius));
    if (!std::isfinite(result.linking_length)) {
        throw Error(ErrorKind::invalid_argument,
                    message("the linking length comes to ", radius, ", more than ",
                            sizeof(T) == 4 ? "float32" : "float64", " points can be apart; give a smaller one"));
    }
}

template <Coordinate T>
T squared_length(const Frame<T>& frame, const FofResult& result) {
    const T radius = frame.load_radius(result.linking_length);
    return radius * radius;
}

template <Coordinate T>
void link_tree(Context& context, const PlaneTree<T>& tree, FofResult& result) {
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
    number_groups(context, job.groups, tree.points.indices.span(), result);
}

template <Coordinate T>
void link_all_pairs(Context& context, const PointSet<T>& points, FofResult& result) {
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
    number_groups(context, job.groups, points.indices.span(), result);
}

} // namespace

} // namespace detail

std::int64_t FofResult::groups_of_at_least(std::int64_t min_members) const {
    const auto first_smaller = std::partition_point(sizes.begin(), sizes.end(),
                                                    [min_members](std::int32_t size) { return size >= min_members; });
    return first_smaller - sizes.begin();
}

FofResult fof(const Tree& tree, LinkingLength linking_length, const FofOptions& options, const Execution& execution) {
    detail::Context context(execution);
    detail::check_length(linking_length);
    FofResult result;
    result.engine = options.engine == Engine::brute_force ? Engine::brute_force : Engine::tree;
    detail::with_dtype(tree.dtype(), [&]<Coordinate T>(T) {
        const detail::PlaneTree<T>& planes = tree.data().as<T>();
        detail::resolve_length(linking_length, planes.points.frame, planes.points.count, result);
        context.stage("link", [&] {
            if (result.engine == Engine::brute_force) {
                detail::link_all_pairs(context, planes.points, result);
            } else {
                detail::link_tree(context, planes, result);
            }
        });
    });
    result.stages = context.take_stages();
    return result;
}

FofResult fof(const PointsView& points, LinkingLength linking_length, const Box& box, const FofOptions& options,
              const Execution& execution) {
    detail::Context context(execution);
    detail::check_length(linking_length);
    detail::check_view(points, "points");
    FofResult result;
    const bool all_pairs = options.engine == Engine::brute_force ||
                           (options.engine == Engine::automatic && points.count() <= detail::brute_force_pays);
    result.engine = all_pairs ? Engine::brute_force : Engine::tree;
    detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        detail::PlacedPoints<T> placed;
        context.run([&] { placed = detail::place_sources<T>(points, box); });
        detail::resolve_length(linking_length, placed.frame, points.count(), result);
        if (all_pairs) {
            context.stage("link", [&] {
                detail::with_dimension(points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
                    detail::link_all_pairs(context, detail::gather_points<T, D>(context, placed), result);
                });
            });
            return;
        }
        const detail::PlaneTree<T> tree = detail::build_plane_tree<T>(context, placed, TreeOptions{});
        context.stage("link", [&] { detail::link_tree(context, tree, result); });
    });
    result.stages = context.take_stages();
    return result;
}

} // namespace kith
