// The kernels that link friends and number their groups, run on the CPU, against the oracle: labels and sizes, by the tree
// and by brute force.
#include "emulation/kernel_cases.hpp"
#include "emulation/kernel_trees.hpp"

#include "fof/link_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceBuffer;
using detail::DeviceContext;
using detail::DeviceGroups;

/// What label(context, labels) finds, in the oracle's terms.
template <class Label>
oracle::Groups groups_of(std::int64_t count, const Label& label) {
    DeviceContext context(cuda());
    const DeviceBuffer<std::int32_t> labels = context.buffer<std::int32_t>(count);
    const DeviceGroups found = label(context, labels.data());
    oracle::Groups groups{context.to_host(labels.data(), count), context.to_host(found.sizes.data(), found.groups)};
    EXPECT_EQ(found.sizes.size(), found.groups);
    groups.sizes.resize(static_cast<std::size_t>(found.groups + found.singles), 1);
    return groups;
}

template <class T, int D>
oracle::Groups groups_of_tree(const detail::PlaneTree<T>& tree, T squared_length) {
    return groups_of(tree.points.count, [&](DeviceContext& context, std::int32_t* labels) {
        return detail::label_groups<T, D>(context, device_tree(tree), tree.points.frame.periodic, squared_length,
                                          labels);
    });
}

template <class T, int D>
oracle::Groups groups_of_all_pairs(const detail::PointSet<T>& points, T squared_length) {
    return groups_of(points.count, [&](DeviceContext& context, std::int32_t* labels) {
        return detail::label_groups_all_pairs<T, D>(context, device_points(points), points.frame.working_period,
                                                    points.frame.periodic, squared_length, labels);
    });
}

testing::AssertionResult same_groups(const oracle::Groups& found, const oracle::Groups& expected) {
    if (found.sizes != expected.sizes) {
        return testing::AssertionFailure() << "found sizes " << testing::PrintToString(found.sizes) << ", not "
                                           << testing::PrintToString(expected.sizes);
    }
    const auto [label, other] = std::mismatch(found.labels.begin(), found.labels.end(), expected.labels.begin());
    return label == found.labels.end() ? testing::AssertionSuccess()
                                       : testing::AssertionFailure() << "point " << label - found.labels.begin()
                                                                     << " has label " << *label << ", not " << *other;
}

template <class T>
T squared_length_of(const detail::Frame<T>& frame, double length) {
    const T radius = frame.load_radius(static_cast<double>(static_cast<T>(length)));
    return radius * radius;
}

/// None, tiny, usual, large, of everything; one that occurs exactly, and the next smaller one.
template <class T>
std::vector<double> lengths_for(const PointSet<T>& set, const Box& box) {
    const double separation =
        set.extent() / std::pow(static_cast<double>(std::max<std::int64_t>(set.count(), 1)), 1.0 / set.dimension);
    std::vector<double> lengths{0, separation * 1e-3, separation * 0.2, separation * 0.6, set.extent() * 2};
    if (set.count() > 1) {
        const oracle::Neighbors<T> neighbors(oracle::working_copy<T>(set.coordinates, set.dimension, box), 2);
        const T exact = neighbors.rows(2).distances[static_cast<std::size_t>(set.count() / 2) * 2 + 1];
        lengths.push_back(static_cast<double>(exact));
        lengths.push_back(static_cast<double>(std::nextafter(exact, T{0})));
    }
    return lengths;
}

class FofKernels : public testing::TestWithParam<Case> {};

// Every set meets all lengths, in one box or another.
TEST_P(FofKernels, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        detail::with_dimension(GetParam().dimension, [&]<int D>(std::integral_constant<int, D>) {
            const PointSet<T> set = point_set<T>(GetParam().set, D);
            Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{D}));
            auto next = static_cast<std::size_t>(draw.integer(7));
            for (const NamedBox& named : set.boxes) {
                const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, D, named.box);
                detail::Context context(cpu(1));
                const auto placed = detail::place_sources<T>(set.view(), named.box);
                const std::vector<double> lengths = lengths_for(set, named.box);
                for (int i = 0; i < 2; ++i, ++next) {
                    const double length = lengths[next % lengths.size()];
                    const oracle::Groups expected = oracle::groups(copy, length);
                    const T limit = squared_length_of(placed.frame, length);
                    const TreeOptions options = drawn_tree_options(draw);
                    const auto tree = detail::build_plane_tree<T>(context, placed, options);
                    EXPECT_TRUE(same_groups(groups_of_tree<T, D>(tree, limit), expected))
                        << "box " << named.name << ", linking length " << length << ", leaf_size " << options.leaf_size
                        << ", coarsening " << options.coarsening << ", top_size " << options.top_size;
                    if (draw.integer(3) == 0) {
                        const auto points = detail::gather_points<T, D>(context, placed);
                        EXPECT_TRUE(same_groups(groups_of_all_pairs<T, D>(points, limit), expected))
                            << "box " << named.name << ", linking length " << length << ", by brute force";
                    }
                }
            }
        });
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, FofKernels, testing::ValuesIn(every_case()), case_name);

/// Links kept in memory of the host, as the kernels leave them.
template <class T, int D, bool Periodic>
class Links {
public:
    Links(const detail::PlaneTree<T>& tree, T squared_length)
        : parents_(static_cast<std::size_t>(tree.points.count), -7), job_{device_tree(tree),
                                                                          squared_length,
                                                                          detail::DeviceUnionFind(parents_.data()),
                                                                          {}} {
        for (const detail::Plane<T>& plane : tree.planes) {
            marks_.emplace_back(static_cast<std::size_t>(plane.nodes), detail::not_one_group);
        }
        for (std::size_t plane = 0; plane < marks_.size(); ++plane) {
            job_.marks[plane] = marks_[plane].data();
        }
    }

    void mark_whole_nodes() {
        for (int plane = job_.tree.top; plane >= 0; --plane) {
            const detail::WholeNodesKernelJob<T> job{job_, plane};
            run_warps("mark_whole_nodes", (job_.tree.planes[plane].nodes + 31) / 32, 2, 1,
                      [&] { detail::mark_whole_nodes_kernel<T, D, Periodic>(job); });
        }
    }
    void link_inside_leaves() {
        run_warps("link_inside_leaves", job_.tree.planes[0].nodes, detail::link_warps, 1,
                  [&] { detail::link_inside_leaves_kernel<T, D, Periodic>(job_); });
    }

    [[nodiscard]] const std::vector<std::vector<std::int32_t>>& marks() const { return marks_; }
    [[nodiscard]] const std::vector<std::int32_t>& parents() const { return parents_; }

private:
    std::vector<std::int32_t> parents_;
    std::vector<std::vector<std::int32_t>> marks_;
    detail::LinkKernelJob<T> job_;
};

template <class T, int D, bool Periodic>
T squared_distance(const detail::PlaneTree<T>& tree, std::int64_t a, std::int64_t b) {
    const detail::PointSet<T>& points = tree.points;
    return detail::DevicePlace<T, D, Periodic>(points.axis(0) + a, points.stride, points.frame.working_period.data())
        .squared_distance([&](int axis) { return points.axis(axis)[b]; });
}

/// Marked by its plane's kernel are exactly the nodes whose box, or that of a node above, is within the length.
template <class T, int D, bool Periodic>
std::int64_t expect_marks(const detail::PlaneTree<T>& tree, T squared_length) {
    Links<T, D, Periodic> links(tree, squared_length);
    links.mark_whole_nodes();
    const std::vector<std::vector<std::int32_t>> whole = links.marks();
    std::int64_t marked = 0;
    for (int level = 0; level <= tree.top(); ++level) {
        const detail::Plane<T>& plane = tree.planes[level];
        for (std::int64_t node = 0; node < plane.nodes; ++node) {
            T greatest = 0;
            for (std::int64_t a = plane.first_point[node]; a < plane.first_point[node + 1]; ++a) {
                for (std::int64_t b = a; b < plane.first_point[node + 1]; ++b) {
                    greatest = std::max(greatest, squared_distance<T, D, Periodic>(tree, a, b));
                }
            }
            const std::int32_t mark = whole[level][node];
            if (mark != detail::not_one_group) {
                ++marked;
                EXPECT_LE(mark, plane.first_point[node]);
                EXPECT_LE(greatest, squared_length) << "plane " << level << ", node " << node;
            } else if (plane.points_in(node) <= 2 && D == 2) { // a box of two points is as wide as they are apart
                EXPECT_GT(greatest, squared_length) << "plane " << level << ", node " << node;
            }
            if (level < tree.top() || mark == detail::not_one_group) {
                continue;
            }
            EXPECT_EQ(mark, plane.first_point[node]);
        }
        for (std::int64_t node = 0; level > 0 && node < plane.nodes; ++node) {
            for (std::int32_t child = plane.first_child[node]; child < plane.first_child[node + 1]; ++child) {
                if (whole[level][node] != detail::not_one_group) {
                    EXPECT_EQ(whole[level - 1][child], whole[level][node]);
                } else if (whole[level - 1][child] != detail::not_one_group) {
                    EXPECT_EQ(whole[level - 1][child], tree.planes[level - 1].first_point[child]);
                }
            }
        }
    }
    links.link_inside_leaves();
    const detail::Plane<T>& leaves = tree.planes[0];
    for (std::int64_t leaf = 0; leaf < leaves.nodes; ++leaf) {
        bool is_one_group = true;
        for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
            std::int32_t root = i;
            while (links.parents()[root] != root) {
                root = links.parents()[root];
            }
            if (whole[0][leaf] != detail::not_one_group) {
                EXPECT_EQ(links.parents()[i], whole[0][leaf]);
            } else {
                EXPECT_GE(root, leaves.first_point[leaf]);
            }
            is_one_group = is_one_group && root <= leaves.first_point[leaf];
        }
        EXPECT_EQ(links.marks()[0][leaf] != detail::not_one_group, is_one_group) << "leaf " << leaf;
    }
    return marked;
}

/// The box of every leaf to that of every other holds the distances of their points.
template <class T, int D, bool Periodic>
void expect_bounds(const detail::PlaneTree<T>& tree) {
    const detail::DeviceTree<T> view = device_tree(tree);
    const detail::Plane<T>& leaves = tree.planes[0];
    for (std::int32_t leaf = 0; leaf < leaves.nodes; ++leaf) {
        const auto box = detail::box_of<T, D, Periodic>(view, 0, leaf);
        for (std::int32_t other = 0; other < leaves.nodes; ++other) {
            const auto lower = [&](int axis) { return leaves.lower(axis)[other]; };
            const auto upper = [&](int axis) { return leaves.upper(axis)[other]; };
            const T least = box.least_squared_distance(lower, upper);
            const T greatest = box.greatest_squared_distance(lower, upper);
            const bool are_points = leaves.points_in(leaf) == 1 && leaves.points_in(other) == 1;
            for (std::int64_t a = leaves.first_point[leaf]; a < leaves.first_point[leaf + 1]; ++a) {
                for (std::int64_t b = leaves.first_point[other]; b < leaves.first_point[other + 1]; ++b) {
                    const T distance = squared_distance<T, D, Periodic>(tree, a, b);
                    EXPECT_LE(least, distance);
                    EXPECT_GE(greatest, distance);
                    EXPECT_TRUE(!are_points || (least == distance && greatest == distance));
                }
            }
        }
    }
}

class LinkSteps : public testing::TestWithParam<Case> {};

TEST_P(LinkSteps, MarkWhatIsOneGroupAndKeepToBounds) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        detail::with_dimension(GetParam().dimension, [&]<int D>(std::integral_constant<int, D>) {
            PointSet<T> set = point_set<T>(GetParam().set, D);
            set.coordinates.resize(std::min<std::size_t>(set.coordinates.size(), 150 * D));
            Random draw(D);
            for (const NamedBox& named : set.boxes) {
                SCOPED_TRACE(named.name);
                detail::Context context(cpu(1));
                const auto placed = detail::place_sources<T>(set.view(), named.box);
                const auto tree = detail::build_plane_tree<T>(context, placed, drawn_tree_options(draw));
                if (tree.planes.empty()) {
                    continue;
                }
                const std::vector<double> lengths = lengths_for(set, named.box);
                const auto length = static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(lengths.size())));
                const T limit = squared_length_of(placed.frame, lengths[length]);
                if (placed.frame.periodic) {
                    (void)expect_marks<T, D, true>(tree, limit);
                    expect_bounds<T, D, true>(tree);
                } else {
                    (void)expect_marks<T, D, false>(tree, limit);
                    expect_bounds<T, D, false>(tree);
                }
            }
        });
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, LinkSteps, testing::ValuesIn(every_case()), case_name);

class FofKernelsAlone : public NeedsDimension<3> {};

template <class T>
detail::PlaneTree<T> tree_of(const std::vector<T>& points, const Box& box, const TreeOptions& options) {
    detail::Context context(cpu(1));
    return detail::build_plane_tree<T>(context, detail::place_sources<T>(PointsView(points, 3), box), options);
}

// Each leaf looks at the top plane and no further: a pair of nodes at a time, these would be too many to wait for.
TEST_F(FofKernelsAlone, JoinAClumpAtOnce) {
    const std::vector<float> points(static_cast<std::size_t>(3 * sized(20000)), 0.7F);
    const TreeOptions options{.leaf_size = 16, .top_size = 8};
    const detail::PlaneTree<float> tree = tree_of(points, {}, options);
    Links<float, 3, false> links(tree, 0);
    links.mark_whole_nodes();
    for (const std::vector<std::int32_t>& marks : links.marks()) {
        for (std::size_t node = 0; node < marks.size(); ++node) {
            EXPECT_NE(marks[node], detail::not_one_group);
        }
    }
    const oracle::Groups found = groups_of_tree<float, 3>(tree, 0);
    EXPECT_EQ(found.sizes, std::vector<std::int32_t>{static_cast<std::int32_t>(sized(20000))});
    EXPECT_EQ(found.labels, std::vector<std::int32_t>(static_cast<std::size_t>(sized(20000)), 0));
}

TEST_F(FofKernelsAlone, LinkClumpsInAThinBackground) {
    std::vector<float> points = uniform_points<float>(sized(500), 3, 0, 1, 131);
    const std::vector<float> centres = uniform_points<float>(10, 3, 0, 1, 132);
    Random random(133);
    for (std::int64_t i = 0; i < sized(700); ++i) {
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            points.push_back(centres[static_cast<std::size_t>(i % 10 * 3 + axis)] +
                             static_cast<float>(0.01 * random.normal()));
        }
    }
    const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3, Box::periodic(1));
    for (const double length : {0.002, 0.01, 0.05, 0.3}) {
        const oracle::Groups expected = oracle::groups(copy, length);
        for (const int leaf_size : {8, 24, 32, 33, 70}) {
            const detail::PlaneTree<float> tree = tree_of(points, Box::periodic(1), {.leaf_size = leaf_size});
            EXPECT_TRUE(
                same_groups(groups_of_tree<float, 3>(tree, squared_length_of(tree.points.frame, length)), expected))
                << length << ", leaves of " << leaf_size;
        }
    }
}

TEST_F(FofKernelsAlone, LeaveNothingOnTheDevice) {
    {
        const std::vector<double> points = uniform_points<double>(100, 3, 0, 1, 5);
        const detail::PlaneTree<double> tree = tree_of(points, {}, {});
        (void)groups_of_tree<double, 3>(tree, tree.points.frame.load_radius(0.2));
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

struct UnionsJob {
    std::int32_t unions;
    const std::int32_t* pairs;
    detail::DeviceUnionFind groups;
};

__global__ void unite_kernel(const __grid_constant__ UnionsJob job) {
    const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < job.unions) {
        job.groups.unite(job.pairs[2 * i], job.pairs[2 * i + 1]);
    }
}

TEST(DeviceUnionFind, HasTheLowestMemberAsRootWhateverTheOrder) {
    Random draw(7);
    for (int round = 0; round < 40; ++round) {
        const std::int64_t count = 1 + draw.integer(300);
        const std::int64_t unions = draw.integer(count + 50);
        std::vector<std::int32_t> pairs;
        for (std::int64_t i = 0; i < 2 * unions; ++i) {
            pairs.push_back(static_cast<std::int32_t>(draw.integer(count)));
        }
        std::vector<std::int32_t> expected(static_cast<std::size_t>(count));
        std::iota(expected.begin(), expected.end(), 0);
        for (std::int64_t i = 0; i < unions; ++i) {
            const auto [lower, higher] = std::minmax({expected[pairs[2 * i]], expected[pairs[2 * i + 1]]});
            std::replace(expected.begin(), expected.end(), int{higher}, int{lower});
        }
        std::vector<std::int32_t> parents(expected.size());
        std::iota(parents.begin(), parents.end(), 0);
        const detail::DeviceUnionFind groups(parents.data());
        const UnionsJob job{static_cast<std::int32_t>(unions), pairs.data(), groups};
        run_warps("unite", (unions + 31) / 32, 2, static_cast<std::uint64_t>(round + 1), [&] { unite_kernel(job); });
        for (std::int32_t i = 0; i < count; ++i) {
            EXPECT_EQ(groups.known_root(i), expected[i]);
            EXPECT_EQ(groups.find(i), expected[i]);
            EXPECT_LE(parents[i], i);
        }
    }
}

} // namespace
} // namespace kith::test
