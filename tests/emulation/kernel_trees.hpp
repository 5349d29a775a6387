// Trees for kernels that run on the CPU.
#pragma once

#include "emulation/kernel_cases.hpp"
#include "tree/device_tree.hpp"
#include "tree/plane_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::test {

template <class T>
detail::DeviceTree<T> device_tree(const detail::PlaneTree<T>& tree) {
    detail::DeviceTree<T> view;
    view.points = device_points(tree.points);
    view.period = tree.points.frame.working_period;
    view.top = tree.top();
    for (std::size_t i = 0; i < tree.planes.size(); ++i) {
        const detail::Plane<T>& plane = tree.planes[i];
        view.planes[i] = {static_cast<std::int32_t>(plane.nodes),
                          plane.stride,
                          plane.first_point.data(),
                          plane.first_child.data(),
                          plane.smallest_index.data(),
                          plane.lower_corners.data(),
                          plane.upper_corners.data()};
    }
    return view;
}

/// Of many shapes.
inline TreeOptions drawn_tree_options(Random& draw) {
    TreeOptions options;
    options.leaf_size = std::vector<int>{1, 5, 40}[static_cast<std::size_t>(draw.integer(3))];
    options.coarsening = std::vector<int>{2, 8}[static_cast<std::size_t>(draw.integer(2))];
    options.top_size = std::vector<int>{1, 40}[static_cast<std::size_t>(draw.integer(2))];
    return options;
}

} // namespace kith::test
