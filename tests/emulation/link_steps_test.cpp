// What linking in a tree goes by, one step after the other: bounds between boxes, whole nodes, groups within leaves,
// and the way through the tree.
#include "emulation/kernel_cases.hpp"
#include "emulation/kernel_trees.hpp"
#include "emulation/linking_lengths.hpp"

#include "groups/link_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

/// Marks and parents in memory of the host, as the kernels leave them.
template <class T, int D, bool Periodic>
class Links {
public:
    Links(const detail::PlaneTree<T>& tree, T squared_length)
        : parents_(static_cast<std::size_t>(tree.points.count), -7), frame_{tree.points.frame.working_period,
                                                                            squared_length, false},
          job_{tree.view(), &frame_, detail::DeviceUnionFind(parents_.data()), {}} {
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

    [[nodiscard]] std::int32_t mark(std::int64_t plane, std::int64_t node) const { return marks_[plane][node]; }
    [[nodiscard]] std::int32_t root(std::int32_t point) const {
        return parents_[point] == point ? point : root(parents_[point]);
    }

private:
    std::vector<std::int32_t> parents_;
    std::vector<std::vector<std::int32_t>> marks_;
    detail::LinkFrame<T> frame_;
    detail::LinkKernelJob<T> job_;
};

template <class T, int D, bool Periodic>
T squared_distance(const detail::PlaneTree<T>& tree, std::int64_t a, std::int64_t b) {
    const detail::PointSet<T>& points = tree.points;
    return detail::DevicePoint<T, D, Periodic>(points.axis(0) + a, points.stride, points.frame.working_period.data())
        .squared_distance([&](int axis) { return points.axis(axis)[b]; });
}

/// Between the boxes of leaves: no distance of points is beyond the bounds, and those of single points are distances.
template <class T, int D, bool Periodic>
void expect_bounds(const detail::PlaneTree<T>& tree) {
    const detail::PlaneView<T> leaves = tree.planes[0].view();
    for (std::int32_t leaf = 0; leaf < leaves.nodes; ++leaf) {
        const auto box = detail::box_of<T, D, Periodic>(leaves, leaf, tree.points.frame.working_period);
        for (std::int32_t other = 0; other < leaves.nodes; ++other) {
            const auto lower = [&](int axis) { return leaves.lower(axis)[other]; };
            const auto upper = [&](int axis) { return leaves.upper(axis)[other]; };
            const T least = box.least_squared_distance(lower, upper);
            const T greatest = box.greatest_squared_distance(lower, upper);
            for (std::int64_t a = leaves.first_point[leaf]; a < leaves.first_point[leaf + 1]; ++a) {
                for (std::int64_t b = leaves.first_point[other]; b < leaves.first_point[other + 1]; ++b) {
                    const T distance = squared_distance<T, D, Periodic>(tree, a, b);
                    EXPECT_LE(least, distance);
                    EXPECT_GE(greatest, distance);
                }
            }
            if (leaves.points_in(leaf) == 1 && leaves.points_in(other) == 1) {
                EXPECT_EQ(least, greatest);
            }
        }
    }
}

/// Whole are the nodes whose box is within the length, and all in them; their mark is the first point of the largest.
template <class T, int D, bool Periodic>
void expect_whole_nodes(const detail::PlaneTree<T>& tree, const Links<T, D, Periodic>& links, T squared_length) {
    for (int level = tree.view().top; level >= 0; --level) {
        const detail::Plane<T>& plane = tree.planes[level];
        std::int32_t parent = -1; // the last node of the plane above that starts at this one or before
        for (std::int32_t node = 0; node < plane.nodes; ++node) {
            const auto box = detail::box_of<T, D, Periodic>(plane.view(), node, tree.points.frame.working_period);
            const T greatest = box.greatest_squared_distance([&](int axis) { return plane.lower(axis)[node]; },
                                                             [&](int axis) { return plane.upper(axis)[node]; });
            std::int32_t expected = greatest <= squared_length ? plane.first_point[node] : detail::not_one_group;
            if (level < tree.view().top) {
                const detail::Plane<T>& above = tree.planes[level + 1];
                parent += parent + 1 < above.nodes && above.first_child[parent + 1] == node ? 1 : 0;
                const std::int32_t inherited = links.mark(level + 1, parent);
                expected = inherited != detail::not_one_group ? inherited : expected;
            }
            EXPECT_EQ(links.mark(level, node), expected) << "plane " << level << ", node " << node;
        }
    }
}

/// Points have the lowest of their leaf that they are linked with as root, those of whole leaves their mark; leaves
/// that turn out to be one group are marked.
template <class T, int D, bool Periodic>
void expect_groups_of_leaves(const detail::PlaneTree<T>& tree, Links<T, D, Periodic>& links, T squared_length) {
    const detail::Plane<T>& leaves = tree.planes[0];
    std::vector<std::int32_t> expected(static_cast<std::size_t>(tree.points.count));
    std::iota(expected.begin(), expected.end(), 0);
    std::vector<std::int32_t> marks;
    for (std::int32_t leaf = 0; leaf < leaves.nodes; ++leaf) {
        const std::int32_t begin = leaves.first_point[leaf];
        const std::int32_t end = leaves.first_point[leaf + 1];
        marks.push_back(links.mark(0, leaf));
        for (std::int32_t a = begin; a < end; ++a) {
            for (std::int32_t b = begin; b < a; ++b) {
                if (squared_distance<T, D, Periodic>(tree, a, b) <= squared_length) {
                    const auto [lower, higher] = std::minmax({expected[a], expected[b]});
                    std::replace(expected.begin() + begin, expected.begin() + end, int{higher}, int{lower});
                }
            }
        }
        const bool is_one_group =
            std::count(expected.begin() + begin, expected.begin() + end, begin) == std::ptrdiff_t{end} - begin;
        if (marks.back() != detail::not_one_group) {
            EXPECT_TRUE(is_one_group);
            std::fill(expected.begin() + begin, expected.begin() + end, marks.back());
        } else if (is_one_group) {
            marks.back() = begin;
        }
    }
    links.link_inside_leaves();
    for (std::int32_t leaf = 0; leaf < leaves.nodes; ++leaf) {
        EXPECT_EQ(links.mark(0, leaf), marks[leaf]) << "leaf " << leaf;
    }
    for (std::int32_t i = 0; i < tree.points.count; ++i) {
        EXPECT_EQ(links.root(i), expected[i]) << "point " << i;
    }
}

template <class T, int D, bool Periodic>
void expect_steps(const detail::PlaneTree<T>& tree, T squared_length) {
    expect_bounds<T, D, Periodic>(tree);
    Links<T, D, Periodic> links(tree, squared_length);
    links.mark_whole_nodes();
    expect_whole_nodes(tree, links, squared_length);
    expect_groups_of_leaves(tree, links, squared_length);
}

class LinkSteps : public NeedsDimension<3>, public testing::WithParamInterface<Case> {};

TEST_P(LinkSteps, DoWhatTheyAreFor) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        constexpr int D = 3;
        PointSet<T> set = point_set<T>(GetParam().set, D);
        set.coordinates.resize(std::min<std::size_t>(set.coordinates.size(), 150 * D));
        Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{D}));
        for (const NamedBox& named : set.boxes) {
            detail::Context context(cpu(1));
            const auto normalized = detail::normalize_sources<T>(set.view(), named.box);
            const auto tree = detail::build_plane_tree<T>(context, normalized, drawn_tree_shape(draw));
            if (tree.planes.empty()) {
                continue;
            }
            const std::vector<double> lengths = interesting_lengths(set, named.box);
            const double length =
                lengths[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(lengths.size())))];
            SCOPED_TRACE(testing::Message() << "box " << named.name << ", linking length " << length);
            const T limit = squared_length_of(normalized.frame, length);
            if (normalized.frame.periodic) {
                expect_steps<T, D, true>(tree, limit);
            } else {
                expect_steps<T, D, false>(tree, limit);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, LinkSteps, testing::ValuesIn(every_case_in(3)), case_name);

class LinkStepsAlone : public NeedsDimension<3> {};

template <class T>
detail::PlaneTree<T> tree_of(const std::vector<T>& points, const TreeShape& shape) {
    detail::Context context(cpu(1));
    return detail::build_plane_tree<T>(context, detail::normalize_sources<T>(PointsView(points, 3), Box{}), shape);
}

// Or else all pairs of leaves of a clump would be met, and joined all the same.
TEST_F(LinkStepsAlone, TakeCoincidentPointsWhole) {
    const std::vector<float> points(3 * 3000, 0.7F);
    const detail::PlaneTree<float> tree = tree_of(points, {.leaf_size = 16, .top_size = 1});
    ASSERT_GT(tree.view().top, 1);
    ASSERT_EQ(tree.planes.back().nodes, 1);
    Links<float, 3, false> links(tree, 0);
    links.mark_whole_nodes();
    for (int plane = 0; plane <= tree.view().top; ++plane) {
        for (std::int64_t node = 0; node < tree.planes[plane].nodes; ++node) {
            EXPECT_EQ(links.mark(plane, node), 0) << "plane " << plane << ", node " << node;
        }
    }
}

// Nodes that are not wanted, or not gone into, hide those in them; what is left is met once, in order.
TEST_F(LinkStepsAlone, GoThroughTheTreeInOrder) {
    Random draw(9);
    for (int round = 0; round < 30; ++round) {
        const std::vector<float> points = uniform_points<float>(1 + draw.integer(600), 3, 0, 1, 40 + round);
        const detail::PlaneTree<float> tree = tree_of(points, drawn_tree_shape(draw));
        const auto hidden_by = [&](int part) { // a third of the nodes, others for each part
            return [=](int plane, std::int32_t node) { return (node * 7 + plane * 5 + part) % 3 == 0 && plane < 2; };
        };
        const auto is_unwanted = hidden_by(round);
        const auto is_final = hidden_by(round + 1);
        std::vector<std::vector<std::int32_t>> expected(tree.planes.size());
        std::vector<bool> is_met(static_cast<std::size_t>(tree.planes.back().nodes), true);
        for (int level = tree.view().top; level >= 0; --level) {
            const detail::Plane<float>& plane = tree.planes[level];
            std::vector<bool> is_met_below(static_cast<std::size_t>(level > 0 ? tree.planes[level - 1].nodes : 0));
            for (std::int32_t node = 0; node < plane.nodes; ++node) {
                if (!is_met[node] || is_unwanted(level, node)) {
                    continue;
                }
                expected[level].push_back(node);
                if (level > 0 && !is_final(level, node)) {
                    std::fill(is_met_below.begin() + plane.first_child[node],
                              is_met_below.begin() + plane.first_child[node + 1], true);
                }
            }
            is_met = is_met_below;
        }
        std::vector<std::vector<std::int32_t>> visited(tree.planes.size());
        const detail::TreeView<float> view = tree.view();
        run_warps("walk", 1, 1, static_cast<std::uint64_t>(round), [&] {
            detail::walk_depth_first(
                view, [&](int plane, std::int32_t node) { return !is_unwanted(plane, node); },
                [&](int plane, std::int32_t node) {
                    if (threadIdx.x == 0) {
                        visited[plane].push_back(node);
                    }
                    return !is_final(plane, node);
                });
        });
        EXPECT_EQ(visited, expected);
    }
}

} // namespace
} // namespace kith::test
