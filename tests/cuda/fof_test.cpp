// Groups, clusters, a catalog and the order of groups of very many points on a GPU against the CPU's, bit for bit, with
// columns on either side.
// The suites of all searches run there as well (conformance tests of tests/groups).
#include "cuda/gpu.hpp"
#include "cuda/many_points.hpp"

#include <kith/dbscan.hpp>
#include <kith/device_catalog.hpp>
#include <kith/fof.hpp>
#include <kith/group_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using CudaGroups = NeedsDimension<3>;

TEST_F(CudaGroups, ManyPointsEqualTheCpu) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = many_points();
    const PointsView view(points, 3);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        for (const double b : {0.1, 0.2, 0.6}) {
            const FofResult expected = fof(view, LinkingLength::relative(b), {.box = box});
            const FofResult found = fof(view, LinkingLength::relative(b), {.box = box, .execution = cuda()});
            EXPECT_EQ(found.label_array, expected.label_array);
            EXPECT_EQ(found.sizes, expected.sizes);
        }
    }
}

TEST_F(CudaGroups, ManyPointsHaveTheClustersOfTheCpu) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = many_points();
    const PointsView view(points, 3);
    const OnGpu<float> there(points);
    for (const bool star : {false, true}) {
        DbscanOptions options{.box = Box::periodic(1), .star = star};
        const DbscanResult expected = dbscan(view, 2e-3, 8, options);
        EXPECT_GT(expected.clusters, 50); // the clumps, and the coincident points
        EXPECT_GT(expected.noise_points, 100000);
        options.execution = cuda();
        const DbscanResult found = dbscan(there.points(3), 2e-3, 8, options);
        EXPECT_EQ(found.label_array, expected.label_array);
        EXPECT_EQ(found.is_core, expected.is_core);
        EXPECT_EQ(found.sizes, expected.sizes);
    }
}

TEST_F(CudaGroups, TheCatalogEqualsTheCpus) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = many_points();
    const std::size_t count = points.size() / 3;
    Random draw(3);
    std::vector<double> velocities(points.size());
    std::vector<float> masses(count);
    std::vector<std::uint8_t> types(count);
    std::generate(velocities.begin(), velocities.end(), [&] { return draw.normal(); });
    std::generate(masses.begin(), masses.end(), [&] { return static_cast<float>(draw.uniform()); });
    std::generate(types.begin(), types.end(), [&] { return static_cast<std::uint8_t>(draw.integer(7)); });
    Particles on_host;
    on_host.positions = PointsView(points, 3);
    on_host.velocities = PointsView(velocities, 3);
    on_host.masses = ScalarsView(masses);
    on_host.types = types;
    std::vector<std::int32_t> labels(count);
    const FofSummary groups =
        fof_into(labels, on_host.positions, LinkingLength::relative(0.2), {.box = Box::periodic(1)});
    const Catalog expected = catalog(labels, groups, on_host);

    const OnGpu<float> points_there(points);
    const OnGpu<double> velocities_there(velocities);
    const OnGpu<float> masses_there(masses);
    const OnGpu<std::uint8_t> types_there(types);
    const OnGpu<std::int32_t> labels_there(labels);
    Particles on_gpu;
    on_gpu.positions = points_there.points(3);
    on_gpu.velocities = velocities_there.points(3);
    on_gpu.masses = ScalarsView(std::span<const float>(masses_there.span()));
    on_gpu.types = types_there.span();
    for (const Catalog& found : {catalog(labels_there.span(), groups, on_gpu, {.execution = cuda()}),
                                 catalog(labels, groups, on_host, {.execution = cuda()}),
                                 device_catalog(labels_there.span(), groups, on_gpu).to_host()}) {
        EXPECT_EQ(found.member_array, expected.member_array);
        for_each_field(found, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
            EXPECT_EQ(values, expected.*std::get<std::vector<T> Catalog::*>(column.values)) << column.field;
        });
    }
}

TEST_F(CudaGroups, TheirOrderInMemoryEqualsTheCpus) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = many_points();
    const std::size_t count = points.size() / 3;
    std::vector<std::int32_t> labels(count);
    const FofSummary found = fof_into(labels, PointsView(points, 3), LinkingLength::relative(0.2));
    const std::int64_t groups = found.groups_of_at_least(20);
    const GroupOrder expected = group_order(labels, groups);
    const OnGpu<std::int32_t> labels_there(labels);
    const OnGpu<std::int32_t> indices(count);
    const OnGpu<std::int64_t> offsets(expected.offsets.size());
    EXPECT_EQ(group_order_into(indices.span(), offsets.span(), labels_there.span(), groups, cuda()).members,
              expected.members);
    EXPECT_EQ(indices.on_host(), expected.indices);
    EXPECT_EQ(offsets.on_host(), expected.offsets);
    std::vector<float> sorted(points.size());
    gather_rows(expected.indices, points.data(), 3 * sizeof(float), sorted.data());
    const OnGpu<float> points_there(points);
    const OnGpu<float> sorted_there(points.size());
    gather_rows(indices.span(), points_there.span().data(), 3 * sizeof(float), sorted_there.span().data(), cuda());
    EXPECT_EQ(sorted_there.on_host(), sorted);
}

} // namespace
} // namespace kith::test
