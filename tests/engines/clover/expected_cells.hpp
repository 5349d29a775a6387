// Checks of CLOVER's cells and their graph, for the builders of the CPU and of a GPU.
#pragma once

#include "engines/clover/graph.hpp"
#include "engines/clover/shape.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace kith::test {

template <class T>
void expect_partition(const detail::CellTree<T>& cells, std::int64_t count, const detail::CellShape& shape) {
    const detail::PointSet<T>& points = cells.tree.points;
    std::vector<std::int32_t> indices(points.indices.data(), points.indices.data() + points.count);
    std::sort(indices.begin(), indices.end());
    std::vector<std::int32_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(indices, all);
    for (const detail::Plane<T>& plane : cells.tree.planes) {
        EXPECT_EQ(plane.first_point[0], 0);
        EXPECT_EQ(plane.first_point[plane.nodes], count);
        for (std::int64_t node = 0; node < plane.nodes; ++node) {
            const std::int32_t first = plane.first_point[node];
            const std::int32_t last = plane.first_point[node + 1];
            ASSERT_LT(first, last);
            bool single_point = true;
            for (int axis = 0; axis < points.dimension(); ++axis) {
                const T* const x = points.axis(axis);
                EXPECT_EQ(plane.lower(axis)[node], *std::min_element(x + first, x + last));
                EXPECT_EQ(plane.upper(axis)[node], *std::max_element(x + first, x + last));
                single_point = single_point && plane.lower(axis)[node] == plane.upper(axis)[node];
            }
            if (&plane == cells.tree.planes.data() && !points.frame.has_tiny) {
                EXPECT_TRUE(single_point || last - first <= 2 * shape.cell_size);
            }
        }
    }
}

template <class T>
oracle::WorkingCopy<T> copy_of(const detail::PointSet<T>& points) {
    oracle::WorkingCopy<T> copy;
    copy.dimension = points.dimension();
    for (int axis = 0; axis < copy.dimension; ++axis) {
        const T period = points.frame.working_period[axis];
        copy.period[axis] = std::isinf(period) ? T(0) : period;
    }
    for (std::int64_t i = 0; i < points.count; ++i) {
        for (int axis = 0; axis < copy.dimension; ++axis) {
            copy.points.push_back(points.axis(axis)[i]);
        }
    }
    return copy;
}

template <class T>
void expect_edges(const detail::CellTree<T>& cells, const detail::CellGraph<T>& graph) {
    const detail::Plane<T>& plane = cells.cells();
    const oracle::WorkingCopy<T> copy = copy_of(cells.tree.points);
    for (std::int64_t cell = 0; cell < plane.nodes; cell += 1 + plane.nodes / 8) {
        std::array<T, max_dimension> hub;
        for (int axis = 0; axis < copy.dimension; ++axis) {
            hub[axis] = cells.hub(cell, axis);
        }
        std::vector<T> least(static_cast<std::size_t>(plane.nodes), std::numeric_limits<T>::infinity());
        for (std::int64_t other = 0; other < plane.nodes; ++other) {
            for (std::int32_t i = plane.first_point[other]; i < plane.first_point[other + 1]; ++i) {
                least[other] =
                    std::min(least[other], std::sqrt(oracle::squared_distance(copy, hub.data(), copy.point(i))));
            }
        }
        const float* const weight = graph.weight.data() + cell * graph.edges;
        EXPECT_TRUE(std::is_sorted(weight, weight + graph.edges));
        for (std::int32_t i = 0; i < graph.edges; ++i) {
            T& expected = least[graph.target[cell * graph.edges + i]];
            EXPECT_FALSE(std::isnan(expected)) << "a cell is a target twice";
            EXPECT_LE(weight[i], expected);
            EXPECT_GE(std::nextafter(weight[i], std::numeric_limits<float>::infinity()), expected);
            expected = std::numeric_limits<T>::quiet_NaN();
        }
        for (const T others : least) {
            EXPECT_FALSE(others < graph.horizon[cell]);
        }
    }
}

} // namespace kith::test
