// What the points do on a GPU, compiled for every type and dimension on its own (part_points_instance.ipp).
#pragma once

#include <kith/execution.hpp>

#include "cuda/namespace.hpp"
#include "points/part_points.hpp"

#include <memory>

namespace kith::detail::inline KITH_GPU {

/// Reads the points of a part that are the GPU's, or the host's, whose context outlives it.
template <Coordinate T, int D>
std::shared_ptr<PartPoints<T>> part_points_on_device(const Execution& execution, Context& host);

} // namespace kith::detail::inline KITH_GPU
