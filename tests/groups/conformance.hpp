// One suite of friends-of-friends groups for every engine, device and kind of call.
//
// A program of tests supplies its backends; the suite (conformance_test.cpp) is compiled into each of them: test_groups
// has the CPU's, test_emulation_device those of the emulated GPU, test_cuda those of a real one. Every answer is held
// against the oracle.
#pragma once

#include "support/cases.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {

struct FofRequest {
    PointsView points; ///< in memory of the host, row-major
    Box box;
    LinkingLength length; ///< the backend chooses the engine
};

struct FofAnswer {
    oracle::Groups groups;  ///< sizes of single points may be left out
    std::int64_t count = 0; ///< of groups
    double linking_length = 0;
    double volume = 0;
    VolumeKind volume_kind = VolumeKind::none;
};

/// One way to find groups: an engine on a device, through one of the calls that it has. What does not change the answer
/// (threads, the side on which arrays are) it draws.
struct FofBackend {
    std::string name;
    std::function<FofAnswer(const FofRequest&, Random&)> find;
    std::int64_t one_in = 1; ///< of the suite's requests is enough
};

/// Those of this program.
std::vector<FofBackend> fof_backends();

/// How much of the suite this program has time for.
struct FofEffort {
    std::int64_t lengths = 1 << 20; ///< linking lengths of each set and box
    std::int64_t points = 1 << 20;  ///< at most, of a set
};
FofEffort fof_effort();

inline FofAnswer answer_of(const FofResult& found) {
    return {{{found.labels().begin(), found.labels().end()}, {found.sizes.begin(), found.sizes.end()}},
            found.sizes.size(),
            found.linking_length,
            found.volume,
            found.volume_kind};
}

} // namespace kith::test
