// Neighbours on a GPU against the CPU's, bit for bit: every point set, type and box, points and rows on either side.
#include "cuda/gpu.hpp"

#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace kith::test {
namespace {

template <class T>
oracle::Rows<T> rows_on_host(const KnnResult& result) {
    if (result.device().kind == DeviceKind::cpu) {
        return rows_of<T>(result);
    }
    const std::vector<std::int32_t> indices = copied_to_host(result.indices().data(), result.indices().size());
    return {{indices.begin(), indices.end()},
            copied_to_host(result.template distances<T>().data(), result.template distances<T>().size())};
}

template <class T>
void expect_same_searches(const PointSet<T>& set, const Box& box) {
    const std::vector<T> queries = queries_for(set, box, 300);
    const PointsView queries_view(queries, set.dimension);
    const OnGpu<T> points_there(set.coordinates);
    const OnGpu<T> queries_there(queries);
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        for (const std::int64_t k : {1, 8, 16, 33, 64, 100}) {
            SCOPED_TRACE("k " + std::to_string(k) + ", " + name_of(engine));
            KnnOptions options;
            options.engine = engine;
            options.exclude_self = k == 8;
            options.squared = k == 33;
            const oracle::Rows<T> self = rows_of<T>(knn(set.view(), k, box, options));
            EXPECT_TRUE(same_rows<T>(rows_on_host<T>(knn(set.view(), k, box, options, cuda())), self, k));
            const KnnResult there = knn(points_there.points(set.dimension), k, box, options, cuda());
            EXPECT_EQ(there.device(), (Device{DeviceKind::cuda, 0}));
            EXPECT_TRUE(same_rows<T>(rows_on_host<T>(there), self, k));

            options.exclude_self = false;
            options.max_distance = k == 16 && !self.distances.empty()
                                       ? static_cast<double>(self.distances[self.distances.size() / 2])
                                       : options.max_distance;
            const oracle::Rows<T> separate = rows_of<T>(knn(set.view(), queries_view, k, box, options));
            EXPECT_TRUE(same_rows<T>(
                rows_on_host<T>(knn(points_there.points(set.dimension), queries_view, k, box, options, cuda())),
                separate, k));
            EXPECT_TRUE(same_rows<T>(
                rows_on_host<T>(knn(set.view(), queries_there.points(set.dimension), k, box, options, cuda())),
                separate, k));
        }
    }
}

class CudaKnn : public testing::TestWithParam<Case> {};

TEST_P(CudaKnn, EqualsTheCpu) {
    KITH_NEEDS_GPU();
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            expect_same_searches<T>(set, named.box);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, CudaKnn, testing::ValuesIn(every_case()), case_name);

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
                const KnnResult expected = knn(view, k, box);
                const KnnResult found = knn(view, k, box, {}, cuda());
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
    const Tree tree(there.points(3), Box{}, {}, cuda());
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
    (void)knn_visit(visitor, tree, k, {}, cuda());
    EXPECT_TRUE(same_rows<float>(seen, expected, k));
    EXPECT_EQ(tree.device(), (Device{DeviceKind::cuda, 0}));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"GPU 0", "the CPU"}, [&] { (void)knn(tree, k); }));
}

} // namespace
} // namespace kith::test
