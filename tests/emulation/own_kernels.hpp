// Kernels as users write them with the headers in kith/device: trees built in place, and searches of every kind. For
// their tests (own_kernels_test.cpp), and for the check of what nvcc makes of them (tests/gpu_kernels).
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"

#include <kith/device/kdtree.hpp>
#include <kith/device/kdtree_arrange.cuh>
#include <kith/device/kdtree_build.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kith::test {

constexpr int few = 5;
constexpr std::int64_t many = 40;

/// What a kernel of a user's has: a tree, queries, and memory for what each list of candidates finds.
template <class T, int D>
struct OwnSearches {
    kdtree::TreeView<kdtree::StructNodes<std::array<T, D>>> tree;
    const kdtree::Position<T, D>* queries;
    std::int64_t query_count;
    T radius;
    kdtree::Neighbor<T>* nearest; ///< `few` for each query
    kdtree::Neighbor<T>* heaps;   ///< `many` for each query
    std::int64_t* counts;
};

template <class T, int D, kdtree::Traversal method>
__global__ void own_search_kernel(const __grid_constant__ OwnSearches<T, D> job) {
    const std::int64_t i = detail::thread_index();
    if (i >= job.query_count) {
        return;
    }
    kdtree::Nearest<T, few> nearest;
    kdtree::search<method>(job.tree, job.queries[i], nearest);
    for (int rank = 0; rank < few; ++rank) {
        job.nearest[i * few + rank] = nearest[rank];
    }
    kdtree::NearestHeap<T> heap(job.heaps + i * many, many);
    kdtree::search<method>(job.tree, job.queries[i], heap);
    heap.sort();
    kdtree::CountWithin within(kdtree::squared_radius<T>(job.radius));
    kdtree::search<method>(job.tree, job.queries[i], within);
    job.counts[i] = within.count();
}

template <kdtree::Traversal method, class T, int D>
void search_in_own_kernel(detail::DeviceContext& context, const OwnSearches<T, D>& job) {
    detail::launch_threads(context, "own searches", own_search_kernel<T, D, method>, job.query_count, job);
}

/// How the headers' kernels are launched here.
inline auto own_launch(detail::DeviceContext& context) {
    return [&context]<class Job>(void (*kernel)(Job), unsigned blocks, unsigned threads,
                                 const std::type_identity_t<Job>& job) {
        detail::launch(context, "own kernel", kernel, blocks, static_cast<int>(threads), job);
    };
}

template <class Point>
void build_in_own_kernels(detail::DeviceContext& context, const kdtree::TreeInPlace<Point>& tree) {
    kdtree::build_in_place(tree, own_launch(context));
}

/// All of these kernels, on points in memory of the device, which are also the queries.
template <class T, int D>
void use_own_kernels(detail::DeviceContext& context, const T* points, std::int64_t count, T period) {
    using Point = std::array<T, D>;
    const auto nodes = context.buffer<Point>(count);
    const auto indices = context.buffer<std::int32_t>(count);
    const auto scratch = context.buffer<kdtree::Node>(count);
    const auto split_axes = context.buffer<std::uint8_t>(count);
    const auto bounds = context.buffer<kdtree::Bounds<T, D>>(1);
    const auto nearest = context.buffer<kdtree::Neighbor<T>>(count * few);
    const auto heaps = context.buffer<kdtree::Neighbor<T>>(count * many);
    const auto counts = context.buffer<std::int64_t>(count);
    for (const kdtree::Split split : {kdtree::Split::widest, kdtree::Split::widest_box}) {
        context.copy(nodes.data(), points, count * static_cast<std::int64_t>(sizeof(Point)));
        const kdtree::TreeInPlace<Point> tree{static_cast<kdtree::Node>(count),
                                              nodes.data(),
                                              indices.data(),
                                              scratch.data(),
                                              split_axes.data(),
                                              bounds.data(),
                                              split};
        build_in_own_kernels(context, tree);
    }
    using Parts = kdtree::detail::PartsOfPoints<Point, kdtree::PointTraits<Point>>;
    const Parts parts{{static_cast<kdtree::Node>(count), nodes.data(), nullptr, scratch.data(), nullptr, bounds.data()},
                      2}; // as of many points
    own_launch(context)(kdtree::detail::measure_parts<Point, kdtree::PointTraits<Point>>, parts.parts,
                        kdtree::detail::threads_of_build, parts);
    own_launch(context)(kdtree::detail::join_parts<Point, kdtree::PointTraits<Point>>, 1U,
                        kdtree::detail::threads_of_build, parts);
    const auto arranged = context.buffer<Point>(count);
    const auto least_indices = context.buffer<std::int32_t>(count);
    const auto size = static_cast<kdtree::Node>(count);
    kdtree::arrange(indices.data(), size, reinterpret_cast<const Point*>(points), arranged.data(), own_launch(context));
    kdtree::find_least_indices(indices.data(), size, least_indices.data(), own_launch(context));
    auto view =
        kdtree::view_of(nodes.data(), static_cast<kdtree::Node>(count), context.to_host(bounds.data(), 1).front());
    view.indices = indices.data();
    view.split_axes = split_axes.data();
    view.least_indices = least_indices.data();
    std::fill_n(view.periods.x, D, period);
    const OwnSearches<T, D> job{view,           reinterpret_cast<const kdtree::Position<T, D>*>(points),
                                count,          T(0.125),
                                nearest.data(), heaps.data(),
                                counts.data()};
    search_in_own_kernel<kdtree::Traversal::stack_free>(context, job);
    search_in_own_kernel<kdtree::Traversal::stack>(context, job);
    search_in_own_kernel<kdtree::Traversal::closest_corner>(context, job);
    context.wait();
}

} // namespace kith::test
