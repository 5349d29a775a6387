// What the public functions do on a GPU, on the emulated one, against what they do on the CPU: neighbors, groups and
// catalog, with everything in the host's memory; and what they refuse. The CPU's part runs on this thread alone: the
// kernels' shared memory is every thread's own here, and more than new threads have room for.
#include "calls/device_calls.hpp"

#include "cuda_emulation/cuda_runtime.hpp"
#include "support/cases.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

using CallsOnDevice = NeedsDimension<3>;

std::vector<float> clustered_points(std::int64_t count) {
    std::vector<float> points = point_set<float>("clustered", 3).coordinates;
    points.resize(
        static_cast<std::size_t>(std::min<std::int64_t>(count * 3, static_cast<std::int64_t>(points.size()))));
    return points;
}

TEST_F(CallsOnDevice, FindNeighborsByEitherEngine) {
    const std::vector<float> points = clustered_points(150);
    const PointsView view(points, 3);
    const Box box = Box::periodic(1);
    for (const Engine engine : {Engine::automatic, Engine::tree, Engine::brute_force}) {
        KnnOptions options;
        options.engine = engine;
        KnnResult found(view.count(), 4, IndexType::int32, DType::float32);
        const NeighborRows rows = found.rows_view();
        StageReports stages;
        const Engine by =
            detail::search_points_on_device(view, nullptr, box, {4, options, &rows, nullptr}, cuda(), stages);
        EXPECT_EQ(by, engine == Engine::tree ? Engine::tree : Engine::brute_force); // so few points
        EXPECT_TRUE(same_rows(found, rows_of<float>(knn(view, 4, box, {}, cpu(1)))));
        EXPECT_EQ(stages.front().name, "upload");
        EXPECT_EQ(stages.back().name, "download");
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, LabelGroupsByEitherEngine) {
    const std::vector<float> points = clustered_points(300);
    const PointsView view(points, 3);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const auto length = LinkingLength::relative(0.3);
        const FofResult expected = fof(view, length, box, {}, cpu(1));
        StageReports stages;
        const auto tree = detail::build_tree_on_device(view, box, {}, cuda(), stages);
        for (const int how : {0, 1, 2}) {
            std::vector<std::int32_t> labels(expected.labels.size(), -7);
            const FofSummary found =
                how == 0 ? detail::label_tree_on_device(tree, DType::float32, length, labels, cuda())
                         : detail::label_points_on_device(
                               view, box, length, {how == 1 ? Engine::tree : Engine::brute_force}, labels, cuda());
            EXPECT_EQ(labels, expected.labels);
            EXPECT_EQ(found.groups, static_cast<std::int64_t>(expected.sizes.size()));
            EXPECT_TRUE(std::equal(found.sizes.begin(), found.sizes.end(), expected.sizes.begin()));
            EXPECT_EQ(found.linking_length, expected.linking_length);
            EXPECT_EQ(found.volume, expected.volume);
            EXPECT_EQ(found.engine, how == 2 ? Engine::brute_force : Engine::tree);
        }
    }
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
    const FofSummary groups = fof_into(labels, particles.positions, LinkingLength::relative(0.3), box, {}, cpu(1));
    for (const std::int64_t min_members : {1, 2, 5}) {
        const Catalog expected = catalog(labels, groups, particles, box, {min_members}, cpu(1));
        std::vector<std::int32_t> sizes = groups.sizes;
        sizes.resize(static_cast<std::size_t>(groups.groups), 1);
        const Catalog found =
            detail::catalog_on_device({labels, sizes, groups.groups}, particles, box, {min_members}, cuda());
        EXPECT_EQ(found.groups, expected.groups);
        EXPECT_EQ(found.members, expected.members);
        for_each_field(found, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
            EXPECT_EQ(values, expected.*std::get<std::vector<T> Catalog::*>(column.values)) << column.field;
        });
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

template <class T>
void expect_same_in_pieces(const std::vector<T>& points, const std::vector<T>& queries, const Box& box, std::int64_t k,
                           KnnOptions options, std::int64_t budget) {
    const PointsView view(points, 3);
    const PointsView queries_view(queries, 3);
    const PointsView* separate = queries.empty() ? nullptr : &queries_view;
    const KnnResult expected =
        separate != nullptr ? knn(view, queries_view, k, box, options, cpu(1)) : knn(view, k, box, options, cpu(1));
    KnnResult found(expected.rows(), k, options.index_type, dtype_of<T>);
    const NeighborRows rows = found.rows_view();
    Execution execution = cuda();
    execution.memory_budget = budget;
    StageReports stages;
    options.engine = Engine::tree;
    (void)detail::search_points_on_device(view, separate, box, {k, options, &rows, nullptr}, execution, stages);
    EXPECT_TRUE(same_rows(found, rows_of<T>(expected)));
    ASSERT_EQ(stages.size(), 1U);
    EXPECT_GT(stages[0].pieces, 1);
    EXPECT_LE(stages[0].peak_bytes, budget);
}

TEST_F(CallsOnDevice, WorkInPiecesWhereMemoryIsShort) {
    const std::vector<float> points = uniform_points<float>(400, 3, 0, 1, 5);
    expect_same_in_pieces<float>(points, {}, Box::periodic(1), 5, {}, 28000);
    KnnOptions options;
    options.exclude_self = true;
    options.index_type = IndexType::int64;
    options.squared = true;
    expect_same_in_pieces<float>(points, {}, Box{}, 40, options, 100000);

    std::vector<double> lattice; // ties everywhere, between pieces too; and more neighbors than near points
    for (int i = 0; i < 9 * 9 * 7; ++i) {
        lattice.insert(lattice.end(), {double(i % 9), double(i / 9 % 9), double(i / 81)});
    }
    options = {};
    options.max_distance = 1.5;
    expect_same_in_pieces<double>(lattice, uniform_points<double>(300, 3, -1, 10, 6), Box{}, 20, options, 110000);
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, SayWhatIsMissingWhereEvenPiecesDoNotFit) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 5);
    KnnResult found(1000, 5, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    Execution execution = cuda();
    execution.memory_budget = 3000;
    StageReports stages;
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"bytes", "the budget is 3000"}, [&] {
        (void)detail::search_points_on_device(PointsView(points, 3), nullptr, {}, {5, {.engine = Engine::tree}, &rows},
                                              execution, stages);
    }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, RefuseWhatIsElsewhere) {
    const std::vector<float> points = clustered_points(10);
    const PointsView elsewhere(points.data(), DType::float32, 10, 3, 3, 1, Device{DeviceKind::cuda, 1});
    StageReports stages;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"points", "GPU 1", "GPU 0"},
                           [&] { (void)detail::build_tree_on_device(elsewhere, Box{}, {}, cuda(0), stages); }));
}

/// Whatever is missing when: an error that says so, nothing held afterwards, and the next call works.
TEST_F(CallsOnDevice, RunningOutOfMemoryAnywhereLeavesNothingBehind) {
    const std::vector<float> points = clustered_points(120);
    const PointsView view(points, 3);
    const FofResult expected = fof(view, LinkingLength::relative(0.3), {}, {}, cpu(1));
    std::vector<std::int32_t> labels(expected.labels.size());
    const auto run = [&] {
        (void)detail::label_points_on_device(view, Box{}, LinkingLength::relative(0.3), {Engine::tree}, labels, cuda());
    };
    int takes = 0;
    for (bool fails = true; fails; ++takes) {
        emulation::fail_after(takes);
        try {
            run();
            fails = false;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
        }
        emulation::fail_after(-1);
        EXPECT_EQ(emulation::held_on_device(), 0);
    }
    EXPECT_GT(takes, 20);
    EXPECT_EQ(labels, expected.labels);
}

} // namespace
} // namespace kith::test
