// Which component the points of a node belong to.
#pragma once

#include "distributed/open_edges.hpp"
#include "support/context.hpp"
#include "tree/node_attributes.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// By level and node: the name of the component of all its points, or one of the values below.
using NodeComponents = std::vector<Buffer<std::int64_t>>;
inline constexpr std::int64_t no_component = -1; ///< all its points coincide with others
inline constexpr std::int64_t several_components = -2;

template <Coordinate T, class Length>
NodeComponents components_of_nodes(Context& context, const TreeView<T>& tree, const OwnComponents<Length>& components) {
    return node_attributes<std::int64_t>(
        context, tree,
        [&](std::int32_t i) {
            const std::int32_t component = components.of_row[tree.points.indices[i]];
            return component < 0 ? no_component : components.names[component];
        },
        [](std::int64_t a, std::int64_t b) {
            return a == no_component || a == b ? b : b == no_component ? a : several_components;
        });
}

} // namespace kith::detail
