// The public neighbor searches: checks first, then the engine, then the account of what it took.
#include <kith/error.hpp>
#include <kith/knn.hpp>

#include "calls/device_calls.hpp"
#include "engines/brute_force/search.hpp"
#include "neighbors/checks.hpp"
#include "neighbors/search.hpp"
#include "neighbors/sinks.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "support/widths.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kith {

namespace detail {

namespace {

/// Comparing with every source beats building a tree for a handful of points, and for few queries, the more of them the
/// higher the dimension (docs/performance-log.md).
bool brute_force_pays(const PointsView& points, const PointsView* queries) {
    return queries != nullptr ? queries->count() <= 32 * std::int64_t{points.dimension()} : points.count() <= 32;
}

template <Coordinate T>
KnnRequest<T> make_request(const Frame<T>& frame, std::int64_t k, const KnnOptions& options) {
    KnnRequest<T> request{k, options.exclude_self, {}, ReportScale<T>(frame, options.squared)};
    const T radius = frame.load_radius(options.max_distance);
    request.limit.distance = radius * radius;
    return request;
}

template <Coordinate T>
void search_all_pairs(Context& context, const PointSet<T>& receivers, const PointSet<T>& sources,
                      const KnnRequest<T>& request, RowSink<T>& sink) {
    context.expect(receivers.count);
    const BruteForceJob<T> job{&receivers, &sources, &request, &sink};
    PerThread<BruteForceScratch<T>> scratch;
    const std::int64_t blocks = (receivers.count + queries_per_block - 1) / queries_per_block;
    parallel_for(0, blocks, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t block = first; block < last; ++block) {
            const std::int64_t begin = block * queries_per_block;
            const std::int64_t end = std::min(receivers.count, begin + queries_per_block);
            search_block(job, begin, end, scratch.local());
            context.done(end - begin);
        }
    });
}

template <Coordinate T>
void search_tree(Context& context, const PlaneTree<T>& receivers, const PlaneTree<T>& sources,
                 const KnnRequest<T>& request, RowSink<T>& sink) {
    const std::vector<Step> schedule = make_schedule(receivers, sources);
    const SearchJob<T> job{&receivers, &sources, &schedule, &request, &sink};
    const Plane<T>& top = receivers.planes[receivers.top()];
    context.expect(receivers.points.count);
    PerThread<SearchScratch<T>> scratch;
    parallel_for(0, top.nodes, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t node = first; node < last; ++node) {
            search_top_node(job, node, scratch.local());
            context.done(top.points_in(node));
        }
    });
}

/// Leaves of queries about as large in space as the leaves of the sources, so that few queries do not share leaves that
/// span the whole box.
template <Coordinate T>
TreeOptions query_tree_options(const PlaneTree<T>& sources, std::int64_t queries, TreeOptions options) {
    const double share = static_cast<double>(queries) / static_cast<double>(sources.points.count);
    options.leaf_size = static_cast<int>(std::clamp(share * options.leaf_size, 1.0, double(options.leaf_size)));
    return options;
}

/// Rows in which every neighbor is missing.
template <Coordinate T>
void give_empty_rows(Context& context, const PlacedPoints<T>& queries, std::int64_t k, RowSink<T>& sink) {
    with_dimension(queries.view.dimension(), [&]<int D>(std::integral_constant<int, D>) {
        const PointSet<T> receivers = gather_points<T, D>(context, queries);
        const std::vector<std::int32_t> indices(static_cast<std::size_t>(k), -1);
        const std::vector<T> distances(static_cast<std::size_t>(k), std::numeric_limits<T>::infinity());
        for (std::int64_t i = 0; i < receivers.count; ++i) {
            sink.take({i, 1, receivers.indices.data() + i, k, indices.data(), distances.data()});
        }
    });
}

/// Runs the stages of a search of a finished tree. Null queries mean a self-search.
template <Coordinate T>
void search_in_tree(Context& context, const PlaneTree<T>& sources, const TreeOptions& tree_options,
                    const PlacedPoints<T>* queries, std::int64_t k, const KnnOptions& options, RowSink<T>& sink) {
    const KnnRequest<T> request = make_request(sources.points.frame, k, options);
    if (queries != nullptr ? queries->view.count() == 0 : sources.points.count == 0) {
        context.stage("search", [] {});
        return;
    }
    if (sources.points.count == 0) {
        context.stage("search", [&] { give_empty_rows(context, *queries, k, sink); });
        return;
    }
    if (options.engine == Engine::brute_force) {
        context.stage("search", [&] {
            if (queries == nullptr) {
                search_all_pairs(context, sources.points, sources.points, request, sink);
                return;
            }
            with_dimension(queries->view.dimension(), [&]<int D>(std::integral_constant<int, D>) {
                search_all_pairs(context, gather_points<T, D>(context, *queries), sources.points, request, sink);
            });
        });
        return;
    }
    if (queries == nullptr) {
        context.stage("search", [&] { search_tree(context, sources, sources, request, sink); });
        return;
    }
    const PlaneTree<T> receivers = build_plane_tree<T>(
        context, *queries, query_tree_options(sources, queries->view.count(), tree_options), sink.spare());
    context.stage("search", [&] { search_tree(context, receivers, sources, request, sink); });
}

/// Runs all stages of a search that keeps no tree. Returns who did it.
template <Coordinate T>
Engine search_points(Context& context, const PointsView& points, const Box& box, const PointsView* queries,
                     std::int64_t k, const KnnOptions& options, RowSink<T>& sink) {
    PlacedPoints<T> placed;
    std::optional<PlacedPoints<T>> placed_queries;
    context.run([&] {
        placed = place_sources<T>(points, box);
        if (queries != nullptr) {
            placed_queries = place_queries(*queries, placed.frame);
        }
    });
    const bool all_pairs = options.engine == Engine::brute_force ||
                           (options.engine == Engine::automatic && brute_force_pays(points, queries));
    if (!all_pairs || points.count() == 0) {
        const PlaneTree<T> tree = build_plane_tree<T>(context, placed, TreeOptions{}, sink.spare());
        search_in_tree(context, tree, TreeOptions{}, placed_queries ? &*placed_queries : nullptr, k, options, sink);
        return all_pairs ? Engine::brute_force : Engine::tree;
    }
    const KnnRequest<T> request = make_request(placed.frame, k, options);
    context.stage("search", [&] {
        with_dimension(points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            const PointSet<T> sources = gather_points<T, D>(context, placed);
            if (!placed_queries) {
                search_all_pairs(context, sources, sources, request, sink);
            } else {
                search_all_pairs(context, gather_points<T, D>(context, *placed_queries), sources, request, sink);
            }
        });
    });
    return Engine::brute_force;
}

/// Calls function(sink) with the sink for the caller's rows or visitor.
template <Coordinate T, class Function>
void with_sink(const NeighborRows* rows, const NeighborVisitor* visitor, Function&& function) {
    if (rows != nullptr) {
        InputOrderRows<T> sink(*rows);
        function(sink);
    } else {
        Visiting<T> sink(*visitor);
        function(sink);
    }
}

void search_kept_tree(Context& context, const Tree& tree, const PointsView* queries, std::int64_t k,
                      const KnnOptions& options, const NeighborRows* rows, const NeighborVisitor* visitor) {
    with_dtype(tree.dtype(), [&]<Coordinate T>(T) {
        const PlaneTree<T>& sources = tree.data().as<T>();
        std::optional<PlacedPoints<T>> placed;
        if (queries != nullptr) {
            context.run([&] { placed = place_queries(*queries, sources.points.frame); });
        }
        with_sink<T>(rows, visitor, [&](RowSink<T>& sink) {
            search_in_tree(context, sources, tree.data().options, placed ? &*placed : nullptr, k, options, sink);
        });
    });
}

/// What can be said of queries without looking at them.
void check_queries_view(const PointsView* queries, const Execution& execution) {
    if (queries == nullptr) {
        return;
    }
    if (is_on_gpu(execution)) {
        check_shape(*queries, "queries");
    } else {
        check_view(*queries, "queries");
    }
}

StageReports search_kept_tree_checked(const Tree& tree, const PointsView* queries, std::int64_t k,
                                      const KnnOptions& options, const Execution& execution, const NeighborRows* rows,
                                      const NeighborVisitor* visitor) {
    require_device_of(tree, execution);
    check_request(k, options, queries != nullptr);
    check_queries_view(queries, execution);
    if (rows != nullptr) {
        check_rows(*rows, queries != nullptr ? queries->count() : tree.size(), k, tree.dtype());
    }
    if (is_on_gpu(execution)) {
        return search_tree_on_device(*tree.data().on_device, tree.dtype(), tree.data().options, queries,
                                     {k, options, rows, visitor}, execution);
    }
    Context context(execution);
    search_kept_tree(context, tree, queries, k, options, rows, visitor);
    return context.take_stages();
}

Engine search_points_into(const Execution& execution, const PointsView& points, const PointsView* queries,
                          std::int64_t k, const Box& box, const KnnOptions& options, const NeighborRows& rows,
                          StageReports& stages) {
    if (is_on_gpu(execution)) {
        return search_points_on_device(points, queries, box, {k, options, &rows, nullptr}, execution, stages);
    }
    Context context(execution);
    Engine engine = Engine::tree;
    with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        with_sink<T>(&rows, nullptr, [&](RowSink<T>& sink) {
            engine = search_points<T>(context, points, box, queries, k, options, sink);
        });
    });
    stages = context.take_stages();
    return engine;
}

StageReports search_points_checked(const PointsView& points, const PointsView* queries, std::int64_t k, const Box& box,
                                   const KnnOptions& options, const Execution& execution, const NeighborRows& rows) {
    check_request(k, options, queries != nullptr);
    check_sources(points, execution);
    check_queries_view(queries, execution);
    check_rows(rows, queries != nullptr ? queries->count() : points.count(), k, points.dtype());
    StageReports stages;
    search_points_into(execution, points, queries, k, box, options, rows, stages);
    return stages;
}

} // namespace

} // namespace detail

/// Makes results, and completes them where the engine that was used is known.
struct KnnResultAccess {
    /// Where the queries are, on the GPU of the call, or else in the host's memory.
    static KnnResult room(std::int64_t rows, std::int64_t k, IndexType index_type, DType dtype, const Device& where,
                          const Execution& execution) {
        if (where.kind == DeviceKind::cpu || !detail::is_on_gpu(execution)) {
            return {rows, k, index_type, dtype};
        }
        KnnResult result(rows, k, index_type, dtype, where);
        const auto room_for = [&](std::int64_t width) {
            std::int64_t bytes = 0;
            if (__builtin_mul_overflow(rows, k, &bytes) || __builtin_mul_overflow(bytes, width, &bytes)) {
                throw Error(ErrorKind::out_of_memory,
                            detail::message("the result of ", rows, " rows x ", k,
                                            " neighbors needs more than 2^63 bytes; ask for fewer neighbors or use "
                                            "knn_visit"));
            }
            return detail::result_memory_on_device(bytes, execution);
        };
        result.indices_ = room_for(detail::width_of(index_type));
        result.distances_ = room_for(detail::width_of(dtype));
        return result;
    }

    static KnnResult search_tree(const Tree& tree, const PointsView* queries, std::int64_t k, const KnnOptions& options,
                                 const Execution& execution) {
        detail::require_device_of(tree, execution);
        detail::check_request(k, options, queries != nullptr);
        detail::check_queries_view(queries, execution);
        KnnResult result = room(queries != nullptr ? queries->count() : tree.size(), k, options.index_type,
                                tree.dtype(), queries != nullptr ? queries->device() : tree.data().given_on, execution);
        const NeighborRows rows = result.rows_view();
        result.stages = detail::search_kept_tree_checked(tree, queries, k, options, execution, &rows, nullptr);
        result.engine_ =
            options.engine == Engine::brute_force && !detail::is_on_gpu(execution) ? Engine::brute_force : Engine::tree;
        return result;
    }

    static KnnResult search_points(const PointsView& points, const PointsView* queries, std::int64_t k, const Box& box,
                                   const KnnOptions& options, const Execution& execution) {
        detail::check_request(k, options, queries != nullptr);
        detail::check_sources(points, execution);
        detail::check_queries_view(queries, execution);
        KnnResult result = room(queries != nullptr ? queries->count() : points.count(), k, options.index_type,
                                points.dtype(), queries != nullptr ? queries->device() : points.device(), execution);
        result.engine_ =
            detail::search_points_into(execution, points, queries, k, box, options, result.rows_view(), result.stages);
        return result;
    }
};

KnnResult knn(const Tree& tree, std::int64_t k, const KnnOptions& options, const Execution& execution) {
    return KnnResultAccess::search_tree(tree, nullptr, k, options, execution);
}

KnnResult knn(const Tree& tree, const PointsView& queries, std::int64_t k, const KnnOptions& options,
              const Execution& execution) {
    return KnnResultAccess::search_tree(tree, &queries, k, options, execution);
}

KnnResult knn(const PointsView& points, std::int64_t k, const Box& box, const KnnOptions& options,
              const Execution& execution) {
    return KnnResultAccess::search_points(points, nullptr, k, box, options, execution);
}

KnnResult knn(const PointsView& points, const PointsView& queries, std::int64_t k, const Box& box,
              const KnnOptions& options, const Execution& execution) {
    return KnnResultAccess::search_points(points, &queries, k, box, options, execution);
}

StageReports knn_into(const NeighborRows& rows, const Tree& tree, std::int64_t k, const KnnOptions& options,
                      const Execution& execution) {
    return detail::search_kept_tree_checked(tree, nullptr, k, options, execution, &rows, nullptr);
}

StageReports knn_into(const NeighborRows& rows, const Tree& tree, const PointsView& queries, std::int64_t k,
                      const KnnOptions& options, const Execution& execution) {
    return detail::search_kept_tree_checked(tree, &queries, k, options, execution, &rows, nullptr);
}

StageReports knn_into(const NeighborRows& rows, const PointsView& points, std::int64_t k, const Box& box,
                      const KnnOptions& options, const Execution& execution) {
    return detail::search_points_checked(points, nullptr, k, box, options, execution, rows);
}

StageReports knn_into(const NeighborRows& rows, const PointsView& points, const PointsView& queries, std::int64_t k,
                      const Box& box, const KnnOptions& options, const Execution& execution) {
    return detail::search_points_checked(points, &queries, k, box, options, execution, rows);
}

StageReports knn_visit(const NeighborVisitor& visitor, const Tree& tree, std::int64_t k, const KnnOptions& options,
                       const Execution& execution) {
    return detail::search_kept_tree_checked(tree, nullptr, k, options, execution, nullptr, &visitor);
}

StageReports knn_visit(const NeighborVisitor& visitor, const Tree& tree, const PointsView& queries, std::int64_t k,
                       const KnnOptions& options, const Execution& execution) {
    return detail::search_kept_tree_checked(tree, &queries, k, options, execution, nullptr, &visitor);
}

} // namespace kith
