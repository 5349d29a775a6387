// The public neighbor searches: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/knn.hpp>

#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "engines/brute_force/knn.hpp"
#include "neighbors/checks.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/point_search.hpp"
#include "neighbors/query_tree.hpp"
#include "neighbors/sinks.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/item_size.hpp"
#include "support/message.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <optional>

namespace kith {

namespace detail {

namespace {

/// Any public neighbor search.
struct KnnCall {
    const Tree* tree = nullptr; ///< or else points in a box
    PointsView points = {};
    Box box = {};
    const PointsView* queries = nullptr; ///< null: a self-search
    std::int64_t k = 1;
    const KnnOptions* options = nullptr;
    const Execution* execution = nullptr;
    const NeighborRows* rows = nullptr; ///< or else a visitor
    const NeighborVisitor* visitor = nullptr;

    [[nodiscard]] std::int64_t source_count() const { return tree != nullptr ? tree->size() : points.count(); }
    [[nodiscard]] std::int64_t row_count() const { return queries != nullptr ? queries->count() : source_count(); }
    [[nodiscard]] DType dtype() const { return tree != nullptr ? tree->dtype() : points.dtype(); }
    [[nodiscard]] int dimension() const { return tree != nullptr ? tree->dimension() : points.dimension(); }
    /// Where the queries are.
    [[nodiscard]] Device place() const {
        return queries != nullptr ? queries->device() : tree != nullptr ? tree->data().given_on : points.device();
    }
    [[nodiscard]] TreeOptions tree_options() const { return tree != nullptr ? tree->data().options : TreeOptions{}; }
    [[nodiscard]] Engine engine() const {
        return choose(
            Task::neighbors, options->engine,
            {source_count(), row_count(), queries != nullptr, dimension(), tree != nullptr, execution->device.kind});
    }
};

/// All that can be checked without looking at the points, but for the memory of the rows.
void check(const KnnCall& call) {
    if (call.tree != nullptr) {
        require_device_of(*call.tree, *call.execution);
    }
    check_request(call.k, *call.options, call.queries != nullptr);
    if (call.tree == nullptr) {
        check_sources(call.points, *call.execution);
    }
    if (call.queries != nullptr) {
        is_on_gpu(*call.execution) ? check_shape(*call.queries, "queries") : check_view(*call.queries, "queries");
    }
}

/// Calls function(sink) with the sink for the caller's rows or visitor.
template <Coordinate T, class Function>
void with_sink(const KnnCall& call, const Function& function) {
    if (call.rows != nullptr) {
        InputOrderRows<T> sink(*call.rows);
        function(sink);
    } else {
        Visiting<T> sink(*call.visitor);
        function(sink);
    }
}

template <Coordinate T>
void search(Context& context, const KnnCall& call, Engine engine, RowSink<T>& sink) {
    const PlaneTree<T>* kept = call.tree != nullptr ? &call.tree->data().as<T>() : nullptr;
    std::optional<NormalizedPoints<T>> normalized;
    std::optional<NormalizedPoints<T>> queries;
    context.run([&] {
        if (kept == nullptr) {
            normalized = normalize_sources<T>(call.points, call.box);
        }
        if (call.queries != nullptr) {
            queries = normalize_queries(*call.queries, kept != nullptr ? kept->points.frame : normalized->frame);
        }
    });
    const KnnRequest<T> request =
        make_request(kept != nullptr ? kept->points.frame : normalized->frame, call.k, *call.options);
    std::optional<PlaneTree<T>> built;
    if (kept == nullptr && (engine == Engine::tree || call.source_count() == 0)) {
        kept = &built.emplace(build_plane_tree<T>(context, *normalized, TreeOptions{}, sink.spare()));
    }
    if (engine == Engine::tree && call.row_count() > 0 && call.source_count() > 0) {
        if (!queries) {
            context.stage("search", [&] { search_tree(context, *kept, *kept, request, sink); });
            return;
        }
        const PlaneTree<T> receivers = build_plane_tree<T>(
            context, *queries, query_tree_options(call.tree_options(), call.source_count(), call.row_count()),
            sink.spare());
        context.stage("search", [&] { search_tree(context, receivers, *kept, request, sink); });
        return;
    }
    context.stage("search", [&] {
        std::optional<PointSet<T>> gathered;
        const PointSet<T>& sources =
            kept != nullptr ? kept->points : gathered.emplace(gather_points(context, *normalized));
        if (queries) {
            search_all_pairs(context, gather_points(context, *queries), sources, request, sink);
        } else {
            search_all_pairs(context, sources, sources, request, sink);
        }
    });
}

/// Whether the calling thread searches the queries on its own. What else is wrong with a call, the others refuse.
bool is_for_this_thread(const KnnCall& call, Engine engine) {
    const Execution& execution = *call.execution;
    return engine == Engine::tree && call.tree != nullptr && call.queries != nullptr && call.rows != nullptr &&
           call.k <= max_point_neighbors && are_few(call.row_count(), call.k, execution.threads) &&
           call.source_count() > 0 && !execution.progress && execution.threads >= 0 && execution.threads <= max_threads;
}

/// Searches few queries of a kept tree in this thread. Returns false, and has written nothing, if one is refused.
template <Coordinate T>
bool search_few(const KnnCall& call) {
    const DenormalGuard guard;
    const PlaneTree<T>& tree = call.tree->data().as<T>();
    check_queries(*call.queries, tree.points.dimension(), dtype_of<T>);
    const KnnRequest<T> request = make_request(tree.points.frame, call.k, *call.options);
    return search_points({&tree, call.queries, &request, *InputOrderRows<T>(*call.rows).direct()});
}

/// The call has been checked. Returns the engine that was used.
Engine run(const KnnCall& call, StageReports& stages) {
    if (is_on_gpu(*call.execution)) {
        const DeviceKnnCall on_device{call.k, *call.options, call.rows, call.visitor};
        if (call.tree == nullptr) {
            return search_points_on_device(call.points, call.queries, call.box, on_device, *call.execution, stages);
        }
        stages = search_tree_on_device(*call.tree->data().on_device, call.dtype(), call.tree_options(), call.queries,
                                       on_device, *call.execution);
        return Engine::tree;
    }
    const Engine engine = call.engine();
    if (is_for_this_thread(call, engine) &&
        with_dtype(call.dtype(), [&]<Coordinate T>(T) { return search_few<T>(call); })) {
        return engine;
    }
    Context context(*call.execution);
    with_dtype(call.dtype(), [&]<Coordinate T>(T) {
        with_sink<T>(call, [&](RowSink<T>& sink) { search(context, call, engine, sink); });
    });
    stages = context.take_stages();
    return engine;
}

StageReports checked_and_run(const KnnCall& call) {
    check(call);
    if (call.rows != nullptr) {
        check_rows(*call.rows, call.row_count(), call.k, call.dtype());
    }
    StageReports stages;
    run(call, stages);
    return stages;
}

} // namespace

} // namespace detail

/// Makes results, and completes them where the engine that was used is known.
struct KnnResultAccess {
    static KnnResult run(detail::KnnCall call) {
        detail::check(call);
        KnnResult result = allocate(call);
        const NeighborRows rows = result.rows_view();
        call.rows = &rows;
        result.engine_ = detail::run(call, result.stages);
        return result;
    }

private:
    /// Where the queries are, on the GPU of the call, or else in the host's memory.
    static KnnResult allocate(const detail::KnnCall& call) {
        const std::int64_t rows = call.row_count();
        const IndexType index_type = call.options->index_type;
        const Device device = call.place();
        if (device.kind == DeviceKind::cpu || !detail::is_on_gpu(*call.execution)) {
            return {rows, call.k, index_type, call.dtype()};
        }
        KnnResult result(rows, call.k, index_type, call.dtype(), device);
        const auto memory_for = [&](std::int64_t width) {
            std::int64_t bytes = 0;
            if (__builtin_mul_overflow(rows, call.k, &bytes) || __builtin_mul_overflow(bytes, width, &bytes)) {
                throw Error(ErrorKind::out_of_memory,
                            detail::message("the result of ", rows, " rows x ", call.k,
                                            " neighbors needs more than 2^63 bytes; ask for fewer neighbors or use "
                                            "knn_visit"));
            }
            return detail::result_memory_on_device(bytes, *call.execution);
        };
        result.indices_ = memory_for(detail::item_size(index_type));
        result.distances_ = memory_for(detail::item_size(call.dtype()));
        return result;
    }
};

KnnResult knn(const Tree& tree, std::int64_t k, const KnnOptions& options, const Execution& execution) {
    return KnnResultAccess::run({.tree = &tree, .k = k, .options = &options, .execution = &execution});
}

KnnResult knn(const Tree& tree, const PointsView& queries, std::int64_t k, const KnnOptions& options,
              const Execution& execution) {
    return KnnResultAccess::run(
        {.tree = &tree, .queries = &queries, .k = k, .options = &options, .execution = &execution});
}

KnnResult knn(const PointsView& points, std::int64_t k, const Box& box, const KnnOptions& options,
              const Execution& execution) {
    return KnnResultAccess::run({.points = points, .box = box, .k = k, .options = &options, .execution = &execution});
}

KnnResult knn(const PointsView& points, const PointsView& queries, std::int64_t k, const Box& box,
              const KnnOptions& options, const Execution& execution) {
    return KnnResultAccess::run(
        {.points = points, .box = box, .queries = &queries, .k = k, .options = &options, .execution = &execution});
}

StageReports knn_into(const NeighborRows& rows, const Tree& tree, std::int64_t k, const KnnOptions& options,
                      const Execution& execution) {
    return detail::checked_and_run(
        {.tree = &tree, .k = k, .options = &options, .execution = &execution, .rows = &rows});
}

StageReports knn_into(const NeighborRows& rows, const Tree& tree, const PointsView& queries, std::int64_t k,
                      const KnnOptions& options, const Execution& execution) {
    return detail::checked_and_run(
        {.tree = &tree, .queries = &queries, .k = k, .options = &options, .execution = &execution, .rows = &rows});
}

StageReports knn_into(const NeighborRows& rows, const PointsView& points, std::int64_t k, const Box& box,
                      const KnnOptions& options, const Execution& execution) {
    return detail::checked_and_run(
        {.points = points, .box = box, .k = k, .options = &options, .execution = &execution, .rows = &rows});
}

StageReports knn_into(const NeighborRows& rows, const PointsView& points, const PointsView& queries, std::int64_t k,
                      const Box& box, const KnnOptions& options, const Execution& execution) {
    return detail::checked_and_run({.points = points,
                                    .box = box,
                                    .queries = &queries,
                                    .k = k,
                                    .options = &options,
                                    .execution = &execution,
                                    .rows = &rows});
}

StageReports knn_visit(const NeighborVisitor& visitor, const Tree& tree, std::int64_t k, const KnnOptions& options,
                       const Execution& execution) {
    return detail::checked_and_run(
        {.tree = &tree, .k = k, .options = &options, .execution = &execution, .visitor = &visitor});
}

StageReports knn_visit(const NeighborVisitor& visitor, const Tree& tree, const PointsView& queries, std::int64_t k,
                       const KnnOptions& options, const Execution& execution) {
    return detail::checked_and_run({.tree = &tree,
                                    .queries = &queries,
                                    .k = k,
                                    .options = &options,
                                    .execution = &execution,
                                    .visitor = &visitor});
}

} // namespace kith
