// Counts of neighbors within radii, on the CPU of a rank. They are sums over points, so own points and ghost points are
// not joined: the receivers are counted in the tree of the own points, and then in one of the ghost points.
//
// Memory: that of one process with the rank's own points, and the ghost points with their tree.
#pragma once

#include <kith/radius.hpp>

#include "distributed/ghost_points.hpp"
#include "distributed/shared_frame.hpp"
#include "neighbors/part_searcher.hpp"
#include "neighbors/radius_search.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

/// By receiver, which counts itself in a self-search. The searcher is the host's. Runs stages.
template <Coordinate T>
std::vector<std::int64_t> count_in_parts(Context& context, const SharedPoints<T>& shared, const PartSearcher<T>& own,
                                         GhostPoints<T> ghosts, const Radii& radii) {
    const Frame<T>& frame = shared.points.frame;
    const TreeView<T> receivers = own.receivers();
    std::vector<std::int64_t> counts(receivers.points.count);
    if (counts.empty()) {
        return counts;
    }
    ReceiverRadii<T> squared;
    context.run([&] { squared = ReceiverRadii<T>(context, radii, receivers, frame); });
    RadiusSink<T> sink;
    sink.counts = counts.data();
    const auto add_those_of = [&](const TreeView<T>& sources) {
        if (sources.points.count == 0) {
            return;
        }
        context.stage("count", [&] { search_tree(context, receivers, sources, frame, squared, sink); });
    };
    add_those_of(own.sources());
    if (ghosts.count() > 0) {
        const PlaneTree<T> tree = tree_of_ghosts(context, shared, ghosts);
        ghosts = {}; // frees them
        add_those_of(tree.view());
    }
    return counts;
}

} // namespace kith::detail
