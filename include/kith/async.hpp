// Neighbors and groups on a GPU without a wait: for graphs, for pipelines, for frameworks that own the memory.
//
// These calls put work on the stream of the execution and return. They take no memory but the scratch that they are given,
// copy nothing to or from the host, record no event, and never wait; the sizes of their grids follow from the arguments
// alone. So they can be captured in a CUDA graph, and replayed with other points in the same memory. What is wrong with the
// arguments is thrown at once, as elsewhere; what is wrong with the points is written to a status (device_status.hpp).
//
// Answers are those of the calls that wait, bit for bit. The tree behind them is another: the number of points alone decides
// how many nodes it has, and points with equal keys of 63 bits are left as they are. Searches take about as long with it,
// but for points of which a few lie so far out that nearly all others share a cell of the keys: in 3-D, two million times
// as far as those are wide. These are searched slowly, though no less exactly: where that must be expected, and a wait does
// not matter, use knn_into() and fof_into().
#pragma once

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

/// What the scratch of a search depends on, besides the GPU.
struct KnnSize {
    DType dtype = DType::float32;
    int dimension = 3;
    std::int64_t points = 0;
    std::optional<std::int64_t> queries = {}; ///< none: a self-search
    std::int64_t k = 1;
    Engine engine = Engine::automatic; ///< as in the options of the search
};

/// Bytes of scratch that a search of this size takes on the GPU of the execution, wherever the scratch starts: with trees
/// about 38 a point (3-D float32), 20 of them for the sort, and 18 a source beside those of separate queries. Throws
/// Error: invalid_argument, too_large, unsupported, device.
[[nodiscard]] std::int64_t knn_async_bytes(const KnnSize& size, const Execution& execution = cuda());

/// The k nearest sources of every source, without a wait. Everything is in memory of the GPU of the execution: points,
/// rows (of n * k elements each, as in knn_into), scratch; the status in any memory that the GPU can write, pinned memory
/// of the host included. All of it must stay until the stream has done the work, and must not overlap. The execution's
/// progress, memory and budget are not used.
/// Throws Error: invalid_argument (as knn_into, and memory that is not the GPU's), too_large, unsupported, out_of_memory
/// (scratch that is too small; the text has the bytes needed), device. To the status go: coordinates that are not finite,
/// an extent over twice the period, an origin that is too far away for the period. Then the rows hold anything.
/// Cost: as knn_into without its waits, some thirty kernels with trees, five without.
void knn_async(const NeighborRows& rows, const PointsView& points, std::int64_t k, const Box& box,
               const KnnOptions& options, const Execution& execution, std::span<std::byte> scratch,
               DeviceStatus* status);
/// The k nearest sources of every query, likewise. To the status go also queries that are not finite or too far away.
void knn_async(const NeighborRows& rows, const PointsView& points, const PointsView& queries, std::int64_t k,
               const Box& box, const KnnOptions& options, const Execution& execution, std::span<std::byte> scratch,
               DeviceStatus* status);

/// What the scratch of a search for groups depends on, besides the GPU.
struct FofSize {
    DType dtype = DType::float32;
    int dimension = 3;
    std::int64_t points = 0;
    Engine engine = Engine::automatic; ///< as in the options
};

/// Bytes of scratch that a search for groups of this size takes, as knn_async_bytes().
[[nodiscard]] std::int64_t fof_async_bytes(const FofSize& size, const Execution& execution = cuda());

/// The groups of points without a wait: labels as in fof_into(), one for each point. Memory, errors and the status are
/// those of knn_async(); the summary is memory like the status. To the status go also relative lengths where the points
/// have no volume, and lengths that the points' type cannot express. Then labels and summary hold anything.
void fof_async(std::span<std::int32_t> labels, const PointsView& points, LinkingLength linking_length, const Box& box,
               const FofOptions& options, const Execution& execution, std::span<std::byte> scratch,
               DeviceFofSummary* summary, DeviceStatus* status);

} // namespace kith
