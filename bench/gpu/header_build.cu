#include "header_build.hpp"

#include <kith/device/kdtree_build.cuh>

namespace bench {

void build_by_header(HeaderBuild& build, const DeviceArray<float>& rows, DeviceArray<std::int32_t>& indices,
                     DeviceArray<std::uint8_t>& split_axes, cudaStream_t stream) {
    namespace kdtree = kith::kdtree;
    using Bounds = kdtree::Bounds<float, 3>;
    static_assert(sizeof(float3) == 3 * sizeof(float) && sizeof(Bounds) == 6 * sizeof(float));
    check(cudaMemcpyAsync(build.points.data(), rows.data(), rows.bytes(), cudaMemcpyDeviceToDevice, stream),
          "copying points");
    kdtree::TreeInPlace<float3> tree{};
    tree.count = static_cast<kdtree::Node>(indices.size());
    tree.points = reinterpret_cast<float3*>(build.points.data());
    tree.indices = indices.data();
    tree.scratch = build.scratch.data();
    tree.split_axes = split_axes.data();
    tree.bounds = reinterpret_cast<Bounds*>(build.bounds.data());
    tree.split = build.split;
    kdtree::build_in_place(tree, stream);
    check(cudaGetLastError(), "building a k-d tree in place");
}

} // namespace bench
