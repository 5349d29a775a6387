// One suite of spanning trees for every engine and device.
//
// A program of tests supplies its backends; the suite (conformance_test.cpp) is compiled into each of them: test_mst has
// the CPU's, test_emulation_device those of the emulated GPU, test_cuda those of a real one. Every tree is held against
// the oracle, edge by edge, bit for bit.
#pragma once

#include "mst/many_points.hpp"
#include "oracle/spanning_tree.hpp"
#include "support/cases.hpp"

#include <kith/spanning_tree.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kith::test {

struct SpanningTreeRequest {
    PointsView points; ///< in memory of the host, row-major
    Box box;           ///< the backend chooses the engine
};

/// One way to find the tree: an engine on a device, of points or of a kept tree. What does not change the answer
/// (threads, the shape of a tree, the side on which points are) it draws.
struct SpanningTreeBackend {
    std::string name;
    std::function<SpanningTree(const SpanningTreeRequest&, Random&)> find;
};

/// Those of this program.
std::vector<SpanningTreeBackend> spanning_tree_backends();

/// How much of the suite this program has time for.
struct SpanningTreeEffort {
    std::int64_t one_in = 1; ///< of all sets and boxes, drawn
    std::int64_t points = sized(4096);
};
SpanningTreeEffort spanning_tree_effort();

template <class T>
std::vector<oracle::TreeEdge<T>> edges_of(const SpanningTree& tree) {
    std::vector<oracle::TreeEdge<T>> edges;
    for (std::size_t i = 0; i < tree.edges().size(); ++i) {
        const auto [smaller, larger] = tree.edges()[i];
        edges.push_back({smaller, larger, tree.weights<T>()[i], tree.heights<T>()[i]});
    }
    return edges;
}

/// Where edges first differ, for the reader of a failure.
template <class T>
std::string difference(const std::vector<oracle::TreeEdge<T>>& found,
                       const std::vector<oracle::TreeEdge<T>>& expected) {
    if (found.size() != expected.size()) {
        return std::to_string(found.size()) + " edges, not " + std::to_string(expected.size());
    }
    const auto text = [](const oracle::TreeEdge<T>& edge) {
        return "(" + std::to_string(edge.smaller) + ", " + std::to_string(edge.larger) + ") of weight " +
               testing::PrintToString(edge.weight) + " and height " + testing::PrintToString(edge.height);
    };
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (found[i] != expected[i]) {
            return "edge " + std::to_string(i) + " is " + text(found[i]) + ", not " + text(expected[i]);
        }
    }
    return "";
}

} // namespace kith::test
