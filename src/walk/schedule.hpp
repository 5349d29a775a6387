// The order in which two trees are gone down together.
//
// A walk keeps, for one receiving node, the list of source nodes that can matter to it, and goes from plane to plane
// until both are leaves. Whichever tree has the much coarser plane is refined first, so that nodes of like size meet;
// if the two are one tree, both go down together. A few queries against many sources thus cost what they cost: each is
// carried down the source tree with a short list.
#pragma once

#include "tree/view.hpp"

#include <vector>

namespace kith::detail {

/// One step: which of the two trees goes down a plane.
struct Step {
    int receiver_plane; ///< before the step
    int source_plane;
    bool receivers; ///< go from receiver_plane to the plane below
    bool sources;
};

/// What every receiver walk is told.
template <Coordinate T>
struct WalkJob {
    const TreeView<T>* receivers; ///< planes are missing for brute force
    const TreeView<T>* sources;
    int dimension;
    bool periodic;                               ///< on any axis
    const std::vector<Step>* schedule = nullptr; ///< from the plane of the tasks
};

/// From a plane of the receivers and the top of the sources down to the leaves of both.
template <Coordinate T>
std::vector<Step> make_schedule(const TreeView<T>& receivers, int receiver, const TreeView<T>& sources) {
    constexpr std::int64_t much = 3; // less than the usual coarsening factor
    std::vector<Step> steps;
    int source = sources.top;
    while (receiver > 0 || source > 0) {
        const std::int64_t receiver_nodes = receivers.planes[receiver].nodes;
        const std::int64_t source_nodes = sources.planes[source].nodes;
        Step step{receiver, source, receiver > 0, source > 0};
        if (step.receivers && step.sources) {
            step.receivers = receiver_nodes < much * source_nodes;
            step.sources = source_nodes < much * receiver_nodes;
        }
        receiver -= step.receivers ? 1 : 0;
        source -= step.sources ? 1 : 0;
        steps.push_back(step);
    }
    return steps;
}

} // namespace kith::detail
