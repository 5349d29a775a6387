// A search for k nearest neighbors on the CPU, from a checked call to rows in a sink: one search may bring them several
// times.
#pragma once

#include <kith/knn.hpp>

#include "calls/calls.hpp"
#include "calls/sources.hpp"
#include "engines/index.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/unresolved.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <optional>

namespace kith::detail {

/// The points of a call, and the index of its engine once rows are asked for. The call must outlive it.
template <Coordinate T>
class KnnSearch {
public:
    KnnSearch(Context& context, const KnnCall& call, Engine engine)
        : context_(context), call_(call), engine_(engine), sources_(context, call.points, call.options.box) {
        if (call.queries != nullptr) {
            context.run([&] { queries_ = normalize_queries(*call.queries, frame()); });
        }
    }

    /// Brings all rows to the sink; returns which of them are unresolved.
    UnresolvedRows run(RowSink<T>& sink) {
        if (!frame().has_tiny && !(queries_ && queries_->has_tiny)) {
            search(sink);
            return {};
        }
        const PointsView given = sources_.as_given(context_);
        UnresolvedCounter<T> counter(frame(), given, queries_ ? *call_.queries : given);
        CountedRows<T> counted(sink, counter);
        search(counted);
        return counter.rows();
    }

    void describe(SearchSummary& summary) const {
        summary.box = resolved_box(frame());
        summary.wrapped_points = frame().outside;
    }
    [[nodiscard]] const Frame<T>& frame() const { return sources_.frame(); }
    [[nodiscard]] PointSetView<T> sources() { return index().points().view(); }
    [[nodiscard]] const std::optional<NormalizedPoints<T>>& queries() const { return queries_; }

private:
    /// `spare`: memory that the build may use.
    [[nodiscard]] const Index<T>& index(const DonatedMemory& spare = {}) {
        if (index_ == nullptr) {
            index_ = &sources_.index(context_, is_empty() ? Engine::brute_force : engine_, spare);
        }
        return *index_;
    }
    [[nodiscard]] bool is_empty() const { return call_.row_count() == 0 || call_.points.count() == 0; }

    void search(RowSink<T>& sink) {
        const KnnRequest<T> request = make_request(frame(), call_.k, call_.options);
        const Index<T>& searched = index(sink.spare());
        if (is_empty() && call_.options.z_order && call_.row_count() > 0) { // which brute force does not sort
            const PlaneTree<T> sorted = build_plane_tree<T>(context_, *queries_, TreeShape{});
            context_.stage("search", [&] { searched.search(context_, sorted.points, request, sink); });
        } else if (queries_) {
            searched.search_queries(context_, *queries_, request, sink);
        } else {
            context_.stage("search", [&] { searched.search(context_, searched.points(), request, sink); });
        }
    }

    Context& context_;
    const KnnCall& call_;
    Engine engine_;
    WorkingPoints<T> sources_;
    std::optional<NormalizedPoints<T>> queries_;
    const Index<T>* index_ = nullptr;
};

} // namespace kith::detail
