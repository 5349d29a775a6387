// The builder of kith/device/kdtree_build.cuh, for files that nvcc does not compile.
#pragma once

#include "device.hpp"

#include <kith/device/kdtree_split.hpp>

#include <cstdint>

namespace bench {

/// What a build in place takes besides the points.
struct HeaderBuild {
    HeaderBuild(std::int64_t count, kith::kdtree::Split by) : split(by), points(3 * count), scratch(count), bounds(6) {}

    kith::kdtree::Split split;
    DeviceArray<float> points; ///< swapped into the order of the tree
    DeviceArray<std::uint32_t> scratch;
    DeviceArray<float> bounds;
};

/// Puts the copying of points of three coordinates and the building of their tree on the
/// stream. Fills one index and one axis for each point.
void build_by_header(HeaderBuild& build, const DeviceArray<float>& rows, DeviceArray<std::int32_t>& indices,
                     DeviceArray<std::uint8_t>& split_axes, cudaStream_t stream);

} // namespace bench
