// Left-balanced k-d trees by plain recursion: sort, take the point at the rank that the left subtree's size asks for,
// go on in both parts. The size is counted node by node. Nothing is shared with the library but the enumeration of
// splits.
#pragma once

#include <kith/device/kdtree_build.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace kith::test {

struct PlainTree {
    std::vector<std::int32_t> indices; ///< original index of each node
    std::vector<std::uint8_t> split_axes;
};

inline std::int64_t counted_size(std::int64_t node, std::int64_t count) {
    return node >= count ? 0 : 1 + counted_size(2 * node + 1, count) + counted_size(2 * node + 2, count);
}

template <class T, int D>
class PlainBuild {
public:
    using Points = std::vector<std::array<T, D>>;

    static PlainTree tree(const Points& points, kdtree::Split split) {
        PlainBuild build(points, split);
        std::vector<std::int32_t> all(points.size());
        std::iota(all.begin(), all.end(), 0);
        const auto [lower, upper] = build.box_of(all);
        build.order(0, all, lower, upper);
        return build.tree_;
    }

private:
    using Corner = std::array<T, D>;

    PlainBuild(const Points& points, kdtree::Split split)
        : points_(points),
          split_(split), tree_{std::vector<std::int32_t>(points.size()), std::vector<std::uint8_t>(points.size())} {}

    [[nodiscard]] std::pair<Corner, Corner> box_of(const std::vector<std::int32_t>& some) const {
        std::pair<Corner, Corner> box{};
        for (std::size_t i = 0; i < some.size(); ++i) {
            for (std::size_t axis = 0; axis < D; ++axis) {
                const T x = points_[some[i]][axis];
                box.first[axis] = i == 0 ? x : std::min(box.first[axis], x);
                box.second[axis] = i == 0 ? x : std::max(box.second[axis], x);
            }
        }
        return box;
    }

    void order(std::int64_t node, std::vector<std::int32_t> some, Corner lower, Corner upper) {
        if (some.empty()) {
            return;
        }
        if (split_ == kdtree::Split::widest_box) {
            std::tie(lower, upper) = box_of(some);
        }
        std::size_t axis = 0;
        if (split_ == kdtree::Split::cyclic) {
            for (std::int64_t above = node; above > 0; above = (above - 1) / 2) {
                axis = (axis + 1) % D;
            }
        } else {
            for (std::size_t other = 1; other < D; ++other) {
                axis = upper[other] - lower[other] > upper[axis] - lower[axis] ? other : axis;
            }
        }
        std::sort(some.begin(), some.end(), [&](std::int32_t a, std::int32_t b) {
            return points_[a][axis] < points_[b][axis] || (points_[a][axis] == points_[b][axis] && a < b);
        });
        const std::int64_t left = counted_size(2 * node + 1, std::ssize(points_));
        tree_.indices[node] = some[left];
        tree_.split_axes[node] = static_cast<std::uint8_t>(axis);
        const T plane = points_[some[left]][axis];
        Corner left_upper = upper;
        Corner right_lower = lower;
        left_upper[axis] = plane;
        right_lower[axis] = plane;
        order(2 * node + 1, {some.begin(), some.begin() + left}, lower, left_upper);
        order(2 * node + 2, {some.begin() + left + 1, some.end()}, right_lower, upper);
    }

    const Points& points_;
    kdtree::Split split_;
    PlainTree tree_;
};

/// Points as arrays.
template <class T, int D>
std::vector<std::array<T, D>> arrays_of(const std::vector<T>& row_major) {
    std::vector<std::array<T, D>> points(row_major.size() / D);
    for (std::size_t i = 0; i < row_major.size(); ++i) {
        points[i / D][i % D] = row_major[i];
    }
    return points;
}

/// A tree built in place, with all that a view may have.
template <class Point>
class BuiltTree {
public:
    using Traits = kdtree::PointTraits<Point>;

    BuiltTree(std::vector<Point> points, kdtree::Split split, int threads = 1)
        : nodes(std::move(points)), indices(nodes.size()), least_indices(nodes.size()), split_axes(nodes.size()) {
        std::vector<kdtree::Node> scratch(nodes.size());
        bounds = kdtree::build(std::span(nodes), std::span(indices), std::span(scratch), std::span(split_axes), split,
                               threads);
        kdtree::find_least_indices(indices, least_indices);
    }
    [[nodiscard]] auto view() const {
        auto view = kdtree::view_of(nodes.data(), static_cast<kdtree::Node>(nodes.size()), bounds);
        view.indices = indices.data();
        view.least_indices = least_indices.data();
        view.split_axes = split_axes.data();
        return view;
    }

    std::vector<Point> nodes;
    std::vector<std::int32_t> indices;
    std::vector<std::int32_t> least_indices;
    std::vector<std::uint8_t> split_axes;
    kdtree::Bounds<kdtree::DistanceOf<typename Traits::Scalar>, Traits::dimension> bounds;
};

} // namespace kith::test
