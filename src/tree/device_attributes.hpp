// Attributes of nodes in memory of a GPU, filled bottom-up by a reducer of the module that needs them
// (node_attributes.hpp): a thread for each node.
#pragma once

#include "cuda/launch.hpp"
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

/// Joins what is below each node of a plane.
template <class Attribute, class Below, class Join>
struct JoinBelow {
    const std::int32_t* first; ///< of each node; one more at the end
    Below below;
    Join join;
    Attribute* values;

    __device__ void operator()(std::int64_t node) const {
        Attribute joined = below(first[node]);
        for (std::int32_t i = first[node] + 1; i < first[node + 1]; ++i) {
            joined = join(joined, below(i));
        }
        values[node] = joined;
    }
};

template <class Attribute>
struct AttributeOfNode {
    const Attribute* values;

    __device__ Attribute operator()(std::int32_t node) const { return values[node]; }
};

/// Of a leaf, join() over of_point(position) of its points; of another node, over its children.
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
        attributes.planes[plane] = values;
        if (plane == 0) {
            for_each_index(work, "attributes of leaves", at.nodes,
                           JoinBelow<Attribute, OfPoint, Join>{at.first_point, of_point, join, values});
        } else {
            for_each_index(work, "attributes of nodes", at.nodes,
                           JoinBelow<Attribute, AttributeOfNode<Attribute>, Join>{
                               at.first_child, {attributes.planes[plane - 1]}, join, values});
        }
        values += at.nodes;
    }
    return attributes;
}

} // namespace kith::detail::inline KITH_GPU
