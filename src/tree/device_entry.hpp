// What the tree does on a GPU, compiled for every type and dimension on its own (build_instance.ipp).
#pragma once

#include <kith/tree.hpp>

#include "tree/device_handle.hpp"

namespace kith::detail::inline KITH_GPU {

class DeviceContext;

/// Builds a tree of points, which may be the host's; runs the stages "upload", for those, "order" and "tree".
template <Coordinate T, int D>
DeviceTreeHandle build_tree_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                      const TreeShape& options);

} // namespace kith::detail::inline KITH_GPU
