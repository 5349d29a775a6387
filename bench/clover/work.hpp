// How much work CLOVER's search does as it is published, counted query by query: algorithm 1 as a warp of 32 lanes runs
// it.
//
// Cells and edges are those of the library's flat form; the rest is written down plainly, without vectors, and nothing
// of it is timed. A step measures 32 points of one cell; its updates are the lanes whose point is nearer than the k-th
// best before the step (section 4.2.4). A scan, for comparison, measures all points, in no order. Source: CLOVER (ICS
// 2025), algorithm 1 and figures 2, 17, 18 and 19.
#pragma once

#include "engines/clover/flat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace bench {

inline constexpr int lanes = 32;

struct Work {
    std::vector<std::int32_t> cells;  ///< scanned, query by query
    std::vector<std::int32_t> points; ///< measured, likewise
    std::array<std::int64_t, lanes + 1> steps_by_updates{};
    double sum_of_farthest = 0; ///< distances of the k-th neighbors, to check that both ways agree
};

template <int D>
class CountedSearch {
public:
    CountedSearch(const kith::detail::FlatCells<float>& cells, std::int64_t k, bool skips_by_box)
        : cells_(cells), bound_(cells.points.frame), k_(static_cast<std::size_t>(k)), skips_by_box_(skips_by_box) {}

    void search(std::int64_t cell, std::int64_t query, Work& work) {
        start(query);
        std::int32_t scanned = 0;
        std::int32_t measured = 0;
        const float radius = std::sqrt(squared_distance(cells_.hubs.data() + cell * D, 1));
        const std::int64_t count = cells_.cells();
        for (std::int64_t edge = cell * count; edge < (cell + 1) * count; ++edge) {
            if (bound_.is_beyond(cells_.weight[edge], radius, farthest())) {
                break;
            }
            const std::int32_t target = cells_.target[edge];
            if (skips_by_box_ && distance_to_box(target) > farthest()) {
                continue;
            }
            scan(
                cells_.count[target], [&](std::int64_t point) { return cells_.first[target] + point; }, work);
            ++scanned;
            measured += static_cast<std::int32_t>(cells_.count[target]);
        }
        work.cells.push_back(scanned);
        work.points.push_back(measured);
        work.sum_of_farthest += std::sqrt(static_cast<double>(farthest()));
    }

    /// Compares the query with all points, in an order that has nothing to do with where they are.
    void compare_with_all(std::int64_t query, Work& work) {
        start(query);
        const std::int64_t count = cells_.points.count;
        std::int64_t stride = count / 8 * 5 + 1;
        for (; std::gcd(stride, count) != 1; ++stride) {
        }
        scan(
            count, [&](std::int64_t i) { return i * stride % count; }, work);
        work.sum_of_farthest += std::sqrt(static_cast<double>(farthest()));
    }

private:
    void start(std::int64_t query) {
        for (int axis = 0; axis < D; ++axis) {
            query_[axis] = cells_.points.axis(axis)[query];
        }
        nearest_.clear();
    }

    [[nodiscard]] float squared_distance(const float* point, std::int64_t stride) const {
        float sum = 0;
        for (int axis = 0; axis < D; ++axis) {
            const float difference = query_[axis] - point[axis * stride];
            sum += difference * difference;
        }
        return sum;
    }
    [[nodiscard]] float distance_to_box(std::int64_t cell) const {
        float sum = 0;
        for (int axis = 0; axis < D; ++axis) {
            const float x = query_[axis];
            const float outside =
                std::max({cells_.lower[cell * D + axis] - x, x - cells_.upper[cell * D + axis], 0.0F});
            sum += outside * outside;
        }
        return sum;
    }
    [[nodiscard]] float farthest() const {
        return nearest_.size() < k_ ? std::numeric_limits<float>::infinity() : nearest_.front();
    }

    /// Measures so many points in steps; what lies between cells is no point.
    template <class Position>
    void scan(std::int64_t count, const Position& position, Work& work) {
        for (std::int64_t step = 0; step < count; step += lanes) {
            const float limit = farthest();
            int updates = 0;
            for (std::int64_t i = step; i < std::min(count, step + lanes); ++i) {
                const float distance = squared_distance(cells_.points.axis(0) + position(i), cells_.points.stride);
                if (distance < limit) {
                    ++updates;
                    keep(distance);
                }
            }
            ++work.steps_by_updates[static_cast<std::size_t>(updates)];
        }
    }

    void keep(float distance) {
        if (nearest_.size() == k_) {
            if (distance >= nearest_.front()) {
                return;
            }
            std::pop_heap(nearest_.begin(), nearest_.end());
            nearest_.pop_back();
        }
        nearest_.push_back(distance);
        std::push_heap(nearest_.begin(), nearest_.end());
    }

    const kith::detail::FlatCells<float>& cells_;
    kith::detail::TriangleBound<float> bound_;
    std::size_t k_;
    bool skips_by_box_;
    std::array<float, D> query_;
    std::vector<float> nearest_; ///< squared distances, a heap with the farthest on top
};

} // namespace bench
