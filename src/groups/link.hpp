// Linking friends, as its callers see it: by the plane tree, and by brute force. The kernels are in fof_policy-inl.hpp,
// compiled for each instruction set and chosen at run time.
#pragma once

#include "groups/union_find.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

template <Coordinate T>
struct LinkJob {
    const TreeView<T>* tree; ///< null for brute force
    PointSetView<T> points;
    Periods<T> period;
    int dimension;
    bool periodic;    ///< on any axis
    T squared_length; ///< linking length squared, in working units
    UnionFind groups;
    /// Per plane and node: 1 once all points of the node are known to be one group. Only ever set.
    std::vector<std::uint8_t*> whole;
};

/// Links all pairs of points within a node of a plane.
void link_within_node(const LinkJob<float>& job, int plane, std::int64_t node);
void link_within_node(const LinkJob<double>& job, int plane, std::int64_t node);

/// Links all pairs of points of which one lies in a node of a plane and the other in a later one.
void link_with_later_nodes(const LinkJob<float>& job, int plane, std::int64_t node);
void link_with_later_nodes(const LinkJob<double>& job, int plane, std::int64_t node);

/// Links all pairs of points of two tiles, [begin, end) each; the tiles are the same or disjoint.
void link_tiles(const LinkJob<float>& job, std::int64_t begin, std::int64_t end, std::int64_t other_begin,
                std::int64_t other_end);
void link_tiles(const LinkJob<double>& job, std::int64_t begin, std::int64_t end, std::int64_t other_begin,
                std::int64_t other_end);

} // namespace kith::detail
