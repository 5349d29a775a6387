// Trees in memory of a GPU that the caller owns, built asynchronously (stream-ordered): for graphs, and for frameworks
// that hand arrays from call to call.
//
// The size of the memory follows from the number of points. It holds no addresses: a copy of it, on the same GPU or
// another, is the same tree. The asynchronous searches of async.hpp take it in place of points, any number of times and
// from several streams at once, and give the same answers; they do not order the points again.
#pragma once

#include <kith/box.hpp>
#include <kith/device_status.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace kith {

/// The parameters of async_tree_bytes().
struct AsyncTreeSize {
    DType dtype = DType::float32;
    int dimension = 3;
    std::int64_t points = 0;
};

/// A tree that build_tree_async() wrote, as searches take it.
struct AsyncTree {
    std::span<std::byte> memory; ///< read only
    AsyncTreeSize size;
    Box box; ///< that of build_tree_async()
};

/// Bytes of memory that such a tree takes: about 19 per point (3-D float32). Throws Error: invalid_argument (an
/// execution that is not cuda()), too_large, unsupported, device.
[[nodiscard]] std::int64_t async_tree_bytes(const AsyncTreeSize& size, const Execution& execution = cuda());
/// Bytes of scratch for building it, for any alignment of the scratch: about 21 per point. Throws as above.
[[nodiscard]] std::int64_t build_tree_async_bytes(const AsyncTreeSize& size, const Execution& execution = cuda());

/// Writes the tree of the points to `memory`, asynchronously, and returns it. Points, memory (aligned to 16 bytes) and
/// scratch are in memory of the GPU of the execution and must not overlap; the status is in any memory that the GPU can
/// write. All of it must stay valid until the stream has completed the work; the points are not needed afterwards. The
/// execution's progress, memory and memory_budget are ignored.
/// Throws Error: invalid_argument (memory of another device, or not aligned; a box of other dimensions), too_large,
/// unsupported, out_of_memory (memory or scratch too small; the text gives the bytes needed), device. Reported in the
/// status, and once more in that of every call that takes the tree: coordinates that are not finite, an extent over
/// twice the period, an origin that is too far away for the period. Cost: some twenty kernels.
AsyncTree build_tree_async(std::span<std::byte> memory, const PointsView& points, const Box& box,
                           const Execution& execution, std::span<std::byte> scratch, DeviceStatus* status);

} // namespace kith
