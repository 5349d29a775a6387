// Trees for kernels that run on the CPU.
#pragma once

#include "emulation/kernel_cases.hpp"
#include "tree/plane_tree.hpp"

#include <vector>

namespace kith::test {

/// Of many shapes.
inline TreeShape drawn_tree_shape(Random& draw) {
    TreeShape shape;
    shape.leaf_size = std::vector<int>{1, 5, 40}[static_cast<std::size_t>(draw.integer(3))];
    shape.coarsening = std::vector<int>{2, 8}[static_cast<std::size_t>(draw.integer(2))];
    shape.top_size = std::vector<int>{1, 40}[static_cast<std::size_t>(draw.integer(2))];
    return shape;
}

} // namespace kith::test
