// The public radius searches: a call is normalized, checked once, and dispatched once; rows are counted, then filled.
#include <kith/error.hpp>
#include <kith/radius.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/few_radius_queries.hpp"
#include "calls/radius_search.hpp"
#include "calls/rank_calls.hpp"
#include "calls/sources.hpp"
#include "calls/zeros.hpp"
#include "engines/index.hpp"
#include "neighbors/radius.hpp"
#include "neighbors/radius_checks.hpp"
#include "neighbors/radius_result_access.hpp"
#include "neighbors/radius_search.hpp"
#include "neighbors/unresolved.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith {

namespace detail {

namespace {

/// The call has been checked.
SearchSummary search_on_gpu(const RadiusCall& call, const DeviceRadiusCall& search) {
    return on_gpu().radius(call.points, call.queries, search, engine_of(call, Where::gpu));
}

/// Calls function(RadiusSearch<T>&) on the CPU and returns what the call took. `smallest`: what check() returned.
template <class Function>
StageReports searched(const RadiusCall& call, std::int64_t smallest, const Function& function) {
    Context context(call.options.execution);
    with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
        RadiusSearch<T> search(context, call, smallest);
        function(search);
    });
    return context.take_stages();
}

/// What a search of few queries in a kept tree says besides rows.
void describe_tree(const RadiusCall& call, SearchSummary& summary) {
    summary.box = call.points.tree()->box();
    summary.wrapped_points = call.points.tree()->wrapped_points();
}

RadiusCounts counted(const RadiusCall& call) {
    if (is_over_ranks(where_of(call.options.execution))) {
        return radius_count_over_team(call);
    }
    const std::int64_t smallest = check(call);
    RadiusCounts result;
    std::vector<std::int64_t>& counts = result.counts;
    if (answered_by_this_thread(call, smallest, [&]<Coordinate T>(FewRows<T>& rows) {
            counts.resize(call.row_count());
            return rows.count(counts.data());
        })) {
        describe_tree(call, result);
        return result;
    }
    if (is_on_gpu(call.options.execution)) {
        static_cast<SearchSummary&>(result) = search_on_gpu(call, {call.radii, smallest, call.options, &counts});
        return result;
    }
    result.stages = searched(call, smallest, [&]<Coordinate T>(RadiusSearch<T>& search) {
        counts = zeros<std::int64_t>(call.options.execution, call.row_count(), "the lengths of the rows");
        RadiusSink<T> sink;
        sink.counts = counts.data();
        search.run("count", sink);
        search.describe(result);
    });
    return result;
}

SearchSummary visited(const RadiusVisitor& visitor, const RadiusCall& call) {
    const std::int64_t smallest = check(call);
    if (is_on_gpu(call.options.execution)) {
        return search_on_gpu(call, {call.radii, smallest, call.options, nullptr, nullptr, &visitor});
    }
    SearchSummary summary;
    if (answered_by_this_thread(call, smallest,
                                [&]<Coordinate T>(FewRows<T>& rows) { return pass_rows(call, rows, visitor); })) {
        describe_tree(call, summary);
        return summary;
    }
    summary.stages = searched(call, smallest, [&]<Coordinate T>(RadiusSearch<T>& search) {
        search.describe(summary);
        summary.unresolved = search.visit(visitor, call.options.order);
    });
    return summary;
}

/// The memory of a result.
template <Coordinate T>
RadiusSink<T> memory_of(const RadiusResultAccess& access) {
    RadiusSink<T> rows;
    rows.offsets = access.offsets.data();
    rows.distances = static_cast<T*>(access.distances.get());
    if (access.index_type == IndexType::int32) {
        rows.indices = static_cast<std::int32_t*>(access.indices.get());
    } else {
        rows.wide_indices = static_cast<std::int64_t*>(access.indices.get());
    }
    return rows;
}

RadiusResult rows_of(const RadiusCall& call) {
    if (is_over_ranks(where_of(call.options.execution))) {
        return radius_search_over_team(call);
    }
    const std::int64_t smallest = check(call);
    RadiusResult result;
    const RadiusResultAccess access(result);
    const RadiusOptions& options = call.options;
    access.index_type = options.index_type;
    access.dtype = call.points.dtype();
    if (is_on_gpu(options.execution)) {
        static_cast<SearchSummary&>(result) = search_on_gpu(call, {call.radii, smallest, options, nullptr, &access});
        return result;
    }
    std::vector<std::int64_t>& offsets = access.offsets;
    offsets = zeros<std::int64_t>(options.execution, call.row_count() + 1, "the offsets of the rows");
    if (answered_by_this_thread(call, smallest, [&]<Coordinate T>(FewRows<T>& rows) {
            if (!rows.find(offsets)) {
                std::fill(offsets.begin(), offsets.end(), 0);
                return false;
            }
            access.allocate(options.max_result_bytes);
            rows.write(memory_of<T>(access));
            return true;
        })) {
        describe_tree(call, result);
        return result;
    }
    result.stages = searched(call, smallest, [&]<Coordinate T>(RadiusSearch<T>& search) {
        RadiusSink<T> counts;
        counts.counts = offsets.data() + 1;
        search.run("count", counts);
        add_up(search.context(), offsets);
        access.allocate(options.max_result_bytes);
        const RadiusSink<T> rows = memory_of<T>(access);
        result.unresolved = search.count_unresolved([&](UnresolvedCounter<T>* counter) {
            search.run("search", rows);
            if (counter != nullptr) {
                rows.indices != nullptr ? search.count(*counter, offsets, rows.indices)
                                        : search.count(*counter, offsets, rows.wide_indices);
            }
        });
        search.describe(result);
    });
    return result;
}

} // namespace

} // namespace detail

RadiusResult radius_search(const PointsOrTree& points, const Radii& radii, const RadiusOptions& options) {
    return detail::rows_of({points, nullptr, radii, options});
}

RadiusResult radius_search(const PointsOrTree& points, const PointsView& queries, const Radii& radii,
                           const RadiusOptions& options) {
    return detail::rows_of({points, &queries, radii, options});
}

RadiusCounts radius_count(const PointsOrTree& points, const Radii& radii, const RadiusOptions& options) {
    return detail::counted({points, nullptr, radii, options});
}

RadiusCounts radius_count(const PointsOrTree& points, const PointsView& queries, const Radii& radii,
                          const RadiusOptions& options) {
    return detail::counted({points, &queries, radii, options});
}

SearchSummary radius_visit(const RadiusVisitor& visitor, const PointsOrTree& points, const Radii& radii,
                           const RadiusOptions& options) {
    return detail::visited(visitor, {points, nullptr, radii, options});
}

SearchSummary radius_visit(const RadiusVisitor& visitor, const PointsOrTree& points, const PointsView& queries,
                           const Radii& radii, const RadiusOptions& options) {
    return detail::visited(visitor, {points, &queries, radii, options});
}

} // namespace kith
