// Neighbors of very many points on a GPU against the CPU's, bit for bit, and visitors. The suites of all searches run
// there as well (conformance tests of tests/neighbors).
#include "cuda/gpu.hpp"
#include "cuda/many_points.hpp"
#include "neighbors/radius_conformance.hpp"

#include <kith/knn.hpp>
#include <kith/radius.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace kith::test {
namespace {

using CudaLarge = NeedsDimension<3>;

// Enough points for many blocks, batches and leaves of a warp.
TEST_F(CudaLarge, ManyPointsEqualTheCpu) {
    KITH_NEEDS_GPU();
    for (const double upper : {1.0, 1e-3}) { // even, and a third of all in a corner
        std::vector<float> points = uniform_points<float>(400000, 3, 0, 1, 1);
        const std::vector<float> corner = uniform_points<float>(200000, 3, 0, upper, 2);
        points.insert(points.end(), corner.begin(), corner.end());
        const PointsView view(points, 3);
        for (const Box& box : {Box{}, Box::periodic(1)}) {
            for (const std::int64_t k : {8, 50}) {
                const KnnResult expected = knn(view, k, {.box = box});
                const KnnResult found = knn(view, k, {.box = box, .execution = cuda()});
                EXPECT_TRUE(same_rows(found, rows_of<float>(expected)));
            }
        }
    }
}

TEST_F(CudaLarge, VisitorsSeeEveryRowOnce) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = uniform_points<float>(50000, 3, 0, 1, 1);
    const OnGpu<float> there(points);
    constexpr std::int64_t k = 9;
    const oracle::Rows<float> expected = rows_of<float>(knn(PointsView(points, 3), k));
    oracle::Rows<float> seen{std::vector<std::int64_t>(expected.indices.size(), -7),
                             std::vector<float>(expected.indices.size())};
    const Tree tree(there.points(3), {.execution = cuda()});
    const NeighborVisitor visitor = [&](const NeighborBlock& block) {
        expect_ok(cudaStreamSynchronize(block.stream));
        const auto queries = copied_to_host(block.query_indices.data(), block.query_indices.size());
        const auto indices = copied_to_host(block.indices().data(), block.indices().size());
        const auto distances = copied_to_host(block.distances<float>().data(), block.indices().size());
        for (std::size_t row = 0; row < queries.size(); ++row) {
            for (std::size_t rank = 0; rank < k; ++rank) {
                seen.indices[static_cast<std::size_t>(queries[row]) * k + rank] = indices[row * k + rank];
                seen.distances[static_cast<std::size_t>(queries[row]) * k + rank] = distances[row * k + rank];
            }
        }
    };
    (void)knn_visit(visitor, tree, k, {.execution = cuda()});
    EXPECT_TRUE(same_rows<float>(seen, expected, k));
    EXPECT_EQ(tree.device(), (Device{DeviceKind::cuda, 0}));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"GPU 0", "the CPU"}, [&] { (void)knn(tree, k); }));
}

// More points than one block of a visitor's has.
TEST_F(CudaLarge, VisitorsSeeRowsWithinARadiusInBlocks) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = uniform_points<float>(1200000, 3, 0, 1, 1);
    const PointsView view(points, 3);
    constexpr double radius = 0.008; // some three neighbors
    RadiusOptions options{.box = Box::periodic(1)};
    const RadiusResult expected = radius_search(view, radius, options);
    CollectedRows<float> seen(view.count());
    int blocks = 0;
    const RadiusVisitor visitor = [&](const RadiusBlock& block) {
        expect_ok(cudaStreamSynchronize(block.stream));
        const auto on_host = [](const auto& span) { return copied_to_host(span.data(), span.size()); };
        seen.add(on_host(block.query_indices), on_host(block.offsets), on_host(block.indices()),
                 on_host(block.distances<float>()));
        ++blocks;
    };
    options.execution = cuda();
    (void)radius_visit(visitor, view, radius, options);
    EXPECT_GT(blocks, 1);
    const oracle::RaggedRows<float> rows = rows_of_result<float>(expected);
    const oracle::RaggedRows<float> found = seen.rows();
    EXPECT_EQ(found.offsets, rows.offsets);
    EXPECT_EQ(found.indices, rows.indices);
    EXPECT_EQ(found.distances, rows.distances);
}

TEST_F(CudaLarge, CountsOfManyPointsEqualTheCpus) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = many_points();
    const PointsView view(points, 3);
    for (const double radius : {1e-3, 0.1}) {
        EXPECT_EQ(radius_count(view, radius, {.box = Box::periodic(1), .execution = cuda()}).counts,
                  radius_count(view, radius, {.box = Box::periodic(1)}).counts);
    }
}

} // namespace
} // namespace kith::test
