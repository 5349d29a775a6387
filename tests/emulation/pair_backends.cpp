// The emulated GPU's ways to count pairs: in kept trees of two shapes, of points in memory of the host or of the device.
#include "emulation/given_points.hpp"
#include "emulation/tested_dimensions.hpp"
#include "pairs/conformance.hpp"
#include "pairs/device_entry.hpp"
#include "support/context.hpp"
#include "tree/device_entry.hpp"

namespace kith::test {

namespace {

using detail::DeviceContext;

PairCounts in_a_kept_tree(const PairRequest& request, Random& draw) {
    PairCounts found;
    with_type(request.points.dtype(), [&]<class T>(T) {
        with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            DeviceContext context(cuda(1));
            detail::Context host(cpu(1));
            const GivenPoints<T> points(context, request.points, draw.integer(2) == 0);
            std::optional<GivenPoints<T>> others;
            if (request.others) {
                others.emplace(context, *request.others, draw.integer(2) == 0);
            }
            const TreeShape shape = drawn_shape(draw);
            const auto tree = detail::build_tree_on_device<T, D>(context, points.view(), request.box, shape);
            const PairCountOptions options = options_for(request);
            detail::count_pairs_on_device<T, D>(
                context, tree, shape, host, {others ? &others->view() : nullptr, request.bins.edges, options}, found);
        });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return found;
}

} // namespace

std::vector<PairBackend> pair_backends() {
    return {{"emulated GPU, kept tree", in_a_kept_tree}};
}

PairEffort pair_effort() {
    return {.one_in = 6, .points = 200};
}

} // namespace kith::test
