// What pair counts do on a GPU, compiled for every type and dimension on its own (pair_counts_instance.ipp).
#pragma once

#include <kith/pair_counts.hpp>

#include "tree/device_handle.hpp"

#include <span>

namespace kith::detail {

class Context;

inline namespace KITH_GPU {

class DeviceContext;

/// Edges and weights have been checked, and are the host's.
struct DevicePairCall {
    const PointsView* other; ///< may be the host's; null: the pairs of one set
    std::span<const double> edges;
    const PairCountOptions& options;
};

/// Counts the pairs of a tree's points, or of them and another set, into a result. Runs the stage "count" after those
/// that build the other set's tree, and the host's part in its context.
template <Coordinate T, int D>
void count_pairs_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const TreeShape& shape, Context& host,
                           const DevicePairCall& call, PairCounts& result);

} // namespace KITH_GPU

} // namespace kith::detail
