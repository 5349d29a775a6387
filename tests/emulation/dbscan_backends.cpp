// The emulated GPU's way to find clusters: in a kept tree; points and answers in memory of the host and of the device.
#include "cuda/device_context.hpp"
#include "emulation/given_points.hpp"
#include "emulation/tested_dimensions.hpp"
#include "groups/dbscan_conformance.hpp"
#include "groups/device_entry.hpp"
#include "tree/device_entry.hpp"

namespace kith::test {

namespace {

using detail::DeviceContext;

template <class T, int D>
DbscanResult clusters_of(const DbscanRequest& request, Random& draw) {
    DeviceContext context(cuda(1));
    const GivenPoints<T> points(context, request.points, draw.integer(2) == 0);
    const TreeShape shape = drawn_shape(draw);
    const auto tree = detail::build_tree_on_device<T, D>(context, points.view(), request.options.box, shape);
    DbscanResult found;
    const auto find = [&](std::span<std::int32_t> labels, std::span<std::uint8_t> is_core) {
        detail::cluster_tree_on_device<T, D>(
            context, tree, shape, {request.eps, request.min_samples, request.options.star, labels, is_core}, found);
    };
    if (draw.integer(2) == 0) {
        std::vector<std::int32_t>& labels = found.label_array.vector<std::int32_t>();
        labels.assign(static_cast<std::size_t>(request.points.count()), -7);
        found.is_core.assign(labels.size(), 7);
        find(labels, found.is_core);
    } else {
        const ThereOn<std::int32_t> labels(context, request.points.count());
        const ThereOn<std::uint8_t> is_core(context, request.points.count());
        find(labels.span(), is_core.span());
        found.label_array = labels.on_host();
        found.is_core = is_core.on_host();
    }
    return found;
}

DbscanResult in_a_kept_tree(const DbscanRequest& request, Random& draw) {
    DbscanResult found;
    with_type(request.points.dtype(), [&]<class T>(T) {
        with_tested_dimension(request.points.dimension(),
                              [&]<int D>(std::integral_constant<int, D>) { found = clusters_of<T, D>(request, draw); });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return found;
}

} // namespace

std::vector<DbscanBackend> dbscan_backends() {
    return {{"emulated GPU, kept tree", in_a_kept_tree, 6}};
}

} // namespace kith::test
