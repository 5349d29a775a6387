// Brings points, and whatever belongs to them, into the order of a k-d tree, on the host; kdtree_arrange.cuh does it on
// a GPU.
//
//   const kith::KdTreeOrder order = kith::kdtree_order(stars);
//   std::vector<Star> nodes(stars.size());
//   kith::kdtree::arrange(order.indices, stars, nodes);
#pragma once

#include <kith/device/kdtree_layout.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace kith::kdtree {

namespace detail {

inline void require_size(const char* name, std::size_t size, std::size_t wanted) {
    if (size != wanted) {
        throw Error(ErrorKind::invalid_argument, std::string(name) + " has " + std::to_string(size) +
                                                     " elements; it must have " + std::to_string(wanted));
    }
}

} // namespace detail

/// Copies elements to the nodes of their points: to[node] = from[indices[node]]. The ranges must not overlap. With more
/// than one thread, assignment must not throw. Throws Error: invalid_argument for ranges of other lengths or less than
/// one thread. Cost: O(N), with the cache misses of a random order.
template <std::ranges::contiguous_range From, std::ranges::contiguous_range To>
void arrange(std::span<const std::int32_t> indices, const From& from, To&& to, int threads = 1) {
    detail::require_size("from", std::ranges::size(from), indices.size());
    detail::require_size("to", std::ranges::size(to), indices.size());
    if (threads < 1) {
        throw Error(ErrorKind::invalid_argument, "threads is " + std::to_string(threads) + "; it must be at least 1");
    }
    const auto* const sources = std::ranges::data(from);
    auto* const nodes = std::ranges::data(to);
    const auto arrange_part = [=](std::size_t begin, std::size_t end) {
        for (std::size_t node = begin; node < end; ++node) {
            nodes[node] = sources[indices[node]];
        }
    };
    constexpr std::size_t thread_size = 1 << 14; // fewer elements are not worth a thread
    const std::size_t parts = std::clamp<std::size_t>(indices.size() / thread_size, 1, threads);
    const std::size_t part = (indices.size() + parts - 1) / parts;
    std::vector<std::thread> others;
    others.reserve(parts);
    std::size_t begin = part;
    try {
        for (; begin < indices.size(); begin += part) {
            others.emplace_back(arrange_part, begin, std::min(begin + part, indices.size()));
        }
    } catch (const std::system_error&) { // there are no more: this one does the rest
        arrange_part(begin, indices.size());
    }
    arrange_part(0, std::min(part, indices.size()));
    for (std::thread& other : others) {
        other.join();
    }
}

/// The smallest original index in the subtree of a node, from those of its children.
KITH_KDTREE_HD inline std::int32_t least_index_of(Node node, Node count, const std::int32_t* indices,
                                                  const std::int32_t* least) {
    std::int32_t index = indices[node];
    for (Node child = left_child(node); child <= right_child(node) && child < count; ++child) {
        index = least[child] < index ? least[child] : index;
    }
    return index;
}

/// The smallest original index of each subtree, for TreeView::least_indices. Throws Error: invalid_argument for arrays
/// of different lengths. Cost: O(N).
inline void find_least_indices(std::span<const std::int32_t> indices, std::span<std::int32_t> least) {
    detail::require_size("least", least.size(), indices.size());
    const auto count = static_cast<Node>(indices.size());
    for (Node node = count; node-- > 0;) {
        least[node] = least_index_of(node, count, indices.data(), least.data());
    }
}

} // namespace kith::kdtree
