// What every engine but the plane tree is to the calls: an index over source points that is built once and brings the
// rows of any number of requests to their sinks. A new engine is a folder with an Index, and a line in index.cpp.
#pragma once

#include <kith/execution.hpp>

#include "neighbors/radius.hpp"
#include "neighbors/search.hpp"
#include "points/point_set.hpp"
#include "points/unsorted_points.hpp"
#include "support/context.hpp"

#include <memory>

namespace kith::detail {

template <Coordinate T>
class Index {
public:
    Index() = default;
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;
    virtual ~Index() = default;

    /// The sources, in an order in which the index searches them fast when they are the queries.
    [[nodiscard]] virtual const PointSet<T>& points() const = 0;
    /// Separate queries in such an order; runs stages of the context.
    [[nodiscard]] virtual PointSet<T> arrange(Context& context, const NormalizedPoints<T>& queries) const = 0;

    /// Brings the rows of all receivers, which may be points(), to the sink. Runs inside a stage.
    virtual void search(Context& context, const PointSet<T>& receivers, const KnnRequest<T>& request,
                        RowSink<T>& sink) const = 0;
    /// The same for separate queries; runs stages of the context.
    virtual void search_queries(Context& context, const NormalizedPoints<T>& queries, const KnnRequest<T>& request,
                                RowSink<T>& sink) const {
        const PointSet<T> arranged = arrange(context, queries);
        context.stage("search", [&] { search(context, arranged, request, sink); });
    }
    /// The same within radii: the job's sources are points(), without planes. Refused before (calls/choose.hpp) if the
    /// engine has no radius search.
    virtual void search(Context& context, const RadiusJob<T>& job) const = 0;
};

/// Runs stages of the context. The index refers to the points, which must outlive it. Only brute force takes no points.
template <Coordinate T>
std::unique_ptr<const Index<T>> build_index(Context& context, Engine engine, const UnsortedPoints<T>& points);

} // namespace kith::detail
