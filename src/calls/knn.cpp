// The public neighbor searches: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/knn.hpp>
#include <kith/other_labels.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/knn_search.hpp"
#include "calls/labeled_search.hpp"
#include "calls/rank_calls.hpp"
#include "calls/sources.hpp"
#include "calls/this_thread.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/point_search.hpp"
#include "neighbors/sinks.hpp"
#include "neighbors/unresolved.hpp"
#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/result_memory.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace kith {

namespace detail {

namespace {

/// Calls function(sink) with the sink for the caller's rows or visitor.
template <Coordinate T, class Function>
void with_sink(const KnnCall& call, const Function& function) {
    if (call.rows != nullptr) {
        StoredRows<T> sink(*call.rows, call.options.z_order);
        function(sink);
    } else {
        VisitorSink<T> sink(*call.visitor);
        function(sink);
    }
}

/// Brings all rows to the sink.
template <Coordinate T>
void search(Context& context, const KnnCall& call, Engine engine, RowSink<T>& sink, SearchSummary& summary) {
    if (call.labels != nullptr) {
        return search_labeled(context, call, sink, summary);
    }
    KnnSearch<T> search(context, call, engine);
    search.describe(summary);
    summary.unresolved = search.run(sink);
}

/// Whether the calling thread searches the queries itself.
bool is_for_this_thread(const KnnCall& call, Engine engine) {
    const Execution& execution = call.options.execution;
    return engine == Engine::tree && call.rows != nullptr && call.labels == nullptr && !call.options.z_order &&
           can_run_on_this_thread(call.points, call.queries, execution) &&
           are_few(call.row_count(), call.k, execution.threads);
}

/// Searches few queries of a kept tree in this thread. Returns false, and has written nothing, if one is refused or
/// coordinates are tiny.
template <Coordinate T>
bool search_few(const KnnCall& call) {
    const DenormalGuard guard;
    const PlaneTree<T>& tree = call.points.tree()->data().template as<T>().tree;
    const KnnRequest<T> request = make_request(tree.points.frame, call.k, call.options);
    tell(call.options.execution, 0);
    const bool is_done = with_allocation_errors("the search", [&] {
        return search_points({&tree, call.queries, &request, StoredRows<T>(*call.rows).direct()->rows});
    });
    if (is_done) {
        tell(call.options.execution, 1);
    }
    return is_done;
}

/// The call has been checked.
void run(const KnnCall& call, SearchSummary& summary) {
    const Execution& execution = call.options.execution;
    const Where where = where_of(execution);
    const Engine engine = choose(call.task(), call.options.engine, size_of(call.points, call.queries, call.k, where));
    if (where == Where::gpu) {
        summary = on_gpu().knn(call.points, call.queries, {call.k, call.options, call.rows, call.visitor}, engine);
        return;
    }
    summary.engine = engine;
    if (is_for_this_thread(call, engine) &&
        with_dtype(call.points.dtype(), [&]<Coordinate T>(T) { return search_few<T>(call); })) {
        summary.box = call.points.tree()->box();
        summary.wrapped_points = call.points.tree()->wrapped_points();
        return;
    }
    Context context(execution);
    with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
        with_sink<T>(call, [&](RowSink<T>& sink) { search(context, call, engine, sink, summary); });
    });
    summary.stages = context.take_stages();
}

SearchSummary checked_and_run(const KnnCall& call) {
    if (call.labels == nullptr && is_over_ranks(where_of(call.options.execution))) {
        return call.visitor != nullptr ? knn_visit_over_team(call) : knn_into_over_team(call);
    }
    check(call);
    SearchSummary summary;
    run(call, summary);
    return summary;
}

} // namespace

} // namespace detail

/// Makes results in memory that suits the call.
struct KnnResultAccess {
    static KnnResult run(detail::KnnCall call) {
        if (call.labels == nullptr && detail::is_over_ranks(detail::where_of(call.options.execution))) {
            return knn_over_team(call);
        }
        detail::check(call);
        KnnResult result = allocate(call);
        const NeighborRows rows = result.rows_view();
        call.rows = &rows;
        detail::run(call, result);
        return result;
    }

private:
    /// Where the queries are, on the GPU of the call, or else in the host's memory.
    static KnnResult allocate(const detail::KnnCall& call) {
        constexpr std::int64_t item = sizeof(std::int32_t);
        const std::int64_t rows = call.row_count();
        const IndexType index_type = call.options.index_type;
        const DType dtype = call.points.dtype();
        const Device device = call.queries != nullptr         ? call.queries->device()
                              : call.points.tree() != nullptr ? call.points.tree()->data().given_on
                                                              : call.points.points().device();
        if (device.kind == DeviceKind::cpu || !detail::is_on_gpu(call.options.execution)) {
            KnnResult result(rows, call.k, index_type, dtype);
            if (call.options.z_order) {
                result.query_indices_ = detail::allocate_result(
                    rows * item, [&] { return detail::message("the queries of ", rows, " rows"); });
            }
            return result;
        }
        KnnResult result(rows, call.k, index_type, dtype, device);
        const auto memory_for = [&](std::int64_t width) {
            std::int64_t bytes = 0;
            if (__builtin_mul_overflow(rows, call.k, &bytes) || __builtin_mul_overflow(bytes, width, &bytes)) {
                throw detail::error(ErrorKind::out_of_memory, "the result of ", rows, " rows x ", call.k,
                                    " neighbors needs more than 2^63 bytes; ask for fewer neighbors or use "
                                    "knn_visit");
            }
            return detail::on_gpu().result_memory(bytes, call.options.execution);
        };
        result.indices_ = memory_for(detail::item_size(index_type));
        result.distances_ = memory_for(detail::item_size(dtype));
        if (call.options.z_order) {
            result.query_indices_ = detail::on_gpu().result_memory(rows * item, call.options.execution);
        }
        return result;
    }
};

KnnResult knn(const PointsOrTree& points, std::int64_t k, const KnnOptions& options) {
    return KnnResultAccess::run({points, nullptr, k, options});
}

KnnResult knn(const PointsOrTree& points, const PointsView& queries, std::int64_t k, const KnnOptions& options) {
    return KnnResultAccess::run({points, &queries, k, options});
}

SearchSummary knn_into(const NeighborRows& rows, const PointsOrTree& points, std::int64_t k,
                       const KnnOptions& options) {
    return detail::checked_and_run({points, nullptr, k, options, &rows});
}

SearchSummary knn_into(const NeighborRows& rows, const PointsOrTree& points, const PointsView& queries, std::int64_t k,
                       const KnnOptions& options) {
    return detail::checked_and_run({points, &queries, k, options, &rows});
}

KnnResult knn_other_labels(const PointsOrTree& points, std::span<const std::int32_t> labels, std::int64_t k,
                           const KnnOptions& options) {
    const detail::Labels both{labels, labels};
    return KnnResultAccess::run({points, nullptr, k, options, nullptr, nullptr, &both});
}

KnnResult knn_other_labels(const PointsOrTree& points, std::span<const std::int32_t> labels, const PointsView& queries,
                           std::span<const std::int32_t> labels_of_queries, std::int64_t k, const KnnOptions& options) {
    const detail::Labels both{labels, labels_of_queries};
    return KnnResultAccess::run({points, &queries, k, options, nullptr, nullptr, &both});
}

SearchSummary knn_other_labels_into(const NeighborRows& rows, const PointsOrTree& points,
                                    std::span<const std::int32_t> labels, std::int64_t k, const KnnOptions& options) {
    const detail::Labels both{labels, labels};
    return detail::checked_and_run({points, nullptr, k, options, &rows, nullptr, &both});
}

SearchSummary knn_other_labels_into(const NeighborRows& rows, const PointsOrTree& points,
                                    std::span<const std::int32_t> labels, const PointsView& queries,
                                    std::span<const std::int32_t> labels_of_queries, std::int64_t k,
                                    const KnnOptions& options) {
    const detail::Labels both{labels, labels_of_queries};
    return detail::checked_and_run({points, &queries, k, options, &rows, nullptr, &both});
}

SearchSummary knn_visit(const NeighborVisitor& visitor, const PointsOrTree& points, std::int64_t k,
                        const KnnOptions& options) {
    return detail::checked_and_run({points, nullptr, k, options, nullptr, &visitor});
}

SearchSummary knn_visit(const NeighborVisitor& visitor, const PointsOrTree& points, const PointsView& queries,
                        std::int64_t k, const KnnOptions& options) {
    return detail::checked_and_run({points, &queries, k, options, nullptr, &visitor});
}

} // namespace kith
