// Asynchronous (stream-ordered) GPU calls: for graphs, for pipelines, for frameworks that own the memory.
//
// These calls enqueue work on the stream of the execution and return. They allocate no memory (all scratch is the
// caller's), copy nothing to or from the host, record no event, and never wait; grid sizes depend on the arguments
// alone. So they can be captured in a CUDA graph, and replayed with other points in the same memory. Invalid arguments
// throw immediately; invalid points are reported in a status (device_status.hpp). Points outside the box are wrapped,
// but not counted, since that takes another pass over the points: the synchronous calls count them (wrapped_points).
//
// Answers are those of the synchronous calls, bit for bit. The tree differs: the number of points alone determines the
// number of its nodes, and points with equal 63-bit keys are not ordered further. Searches take about as long, unless a
// few points lie so far out that nearly all others share a cell of the keys: in 3-D, two million times the extent of
// the others. Such searches are slow, but exact; if they are expected and waiting is acceptable, use knn_into() and
// fof_into().
#pragma once

#include <kith/async_tree.hpp>
#include <kith/device_status.hpp>
#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>
#include <kith/points.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kith {

/// The parameters of knn_async_bytes().
struct KnnSize {
    DType dtype = DType::float32;
    int dimension = 3;
    std::int64_t points = 0;
    std::optional<std::int64_t> queries = {}; ///< empty: a self-search
    std::int64_t k = 1;
    Engine engine = Engine::automatic; ///< as in the options of the search
};

/// Bytes of scratch that a search of this size needs on the GPU of the execution, for any alignment of the scratch:
/// with trees about 38 bytes per point (3-D float32), of which 20 are for sorting; with separate queries, another 18
/// bytes per source.
/// Throws Error: invalid_argument (k < 1, an execution that is not cuda()), too_large, unsupported, device.
[[nodiscard]] std::int64_t knn_async_bytes(const KnnSize& size, const Execution& execution = cuda());
/// The same for a search of a tree that is kept on a GPU: about 4 bytes per row, and with separate queries another 38
/// bytes per query (3-D float32). Throws Error: as above, and invalid_argument (a tree on the CPU).
[[nodiscard]] std::int64_t knn_async_bytes(const Tree& tree, std::int64_t k, std::optional<std::int64_t> queries = {});
/// The same for a tree in the caller's memory, whose memory is not read.
[[nodiscard]] std::int64_t knn_async_bytes(const AsyncTree& tree, std::int64_t k,
                                           std::optional<std::int64_t> queries = {},
                                           const Execution& execution = cuda());

/// The k nearest points of every point (a self-search), asynchronously. Points, rows (n * k elements each, as in
/// knn_into()) and scratch are in memory of the GPU of the execution, or the points are a tree there; the status is in
/// any memory that the GPU can write, including pinned host memory. All of it, trees included, must stay valid until
/// the stream has completed the work, and must not overlap. The execution's progress, memory and memory_budget are
/// ignored.
/// Throws Error: invalid_argument (as knn_into(); memory of another device), too_large, unsupported, out_of_memory
/// (scratch too small; the text gives the bytes needed), device. Reported in the status: coordinates that are not
/// finite, an extent over twice the period, an origin that is too far away for the period. The contents of the rows are
/// then unspecified. Cost: as knn_into() without its waits; some thirty kernels with trees, five without, five for the
/// points of a kept tree.
/// Unresolved rows (neighbor_row.hpp) are not counted. In z-order, queries with equal 63-bit keys may be in any order.
void knn_async(const NeighborRows& rows, const PointsOrTree& points, std::int64_t k, const KnnOptions& options,
               std::span<std::byte> scratch, DeviceStatus* status);
/// The k nearest points of every query, with the same memory, errors and cost. The status also reports queries that are
/// not finite or too far away.
void knn_async(const NeighborRows& rows, const PointsOrTree& points, const PointsView& queries, std::int64_t k,
               const KnnOptions& options, std::span<std::byte> scratch, DeviceStatus* status);
/// The same in a tree in the caller's memory (async_tree.hpp), whose box the options leave out.
void knn_async(const NeighborRows& rows, const AsyncTree& tree, std::int64_t k, const KnnOptions& options,
               std::span<std::byte> scratch, DeviceStatus* status);
void knn_async(const NeighborRows& rows, const AsyncTree& tree, const PointsView& queries, std::int64_t k,
               const KnnOptions& options, std::span<std::byte> scratch, DeviceStatus* status);

/// The parameters of fof_async_bytes().
struct FofSize {
    DType dtype = DType::float32;
    int dimension = 3;
    std::int64_t points = 0;
    Engine engine = Engine::automatic; ///< as in the options
};

/// Bytes of scratch that fof_async() needs for this size, for any alignment of the scratch. Throws Error:
/// invalid_argument (an execution that is not cuda()), too_large, unsupported, device.
[[nodiscard]] std::int64_t fof_async_bytes(const FofSize& size, const Execution& execution = cuda());
/// The same for a tree that is kept on a GPU. Throws Error: as above, and invalid_argument (a tree on the CPU).
[[nodiscard]] std::int64_t fof_async_bytes(const Tree& tree);
/// The same for a tree in the caller's memory, whose memory is not read.
[[nodiscard]] std::int64_t fof_async_bytes(const AsyncTree& tree, const Execution& execution = cuda());

/// The groups of points, or of a tree that is kept on the GPU, asynchronously: labels as in fof_into(), one per point.
/// Memory, errors and status are as for knn_async(); the summary is in memory like that of the status. Also throws
/// unsupported for groups in phase space, and invalid_argument for a negative, NaN or infinite length, or an absolute
/// one that the points' type cannot express. The status also reports a relative length if the points have no volume
/// or their type cannot express it, and a length above 0 so small that its square underflows relative to the largest
/// coordinate or period; of a tree, whose points outside a periodic axis are wrapped, it may then name no point. The
/// contents of labels and summary are then unspecified.
void fof_async(std::span<std::int32_t> labels, const PointsOrTree& points, LinkingLength linking_length,
               const FofOptions& options, std::span<std::byte> scratch, DeviceFofSummary* summary,
               DeviceStatus* status);
/// The same of a tree in the caller's memory (async_tree.hpp), whose box the options leave out.
void fof_async(std::span<std::int32_t> labels, const AsyncTree& tree, LinkingLength linking_length,
               const FofOptions& options, std::span<std::byte> scratch, DeviceFofSummary* summary,
               DeviceStatus* status);

} // namespace kith
