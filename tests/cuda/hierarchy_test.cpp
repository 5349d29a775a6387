// The hierarchy of very many points whose spanning tree a GPU finds, against the CPU's, bit for bit. The suite of all
// spanning trees runs there as well (mst/conformance_test.cpp).
#include "cuda/gpu.hpp"
#include "cuda/many_points.hpp"

#include <kith/fof.hpp>
#include <kith/hierarchy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

using CudaHierarchy = NeedsDimension<3>;

std::vector<double> linkage_of(const Hierarchy& hierarchy) {
    std::vector<double> numbers(4 * hierarchy.merges().size());
    hierarchy.write_linkage(numbers);
    return numbers;
}

TEST_F(CudaHierarchy, EqualsTheCpus) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = many_points();
    const PointsView view(points, 3);
    const OnGpu<float> there(points);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const Hierarchy on_cpu = hierarchy(view, {.box = box});
        const std::vector<double> expected = linkage_of(on_cpu);
        const Tree tree(there.points(3), {.box = box, .execution = cuda()});
        for (const Hierarchy& found :
             {hierarchy(view, {.box = box, .execution = cuda()}),
              hierarchy(there.points(3), {.box = box, .execution = cuda()}), hierarchy(tree, {.execution = cuda()})}) {
            EXPECT_EQ(found.spanning_tree().engine(), Engine::tree);
            EXPECT_TRUE(std::ranges::equal(found.spanning_tree().edges(), on_cpu.spanning_tree().edges()));
            EXPECT_EQ(linkage_of(found), expected);
        }
    }
}

// Cuts of the tree, one by one and as levels, are the groups that the GPU finds by itself.
TEST_F(CudaHierarchy, CutsAreTheGroupsOfTheGpu) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = many_points();
    const PointsView view(points, 3);
    const std::array lengths{LinkingLength::relative(0.1), LinkingLength::relative(0.2)};
    const SpanningTree tree = spanning_tree(view, {.box = Box::periodic(1), .execution = cuda()});
    const FofLadder ladder = fof_ladder(tree, lengths);
    for (std::size_t level = 0; level < lengths.size(); ++level) {
        const FofResult groups = fof(view, lengths[level], {.box = Box::periodic(1), .execution = cuda()});
        EXPECT_EQ(fof(tree, lengths[level]).label_array, groups.label_array);
        EXPECT_EQ(ladder.labels(static_cast<std::int64_t>(level)), groups.label_array);
        EXPECT_EQ(GroupSizes(ladder.levels()[level].sizes), groups.sizes);
    }
}

} // namespace
} // namespace kith::test
