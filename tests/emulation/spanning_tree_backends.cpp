// The emulated GPU's ways to find the spanning tree: of a kept tree, whose points are in memory of the host or of the
// device.
#include "emulation/given_points.hpp"
#include "emulation/tested_dimensions.hpp"
#include "mst/conformance.hpp"
#include "mst/device_entry.hpp"
#include "mst/edges.hpp"
#include "support/context.hpp"
#include "tree/device_entry.hpp"

namespace kith::test {

namespace {

using detail::DeviceContext;

// The host's part runs on this thread alone: the kernels' shared memory is every thread's own here.
SpanningTree in_a_kept_tree(const SpanningTreeRequest& request, Random& draw) {
    SpanningTree found = SpanningTreeAccess::make(request.points.count(), request.points.dtype(), Engine::tree);
    with_type(request.points.dtype(), [&]<class T>(T) {
        with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            DeviceContext context(cuda(1));
            detail::Context host(cpu(1));
            const GivenPoints<T> points(context, request.points, draw.integer(2) == 0);
            const auto tree =
                detail::build_tree_on_device<T, D>(context, points.view(), request.box, drawn_shape(draw));
            detail::span_tree_on_device<T, D>(context, tree, host, found);
        });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return found;
}

} // namespace

std::vector<SpanningTreeBackend> spanning_tree_backends() {
    return {{"emulated GPU, kept tree", in_a_kept_tree}};
}

SpanningTreeEffort spanning_tree_effort() {
    return {.one_in = 20, .points = 300};
}

} // namespace kith::test
