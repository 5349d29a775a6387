// The order of a k-d tree on a GPU (kdtree_order.hpp), from points on either side to memory on either side.
#pragma once

#include "cuda/result_memory.hpp"
#include "engines/kdtree/build_device.hpp"
#include "engines/kdtree/device_entry.hpp"
#include "points/gather_device.hpp"
#include "points/transfer.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
void order_kd_tree_on_device(DeviceContext& context, const PointsView& points, kdtree::Split split,
                             std::span<std::int32_t> indices, std::span<std::uint8_t> split_axes,
                             KdTreeSummary& result) {
    if (points.count() == 0) {
        return;
    }
    const PointsOnDevice there = points_on_device(context, points);
    NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), Box{});
    std::copy_n(normalized.lower.begin(), D, result.lower.begin());
    std::copy_n(normalized.upper.begin(), D, result.upper.begin());
    normalized.frame.exponent = 0; // as given: scaling could make tiny coordinates equal
    normalized.frame.scale = {};
    const ResultMemory of_indices(context, indices.data(), static_cast<std::int64_t>(indices.size_bytes()));
    const ResultMemory of_axes(context, split_axes.data(), static_cast<std::int64_t>(split_axes.size_bytes()));
    auto* const axes = static_cast<std::uint8_t*>(of_axes.on_device());
    context.stage("tree", [&] {
        const DeviceKdTree<T, D> tree =
            build_kd_tree_on_device<T, D>(context, gather_on_device<T, D>(context, normalized), split);
        context.copy(of_indices.on_device(), tree.indices.data(), static_cast<std::int64_t>(indices.size_bytes()));
        if (split != kdtree::Split::cyclic) {
            context.copy(axes, tree.split_axes.data(), static_cast<std::int64_t>(split_axes.size_bytes()));
            return;
        }
        const auto count = static_cast<kdtree::Node>(split_axes.size());
        for (int level = 0; level < kdtree::levels_of(count); ++level) {
            const kdtree::Node first = kdtree::first_of_level(level);
            context.fill(axes + first, level % D, std::min(kdtree::first_of_level(level + 1), count) - first);
        }
    });
    if (of_indices.must_be_copied() || of_axes.must_be_copied()) {
        context.stage("download", [&] {
            of_indices.copy(context);
            of_axes.copy(context);
            context.wait();
        });
    }
}

} // namespace kith::detail::inline KITH_GPU
