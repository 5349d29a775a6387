// Walks of a user's own in kernels: they find what they find on the host, and what plain loops find, with the planes of a
// tree copied to the device in one piece.
#include "emulation/own_walk_kernels.hpp"
#include "walk/own_walks.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;

class OwnWalksOnADevice : public testing::Test {
protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
            GTEST_SKIP() << "no GPU";
        }
    }
};

template <class T, int D>
void check_there(const PointSet<T>& set, const Box& box) {
    if (!is_built(D) || set.count() == 0) {
        return;
    }
    const Tree tree(set.view(), {.box = box, .shape = {3, 3, 8, 0}, .execution = cpu(1)});
    const walk::Planes<T, D> planes(tree);
    const walk::TreeView<T, D> here = planes.view();
    DeviceContext context(cuda());
    const auto bytes = static_cast<std::int64_t>(planes.bytes().size());
    const auto memory = context.buffer<std::byte>(bytes);
    context.copy(memory.data(), planes.bytes().data(), bytes);
    const auto neighbors = context.buffer<std::int64_t>(here.count);
    const auto pairs = context.buffer<std::int64_t>(here.count);
    const auto sums = context.buffer<std::int64_t>(here.nodes());
    const T squared = plain_distance(here, 0, here, here.count / 20);
    const OwnWalks<T, D> job{
        planes.view_at(memory.data()), squared, here.plane_count / 2, neighbors.data(), pairs.data(), sums.data()};
    walk_in_own_kernels(context, job);

    std::vector<std::int64_t> expected(here.count);
    std::int64_t expected_pairs = 0;
    for (std::int32_t i = 0; i < here.count; ++i) {
        for (std::int32_t j = 0; j < here.count; ++j) {
            const bool is_near = plain_distance(here, i, here, j) <= squared;
            expected[i] += is_near ? 1 : 0;
            expected_pairs += is_near && i < j ? 1 : 0;
        }
    }
    EXPECT_EQ(context.to_host(neighbors.data(), here.count), expected);
    const std::vector<std::int64_t> found = context.to_host(pairs.data(), here.planes[job.plane].nodes);
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), std::int64_t{0}), expected_pairs);
    EXPECT_EQ(context.to_host(sums.data(), here.nodes()), walk::reduce<std::int64_t>(here, SumIndices<T, D>{here}));
}

TEST_F(OwnWalksOnADevice, FindWhatPlainLoopsFind) {
    for (const char* name : {"clustered", "lattice", "coincident", "far_outlier", "one"}) {
        for (const std::size_t box : {std::size_t{0}, std::size_t{1}}) {
            SCOPED_TRACE(std::string(name) + ", box " + std::to_string(box));
            const PointSet<float> set = point_set<float>(name, 3);
            check_there<float, 3>(set, set.boxes[std::min(box, set.boxes.size() - 1)].box);
            const PointSet<double> plane = point_set<double>(name, 2);
            check_there<double, 2>(plane, plane.boxes[std::min(box, plane.boxes.size() - 1)].box);
        }
    }
}

} // namespace
} // namespace kith::test
