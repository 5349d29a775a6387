// What friends-of-friends and DBSCAN do on a GPU, compiled for every type and dimension on its own (link_instance.ipp,
// dbscan_instance.ipp).
#pragma once

#include <kith/async_tree.hpp>
#include <kith/dbscan.hpp>
#include <kith/device_status.hpp>
#include <kith/fof.hpp>

#include "groups/part_clusters.hpp"
#include "groups/part_linker.hpp"
#include "points/frame.hpp"
#include "points/phase_space.hpp"
#include "tree/device_handle.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace kith::detail::inline KITH_GPU {

class DeviceContext;
class DeviceWork;

/// A search for groups that only puts work on a stream. Arguments have been checked as far as the host can.
struct DeviceFofAsync {
    PointsOrTree points;
    LinkingLength length;
    FofOptions options;
    std::int32_t* labels = nullptr; ///< one a point
    bool all_pairs = false;
    DeviceFofSummary* summary = nullptr;    ///< in memory that the device can write
    DeviceStatus* status = nullptr;         ///< likewise
    const DeviceTreeHandle* kept = nullptr; ///< the tree of the points, if they are one
    const AsyncTree* in_memory = nullptr;   ///< or that of the caller's memory; the points are then not read
};

/// A search for clusters, and where its answers go: memory of the host or of the GPU.
struct DeviceDbscanCall {
    double eps;
    std::int64_t min_samples;
    bool star;
    std::span<std::int32_t> labels;
    std::span<std::uint8_t> is_core; ///< empty: not wanted
};

/// The groups of a tree's points, labels into memory of the host or of the GPU.
template <Coordinate T, int D>
void label_tree_on_device(DeviceContext& context, const DeviceTreeHandle& tree, LinkingLength length,
                          std::span<std::int32_t> labels, FofSummary& result);

/// The same where the lengths have been resolved: of phase space.
template <Coordinate T, int D>
void label_tree_on_device(DeviceContext& context, const DeviceTreeHandle& tree, std::span<std::int32_t> labels,
                          FofSummary& result);

/// Links a part of the points of several processes, which are the host's.
template <Coordinate T, int D>
std::unique_ptr<PartLinker<T>> part_linker_on_device(const Execution& execution, const NormalizedPoints<T>& points);

/// The dispersion of velocities that are in memory of the host.
using DispersionOf = std::function<double(const FiniteVelocities&)>;

/// Points of phase space on a GPU.
template <Coordinate T>
struct DevicePhaseSpace {
    Frame<T> of_positions;
    DeviceTreeHandle tree; ///< of twice as many coordinates as the positions have; without planes for brute force
};

/// Resolves both lengths, then builds a tree for Engine::tree or copies the points; runs the stages "upload", "order"
/// and, for a tree, "tree". D is the dimension of the positions, twice as many must be built.
template <Coordinate T, int D>
DevicePhaseSpace<T> enter_phase_space_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                                const PhaseSpaceAt& at, Engine engine,
                                                const DispersionOf& dispersion_of, ResolvedLengths& lengths);

/// The clusters of a tree's points; the tree is of that shape.
template <Coordinate T, int D>
void cluster_tree_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const TreeShape& shape,
                            const DeviceDbscanCall& call, DbscanSummary& result);

/// Searches a part of the points of several processes, which are the host's, for clusters.
template <Coordinate T, int D>
std::unique_ptr<PartClusters<T>> part_clusters_on_device(const Execution& execution, const NormalizedPoints<T>& points);

/// Puts the search for groups by a tree, kept or built, on the stream, or measures how much memory it takes.
template <Coordinate T, int D>
void label_async_on_device(DeviceWork& work, const DeviceFofAsync& fof);

} // namespace kith::detail::inline KITH_GPU
