// A radius search on the CPU, from a checked call to stages that bring its rows to sinks: one search may bring them
// several times.
#pragma once

#include <kith/radius.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/sources.hpp"
#include "engines/index.hpp"
#include "neighbors/radius.hpp"
#include "neighbors/radius_checks.hpp"
#include "neighbors/radius_search.hpp"
#include "neighbors/unresolved.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace kith::detail {

inline Engine engine_of(const RadiusCall& call, Where where) {
    return choose(Task::radius, call.options.engine, size_of(call.points, call.queries, 0, where));
}

/// The points of a call in the index of its engine.
template <Coordinate T>
class RadiusSearch {
public:
    /// `smallest`: the query with the smallest radius above 0, or -1.
    RadiusSearch(Context& context, const RadiusCall& call, std::int64_t smallest)
        : context_(context), call_(call), engine_(engine_of(call, Where::cpu)),
          points_(context, call.points, call.options.box) {
        if (call.queries != nullptr) {
            context.run([&] { queries_ = normalize_queries(*call.queries, frame()); });
        }
        may_be_unresolved_ = frame().has_tiny || (queries_ && queries_->has_tiny);
        if (call.row_count() == 0 || call.points.count() == 0) {
            return;
        }
        require_resolved_radii(call.radii, smallest, frame(), call.queries == nullptr,
                               [&] { return points_.largest(context); });
        index_ = &points_.index(context, engine_);
        sources_ = index_->view();
        receivers_ = queries_ ? arranged_.emplace(index_->arrange(context, *queries_)).view() : sources_;
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

    /// Counts the unresolved rows of a result.
    template <class Index>
    void count(UnresolvedCounter<T>& counter, std::span<const std::int64_t> offsets, const Index* indices) const {
        context_.run([&] {
            parallel_each(call_.row_count(), 1 << 10, [&](std::int64_t row) {
                counter.take(row, indices + offsets[row], offsets[row + 1] - offsets[row],
                             call_.options.order == RowOrder::distance);
            });
        });
    }

    void describe(SearchSummary& summary) const {
        summary.engine = engine_;
        summary.box = resolved_box(frame());
        summary.wrapped_points = frame().outside;
    }
    [[nodiscard]] Context& context() const { return context_; }
    [[nodiscard]] const Frame<T>& frame() const { return points_.frame(); }
    [[nodiscard]] PointSetView<T> sources() const { return sources_.points; }
    [[nodiscard]] const std::optional<NormalizedPoints<T>>& queries() const { return queries_; }

    /// Runs a stage that brings all rows to the sink.
    void run(const char* stage, const RadiusSink<T>& sink) { run(stage, sink, call_.options.order); }

    /// Shows all rows to a visitor, in a stage "search"; returns which of them are unresolved.
    UnresolvedRows visit(const RadiusVisitor& visitor, std::optional<RowOrder> order) {
        return count_unresolved([&](UnresolvedCounter<T>* counter) {
            const RadiusVisitor counted = [&](const RadiusBlock& block) {
                for (std::size_t row = 0; row < block.query_indices.size(); ++row) {
                    counter->take(block.query_indices[row], block.indices().data() + block.offsets[row],
                                  block.offsets[row + 1] - block.offsets[row], order == RowOrder::distance);
                }
                visitor(block);
            };
            RadiusSink<T> sink;
            sink.visitor = counter != nullptr ? &counted : &visitor;
            run("search", sink, order);
        });
    }

private:
    void run(const char* stage, const RadiusSink<T>& sink, std::optional<RowOrder> order) {
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
                             order,
                             ReportScale<T>(frame(), call_.options.squared),
                             sink};
            radii_.enter(job);
            index_->search(context_, job);
        });
    }

    Context& context_;
    const RadiusCall& call_;
    Engine engine_;
    WorkingPoints<T> points_;
    std::optional<NormalizedPoints<T>> queries_;
    bool may_be_unresolved_ = false; ///< some row
    const Index<T>* index_ = nullptr;
    std::optional<PlaneTree<T>> arranged_; ///< separate queries
    TreeView<T> receivers_;
    TreeView<T> sources_;
    ReceiverRadii<T> radii_;
};

} // namespace kith::detail
