// See spanning_tree.hpp.
#include "oracle/spanning_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace kith::oracle {

template <class T>
T height_of(const WorkingCopy<T>& points, T squared) {
    if (squared_radius<T>(points, 0) >= squared) {
        return 0;
    }
    T before = 0;
    T height = std::numeric_limits<T>::infinity();
    if (squared == height) {
        return height;
    }
    while (std::nextafter(before, height) < height) {
        // The middle of the exponents as long as they differ much, then that of the numbers.
        const bool is_far = before == 0 || height / 4 > before;
        const T lower = std::max(before, std::numeric_limits<T>::denorm_min());
        const T upper = std::min(height, std::numeric_limits<T>::max());
        T middle =
            is_far ? std::ldexp(T{1}, (std::ilogb(lower) + std::ilogb(upper)) / 2) : before + (upper - before) / 2;
        if (!(middle > before && middle < height)) {
            middle = std::nextafter(before, height);
        }
        (squared_radius(points, static_cast<double>(middle)) >= squared ? height : before) = middle;
    }
    return height;
}

template <class T>
std::vector<TreeEdge<T>> spanning_tree(const WorkingCopy<T>& points, const EdgeWeight<T>& weight_of) {
    struct Pair {
        T weight;
        T squared;
        std::int32_t smaller;
        std::int32_t larger;
        bool operator<(const Pair& other) const {
            return std::tie(weight, squared, smaller, larger) <
                   std::tie(other.weight, other.squared, other.smaller, other.larger);
        }
    };
    const auto count = static_cast<std::int32_t>(points.count());
    std::vector<Pair> pairs;
    for (std::int32_t i = 0; i < count; ++i) {
        for (std::int32_t j = i + 1; j < count; ++j) {
            const T squared = squared_distance(points, points.point(i), points.point(j));
            pairs.push_back({weight_of(i, j, squared), squared, i, j});
        }
    }
    std::sort(pairs.begin(), pairs.end());
    std::vector<std::int32_t> component(static_cast<std::size_t>(count));
    std::iota(component.begin(), component.end(), 0);
    std::vector<TreeEdge<T>> edges;
    for (const Pair& pair : pairs) {
        const std::int32_t kept = component[static_cast<std::size_t>(pair.smaller)];
        const std::int32_t joined = component[static_cast<std::size_t>(pair.larger)];
        if (kept != joined) {
            std::replace(component.begin(), component.end(), joined, kept);
            edges.push_back({pair.smaller, pair.larger, std::ldexp(std::sqrt(pair.weight), -points.exponent),
                             height_of(points, pair.weight)});
        }
    }
    return edges;
}

template <class T>
std::vector<TreeEdge<T>> spanning_tree(const WorkingCopy<T>& points) {
    return spanning_tree<T>(points, [](std::int32_t, std::int32_t, T squared) { return squared; });
}

template float height_of(const WorkingCopy<float>&, float);
template double height_of(const WorkingCopy<double>&, double);
template std::vector<TreeEdge<float>> spanning_tree(const WorkingCopy<float>&, const EdgeWeight<float>&);
template std::vector<TreeEdge<double>> spanning_tree(const WorkingCopy<double>&, const EdgeWeight<double>&);
template std::vector<TreeEdge<float>> spanning_tree(const WorkingCopy<float>&);
template std::vector<TreeEdge<double>> spanning_tree(const WorkingCopy<double>&);

} // namespace kith::oracle
