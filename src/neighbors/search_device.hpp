// The neighbor search on a GPU, from finished trees to rows in memory of the device.
//
// Lists of up to 64 neighbors are found leaf by leaf (leaf_kernel.hpp), and what that leaves, query by query
// (search_kernel.hpp); longer lists query by query alone. Nothing here waits for the device. Beside the trees it takes
// 4 bytes a query, to name those that are left.
#pragma once

#include "cuda/launch.hpp"
#include "neighbors/leaf_kernel.hpp"
#include "neighbors/search_kernel.hpp"
#include "tree/device_planes.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Leaves from one to another, and the positions of their points.
struct LeafRange {
    std::int32_t first_leaf = 0;
    std::int32_t end_leaf = 0;
    std::int32_t first_point = 0;
    std::int32_t end_point = 0;
};

template <Coordinate T>
LeafRange all_leaves(const DevicePlaneTree<T>& tree) {
    const std::int64_t leaves = tree.planes.empty() ? 0 : tree.planes[0].nodes;
    return {0, static_cast<std::int32_t>(leaves), 0, static_cast<std::int32_t>(tree.points.count)};
}

/// How leaves are shared out among warps: a warp learns from leaf to leaf, but there must be warps for every
/// multiprocessor.
struct LeavesOfWarps {
    std::int32_t leaves_of_warp;
    std::int64_t blocks;

    static LeavesOfWarps of(const DeviceWork& work, std::int64_t leaves) {
        constexpr std::int64_t warps_wanted = 96; // of a multiprocessor: so many gave the least times on an H200
        constexpr std::int64_t max_leaves = 8;
        const std::int64_t each =
            std::clamp<std::int64_t>(leaves / (work.multiprocessors() * warps_wanted), 1, max_leaves);
        const std::int64_t warps = (leaves + each - 1) / each;
        return {static_cast<std::int32_t>(each), (warps + leaf_warps - 1) / leaf_warps};
    }
};

/// Blocks for a search of so many queries, one by one.
inline std::int64_t blocks_for_queries(const DeviceWork& work, std::int64_t queries) {
    return std::min((queries + search_warps - 1) / search_warps, std::int64_t{work.multiprocessors()} * 16);
}

/// The longest list of neighbors that leaves are searched for.
inline constexpr int max_list_length = 64;

/// Calls function.operator()<Periodic, List>(): with the kernel for the box and for k.
template <class Function>
void with_search_kernel(bool periodic, std::int64_t k, const Function& function) {
    const auto with_list = [&]<bool Periodic>() {
        if (k <= 16) {
            function.template operator()<Periodic, 16>();
        } else if (k <= 32) {
            function.template operator()<Periodic, 32>();
        } else {
            function.template operator()<Periodic, max_list_length>();
        }
    };
    periodic ? with_list.template operator()<true>() : with_list.template operator()<false>();
}

template <Coordinate T, int D>
class DeviceSearch {
public:
    DeviceSearch(DeviceWork& work, const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources)
        : work_(work), queries_(queries), sources_(sources) {}

    /// The rows of the queries in a range of leaves.
    void run(const DeviceRequest<T>& request, const LeafRange& range) {
        if (range.first_point == range.end_point) {
            return;
        }
        with_search_kernel(sources_.points.frame.periodic, request.k,
                           [&]<bool Periodic, int List>() { run_lists<Periodic, List>(request, range); });
    }

private:
    template <bool Periodic, int List>
    void run_lists(const DeviceRequest<T>& request, const LeafRange& range) {
        const TreeView<T> sources = sources_.view();
        SearchKernelJob<T> rest{queries_.points.view(), sources, request, range.first_point, range.end_point, {}};
        const std::int64_t points = std::int64_t{range.end_point} - range.first_point;
        DeviceBuffer<std::int32_t> rows;
        DeviceBuffer<std::int32_t> count;
        if (request.k <= max_list_length && sources_.points.count > 0) {
            rows = work_.buffer<std::int32_t>(points);
            count = work_.buffer<std::int32_t>(1);
            rest.only = {rows.data(), count.data()};
            work_.fill(count.data(), 0, sizeof(std::int32_t));
            run_leaves<Periodic, List>(request, range, rest.only, sources);
        }
        launch(work_, "search by query", search_tree_kernel<T, D, Periodic, rows_of_list<List>>,
               blocks_for_queries(work_, points), search_warps * warp_size, rest);
    }

    template <bool Periodic, int List>
    void run_leaves(const DeviceRequest<T>& request, const LeafRange& range, const DeviceRows& left,
                    const TreeView<T>& sources) {
        const LeavesOfWarps share = LeavesOfWarps::of(work_, std::int64_t{range.end_leaf} - range.first_leaf);
        launch(work_, "search by leaf", search_leaves_kernel<T, D, Periodic, List>, share.blocks,
               leaf_warps * warp_size,
               {queries_.view(), sources, &queries_ == &sources_, request, range.first_leaf, range.end_leaf,
                share.leaves_of_warp, left});
    }

    DeviceWork& work_;
    const DevicePlaneTree<T>& queries_;
    const DevicePlaneTree<T>& sources_;
};

} // namespace kith::detail::inline KITH_GPU
