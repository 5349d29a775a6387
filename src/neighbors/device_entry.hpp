// What the neighbor search does on a GPU, compiled for every type and dimension on its own (search_instance.ipp).
#pragma once

#include <kith/async_tree.hpp>
#include <kith/device_status.hpp>
#include <kith/knn.hpp>
#include <kith/radius.hpp>
#include <kith/sum_neighbors.hpp>

#include "neighbors/part_searcher.hpp"
#include "neighbors/radius_result_access.hpp"
#include "tree/device_handle.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kith::detail {

class Context;

inline namespace KITH_GPU {

class DeviceContext;
class DeviceWork;

/// A search and where its answer goes: rows or a visitor.
struct DeviceKnnCall {
    std::int64_t k = 1;
    KnnOptions options;
    const NeighborRows* rows = nullptr;
    const NeighborVisitor* visitor = nullptr;
};

/// A radius search and where its answer goes: counts, rows or a visitor.
struct DeviceRadiusCall {
    const Radii& radii;
    std::int64_t smallest_radius; ///< query with the smallest one above 0, or -1
    const RadiusOptions& options;
    std::vector<std::int64_t>* counts = nullptr; ///< empty
    const RadiusResultAccess* rows = nullptr;    ///< without neighbors
    const RadiusVisitor* visitor = nullptr;
};

/// A sum over neighbors, whose columns are the host's.
struct DeviceSumCall {
    const Neighborhood& neighborhood;
    std::int64_t smallest_radius; ///< query with the smallest one above 0, or -1
    const SumOptions& options;
};

/// A search that only puts work on a stream (include/kith/async.hpp). Arguments have been checked as far as the host
/// can.
struct DeviceKnnAsync {
    PointsOrTree points;
    std::optional<PointsView> queries; ///< none: a self-search
    DeviceKnnCall call;                ///< with rows
    bool all_pairs = false;
    DeviceStatus* status = nullptr;         ///< in memory that the device can write
    const DeviceTreeHandle* kept = nullptr; ///< the points' tree, if they have one
    const AsyncTree* in_memory = nullptr;   ///< or that of the caller's memory; the points are then not read
};

/// The neighbors of the queries, which may be the host's, or of the tree's points themselves if there are none.
template <Coordinate T, int D>
SearchSummary search_tree_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const TreeShape& shape,
                                    const PointsView* queries, const DeviceKnnCall& call);

/// A search that keeps no tree, in pieces if that is what memory has room for. Null queries mean a self-search.
template <Coordinate T, int D>
SearchSummary search_points_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                      const DeviceKnnCall& call);

/// The neighbors within a radius of the queries, which may be the host's, or of the tree's points themselves.
template <Coordinate T, int D>
SearchSummary search_radius_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const TreeShape& shape,
                                      const PointsView* queries, const DeviceRadiusCall& call);

/// Searches a part of the points of several processes, which are the host's, as are queries. Null queries mean a
/// self-search.
template <Coordinate T, int D>
std::unique_ptr<GpuPartSearcher<T>> part_searcher_on_device(const Execution& execution,
                                                            const NormalizedPoints<T>& points,
                                                            const NormalizedPoints<T>* queries);

/// Sums over the neighbors of the queries, which may be the host's, or of the tree's points themselves, into sums that
/// have memory for all results. Runs the stages "search", once more for gradients of fields, and "download" after those
/// that build the tree of queries, and the host's part in its context.
template <Coordinate T, int D>
void sum_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const TreeShape& shape, Context& host,
                   const PointsView* queries, const DeviceSumCall& call, NeighborSums& sums);

/// Puts a search by trees on the stream, or measures how much memory it takes.
template <Coordinate T, int D>
void search_async_on_device(DeviceWork& work, const DeviceKnnAsync& search);

} // namespace KITH_GPU

} // namespace kith::detail
