// An engine of neighbor searches: an index over source points that is built once and brings the rows of any number of
// requests to their sinks. The index of Engine::tree is in tree_index.hpp. Another engine is a folder with an Index and
// a line in index.cpp.
#pragma once

#include <kith/execution.hpp>
#include <kith/tree.hpp>

#include "neighbors/radius.hpp"
#include "neighbors/search.hpp"
#include "points/point_set.hpp"
#include "points/unsorted_points.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
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
    /// The same, with planes if the index has any.
    [[nodiscard]] virtual TreeView<T> view() const { return without_planes(points()); }
    /// Separate queries in such an order, with planes if the index has any; runs stages of the context.
    [[nodiscard]] virtual PlaneTree<T> arrange(Context& context, const NormalizedPoints<T>& queries) const = 0;

    /// Brings the rows of all receivers, which may be points(), to the sink. Runs inside a stage.
    virtual void search(Context& context, const PointSet<T>& receivers, const KnnRequest<T>& request,
                        RowSink<T>& sink) const = 0;
    /// The same for separate queries; runs stages of the context.
    virtual void search_queries(Context& context, const NormalizedPoints<T>& queries, const KnnRequest<T>& request,
                                RowSink<T>& sink) const {
        const PlaneTree<T> arranged = arrange(context, queries);
        context.stage("search", [&] { search(context, arranged.points, request, sink); });
    }
    /// The same within radii: the job's sources are view(). Refused before (calls/answers.hpp) if the engine has no
    /// radius search.
    virtual void search(Context& context, const RadiusJob<T>& job) const = 0;
};

/// Runs stages of the context. Brute force refers to the points of a set, which must outlive the index; others copy
/// them. Only brute force takes no points. Of the options, the engine, which is not Engine::tree, and what is its own
/// count.
template <Coordinate T>
std::unique_ptr<const Index<T>> build_index(Context& context, const UnsortedPoints<T>& points,
                                            const TreeOptions& options);

/// Throws invalid_argument for options that an index of `points` points cannot have.
void check_clover(const CloverOptions& options, std::int64_t points);

} // namespace kith::detail
