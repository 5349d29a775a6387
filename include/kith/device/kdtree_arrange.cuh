// Brings points, and whatever belongs to them, into the order of a k-d tree, in memory of a GPU. For files that nvcc
// compiles; kith/device/kdtree.hpp does not include it.
//
//   kith::kdtree_order_into(indices, {}, points, kith::kdtree::Split::cyclic, kith::cuda()); // all in memory of the GPU
//   kith::kdtree::arrange(indices.data(), count, stars, nodes, stream);
//   kith::kdtree::find_least_indices(indices.data(), count, least_indices, stream);
#pragma once

#include <kith/device/kdtree_arrange.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace kith::kdtree {

namespace detail {

inline constexpr unsigned threads_of_arrange = 256; ///< of a block

template <class Element>
struct Arrange {
    const std::int32_t* indices;
    Node count;
    const Element* from;
    Element* to;
};

template <class Element>
__global__ void arrange_elements(const Arrange<Element> job) {
    const std::uint64_t node = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (node < job.count) {
        job.to[node] = job.from[job.indices[node]];
    }
}

template <class Index>
struct LeastOfLevel {
    const Index* indices;
    Node count;
    Index* least;
    int level;
};

/// Those of the level below have been found.
template <class Index>
__global__ void find_least_of_level(const LeastOfLevel<Index> job) {
    const std::uint64_t node = first_of_level(job.level) + std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (node < job.count && node < first_of_level(job.level + 1)) {
        job.least[node] = least_index_of(static_cast<Node>(node), job.count, job.indices, job.least);
    }
}

inline unsigned blocks_for(std::uint64_t threads) {
    return static_cast<unsigned>((threads + threads_of_arrange - 1) / threads_of_arrange);
}

} // namespace detail

/// Copies elements to the nodes of their points, to[node] = from[indices[node]], through launch(kernel, blocks,
/// threads, job), which must run kernel(job) on that many blocks of that many threads, one call after another. The
/// arrays must not overlap.
template <class Element, class Launch>
    requires(std::is_class_v<Launch>) // not a stream
void arrange(const std::int32_t* indices, Node count, const Element* from, Element* to, const Launch& launch) {
    static_assert(std::is_trivially_copyable_v<Element>, "a kernel copies elements");
    if (count > 0) {
        launch(detail::arrange_elements<Element>, detail::blocks_for(count), detail::threads_of_arrange,
               detail::Arrange<Element>{indices, count, from, to});
    }
}

/// The smallest original index of each subtree, for TreeView::least_indices: a kernel a level.
template <class Launch>
    requires(std::is_class_v<Launch>)
void find_least_indices(const std::int32_t* indices, Node count, std::int32_t* least, const Launch& launch) {
    for (int level = levels_of(count); level-- > 0;) {
        launch(detail::find_least_of_level<std::int32_t>, detail::blocks_for(std::uint64_t{1} << level),
               detail::threads_of_arrange, detail::LeastOfLevel<std::int32_t>{indices, count, least, level});
    }
}

#if defined(__CUDACC__)

namespace detail {

/// Enqueues kernels on a stream.
inline auto launch_on(cudaStream_t stream) {
    return [stream]<class Job>(void (*kernel)(Job), unsigned blocks, unsigned threads,
                               const std::type_identity_t<Job>& job) { kernel<<<blocks, threads, 0, stream>>>(job); };
}

} // namespace detail

/// The same on a stream: nothing is allocated, and nothing waits. Errors of launches are cudaGetLastError()'s.
template <class Element>
void arrange(const std::int32_t* indices, Node count, const Element* from, Element* to, cudaStream_t stream) {
    arrange(indices, count, from, to, detail::launch_on(stream));
}
inline void find_least_indices(const std::int32_t* indices, Node count, std::int32_t* least, cudaStream_t stream) {
    find_least_indices(indices, count, least, detail::launch_on(stream));
}

#endif

} // namespace kith::kdtree
