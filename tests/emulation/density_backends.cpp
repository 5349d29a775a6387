// The emulated GPU's ways to find the tree that HDBSCAN* cuts: of a kept tree, whose points are in memory of the host or
// of the device.
#include "emulation/given_points.hpp"
#include "emulation/tested_dimensions.hpp"
#include "mst/density_conformance.hpp"
#include "mst/device_entry.hpp"
#include "support/context.hpp"
#include "tree/device_entry.hpp"

namespace kith::test {

namespace {

using detail::DeviceContext;

// The host's part runs on this thread alone: the kernels' shared memory is every thread's own here.
HdbscanResult in_a_kept_tree(const DensityTreeRequest& request, Random& draw) {
    HdbscanResult found;
    found.min_samples = request.min_samples;
    with_type(request.points.dtype(), [&]<class T>(T) {
        with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            DeviceContext context(cuda(1));
            detail::Context host(cpu(1));
            const GivenPoints<T> points(context, request.points, draw.integer(2) == 0);
            const auto tree =
                detail::build_tree_on_device<T, D>(context, points.view(), request.box, drawn_shape(draw));
            detail::span_by_reachability_on_device<T, D>(context, tree, host, found);
        });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return found;
}

} // namespace

std::vector<DensityTreeBackend> density_tree_backends() {
    return {{"emulated GPU, kept tree", in_a_kept_tree}};
}

DensityTreeEffort density_tree_effort() {
    return {.one_in = 20, .points = 300};
}

} // namespace kith::test
