// A tree of stream-ordered calls in memory that the caller keeps: include/kith/async_tree.hpp.
//
// The memory holds a status, a frame, the points in z-order and planes (fixed_planes.hpp), one after another. The
// number of points alone decides where each is, relative to the beginning: a later call allocates the same arrays in
// the same order and finds them there. No address is stored, so that a copy of the memory is as good. What was refused
// is remembered in the status, for the calls that search the tree.
#pragma once

#include <kith/async_tree.hpp>

#include "cuda/device_value.hpp"
#include "tree/build_async.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace kith::detail::inline KITH_GPU {

/// An arena over memory that is kept; over none, to measure.
inline ScratchArena kept_arena(std::span<std::byte> memory) {
    return memory.data() == nullptr ? ScratchArena() : ScratchArena(memory, ScratchArena::Use::kept);
}

template <class Value>
struct CopyValue {
    const Value* from;
    Value* to;

    __device__ void operator()() const { *to = *from; }
};

/// Known of a tree in memory when a call begins: its frame, and what was refused.
template <Coordinate T>
struct LoadFrame {
    const DeviceFrame<T>* kept_frame;
    const DeviceStatus* kept_status;
    DeviceFrame<T>* frame;
    DeviceStatus* status;

    __device__ void operator()() const {
        *frame = *kept_frame;
        *status = *kept_status;
    }
};

template <Coordinate T, int D>
class TreeInMemory {
public:
    /// Measures if the tree has no memory.
    TreeInMemory(const Execution& execution, const AsyncTree& tree)
        : arena_(kept_arena(tree.memory)), kept_(execution, arena_), box_(tree.box, D), points_(tree.size.points),
          status_(kept_.buffer<DeviceStatus>(1)), frame_(kept_.buffer<DeviceFrame<T>>(1)) {}

    [[nodiscard]] std::int64_t bytes() {
        find_arrays();
        return arena_.bytes_from_start();
    }

    /// Puts the tree there, on the stream of `work`.
    void build(DeviceWork& work, const PointsView& points, DeviceStatus* status) {
        tree_ = build_tree_async<T, D>(work, kept_, points, usual_shape,
                                       AsyncPoints<T>{box_, nullptr, frame_.data(), status_.data()});
        complete(work, "status of a tree", CopyValue<DeviceStatus>{status_.data(), status});
    }

    /// The tree that was put there, as build_tree_async() returns one; for `known`, on the stream of `work`.
    const DevicePlaneTree<T>& load(DeviceWork& work, const AsyncPoints<T>& known) {
        find_arrays();
        complete(work, "frame of a tree", LoadFrame<T>{frame_.data(), status_.data(), known.frame, known.status});
        return tree_;
    }

private:
    /// In the order of build_tree_async().
    void find_arrays() {
        tree_.points = allocate_points<T, D>(kept_, box_, points_);
        tree_.planes = allocate_planes<T, D>(kept_, points_, usual_shape);
    }

    ScratchArena arena_;
    DeviceWork kept_;
    PlainBox box_;
    std::int64_t points_;
    DeviceBuffer<DeviceStatus> status_;
    DeviceBuffer<DeviceFrame<T>> frame_;
    DevicePlaneTree<T> tree_;
};

} // namespace kith::detail::inline KITH_GPU
