// Attributes of nodes in memory of a GPU, filled bottom-up by a reducer of the module that needs them
// (node_attributes.hpp): a few lanes of a warp for each node.
#pragma once

#include "cuda/launch.hpp"
#include "tree/lanes_of_node.hpp"
#include "tree/view.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// By plane and node.
template <class Attribute>
struct DeviceAttributes {
    DeviceBuffer<Attribute> memory; ///< one plane after another
    std::array<Attribute*, max_planes> planes{};
};

template <class Attribute, class Below, class Join>
struct JoinBelowJob {
    std::int32_t nodes;
    const std::int32_t* first; ///< of what is below each node; one more at the end
    Below below;
    Join join;
    Attribute* values;
};

/// Joins what is below each node of a plane. The grid is that of LaneOfNode.
template <class Attribute, class Below, class Join>
__global__ void join_below_kernel(const __grid_constant__ JoinBelowJob<Attribute, Below, Join> job) {
    const LaneOfNode lane = LaneOfNode::of_thread(job.nodes, job.first);
    Attribute joined = Join::identity;
    for (std::int64_t i = lane.first; i < lane.end; i += lanes_of_node) {
        joined = job.join(joined, job.below(static_cast<std::int32_t>(i)));
    }
    __syncwarp();
#pragma unroll
    for (int lanes = lanes_of_node / 2; lanes > 0; lanes /= 2) {
        joined = job.join(joined, __shfl_xor_sync(whole_warp, joined, lanes));
    }
    if (lane.writes) {
        job.values[lane.node] = joined;
    }
}

template <class Attribute>
struct AttributeOfNode {
    const Attribute* values;

    __device__ Attribute operator()(std::int32_t node) const { return values[node]; }
};

/// Of a leaf, join() over of_point(position) of its points; of another node, over its children. The order in which they
/// are joined does not matter to join(), and joining Join::identity changes nothing.
template <class Attribute, class T, class OfPoint, class Join>
DeviceAttributes<Attribute> node_attributes(DeviceWork& work, const TreeView<T>& tree, const OfPoint& of_point,
                                            const Join& join) {
    std::int64_t nodes = 0;
    for (int plane = 0; plane <= tree.top; ++plane) {
        nodes += tree.planes[plane].nodes;
    }
    DeviceAttributes<Attribute> attributes{work.buffer<Attribute>(nodes), {}};
    Attribute* values = attributes.memory.data();
    for (int plane = 0; plane <= tree.top; ++plane) {
        const PlaneView<T>& at = tree.planes[plane];
        const std::int64_t threads = std::int64_t{at.nodes} * lanes_of_node;
        attributes.planes[plane] = values;
        if (plane == 0) {
            launch_threads(work, "attributes of leaves", join_below_kernel<Attribute, OfPoint, Join>, threads,
                           {at.nodes, at.first_point, of_point, join, values});
        } else {
            launch_threads(work, "attributes of nodes", join_below_kernel<Attribute, AttributeOfNode<Attribute>, Join>,
                           threads, {at.nodes, at.first_child, {attributes.planes[plane - 1]}, join, values});
        }
        values += at.nodes;
    }
    return attributes;
}

} // namespace kith::detail::inline KITH_GPU
