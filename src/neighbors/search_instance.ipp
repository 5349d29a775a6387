// The neighbor search of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include <kith/error.hpp>

#include "neighbors/count_on_host.hpp"
#include "neighbors/device_entry.hpp"
#include "neighbors/device_rows.hpp"
#include "neighbors/part_searcher_device.hpp"
#include "neighbors/pieces_device.hpp"
#include "neighbors/query_tree.hpp"
#include "neighbors/search_async.hpp"
#include "neighbors/search_device.hpp"
#include "neighbors/search_few.hpp"
#include "neighbors/visit_device.hpp"
#include "points/normalize_device.hpp"
#include "tree/build_device.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

template <Coordinate T, int D>
SearchSummary search_trees(DeviceContext& context, const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources,
                           const DeviceKnnCall& call, CountOnHost<T>& count) {
    const DeviceBuffer<SearchFrame<T>> frame =
        stored(context, "search", search_frame<T, D>(sources.points.frame, wanted_by(call), sources.points.count));
    DeviceRequest<T> request = device_request(call, frame.data(), {});
    if (call.visitor != nullptr) {
        context.stage("search", [&] {
            if (queries.points.count > 0) {
                visit_on_device<T, D>(context, queries, sources, request, *call.visitor, count);
            }
        });
        return count.summary();
    }
    const RowsOnDevice<T> rows(context, *call.rows, count.is_needed() ? call.k * queries.points.count : 0);
    request.rows = rows.memory();
    context.stage("search", [&] { DeviceSearch<T, D>(context, queries, sources).run(request, all_leaves(queries)); });
    const std::int32_t* const in_z_order = queries.points.indices.data();
    rows.deliver(context, in_z_order);
    const auto named = call.options.z_order ? static_cast<std::size_t>(queries.points.count) : 0;
    return count.of(context, rows, call.k, {in_z_order, named});
}

template <Coordinate T, int D>
SearchSummary search_tree(DeviceContext& context, const DevicePlaneTree<T>& sources, const TreeShape& shape,
                          const PointsView* queries, const DeviceKnnCall& call) {
    const Frame<T>& frame = sources.points.frame;
    const auto given = [&] { return given_rows(context, sources); };
    if (queries == nullptr) {
        CountOnHost<T> count(context, frame, frame.has_tiny, given, nullptr);
        return search_trees<T, D>(context, sources, sources, call, count);
    }
    const PointsOnDevice there = points_on_device(context, *queries);
    const NormalizedPoints<T> normalized = normalize_queries_on_device<T, D>(context, there.view(), frame);
    CountOnHost<T> count(context, frame, normalized.has_tiny, given, queries);
    const TreeShape of_queries = query_tree_shape(shape, sources.points.count, queries->count());
    return search_trees<T, D>(context, build_device_tree<T, D>(context, normalized, of_queries), sources, call, count);
}

/// Points and queries that are few, and rows of which none is to be counted, in input order: keys alone do not decide
/// the z-order.
template <Coordinate T, int D>
std::optional<SearchSummary> search_few(DeviceContext& context, const NormalizedPoints<T>& sources,
                                        const PointsView* queries, const DeviceKnnCall& call) {
    const std::int64_t others = queries != nullptr ? queries->count() : sources.view.count();
    if (call.options.z_order || sources.has_tiny || call.k > max_list_length ||
        std::min(sources.view.count(), others) == 0 || !are_few_on_gpu(sources.view.count(), others)) {
        return {};
    }
    const PointsOnDevice there = queries != nullptr ? points_on_device(context, *queries) : PointsOnDevice(context, {});
    std::optional<NormalizedPoints<T>> normalized;
    if (queries != nullptr) {
        normalized = normalize_queries_on_device<T, D>(context, there.view(), sources.frame);
        if (normalized->has_tiny) {
            return {};
        }
    }
    const RowsOnDevice<T> rows(context, *call.rows, 0);
    if (!SearchOfFew<T, D>(context).run(sources, normalized ? &*normalized : nullptr, call, rows.memory())) {
        return {};
    }
    rows.deliver(context);
    return CountOnHost<T>(
               context, sources.frame, false, [] { return std::vector<T>(); }, queries)
        .summary();
}

} // namespace

template <Coordinate T, int D>
SearchSummary search_tree_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const TreeShape& shape,
                                    const PointsView* queries, const DeviceKnnCall& call) {
    return search_tree<T, D>(context, tree.as<DevicePlaneTree<T>>(), device_tree_shape(shape), queries, call);
}

template <Coordinate T, int D>
SearchSummary search_points_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                      const DeviceKnnCall& call) {
    const TreeShape shape = device_tree_shape(TreeShape{});
    const Box& box = call.options.box;
    if (!needs_pieces<T, D>(context, points, queries, *call.rows)) {
        const PointsOnDevice there = points_on_device(context, points);
        const NormalizedPoints<T> sources = normalize_sources_on_device<T, D>(context, there.view(), box);
        if (const std::optional<SearchSummary> found = search_few<T, D>(context, sources, queries, call)) {
            return *found;
        }
        return search_tree<T, D>(context, build_device_tree<T, D>(context, sources, points, shape), shape, queries,
                                 call);
    }
    if (call.options.z_order) {
        throw Error(ErrorKind::out_of_memory, "the memory of the GPU has no room for the search in one piece, as rows "
                                              "in z-order need it; leave z_order out, raise memory_budget or run on "
                                              "the CPU");
    }
    const NormalizedPoints<T> normalized = points.device().kind == DeviceKind::cuda
                                               ? normalize_sources_on_device<T, D>(context, points, box)
                                               : normalize_sources<T>(points, box);
    std::optional<NormalizedPoints<T>> normalized_queries;
    if (queries != nullptr) {
        normalized_queries = queries->device().kind == DeviceKind::cuda
                                 ? normalize_queries_on_device<T, D>(context, *queries, normalized.frame)
                                 : normalize_queries<T>(*queries, normalized.frame);
    }
    CountOnHost<T> count(
        context, normalized.frame, normalized.has_tiny || (normalized_queries && normalized_queries->has_tiny),
        [&] { return host_rows<T>(context, points); }, queries);
    context.stage("search", [&] {
        SearchInPieces<T, D>(context, normalized, normalized_queries ? &*normalized_queries : nullptr, call, shape,
                             count)
            .run(*call.rows);
    });
    return count.summary();
}

template <Coordinate T, int D>
std::unique_ptr<GpuPartSearcher<T>> part_searcher_on_device(const Execution& execution,
                                                            const NormalizedPoints<T>& points,
                                                            const NormalizedPoints<T>* queries) {
    return std::make_unique<DevicePartSearcher<T, D>>(execution, points, queries);
}

template SearchSummary search_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                          const TreeShape&, const PointsView*,
                                                                          const DeviceKnnCall&);
template SearchSummary search_points_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                            const PointsView*, const DeviceKnnCall&);
template std::unique_ptr<GpuPartSearcher<KITH_SCALAR>>
part_searcher_on_device<KITH_SCALAR, KITH_DIMENSION>(const Execution&, const NormalizedPoints<KITH_SCALAR>&,
                                                     const NormalizedPoints<KITH_SCALAR>*);
template void search_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceKnnAsync&);

} // namespace kith::detail::inline KITH_GPU
