// What the tree does on a GPU, compiled for every type and dimension on its own (build_instance.ipp).
#pragma once

#include <kith/async_tree.hpp>
#include <kith/tree.hpp>

#include "tree/device_handle.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

class DeviceContext;
class DeviceWork;

/// Builds a tree of points, which may be the host's; runs the stages "upload", for those, "order" and "tree".
template <Coordinate T, int D>
DeviceTreeHandle build_tree_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                      const TreeShape& options);

/// Puts the building of a tree in its memory on the stream, or measures how much scratch it takes.
template <Coordinate T, int D>
void build_tree_async_on_device(DeviceWork& work, const Execution& execution, const AsyncTree& tree,
                                const PointsView& points, DeviceStatus* status);

/// Of the memory of a tree; its arrays are aligned likewise.
inline constexpr std::uintptr_t alignment_of_kept_memory = 16;

/// Bytes of the memory of a tree.
template <Coordinate T, int D>
std::int64_t bytes_of_async_tree(const Execution& execution, const AsyncTreeSize& size);

} // namespace kith::detail::inline KITH_GPU
