// The builder that runs on threads, and whether it makes the tree that is built in place.
#pragma once

#include "engines/kdtree/build.hpp"
#include "engines/kdtree/plain_build.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace kith::test {

template <class T, int D>
detail::KdTree<T, D> built_by_threads(const std::vector<std::array<T, D>>& points, kdtree::Split split, int threads) {
    detail::Context context(cpu(threads));
    detail::KdTree<T, D> tree;
    context.stage("tree", [&] {
        tree = detail::build_kd_tree<T, D>(
            context, std::ssize(points), [&](std::int64_t i) { return points[i]; }, split);
    });
    return tree;
}

/// A tree built in place, its nodes where its indices say, is the one built by threads.
template <class T, int D>
testing::AssertionResult agree(const std::vector<std::array<T, D>>& points, const BuiltTree<std::array<T, D>>& tree,
                               kdtree::Split split, int threads) {
    const detail::KdTree<T, D> other = built_by_threads<T, D>(points, split, threads);
    for (std::int64_t node = 0; node < std::ssize(points); ++node) {
        if (tree.indices[node] != other.indices[node] || tree.least_indices[node] != other.least_indices[node] ||
            (split != kdtree::Split::cyclic && tree.split_axes[node] != other.split_axes[node])) {
            return testing::AssertionFailure() << "node " << node << " by " << threads << " threads is point "
                                               << other.indices[node] << " instead of " << tree.indices[node];
        }
        for (std::size_t axis = 0; axis < D; ++axis) {
            const T x = points[tree.indices[node]][axis];
            if (tree.nodes[node][axis] != x || other.nodes[node][axis] != x) {
                return testing::AssertionFailure() << "node " << node << " has coordinates of another point";
            }
        }
    }
    return testing::AssertionSuccess();
}

} // namespace kith::test
