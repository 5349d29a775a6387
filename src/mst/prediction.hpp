// Clusters for new points, from those of HDBSCAN* that are known.
//
// Problem: of each new point, the clustered point that is nearest by mutual reachability distance, and the selected
// cluster that holds it at that density (docs/semantics.md, "HDBSCAN*", "Prediction"). Method: the row of its nearest
// points gives the core distance of the new point. Where one in the row is no farther than that, in the metric, the
// first of them is the neighbor. Otherwise nodes of the tree are opened in the order of their least mutual reachability
// distances, with the smallest core distance of each as an attribute, until none can hold a nearer point. Source:
// approximate_predict() of the Python package hdbscan (McInnes, Healy and Astels, JOSS 2 (2017) 205), which looks at
// 2 min_samples candidates only. Cost: O(n) for the attributes; of each new point a row, and close to O(log n).
//
// Core distances are known as heights, so heights are compared, in the form of their squares in working units: squares
// of two different heights are different, and a squared length is within the square of a height if it joins there.
#pragma once

#include <kith/hdbscan.hpp>

#include "points/frame.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

namespace kith::detail {

/// Of one or more new points, in the frame of the tree, which is of that shape and has one or more points. The arrays
/// of the result are of the right size. Runs the stages of a tree of the new points, and "search".
template <Coordinate T>
void predict(Context& context, const PlaneTree<T>& tree, const TreeShape& shape, const NormalizedPoints<T>& new_points,
             const HdbscanResult& clusters, HdbscanPrediction& result);

} // namespace kith::detail
