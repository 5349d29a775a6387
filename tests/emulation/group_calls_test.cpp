// Groups, clusters, spanning trees and catalogs on the emulated GPU, by public functions, against the CPU; and what
// they refuse.
#include "emulation/calls_on_device.hpp"

#include "calls/choose.hpp"
#include "cuda_emulation/cuda_runtime.hpp"
#include "halos/samples.hpp"
#include "support/cases.hpp"
#include "support/context.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/dbscan.hpp>
#include <kith/fof.hpp>
#include <kith/hdbscan.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace kith::test {
namespace {

TEST_F(CallsOnDevice, LabelGroupsByEitherEngine) {
    const std::vector<float> points = clustered_points(300);
    const PointsView view(points, 3);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const auto length = LinkingLength::relative(0.3);
        const FofResult expected = fof(view, length, {.box = box, .execution = cpu(1)});
        const Tree tree = tree_on_device(view, box);
        for (const int how : {0, 1, 2}) {
            std::vector<std::int32_t> labels(expected.label_array.size(), -7);
            FofSummary found;
            found.engine = how == 2 ? Engine::brute_force : Engine::tree;
            detail::on_gpu().fof(how == 0 ? PointsOrTree(tree) : view, length,
                                 {.box = how == 0 ? Box{} : box, .execution = cuda()}, labels, found);
            EXPECT_EQ(labels, expected.label_array);
            EXPECT_EQ(found.groups, expected.groups);
            EXPECT_EQ(found.sizes, expected.sizes);
            EXPECT_EQ(found.linking_length, expected.linking_length);
            EXPECT_EQ(found.volume, expected.volume);
            EXPECT_EQ(found.box, expected.box);
            EXPECT_EQ(found.coordinates_below, expected.coordinates_below);
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

// A crowd in one place, which is taken whole, clumps, and single points.
TEST_F(CallsOnDevice, LabelClusters) {
    std::vector<float> points(3 * 150, 0.25F);
    const std::vector<float> others = clustered_points(250);
    points.insert(points.end(), others.begin(), others.end());
    const PointsView view(points, 3);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const Tree tree = tree_on_device(view, box);
        for (const auto& [eps, min_samples, star] :
             {std::tuple(0.03, 4, false), std::tuple(0.03, 4, true), std::tuple(0.1, 160, false),
              std::tuple(0.0, 1, false), std::tuple(0.05, 401, false), std::tuple(9.0, 400, false)}) {
            const DbscanResult expected =
                dbscan(view, eps, min_samples, {.box = box, .star = star, .execution = cpu(1)});
            for (const bool in_tree : {false, true}) {
                const DbscanResult found = in_tree
                                               ? clusters_on_device(tree, eps, min_samples, {.star = star}, false)
                                               : clusters_on_device(view, eps, min_samples, {.box = box, .star = star});
                EXPECT_EQ(found.label_array, expected.label_array) << eps << ", " << min_samples;
                EXPECT_EQ(found.is_core, in_tree ? std::vector<std::uint8_t>(400, 7) : expected.is_core);
                EXPECT_EQ(found.sizes, expected.sizes);
                EXPECT_EQ(found.clusters, expected.clusters);
                EXPECT_EQ(found.core_points, expected.core_points);
                EXPECT_EQ(found.noise_points, expected.noise_points);
                EXPECT_EQ(found.eps, expected.eps);
                EXPECT_EQ(found.box, expected.box);
            }
        }
    }
    const std::vector<float> no_points;
    const DbscanResult none = clusters_on_device(PointsView(no_points, 3), 1, 1, {});
    EXPECT_EQ(none.clusters + none.core_points + none.noise_points, 0);
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, RefuseClustersThatMeanNothing) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 5);
    const PointsView view(points, 3);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"eps", "1e+300", "float32"},
                           [&] { (void)clusters_on_device(view, 1e300, 5, {}); }));
    points[3 * 60 + 2] = -1e37F;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"eps is 1000", "point 60", "-1e+37"},
                           [&] { (void)clusters_on_device(view, 1e3, 5, {}); }));
    for (const Engine engine : {Engine::brute_force, Engine::kdtree, Engine::clover}) {
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {name_of(engine), "DBSCAN on a GPU", "auto, tree"},
                               [&] { detail::check_engine(engine, detail::Task::clusters, detail::Where::gpu); }));
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

Execution on_one_thread() { // what the host does at the end
    Execution execution = cuda();
    execution.threads = 1;
    return execution;
}

SpanningTree tree_of(const PointsOrTree& points, const Box& box, const Execution& execution = on_one_thread()) {
    return detail::on_gpu().spanning_tree(points, {.box = box, .execution = execution}, Engine::tree);
}

TEST_F(CallsOnDevice, FindTheSpanningTree) {
    const std::vector<float> points = clustered_points(300);
    const PointsView view(points, 3);
    const Box box = Box::periodic(1);
    const SpanningTree expected = spanning_tree(view, {.box = box, .execution = cpu(1)});
    for (const SpanningTree& found : {tree_of(view, box), tree_of(tree_on_device(view, box), {})}) {
        EXPECT_TRUE(std::ranges::equal(found.edges(), expected.edges()));
        EXPECT_TRUE(std::ranges::equal(found.weights<float>(), expected.weights<float>()));
        EXPECT_TRUE(std::ranges::equal(found.heights<float>(), expected.heights<float>()));
        EXPECT_EQ(found.mean_separation(), expected.mean_separation());
        EXPECT_EQ(found.engine(), Engine::tree);
        EXPECT_EQ(found.stages.back().name, "edges");
        EXPECT_EQ(found.stages[found.stages.size() - 2].name, "download");
    }
    EXPECT_EQ(detail::choose(detail::Task::spanning_tree, Engine::automatic,
                             {5, 5, false, 0, Engine::automatic, detail::Where::gpu}),
              Engine::tree);
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"brute", "the spanning tree on a GPU", "auto, tree"}, [&] {
        detail::check_engine(Engine::brute_force, detail::Task::spanning_tree, detail::Where::gpu);
    }));
    Execution canceled = on_one_thread();
    canceled.progress = [](std::string_view stage, double done) { return stage != "connect" || done == 0; };
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"connect"}, [&] { (void)tree_of(view, {}, canceled); }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

HdbscanResult density_tree_of(const PointsOrTree& points, const Box& box, std::int64_t min_samples,
                              const Execution& execution = on_one_thread()) {
    detail::Context host(cpu(1, execution.progress));
    HdbscanResult found;
    found.min_samples = min_samples;
    detail::on_gpu().density_tree(points, {.box = box, .execution = execution}, host, found);
    const StageReports stages = host.take_stages();
    found.stages.insert(found.stages.end(), stages.begin(), stages.end());
    return found;
}

// Also of fewer points than make a core point, and of one.
TEST_F(CallsOnDevice, FindTheTreeOfDensities) {
    const std::vector<float> points = clustered_points(300);
    const Box box = Box::periodic(1);
    for (const std::int64_t count : {300, 30, 2, 1, 0}) {
        const PointsView view(points.data(), DType::float32, count, 3, 3, 1);
        for (const std::int64_t min_samples : {1, 7, 31}) {
            const HdbscanResult expected =
                hdbscan(view, 5, {.min_samples = min_samples, .box = box, .execution = cpu(1)});
            for (const HdbscanResult& found : {density_tree_of(view, box, min_samples),
                                               density_tree_of(tree_on_device(view, box), {}, min_samples)}) {
                EXPECT_EQ(found.core_distances, expected.core_distances);
                EXPECT_EQ(found.edges, expected.edges);
                EXPECT_EQ(found.heights, expected.heights);
                EXPECT_EQ(found.box, expected.box);
                EXPECT_EQ(found.shortest_length, expected.shortest_length);
                EXPECT_EQ(found.largest, expected.largest);
                EXPECT_TRUE(count == 0 || found.stages.back().name == "edges");
            }
        }
    }
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"brute", "HDBSCAN* on a GPU", "auto, tree"}, [&] {
        detail::check_engine(Engine::brute_force, detail::Task::density_clusters, detail::Where::gpu);
    }));
    Execution canceled = on_one_thread();
    for (const std::string_view at : {"connect", "edges"}) {
        canceled.progress = [at](std::string_view stage, double /*done*/) { return stage != at; };
        EXPECT_TRUE(is_refused(ErrorKind::canceled, {std::string(at)},
                               [&] { (void)density_tree_of(PointsView(points, 3), {}, 5, canceled); }));
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, CountUnresolvedEdgesAndRefuseWrongPoints) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 5);
    points[3 * 60 + 2] = -1e37F;
    const PointsView view(points, 3);
    const std::string expected = spanning_tree(view, {.execution = cpu(1)}).unresolved.warning();
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(tree_of(view, {}).unresolved.warning(), expected);
    EXPECT_EQ(tree_of(tree_on_device(view, {}), {}).unresolved.warning(), expected);
    EXPECT_EQ(density_tree_of(view, {}, 1).unresolved.warning(), expected);
    points[3 * 7] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 7", "NaN"}, [&] { (void)tree_of(view, {}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 7", "NaN"}, [&] { (void)density_tree_of(view, {}, 5); }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, DescribeGroups) {
    const std::vector<float> points = clustered_points(300);
    const Box box = Box::periodic(1);
    Particles particles;
    particles.positions = PointsView(points, 3);
    std::vector<double> velocities(points.size());
    std::vector<float> masses(points.size() / 3);
    std::vector<std::uint8_t> types(points.size() / 3);
    Random draw(1);
    std::generate(velocities.begin(), velocities.end(), [&] { return draw.normal(); });
    std::generate(masses.begin(), masses.end(), [&] { return static_cast<float>(draw.uniform()); });
    std::generate(types.begin(), types.end(), [&] { return static_cast<std::uint8_t>(draw.integer(7)); });
    particles.velocities = PointsView(velocities, 3);
    particles.masses = ScalarsView(masses);
    particles.types = types;
    std::vector<std::int32_t> labels(masses.size());
    const FofSummary groups =
        fof_into(labels, particles.positions, LinkingLength::relative(0.3), {.box = box, .execution = cpu(1)});
    for (const std::int64_t min_members : {1, 2, 5}) {
        const Catalog expected = catalog(labels, groups, particles, {.min_members = min_members, .execution = cpu(1)});
        const Catalog found = detail::catalog_on_device({labels, groups.sizes}, particles, groups,
                                                        {.min_members = min_members, .execution = cuda()});
        EXPECT_EQ(found.groups, expected.groups);
        EXPECT_EQ(found.member_array, expected.member_array);
        for_each_field(found, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
            EXPECT_EQ(values, expected.*std::get<std::vector<T> Catalog::*>(column.values)) << column.field;
        });
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

/// Of groups that were linked here.
TEST_F(CallsOnDevice, LookAtThePositionsOfMembersAlone) {
    Sample<double> made = sample<double>({700, 40, 3}, 3, 6);
    FofResult& groups = made.groups;
    groups.coordinates_below = 8;
    const Particles particles = made.everything();
    const auto find = [&](const Execution& execution) {
        const CatalogOptions options{.execution = execution};
        return execution.device.kind == DeviceKind::cpu
                   ? catalog(groups, particles, options)
                   : detail::catalog_on_device({groups.labels(), groups.sizes}, particles, groups, options);
    };
    const auto is_the_cpus = [&] { return same_values(find(cuda()), find(cpu(1))); };
    const auto row_of = [&](std::int32_t label) {
        return std::ranges::find(groups.labels(), label) - groups.labels().begin();
    };
    EXPECT_TRUE(is_the_cpus());
    for (const double factor : {0x1p1020, 0x1p-1020}) { // first other points than those that were linked
        std::ranges::for_each(made.positions, [&](double& x) { x *= factor; });
        EXPECT_TRUE(is_the_cpus());
    }
    made.positions[3 * static_cast<std::size_t>(row_of(2)) + 1] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(is_the_cpus());
    for (const double x : {std::numeric_limits<double>::quiet_NaN(), -HUGE_VAL}) {
        made.positions[3 * static_cast<std::size_t>(row_of(1)) + 2] = x;
        for (const Execution& execution : {cuda(), cpu(1)}) {
            EXPECT_TRUE(is_refused(ErrorKind::invalid_points,
                                   {"point " + std::to_string(std::min(row_of(1), row_of(2)))},
                                   [&] { (void)find(execution); }));
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

} // namespace
} // namespace kith::test
