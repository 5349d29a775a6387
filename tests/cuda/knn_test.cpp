// Neighbors of very many points on a GPU against the CPU's, bit for bit, and visitors. The suite of all searches runs
// there as well (neighbors/conformance_test.cpp).
#include "cuda/gpu.hpp"

#include <kith/knn.hpp>

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
        const auto indices = copied_to_host(block.indices.data(), block.indices.size());
        const auto distances = copied_to_host(block.distances<float>().data(), block.indices.size());
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

} // namespace
} // namespace kith::test
