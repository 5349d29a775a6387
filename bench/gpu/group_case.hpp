// A row about friends-of-friends groups: labels alone, or with the catalog of what is known of each group.
#pragma once

#include "point_set.hpp"
#include "row.hpp"

#include <string>

namespace bench {

struct GroupCase {
    PointSet points;
    double b = 0.2; ///< linking length over the mean separation
    double period = 1;
    bool catalog = false;              ///< with velocities, of groups of 20 and more
    double budget_bytes_per_point = 0; ///< of working memory; 0 is none
    std::string file = {};             ///< where points come from instead
    Goal goal = {};
};

[[nodiscard]] Outcome run_groups(Bench& bench, const std::string& name, const GroupCase& wanted);

} // namespace bench
