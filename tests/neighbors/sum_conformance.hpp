// One suite of sums over neighbors for the CPU and every device, held against the oracle.
//
// A program of tests supplies its backends; the suite (sum_conformance_test.cpp) is compiled into each of them:
// test_neighbors has the CPU's, test_emulation_device those of the emulated GPU, test_cuda those of a real one.
#pragma once

#include "support/cases.hpp"

#include <kith/sum_neighbors.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kith::test {

/// The backend chooses engine and execution.
struct SumRequest {
    PointsView points; ///< in memory of the host, row-major, as the queries
    std::optional<PointsView> queries;
    const Neighborhood& neighborhood;
    SumOptions options;
};

/// One way to sum: on a device, of points or of a kept tree. What does not change the answer (engines, threads, the side
/// on which points are) it draws.
struct SumBackend {
    std::string name;
    std::function<NeighborSums(const SumRequest&, Random&)> sum;
};

/// Those of this program.
std::vector<SumBackend> sum_backends();

/// How much of the suite this program has time for.
struct SumEffort {
    std::int64_t one_in = 1; ///< of all sets and boxes, drawn
    std::int64_t points = 1'000'000;
};
SumEffort sum_effort();

inline NeighborSums sums_of(const PointsOrTree& points, const std::optional<PointsView>& queries,
                            const Neighborhood& neighborhood, const SumOptions& options) {
    return queries ? sum_neighbors(points, *queries, neighborhood, options)
                   : sum_neighbors(points, neighborhood, options);
}

} // namespace kith::test
