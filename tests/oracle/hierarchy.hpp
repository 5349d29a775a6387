// The single-linkage hierarchy by relabeling: every edge in its order, the clusters of its ends become one. The
// contract is docs/semantics.md, "Hierarchy of groups". Cost: the square of the number of points.
#pragma once

#include "oracle/spanning_tree.hpp"

#include <cstdint>
#include <vector>

namespace kith::oracle {

struct LinkageRow {
    double left = 0; ///< number of a cluster, the smaller one
    double right = 0;
    double height = 0;
    double count = 0; ///< points of both

    friend bool operator==(const LinkageRow&, const LinkageRow&) = default;
};

template <class T>
std::vector<LinkageRow> linkage(const std::vector<TreeEdge<T>>& edges);

} // namespace kith::oracle
