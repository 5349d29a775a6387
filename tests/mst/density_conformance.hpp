// One suite of the trees that HDBSCAN* cuts for every device.
//
// A program of tests supplies its backends; the suite (density_conformance_test.cpp) is compiled into each of them:
// test_emulation_device has the emulated GPU's, test_cuda those of a real one. Core distances, edges and heights are held
// against the oracle, bit for bit; what follows from them runs on the host, whose own suite is hdbscan_test.cpp.
#pragma once

#include "mst/many_points.hpp"
#include "support/cases.hpp"

#include <kith/hdbscan.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kith::test {

struct DensityTreeRequest {
    PointsView points; ///< in memory of the host, row-major
    Box box;
    std::int64_t min_samples = 1;
};

/// One way to find the tree, of points or of a kept tree. What does not change the answer it draws.
struct DensityTreeBackend {
    std::string name;
    std::function<HdbscanResult(const DensityTreeRequest&, Random&)> find; ///< the tree, and maybe the rest
};

/// Those of this program.
std::vector<DensityTreeBackend> density_tree_backends();

/// How much of the suite this program has time for.
struct DensityTreeEffort {
    std::int64_t one_in = 1; ///< of all sets and boxes, drawn
    std::int64_t points = sized(4096);
};
DensityTreeEffort density_tree_effort();

} // namespace kith::test
