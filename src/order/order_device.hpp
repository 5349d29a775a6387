// Points into the order of the z-order curve on a GPU: the CPU's order (order.hpp).
//
// Keys of 63 bits relative to the cell of all points are sorted by radix, then runs of equal keys are settled round by
// round (tie_kernel.hpp); a last pass gathers the coordinates. Cost: 24 bytes a point of scratch while sorting, of
// which 12 are free again when the working copy is made.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/device_value.hpp"
#include "cuda/device_wide.hpp"
#include "order/key_kernel.hpp"
#include "order/root_cell.hpp"
#include "order/tie_kernel.hpp"
#include "points/gather_device.hpp"

#include <bit>
#include <cstdint>
#include <utility>

namespace kith::detail::inline KITH_GPU {

/// Positions of flags that are set; the flags are gone afterwards.
inline DeviceBuffer<std::int32_t> positions_of(DeviceContext& context, DeviceBuffer<std::uint8_t> flags) {
    DeviceBuffer<std::int32_t> all = context.buffer<std::int32_t>(flags.size());
    const DeviceBuffer<std::int32_t> selected = context.buffer<std::int32_t>(1);
    select_flagged(context, flags.data(), flags.size(), all.data(), selected.data());
    const std::int64_t count = context.to_host(selected.data());
    flags = {};
    if (count == all.size()) {
        return all;
    }
    DeviceBuffer<std::int32_t> positions = context.buffer<std::int32_t>(count);
    context.copy(positions.data(), all.data(), count * 4);
    return positions;
}

template <Coordinate T, int D>
class DeviceZOrderSort {
public:
    /// For points in memory of the device; of a piece of them, `first` is the index of its first point.
    DeviceZOrderSort(DeviceContext& context, const NormalizedPoints<T>& points, std::int32_t first)
        : context_(context), frame_(points.frame),
          device_frame_(stored(context, "frame of points", DeviceFrame<T>(points.frame, points.wraps))),
          points_(DeviceView<T>::of(points.view, device_frame_.data(), first)),
          cell_(cell_of(corners_of<T, D>(points.frame, points.lower, points.upper, points.wraps))) {}

    [[nodiscard]] DevicePointSet<T> sorted() {
        const std::int64_t count = points_.count;
        if (count == 0) {
            return {context_, frame_, 0};
        }
        DeviceBuffer<std::uint64_t> keys = context_.buffer<std::uint64_t>(count);
        DeviceBuffer<std::int32_t> indices = context_.buffer<std::int32_t>(count);
        {
            const auto encoder =
                stored(context_, "keys", DeviceKeyEncoder<T, D>(cell_.top_exponent, cell_.sign_exponent));
            for_each_index(context_, "keys", count,
                           MakeKeys<T, D>{points_, encoder.data(), keys.data(), indices.data()});
        }
        sort_by_key(context_, keys, indices, DeviceKeyEncoder<T, D>::bits);
        break_ties(std::move(keys), indices);

        DevicePointSet<T> sorted(context_, frame_, count, std::move(indices));
        gather_points<T, D>(context_, points_, sorted);
        return sorted;
    }

private:
    template <class Element>
    [[nodiscard]] DeviceBuffer<Element> taken(const DeviceBuffer<Element>& from,
                                              const DeviceBuffer<std::int32_t>& which) {
        DeviceBuffer<Element> to = context_.buffer<Element>(which.size());
        for_each_index(context_, "taking elements", which.size(), Take<Element>{from.data(), which.data(), to.data()});
        return to;
    }

    void break_ties(DeviceBuffer<std::uint64_t> keys, const DeviceBuffer<std::int32_t>& indices) {
        DeviceBuffer<std::uint8_t> is_equal = context_.buffer<std::uint8_t>(keys.size());
        for_each_index(context_, "equal keys", keys.size(), FlagEqualKeys{keys.size(), keys.data(), is_equal.data()});
        DeviceBuffer<std::int32_t> positions = positions_of(context_, std::move(is_equal));
        DeviceBuffer<std::int32_t> heads = context_.buffer<std::int32_t>(positions.size());
        for_each_index(context_, "runs of equal keys", positions.size(),
                       FlagFirstHeads{positions.data(), keys.data(), heads.data()});
        keys = {};
        while (positions.size() > 0) {
            break_ties_once(positions, heads, indices);
        }
    }

    /// Sorts the runs of members once more; leaves the members of those that are not settled, and their heads.
    void break_ties_once(DeviceBuffer<std::int32_t>& positions, DeviceBuffer<std::int32_t>& heads,
                         const DeviceBuffer<std::int32_t>& indices) {
        const std::int64_t count = positions.size();
        const Members members{count, positions.data()};
        const DeviceBuffer<std::int32_t>& run_of = heads;
        inclusive_sum(context_, heads.data(), count, run_of.data());
        const std::int64_t runs = context_.to_host(run_of.data() + count - 1);
        const DeviceBuffer<std::int32_t> first_member = context_.buffer<std::int32_t>(runs + 1);
        const DeviceBuffer<std::int32_t> tops = context_.buffer<std::int32_t>(runs + 1);
        for_each_index(context_, "runs of equal keys", count,
                       StartRuns{run_of.data(), first_member.data(), tops.data()});
        const RunMembers<T> members_of_runs{points_,       indices.data(),      members,    cell_.sign_exponent,
                                            run_of.data(), first_member.data(), tops.data()};
        for_each_index(context_, "cells of runs", count, FindRunTops<T, D>{members_of_runs});

        DeviceBuffer<std::int32_t> numbers = context_.buffer<std::int32_t>(count);
        DeviceBuffer<std::uint64_t> keys = context_.buffer<std::uint64_t>(count);
        for_each_index(context_, "keys of runs", count,
                       MakeRunKeys<T, D>{members_of_runs, keys.data(), numbers.data()});
        const DeviceBuffer<std::uint64_t> unsorted_keys = context_.buffer<std::uint64_t>(count);
        context_.copy(unsorted_keys.data(), keys.data(), count * 8);
        sort_by_key(context_, keys, numbers, DeviceKeyEncoder<T, D>::bits);
        { // members of a run together again, stably
            DeviceBuffer<std::uint32_t> runs_of_sorted = runs_of(numbers, run_of);
            sort_by_key(context_, runs_of_sorted, numbers,
                        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(runs))));
        }
        keys = taken(unsorted_keys, numbers);
        const DeviceBuffer<std::int32_t> moved = taken(indices, taken(positions, numbers));
        for_each_index(context_, "order of runs", count,
                       Put<std::int32_t>{moved.data(), positions.data(), indices.data()});
        DeviceBuffer<std::uint8_t> is_equal = context_.buffer<std::uint8_t>(count);
        const DeviceBuffer<std::int32_t> is_head = context_.buffer<std::int32_t>(count);
        for_each_index(context_, "runs that are left", count,
                       FlagNextRuns{count, run_of.data(), tops.data(), keys.data(), is_equal.data(), is_head.data()});
        const DeviceBuffer<std::int32_t> left = positions_of(context_, std::move(is_equal));
        heads = taken(is_head, left);
        positions = taken(positions, left);
    }

    [[nodiscard]] DeviceBuffer<std::uint32_t> runs_of(const DeviceBuffer<std::int32_t>& numbers,
                                                      const DeviceBuffer<std::int32_t>& run_of) {
        DeviceBuffer<std::uint32_t> runs = context_.buffer<std::uint32_t>(numbers.size());
        for_each_index(
            context_, "runs of members", numbers.size(),
            Take<std::uint32_t>{reinterpret_cast<const std::uint32_t*>(run_of.data()), numbers.data(), runs.data()});
        return runs;
    }

    DeviceContext& context_;
    const Frame<T>& frame_;
    DeviceBuffer<DeviceFrame<T>> device_frame_;
    DeviceView<T> points_;
    RootCell cell_; ///< of all points
};

} // namespace kith::detail::inline KITH_GPU
