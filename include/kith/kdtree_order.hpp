// The order of a left-balanced k-d tree: which point is each node, and which axis it splits.
//
// The tree is that of kith/device/kdtree_build.hpp, bit for bit, built several times as fast, by all threads or on a
// GPU. Bring your points, and whatever belongs to them, into this order (kith/device/kdtree_arrange.hpp), and search
// them by kith/device/kdtree.hpp from loops and kernels of your own. Space is open: only searches know a periodic box.
// Source: I. Wald (2023), arXiv:2211.00120. Cost: O(N log N) on average. Memory: on the CPU a record of at most 28
// bytes for each point; on a GPU (docs/api/cpp-kdtree.md) a copy of the points, their tree, and what sorts take.
#pragma once

#include <kith/device/kdtree_split.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace kith {

struct KdTreeSummary {
    std::array<double, max_dimension> lower{}; ///< least coordinates of the points, exact; 0 without points
    std::array<double, max_dimension> upper{}; ///< greatest ones
    StageReports stages;
};

struct KdTreeOrder : KdTreeSummary {
    std::vector<std::int32_t> indices;    ///< of the point at each node, in level order
    std::vector<std::uint8_t> split_axes; ///< axis that each node splits
};

/// Orders points, which may be in GPU memory if the call runs there. Points that are equal along an axis are ordered by
/// index; so the order does not depend on where the call runs. Throws Error: invalid_argument (an invalid view),
/// invalid_points (a coordinate that is not finite), too_large (more than 2^31 - 1 points), unsupported (dimension or
/// CUDA not built; Split::widest_box on a GPU; ranks), out_of_memory, device, canceled.
[[nodiscard]] KdTreeOrder kdtree_order(const PointsView& points, kdtree::Split split = kdtree::Split::widest,
                                       const Execution& execution = {});

/// The same, writing to the caller's memory: host memory, or memory of the GPU on which the call runs. `split_axes` may
/// be empty. If the call throws, the contents of both are unspecified. Also throws invalid_argument unless each has one
/// element per point.
KdTreeSummary kdtree_order_into(std::span<std::int32_t> indices, std::span<std::uint8_t> split_axes,
                                const PointsView& points, kdtree::Split split = kdtree::Split::widest,
                                const Execution& execution = {});

} // namespace kith
