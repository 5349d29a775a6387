// One suite of DBSCAN for every engine and device, like that of friends-of-friends (conformance.hpp). The suite is
// dbscan_conformance_test.cpp.
#pragma once

#include "oracle/dbscan.hpp"
#include "support/cases.hpp"

#include <kith/dbscan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kith::test {

struct DbscanRequest {
    PointsView points; ///< in memory of the host, row-major
    double eps;
    std::int64_t min_samples;
    DbscanOptions options; ///< the backend chooses the engine
};

/// One way to find clusters: an engine on a device. What does not change the answer (threads, the side on which arrays
/// are, whether the points are in a kept tree) it draws.
struct DbscanBackend {
    std::string name;
    std::function<DbscanResult(const DbscanRequest&, Random&)> find;
    std::int64_t one_in = 1; ///< of the suite's requests is enough
};

/// Those of this program.
std::vector<DbscanBackend> dbscan_backends();

inline testing::AssertionResult same_clusters(const DbscanResult& found, const oracle::Clusters& expected) {
    const auto [label, other] =
        std::mismatch(found.labels().begin(), found.labels().end(), expected.labels.begin(), expected.labels.end());
    if (label != found.labels().end() || other != expected.labels.end()) {
        return testing::AssertionFailure() << "labels differ from point " << label - found.labels().begin() << " on";
    }
    if (found.is_core != expected.is_core) {
        return testing::AssertionFailure() << "the labels agree, but not the core points";
    }
    if (!std::ranges::equal(found.sizes, expected.sizes) || found.clusters != std::ssize(expected.sizes)) {
        return testing::AssertionFailure() << "the labels agree, but not the sizes: " << found.clusters << " clusters, "
                                           << testing::PrintToString(found.sizes);
    }
    const bool counted =
        found.core_points == std::count(expected.is_core.begin(), expected.is_core.end(), std::uint8_t{1}) &&
        found.noise_points == std::count(expected.labels.begin(), expected.labels.end(), -1);
    return counted ? testing::AssertionSuccess()
                   : testing::AssertionFailure()
                         << found.core_points << " core points, " << found.noise_points << " points of noise";
}

} // namespace kith::test
