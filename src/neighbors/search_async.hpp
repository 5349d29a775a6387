// A neighbor search on a GPU that only puts work on the stream: no count is read, no memory taken but the caller's.
//
// As the search that waits (search_device.hpp), in a tree that is there already, or with one whose counts the number of
// points decides (tree/fixed_planes.hpp) and a frame that the device finds. The tree changes how long it takes, not
// what it finds.
#pragma once

#include "cuda/device_value.hpp"
#include "neighbors/search_device.hpp"
#include "tree/build_async.hpp"
#include "tree/tree_in_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
struct CompleteSearchFrame {
    WantedNeighbors wanted;
    std::int64_t sources;
    const DeviceFrame<T>* points; ///< the frame of the queries, or of the sources if there are none
    SearchFrame<T>* frame;

    __device__ void operator()() const {
        SearchFrame<T> completed = search_frame<T, D>(points->frame, wanted, sources);
        completed.is_refused = points->is_refused;
        *frame = completed;
    }
};

/// A search by any engine, once its points are normalized: search(sources, queries, request), of which the first two
/// are what sources_of(known) and normalize(queries, known) return, one and the same in a self-search. Queries of rows
/// in z-order are returned in that order.
template <Coordinate T, int D, class SourcesOf, class Normalize, class Search>
void search_normalized_async(DeviceWork& work, const DeviceKnnAsync& call, const SourcesOf& sources_of,
                             const Normalize& normalize, const Search& search) {
    const DeviceBuffer<DeviceFrame<T>> frames = work.buffer<DeviceFrame<T>>(2); // sources, queries
    const DeviceBuffer<SearchFrame<T>> frame = work.buffer<SearchFrame<T>>(1);
    const PlainBox box(call.call.options.box, D);
    const NeighborRows& rows = *call.call.rows;
    const DeviceRequest<T> request =
        device_request(call.call, frame.data(), row_memory<T>(rows.distances(), rows.indices(), rows.index_type()));
    const auto complete_frame = [&](const DeviceFrame<T>* points) {
        complete(work, "search",
                 CompleteSearchFrame<T, D>{wanted_by(call.call), call.points.count(), points, frame.data()});
    };
    const auto search_for = [&](const auto& sources, const auto& queries) {
        search(sources, queries, request);
        const std::span<std::int32_t> named = rows.query_indices();
        work.copy(named.data(), points_of(queries).indices.data(), static_cast<std::int64_t>(named.size_bytes()));
    };
    const auto& sources = sources_of(AsyncPoints<T>{box, nullptr, frames.data(), call.status});
    if (call.queries) {
        const auto queries =
            normalize(*call.queries, AsyncPoints<T>{box, frames.data(), frames.data() + 1, call.status});
        complete_frame(frames.data() + 1);
        search_for(sources, queries);
    } else {
        complete_frame(frames.data());
        search_for(sources, sources);
    }
}

/// Leaves of few queries are about as large in space as those of the sources.
inline FixedShape shape_of_queries(std::int64_t queries, std::int64_t sources, std::int64_t k) {
    FixedShape shape = usual_shape;
    const bool goes_by_leaf = k <= max_list_length && sources > 0;
    shape.gaps_of_cut =
        goes_by_leaf ? std::clamp<std::int64_t>(queries * shape.gaps_of_cut / sources, 1, shape.gaps_of_cut) : 0;
    return shape;
}

template <Coordinate T, int D>
void search_async_on_device(DeviceWork& work, const DeviceKnnAsync& call) {
    const auto search_from = [&](const auto& sources_of) {
        search_normalized_async<T, D>(
            work, call, sources_of,
            [&](const PointsView& queries, const AsyncPoints<T>& known) {
                return build_tree_async<T, D>(
                    work, queries, shape_of_queries(queries.count(), call.points.count(), call.call.k), known);
            },
            [&](const DevicePlaneTree<T>& sources, const DevicePlaneTree<T>& queries, const DeviceRequest<T>& request) {
                DeviceSearch<T, D>(work, queries, sources).run(request, all_leaves(queries));
            });
    };
    if (call.kept != nullptr) {
        search_from([&](const AsyncPoints<T>& known) -> const DevicePlaneTree<T>& {
            return kept_tree_async(work, *call.kept, known);
        });
    } else if (call.in_memory != nullptr) {
        TreeInMemory<T, D> tree(call.call.options.execution, *call.in_memory);
        search_from([&](const AsyncPoints<T>& known) -> const DevicePlaneTree<T>& { return tree.load(work, known); });
    } else {
        search_from([&](const AsyncPoints<T>& known) {
            return build_tree_async<T, D>(work, call.points.points(), usual_shape, known);
        });
    }
}

} // namespace kith::detail::inline KITH_GPU
