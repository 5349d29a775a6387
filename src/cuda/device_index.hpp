// A tree in memory of a device, whatever the type and the dimension of its points: what the public functions ask of it.
//
// The kernels behind it are compiled for every type and dimension on their own (src/cuda/instance.cu.in).
#pragma once

#include <kith/async.hpp>
#include <kith/tree.hpp>

#include "cuda/namespace.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace kith::detail::inline KITH_GPU {

class DeviceContext;

/// A search and where its answer goes: rows or a visitor.
struct DeviceKnnCall {
    std::int64_t k = 1;
    KnnOptions options;
    const NeighborRows* rows = nullptr;
    const NeighborVisitor* visitor = nullptr;
};

/// A search that only puts work on a stream (include/kith/async.hpp). Arguments have been checked as far as the host can.
struct DeviceKnnAsync {
    PointsView points;
    std::optional<PointsView> queries; ///< none: a self-search
    Box box;
    DeviceKnnCall call; ///< with rows
    bool all_pairs = false;
    DeviceStatus* status = nullptr; ///< in memory that the device can write
};

/// Groups, likewise.
struct DeviceFofAsync {
    PointsView points;
    Box box;
    LinkingLength length;
    std::int32_t* labels = nullptr; ///< one a point
    bool all_pairs = false;
    DeviceFofSummary* summary = nullptr; ///< in memory that the device can write
    DeviceStatus* status = nullptr;      ///< likewise
};

class DeviceIndex {
public:
    DeviceIndex() = default;
    DeviceIndex(const DeviceIndex&) = delete;
    DeviceIndex& operator=(const DeviceIndex&) = delete;
    virtual ~DeviceIndex() = default;

    [[nodiscard]] virtual Box box() const = 0; ///< with every origin resolved
    [[nodiscard]] virtual std::int64_t size() const = 0;
    [[nodiscard]] virtual int dimension() const = 0;
    [[nodiscard]] virtual std::span<const std::int32_t> order() const = 0; ///< in memory of the device
    [[nodiscard]] virtual int plane_count() const = 0;
    [[nodiscard]] virtual std::span<const std::int32_t> plane(int index) const = 0; ///< in memory of the device

    /// The neighbors of the queries, which may be the host's, or of the points themselves if there are none.
    virtual void search(DeviceContext& context, const PointsView* queries, const DeviceKnnCall& call) const = 0;

    /// The groups of the points, labels into memory of the host or of the device.
    virtual void label(DeviceContext& context, LinkingLength length, std::span<std::int32_t> labels,
                       FofSummary& result) const = 0;
};

/// Builds a tree of points, which may be the host's; runs the stages "upload", for those, "order" and "tree".
template <Coordinate T, int D>
std::unique_ptr<DeviceIndex> build_device_index(DeviceContext& context, const PointsView& points, const Box& box,
                                                const TreeOptions& options);

/// A search that compares all with all. Null queries mean a self-search.
template <Coordinate T, int D>
void search_all_pairs_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                const PointsView* queries, const DeviceKnnCall& call);

/// A search that keeps no tree, in pieces if that is what memory has room for. Null queries mean a self-search.
template <Coordinate T, int D>
void search_by_tree_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                              const PointsView* queries, const DeviceKnnCall& call);

/// Groups by comparing all with all.
template <Coordinate T, int D>
void label_all_pairs_on_device(DeviceContext& context, const PointsView& points, const Box& box, LinkingLength length,
                               std::span<std::int32_t> labels, FofSummary& result);

class DeviceWork;

/// Puts a search on the stream, or measures how much memory it takes.
template <Coordinate T, int D>
void search_async_on_device(DeviceWork& work, const DeviceKnnAsync& search);

/// Puts the search for groups on the stream, or measures likewise.
template <Coordinate T, int D>
void label_async_on_device(DeviceWork& work, const DeviceFofAsync& fof);

} // namespace kith::detail::inline KITH_GPU
