// What the public functions do where they run on a GPU: one table of functions, which a build without CUDA lacks.
#pragma once

#include <kith/async.hpp>
#include <kith/async_tree.hpp>
#include <kith/kdtree_order.hpp>

#include "groups/device_entry.hpp"
#include "halos/device_entry.hpp"
#include "mst/device_entry.hpp"
#include "neighbors/device_entry.hpp"
#include "pairs/device_entry.hpp"
#include "points/device_entry.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <variant>
#include <vector>

namespace kith::detail::inline KITH_GPU {

inline bool is_on_gpu(const Execution& execution) noexcept {
    return execution.device.kind == DeviceKind::cuda;
}

/// What a rank's GPU does with points of its part, by their type.
template <Coordinate T>
struct PartCalls {
    /// Of a dimension; the context is the host's.
    std::shared_ptr<PartPoints<T>> (*read)(const Execution& execution, Context& host, int dimension);
    /// Null queries mean a self-search.
    std::unique_ptr<GpuPartSearcher<T>> (*search)(const Execution& execution, const NormalizedPoints<T>& points,
                                                  const NormalizedPoints<T>* queries);
    std::unique_ptr<PartLinker<T>> (*link)(const Execution& execution, const NormalizedPoints<T>& points);
    std::unique_ptr<PartClusters<T>> (*cluster)(const Execution& execution, const NormalizedPoints<T>& points);
};

/// The points of a call whose scratch is to be measured: points of a size, a tree kept on a GPU, where the call then
/// runs, or a tree in memory of the caller, which is not read.
using AsyncSource = std::variant<AsyncTreeSize, Tree, AsyncTree>;

/// Their arguments have been checked (calls.hpp); asynchronous ones check them, too.
struct DeviceCalls {
    /// Throws for a dimension that the device's code was not built for.
    void (*require_dimension)(int dimension);
    DeviceTreeHandle (*build_tree)(const PointsView& points, const TreeOptions& options, StageReports& stages);
    SearchSummary (*knn)(const PointsOrTree& points, const PointsView* queries, const DeviceKnnCall& call,
                         Engine engine);
    SearchSummary (*radius)(const PointsOrTree& points, const PointsView* queries, const DeviceRadiusCall& call,
                            Engine engine);
    /// Labels, and a result of the engine that it names already.
    void (*fof)(const PointsOrTree& points, LinkingLength length, const FofOptions& options,
                std::span<std::int32_t> labels, FofSummary& result);
    void (*dbscan)(const PointsOrTree& points, const DbscanOptions& options, const DeviceDbscanCall& call,
                   DbscanSummary& result);
    std::tuple<PartCalls<float>, PartCalls<double>> parts;
    /// By that engine.
    SpanningTree (*spanning_tree)(const PointsOrTree& points, const SpanningTreeOptions& options, Engine engine);
    /// The tree that HDBSCAN* cuts, into a result that has min_samples, with the stages of the GPU; those of the host
    /// are in its context.
    void (*density_tree)(const PointsOrTree& points, const HdbscanOptions& options, Context& host,
                         HdbscanResult& result);
    /// Into sums with memory for all results.
    void (*sum_neighbors)(const PointsOrTree& points, const PointsView* queries, const DeviceSumCall& call,
                          Engine engine, NeighborSums& sums);
    /// Pair counts, by the tree, into a result that names it.
    void (*pair_counts)(const PointsOrTree& points, const PointsView* other, std::span<const double> edges,
                        const PairCountOptions& options, PairCounts& result);
    void (*kdtree_order)(std::span<std::int32_t> indices, std::span<std::uint8_t> split_axes, const PointsView& points,
                         kdtree::Split split, const Execution& execution, KdTreeSummary& result);
    Catalog (*catalog)(const halos::LabeledGroups& groups, const Particles& particles, const FofSummary& found,
                       const CatalogOptions& options);
    DeviceCatalog (*device_catalog)(const halos::LabeledGroups& groups, const Particles& particles,
                                    const FofSummary& found, const CatalogOptions& options);
    Catalog (*catalog_on_host)(const DeviceCatalog& catalog, const Execution& execution);
    void (*store_column)(const DeviceCatalog& catalog, std::size_t column, const ColumnMemory& to,
                         const Execution& execution);
    /// Describes groups of one rank, whose particles are the host's.
    std::unique_ptr<halos::PartDescriber> (*describe_part)(const Execution& execution);
    void (*group_order)(std::span<const std::int32_t> labels, std::int64_t groups, std::span<std::int32_t> indices,
                        std::span<std::int64_t> offsets, const Execution& execution, GroupOrderSummary& result);
    void (*gather_rows)(std::span<const std::int32_t> indices, const void* rows, std::int64_t row_bytes, void* out,
                        const Execution& execution);
    /// Into a result with options, box and the number of groups; particles are the host's, their types plain.
    void (*halos)(Context& host, std::span<const std::int32_t> labels, const Particles& particles,
                  const halos::Columns& columns, Halos& found);

    std::int64_t (*knn_async_bytes)(const AsyncSource& source, std::optional<std::int64_t> queries, std::int64_t k,
                                    Engine engine, Execution execution);
    /// Chooses the engine: `all_pairs` need not be set, nor `points` if the tree is in memory.
    void (*knn_async)(DeviceKnnAsync search, std::span<std::byte> scratch);
    std::int64_t (*fof_async_bytes)(const AsyncSource& source, Engine engine, Execution execution);
    void (*fof_async)(DeviceFofAsync fof, std::span<std::byte> scratch);
    std::int64_t (*async_tree_bytes)(const AsyncTreeSize& size, const Execution& execution);
    std::int64_t (*build_tree_async_bytes)(const AsyncTreeSize& size, const Execution& execution);
    void (*build_tree_async)(const AsyncTree& tree, const PointsView& points, const Execution& execution,
                             std::span<std::byte> scratch, DeviceStatus* status);

    /// Whether the memory is that of the execution's GPU; null belongs to no GPU.
    bool (*has_memory)(const void* memory, const Execution& execution);
    /// Throws invalid_argument for memory of another GPU.
    void (*refuse_memory_of_others)(const void* memory, const char* what, const Execution& execution);
    /// Copies from the host, and waits.
    void (*copy_to_memory)(void* to, const void* from, std::int64_t bytes, const Execution& execution);
    void (*release_memory)(const Device& device);
    /// Memory of the device for a result, freed with the last copy of the pointer.
    std::shared_ptr<void> (*result_memory)(std::int64_t bytes, const Execution& execution);
};

std::int64_t knn_async_bytes_on_device(const AsyncSource& source, std::optional<std::int64_t> queries, std::int64_t k,
                                       Engine engine, Execution execution);
void knn_async_on_device(DeviceKnnAsync search, std::span<std::byte> scratch);
std::int64_t fof_async_bytes_on_device(const AsyncSource& source, Engine engine, Execution execution);
std::int64_t async_tree_bytes_on_device(const AsyncTreeSize& size, const Execution& execution);
std::int64_t build_tree_async_bytes_on_device(const AsyncTreeSize& size, const Execution& execution);
void build_tree_async_on_device(const AsyncTree& tree, const PointsView& points, const Execution& execution,
                                std::span<std::byte> scratch, DeviceStatus* status);
void fof_async_on_device(DeviceFofAsync fof, std::span<std::byte> scratch);

/// Throws unsupported in a build without CUDA.
const DeviceCalls& on_gpu();

/// A function of PartCalls on the GPU of the execution, which outlives it; no function if that is on a CPU.
template <Coordinate T, class Made, class... Given>
std::function<Made(Given...)> part_maker(const Execution& execution,
                                         Made (*PartCalls<T>::*make)(const Execution&, Given...)) {
    if (!is_on_gpu(execution)) {
        return {};
    }
    return [&execution, make](Given... given) {
        return (std::get<PartCalls<T>>(on_gpu().parts).*make)(execution, given...);
    };
}

/// GPUs that this process sees.
int device_count() noexcept;

} // namespace kith::detail::inline KITH_GPU
