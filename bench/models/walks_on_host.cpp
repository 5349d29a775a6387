#include "cuda/intrinsics.hpp" // first: it gives the kernels' text its words

#include "walks_on_host.hpp"

#include "cuda_emulation/grid.hpp"
#include "groups/link_kernel.hpp"
#include "neighbors/leaf_kernel.hpp"
#include "neighbors/search_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::bench {

namespace {

using T = float;
constexpr int dimension = 3;
constexpr std::int64_t k = 16;

template <class Job>
void run(const char* name, std::int64_t warps, int warps_of_block, void (*kernel)(Job), const Job& job) {
    const auto blocks = static_cast<unsigned>((warps + warps_of_block - 1) / warps_of_block);
    emulation::run(
        name, {{blocks, 1, 1}, {static_cast<unsigned>(warps_of_block * emulation::warp_size), 1, 1}},
        [&] { kernel(job); }, 1);
}

} // namespace

double search_by_leaves(const detail::TreeView<T>& tree, const detail::Frame<T>& frame) {
    const std::int32_t count = tree.points.count;
    std::vector<std::int32_t> indices(static_cast<std::size_t>(count * k));
    std::vector<T> distances(indices.size());
    std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
    std::int32_t left = 0;
    const auto search_frame = detail::search_frame<T, dimension>(frame, {.k = k}, count);
    const detail::DeviceRequest<T> request{k, false, &search_frame, {distances.data(), indices.data(), nullptr}};
    constexpr std::int32_t leaves_of_warp = 8; // as for many points
    const std::int32_t leaves = tree.planes[0].nodes;
    const detail::DeviceRows left_rows{rows.data(), &left};
    run<detail::LeafKernelJob<T>>("search by leaf", (leaves + leaves_of_warp - 1) / leaves_of_warp, detail::leaf_warps,
                                  detail::search_leaves_kernel<T, dimension, false, 16>,
                                  {tree, tree, true, request, 0, leaves, leaves_of_warp, left_rows});
    run<detail::SearchKernelJob<T>>("search by query", std::max(left, 1), detail::search_warps,
                                    detail::search_tree_kernel<T, dimension, false, detail::rows_of_list<16>>,
                                    {tree.points, tree, request, 0, count, left_rows});
    return static_cast<double>(left) / count;
}

void link_leaves(const detail::TreeView<T>& tree, T squared_length) {
    std::vector<std::int32_t> parents(static_cast<std::size_t>(tree.points.count));
    std::vector<std::int32_t> marks(static_cast<std::size_t>(detail::mark_count(tree)), detail::not_one_group);
    const detail::LinkFrame<T> frame{tree.period, squared_length, false};
    const auto job = detail::link_job(tree, &frame, detail::DeviceUnionFind(parents.data()), marks.data());
    for (int plane = tree.top; plane >= 0; --plane) {
        run<detail::WholeNodesKernelJob<T>>(
            "marking whole nodes", (tree.planes[plane].nodes + emulation::warp_size - 1) / emulation::warp_size, 1,
            detail::mark_whole_nodes_kernel<T, dimension, false>, {job, plane});
    }
    const std::int64_t leaves = tree.planes[0].nodes;
    run("linking inside leaves", leaves, detail::link_warps, detail::link_inside_leaves_kernel<T, dimension, false>,
        job);
    run("linking leaves", leaves, detail::link_warps, detail::link_leaves_kernel<T, dimension, false>, job);
}

} // namespace kith::bench
