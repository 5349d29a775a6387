// The kernel that searches leaf by leaf, run on the CPU, and the one that takes what it leaves: together against the
// oracle, bit for bit.
#include "emulation/kernel_cases.hpp"
#include "emulation/kernel_trees.hpp"

#include "neighbors/leaf_kernel.hpp"
#include "neighbors/search_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// Searches leaf by leaf, where the lists are long enough, then for what that leaves. Returns how many rows that is.
/// With 0 leaves of a warp, their number is drawn.
template <class T, int D, bool Periodic, int List>
std::int32_t run_kernels(const KernelSearch<T, D>& search, const TreeShape& shape, std::int32_t leaves_of_warp = 0) {
    Random& draw = search.draw;
    const auto tree = detail::build_plane_tree<T>(search.context, search.sources, shape);
    const bool self = search.queries == nullptr;
    const auto other_tree = detail::build_plane_tree<T>(search.context, self ? search.sources : *search.queries, shape);
    const detail::PlaneTree<T>& queries = self ? tree : other_tree;

    std::int32_t count = 0;
    std::vector<std::int32_t> rows(static_cast<std::size_t>(queries.points.count), -1);
    const detail::DeviceRows left_rows{rows.data(), &count};
    const auto per_warp = leaves_of_warp > 0 ? leaves_of_warp : static_cast<std::int32_t>(1 + draw.integer(3));
    detail::SearchFrame<T> frame = *search.request.frame;
    frame.first_reach = std::vector<float>{0, 1e18F, 1e30F}[static_cast<std::size_t>(draw.integer(3))];
    detail::DeviceRequest<T> request = search.request;
    request.frame = &frame;
    const auto leaf_count = static_cast<std::int32_t>(queries.planes.empty() ? 0 : queries.planes[0].nodes);
    const detail::LeafKernelJob<T> leaves{queries.view(), tree.view(), self,     request, 0,
                                          leaf_count,     per_warp,    left_rows};
    const std::int64_t warps = (leaf_count + per_warp - 1) / per_warp;
    const bool fits = search.request.k <= List;
    run_warps("search_leaves", fits ? warps : 0, detail::leaf_warps, static_cast<std::uint64_t>(draw.integer(1000)),
              [&] { detail::search_leaves_kernel<T, D, Periodic, List>(leaves); });
    std::vector<std::int32_t> left(rows.begin(), rows.begin() + count);
    std::sort(left.begin(), left.end());
    EXPECT_TRUE(std::adjacent_find(left.begin(), left.end()) == left.end());
    if (fits) {
        for (std::int64_t i = 0; i < queries.points.count; ++i) {
            const std::int32_t first = search.request.rows.indices[queries.points.indices[i] * search.request.k];
            const bool is_left = std::binary_search(left.begin(), left.end(), static_cast<std::int32_t>(i));
            EXPECT_EQ(first == -7, is_left) << "row " << i;
        }
    }

    const detail::SearchKernelJob<T> rest{queries.points.view(),
                                          tree.view(),
                                          search.request,
                                          0,
                                          static_cast<std::int32_t>(queries.points.count),
                                          fits ? left_rows : detail::DeviceRows{}};
    run_warps("search_tree", 1 + draw.integer(queries.points.count + 1), detail::search_warps,
              static_cast<std::uint64_t>(draw.integer(1000)),
              [&] { detail::search_tree_kernel<T, D, Periodic, detail::rows_of_list<List>>(rest); });
    return count;
}

class LeafKernel : public NeedsDimension<3>, public testing::WithParamInterface<Case> {};

TEST_P(LeafKernel, EqualsTheOracle) {
    expect_what_the_oracle_finds(
        GetParam(), []<class T, int D, bool Periodic>(KernelSearch<T, D> search, std::bool_constant<Periodic>) {
            const TreeShape shape = drawn_tree_shape(search.draw);
            if (search.request.k > 32) {
                run_kernels<T, D, Periodic, 64>(search, shape);
            } else if (search.request.k > 16) {
                run_kernels<T, D, Periodic, 32>(search, shape);
            } else {
                run_kernels<T, D, Periodic, 16>(search, shape);
            }
        });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, LeafKernel, testing::ValuesIn(every_case_in(3)), case_name);

/// Searches for neighbors of a set's points among them, and holds the answer against the oracle. Returns the share of
/// the rows that was left to the second kernel.
template <class T, bool Periodic, int List>
double share_left(const PointSet<T>& set, const TreeShape& shape, std::int64_t k, std::int32_t leaves_of_warp = 0,
                  const Box& box = Periodic ? Box::periodic(1) : Box{}) {
    Random draw(5);
    detail::Context context(cpu(1));
    const auto sources = detail::normalize_sources<T>(set.view(), box);
    std::vector<std::int32_t> indices(static_cast<std::size_t>(set.count() * k), -7);
    std::vector<T> distances(indices.size());
    const auto frame = detail::search_frame<T, 3>(sources.frame, {.k = k}, set.count());
    const detail::DeviceRequest<T> request{k, false, &frame, {distances.data(), indices.data(), nullptr}};
    const std::int32_t left = run_kernels<T, 3, Periodic, List>(
        KernelSearch<T, 3>{context, sources, nullptr, request, draw}, shape, leaves_of_warp);
    const oracle::Neighbors<T> neighbors(oracle::working_copy<T>(set.coordinates, 3, box));
    EXPECT_TRUE(same_rows<T>({{indices.begin(), indices.end()}, distances}, neighbors.rows(k), k))
        << set.name << ", leaves of " << shape.leaf_size;
    return static_cast<double>(left) / static_cast<double>(set.count());
}

/// The same of at most the first points of a named set.
template <class T, bool Periodic, int List>
double share_left(const std::string& name, std::int64_t count, const TreeShape& shape, std::int64_t k) {
    PointSet<T> set = point_set<T>(name, 3);
    set.coordinates.resize(static_cast<std::size_t>(3 * std::min(count, set.count())));
    return share_left<T, Periodic, List>(set, shape, k);
}

/// Uniform points, and as many in a clump that is a hundredth as wide.
template <class T>
PointSet<T> with_clump(std::int64_t count) {
    PointSet<T> set{"uniform points with a clump", 3, uniform_points<T>(count, 3, 0, 1, 6), {}};
    const std::vector<T> clump = uniform_points<T>(count, 3, 0.495, 0.505, 7);
    set.coordinates.insert(set.coordinates.end(), clump.begin(), clump.end());
    return set;
}

using LeafKernelAlone = NeedsDimension<3>;

// Or else the other kernel would do all the work, and do it right.
TEST_F(LeafKernelAlone, ServesAlmostAllRowsOfUniformPoints) {
    const TreeShape shape{.leaf_size = 24};
    EXPECT_LT((share_left<float, false, 16>("uniform", 400, shape, 8)), 0.1);
    EXPECT_LT((share_left<float, true, 32>("uniform", 400, shape, 20)), 0.1);
    EXPECT_LT((share_left<double, true, 16>("uniform", 200, shape, 8)), 0.1);
    EXPECT_LT((share_left<double, false, 32>("uniform", 200, shape, 20)), 0.1);
    EXPECT_LT((share_left<double, false, 64>("uniform", 200, shape, 8)), 0.1);
}

// A leaf beside a clump may serve no row in a round. A warp that learned from such a round left its next leaves.
TEST_F(LeafKernelAlone, ServesMostRowsBesideAClump) {
    const TreeShape shape{.leaf_size = 24};
    constexpr std::int32_t leaves_of_warp = 8; // as for many points
    EXPECT_LT((share_left<float, true, 16>(with_clump<float>(300), shape, 8, leaves_of_warp)), 0.1);
    EXPECT_LT((share_left<double, true, 16>(with_clump<double>(300), shape, 8, leaves_of_warp)), 0.1);
}

// Rows near an edge have neighbors across it, wherever the space begins, also where squares of distances vanish.
TEST_F(LeafKernelAlone, CrossesTheEdgesOfEveryBox) {
    for (const char* name : {"uniform", "subnormal"}) {
        PointSet<float> set = point_set<float>(name, 3);
        set.coordinates.resize(static_cast<std::size_t>(3 * std::min<std::int64_t>(250, set.count())));
        for (const NamedBox& named : set.boxes) {
            if (named.box.axes() > 0) {
                (void)share_left<float, true, 16>(set, {.leaf_size = 4}, 5, 2, named.box);
            }
        }
    }
}

TEST_F(LeafKernelAlone, TakesLeavesOfEverySize) {
    for (const int leaf_size : {31, 32, 33, 40}) {
        for (const char* name : {"uniform", "clustered", "coincident"}) {
            (void)share_left<float, false, 16>(name, 150, {.leaf_size = leaf_size}, 5);
        }
    }
}

} // namespace
} // namespace kith::test
