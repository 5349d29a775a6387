// Attributes of nodes beside box and smallest index, filled bottom-up by a reducer of the module that needs them.
#pragma once

#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

/// One array per plane: of a leaf, join() over of_point(position) of its points; of another node, over its children.
template <class Attribute, Coordinate T, class OfPoint, class Join>
std::vector<Buffer<Attribute>> node_attributes(Context& context, const TreeView<T>& tree, const OfPoint& of_point,
                                               const Join& join) {
    std::vector<Buffer<Attribute>> planes;
    for (int level = 0; level <= tree.top; ++level) {
        const PlaneView<T>& plane = tree.planes[level];
        Buffer<Attribute> values(context.memory_tracker(), plane.nodes);
        const std::int32_t* first = level == 0 ? plane.first_point : plane.first_child;
        const auto below = [&](std::int32_t i) { return level == 0 ? of_point(i) : planes.back()[i]; };
        // Not parallel_each: attributes may be bytes, whose stores may change anything that a body refers to.
        parallel_for(0, plane.nodes, 1024, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t node = begin; node < end; ++node) {
                Attribute joined = below(first[node]);
                for (std::int32_t i = first[node] + 1; i < first[node + 1]; ++i) {
                    joined = join(joined, below(i));
                }
                values[node] = joined;
            }
        });
        planes.push_back(std::move(values));
    }
    return planes;
}

} // namespace kith::detail
