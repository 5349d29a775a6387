// A row about neighbors: points on the device or the host, all of them or others asked, rows in input order or handed
// out in z-order.
#pragma once

#include "point_set.hpp"
#include "row.hpp"

#include <kith/knn.hpp>

#include <cstdint>
#include <string>

namespace bench {

/// How the library is called.
enum class Calling {
    waits,    ///< and returns when the rows are there
    enqueues, ///< puts the work on the stream, within scratch of the caller's
    replays,  ///< the same from a graph
};

struct NeighborCase {
    PointSet points;
    PointSet queries = {.count = 0}; ///< none: every point is asked
    std::int64_t k = 16;
    double period = 0;
    bool doubles = false;
    kith::Engine engine = kith::Engine::automatic;
    Calling calling = Calling::waits;
    bool visit = false;                ///< a tree is built and kept, rows are handed out in z-order
    bool on_host = false;              ///< points, queries and rows are the host's
    double budget_bytes_per_point = 0; ///< of working memory; 0 is none
    std::string file = {};             ///< where points come from instead
    Goal goal = {};
    double goal_over_uniform = 0; ///< at most so many times what uniform points of the same number take; 0 is no goal
};

[[nodiscard]] Outcome run_neighbors(Bench& bench, const std::string& name, const NeighborCase& wanted);

} // namespace bench
