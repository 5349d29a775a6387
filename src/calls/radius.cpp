// The public radius searches: a call is normalized, checked once, and dispatched once; rows are counted, then filled.
#include <kith/error.hpp>
#include <kith/radius.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/few_radius_queries.hpp"
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

Engine engine_of(const RadiusCall& call, Where where) {
    return choose(Task::radius, call.options.engine, size_of(call.points, call.queries, 0, where));
}

/// The call has been checked.
SearchSummary search_on_gpu(const RadiusCall& call, const DeviceRadiusCall& search) {
    return on_gpu().radius(call.points, call.queries, search, engine_of(call, Where::gpu));
}

/// The points of a call in the index of its engine.
template <Coordinate T>
class RadiusSearch {
public:
    /// `smallest`: the query with the smallest radius above 0, or -1.
    RadiusSearch(Context& context, const RadiusCall& call, std::int64_t smallest)
        : context_(context), call_(call), engine_(engine_of(call, Where::cpu)),
          points_(context, call.points, call.options.box) {
        std::optional<NormalizedPoints<T>> queries;
        if (call.queries != nullptr) {
            context.run([&] { queries = normalize_queries(*call.queries, frame()); });
        }
        may_be_unresolved_ = frame().has_tiny || (queries && queries->has_tiny);
        if (call.row_count() == 0 || call.points.count() == 0) {
            return;
        }
        require_resolved_radii(call.radii, smallest, frame(), call.queries == nullptr,
                               [&] { return points_.largest(context); });
        index_ = &points_.index(context, engine_);
        sources_ = index_->view();
        receivers_ = queries ? arranged_.emplace(index_->arrange(context, *queries)).view() : sources_;
        context.run([&] { radii_ = ReceiverRadii<T>(context, call.radii, receivers_, frame()); });
    }

    /// Calls function(counter) with a counter for unresolved rows, or null if there can be none; returns what it found.
    template <class Function>
    UnresolvedRows count_unresolved(const Function& function) {
        if (!may_be_unresolved_) {
            function(static_cast<UnresolvedCounter<T>*>(nullptr));
            return {};
        }
        const PointsView given = points_.as_given(context_);
        UnresolvedCounter<T> counter(frame(), given, call_.queries != nullptr ? *call_.queries : given);
        function(&counter);
        return counter.rows();
    }

    /// Has the rows of a result counted.
    template <class Index>
    void count(UnresolvedCounter<T>& counter, std::span<const std::int64_t> offsets, const Index* indices) const {
        context_.run([&] {
            parallel_each(call_.row_count(), 1 << 10, [&](std::int64_t row) {
                counter.take(row, indices + offsets[row], offsets[row + 1] - offsets[row],
                             call_.options.order == RowOrder::distance);
            });
        });
    }

    [[nodiscard]] Context& context() const { return context_; }
    [[nodiscard]] Engine engine() const { return engine_; }
    [[nodiscard]] const Frame<T>& frame() const { return points_.frame(); }

    /// Runs a stage that brings all rows to the sink.
    void run(const char* stage, const RadiusSink<T>& sink) {
        context_.stage(stage, [&] {
            if (receivers_.points.count == 0) {
                pass_empty_rows(call_.row_count(), sink);
                return;
            }
            RadiusJob<T> job{{&receivers_, &sources_, frame().dimension, frame().periodic},
                             call_.options.exclude_self,
                             {},
                             nullptr,
                             {},
                             call_.options.order,
                             ReportScale<T>(frame(), call_.options.squared),
                             sink};
            radii_.enter(job);
            index_->search(context_, job);
        });
    }

private:
    Context& context_;
    const RadiusCall& call_;
    Engine engine_;
    WorkingPoints<T> points_;
    bool may_be_unresolved_ = false; ///< some row
    const Index<T>* index_ = nullptr;
    std::optional<PlaneTree<T>> arranged_; ///< separate queries
    TreeView<T> receivers_;
    TreeView<T> sources_;
    ReceiverRadii<T> radii_;
};

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

template <Coordinate T>
void describe_search(const RadiusSearch<T>& search, SearchSummary& summary) {
    summary.engine = search.engine();
    summary.box = resolved_box(search.frame());
    summary.wrapped_points = search.frame().outside;
}

RadiusCounts counted(const RadiusCall& call) {
    if (where_of(call.options.execution) == Where::ranks) {
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
        describe_search(search, result);
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
        describe_search(search, summary);
        summary.unresolved = search.count_unresolved([&](UnresolvedCounter<T>* counter) {
            const RadiusVisitor counted = [&](const RadiusBlock& block) {
                for (std::size_t row = 0; row < block.query_indices.size(); ++row) {
                    counter->take(block.query_indices[row], block.indices().data() + block.offsets[row],
                                  block.offsets[row + 1] - block.offsets[row],
                                  call.options.order == RowOrder::distance);
                }
                visitor(block);
            };
            RadiusSink<T> sink;
            sink.visitor = counter != nullptr ? &counted : &visitor;
            search.run("search", sink);
        });
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
    if (where_of(call.options.execution) == Where::ranks) {
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
        describe_search(search, result);
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
