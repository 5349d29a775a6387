// The shape of a tree of separate queries.
#pragma once

#include <kith/tree.hpp>

#include <algorithm>
#include <cstdint>

namespace kith::detail {

/// Leaves of queries about as large in space as the leaves of the sources, which have this shape, so that few queries
/// do not share leaves that span the whole box.
inline TreeShape query_tree_shape(TreeShape shape, std::int64_t sources, std::int64_t queries) {
    const double share = static_cast<double>(queries) / static_cast<double>(std::max<std::int64_t>(1, sources));
    shape.leaf_size = static_cast<int>(std::clamp(share * shape.leaf_size, 1.0, double(shape.leaf_size)));
    return shape;
}

} // namespace kith::detail
