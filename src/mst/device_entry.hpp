// What the spanning tree does on a GPU, compiled for every type and dimension on its own (spanning_tree_instance.ipp).
#pragma once

#include <kith/hdbscan.hpp>
#include <kith/spanning_tree.hpp>

#include "tree/device_handle.hpp"

namespace kith::detail {

class Context;

inline namespace KITH_GPU {

class DeviceContext;

/// The spanning tree of a tree's points, into a result that has memory for its edges. Runs the stages "neighbors",
/// "connect" and "download" on the GPU, then "edges" on the host. In phase space `lengths` have been resolved, and the
/// result describes the positions already.
template <Coordinate T, int D>
void span_tree_on_device(DeviceContext& context, const DeviceTreeHandle& tree, Context& host, SpanningTree& result,
                         const ResolvedLengths* lengths = nullptr);

/// The spanning tree by mutual reachability distances of a tree's points, and their core distances, into a result that
/// has min_samples. Runs the stages "neighbors", "connect" and "download" on the GPU, then "edges" on the host.
template <Coordinate T, int D>
void span_by_reachability_on_device(DeviceContext& context, const DeviceTreeHandle& tree, Context& host,
                                    HdbscanResult& result);

} // namespace KITH_GPU

} // namespace kith::detail
