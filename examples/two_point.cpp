// The two-point correlation function of points in a periodic box: a pair walk over the planes of a kept tree, whose
// policy is the thirty lines of PairsByDistance. The counts are those of kith::pair_counts.
#include <kith/kith.hpp>
#include <kith/walk.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace walk = kith::walk;

struct PairsByDistance {
    const walk::TreeView<float, 3>& tree;
    const std::vector<float>& squared_edges;
    std::vector<std::int64_t> counts = std::vector<std::int64_t>(squared_edges.size() + 1); // [k + 1] is bin k

    std::size_t bin(float squared) const { // edges below it: bin k has edge k < distance <= edge k + 1
        return std::lower_bound(squared_edges.begin(), squared_edges.end(), squared) - squared_edges.begin();
    }
    walk::Step step(walk::Node a, walk::Node b) const { // all pairs in one bin?
        const float nearest = tree.space.least(tree.box(a), tree.box(b));
        const float farthest = tree.space.greatest(tree.box(a), tree.box(b));
        return bin(nearest) == bin(farthest) ? walk::Step::take : walk::Step::open;
    }
    void take(walk::Node a, walk::Node b) {
        const std::int64_t points = tree.points_in(a);
        const std::int64_t pairs = a == b ? points * (points - 1) / 2 : points * tree.points_in(b);
        counts[bin(tree.space.least(tree.box(a), tree.box(b)))] += pairs;
    }
    void leaf(walk::Node a, walk::Node b) {
        for (std::int32_t i = tree.first_point(a); i < tree.end_point(a); ++i) {
            for (std::int32_t j = a == b ? i + 1 : tree.first_point(b); j < tree.end_point(b); ++j) {
                ++counts[bin(tree.space.squared_distance(tree.point(i), tree.point(j)))];
            }
        }
    }
};

int main() {
    std::mt19937 random(1);
    const auto number = [&] { return static_cast<float>(random()) * 0x1p-32F; };
    std::vector<std::array<float, 3>> points(20000);
    for (std::size_t i = 0; i < points.size(); ++i) { // pairs of close points
        points[i] = {number(), number(), number()};
        if (i % 2 == 1) {
            std::transform(points[i - 1].begin(), points[i - 1].end(), points[i].begin(), points[i].begin(),
                           [](float x, float t) { return x + 0.02F * (t - 0.5F); });
        }
    }
    const std::vector<double> edges{0, 0.005, 0.01, 0.02, 0.04, 0.08};

    const kith::Tree tree(points, {.box = kith::Box::periodic(1)});
    const walk::Planes<float, 3> planes(tree);
    const walk::TreeView<float, 3> view = planes.view();
    std::vector<float> squared_edges;
    for (const double edge : edges) {
        squared_edges.push_back(edge == 0 ? -1 : walk::squared_radius<float>(edge)); // coincident points count, too
    }
    PairsByDistance pairs{view, squared_edges};
    for (const walk::Node task : walk::nodes_of(view, view.plane_count - 1)) { // of your threads, each its share
        walk::pairs(view, task, pairs);
    }

    const kith::PairCounts expected = kith::pair_counts(tree, edges);
    bool is_same = true;
    const double all_pairs = 0.5 * static_cast<double>(points.size()) * static_cast<double>(points.size() - 1);
    for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
        const double volume = 4.18879020478639 * (std::pow(edges[k + 1], 3) - std::pow(edges[k], 3)); // of a box of 1
        std::printf("%.3f to %.3f: %8lld pairs, xi = %.3f\n", edges[k], edges[k + 1],
                    static_cast<long long>(pairs.counts[k + 1]),
                    static_cast<double>(pairs.counts[k + 1]) / (all_pairs * volume) - 1);
        is_same = is_same && pairs.counts[k + 1] == expected.counts[k];
    }
    std::puts(is_same ? "the counts are those of kith::pair_counts" : "the counts differ from kith::pair_counts");
    return is_same ? 0 : 1;
}
