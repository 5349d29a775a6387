// A row about what is found from neighbors within a length: their counts, clusters of DBSCAN, groups by range queries in
// a k-d tree; or the spanning tree.
#pragma once

#include "point_set.hpp"
#include "row.hpp"

#include <string>

namespace bench {

enum class Structure { counts, clusters, groups, tree };

struct StructureCase {
    Structure found = Structure::counts;
    PointSet points;   ///< 3-D, compared with the CPU's answer: a million at most
    double length = 1; ///< over the mean separation
};

[[nodiscard]] Outcome run_structure(Bench& bench, const std::string& name, const StructureCase& wanted);

} // namespace bench
