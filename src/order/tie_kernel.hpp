// Points whose keys are equal, on a GPU: what a round of sorting them again takes, a thread for each.
//
// A run of equal keys shares a cell smaller than the keys' unit. Its members get new keys relative to the run's own
// smallest cell, found as the topmost bit in which any member differs from the first, are sorted by them within their
// run, and those that are equal again form the runs of the next round. Coincident points stay as they are, in order of
// their index. Each round resolves 63 / D bits an axis of what differs, so that few rounds do even for points that
// cluster around zero.
#pragma once

#include "cuda/intrinsics.hpp"
#include "order/key_kernel.hpp"
#include "order/zorder.hpp"
#include "points/device_view.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Flags the points that have the key of one beside them.
struct FlagEqualKeys {
    std::int64_t count;
    const std::uint64_t* keys;
    std::uint8_t* is_equal;

    __device__ void operator()(std::int64_t i) const {
        const std::uint64_t key = keys[i];
        is_equal[i] = (i > 0 && keys[i - 1] == key) || (i + 1 < count && keys[i + 1] == key);
    }
};

/// Members of runs: their positions in the order, the runs one after the other.
struct Members {
    std::int64_t count;
    const std::int32_t* position;
};

/// Says of every member whether a run begins with it: for the first round, by its key among all.
struct FlagFirstHeads {
    const std::int32_t* position; ///< of the members
    const std::uint64_t* keys;    ///< of all points, in order
    std::int32_t* is_head;

    __device__ void operator()(std::int64_t i) const {
        is_head[i] = i == 0 || keys[position[i]] != keys[position[i - 1]] ? 1 : 0;
    }
};

/// Runs are counted from 1: run_of is the running sum of heads.
struct StartRuns {
    const std::int32_t* run_of;
    std::int32_t* first_member; ///< of each run, the first run's at 1
    std::int32_t* top_exponent; ///< of each run

    __device__ void operator()(std::int64_t i) const {
        if (i == 0 || run_of[i] != run_of[i - 1]) {
            first_member[run_of[i]] = static_cast<std::int32_t>(i);
            top_exponent[run_of[i]] = coincident;
        }
    }
};

template <class T>
struct RunMembers {
    DeviceView<T> points;
    const std::int32_t* indices; ///< of all points, in order
    Members members;
    int sign_exponent;
    const std::int32_t* run_of;
    const std::int32_t* first_member;
    std::int32_t* top_exponent;

    template <int D>
    __device__ std::array<T, D> position_of(std::int64_t member) const {
        return points.template position<D>(indices[members.position[member]]);
    }
};

template <class T, int D>
struct FindRunTops {
    RunMembers<T> runs;

    __device__ void operator()(std::int64_t i) const {
        const std::int32_t run = runs.run_of[i];
        const Split from_first = split_of<T, D>(runs.template position_of<D>(runs.first_member[run]),
                                                runs.template position_of<D>(i), runs.sign_exponent);
        // It only grows, so that an earlier value will do. Most have nothing to add.
        if (from_first.exponent > load_relaxed_through_cache(&runs.top_exponent[run])) {
            atomicMax(&runs.top_exponent[run], from_first.exponent);
        }
    }
};

template <class T, int D>
struct MakeRunKeys {
    RunMembers<T> runs;
    std::uint64_t* keys;
    std::int32_t* numbers; ///< get each member's own

    __device__ void operator()(std::int64_t i) const {
        const int top = runs.top_exponent[runs.run_of[i]];
        keys[i] = top == coincident ? 0
                                    : device_key<T, D>(DeviceKeyEncoder<T, D>(top, runs.sign_exponent),
                                                       runs.template position_of<D>(i));
        numbers[i] = static_cast<std::int32_t>(i);
    }
};

template <class Element>
struct Take {
    const Element* from;
    const std::int32_t* which;
    Element* to;

    __device__ void operator()(std::int64_t i) const { to[i] = from[which[i]]; }
};

template <class Element>
struct Put {
    const Element* from;
    const std::int32_t* which;
    Element* to;

    __device__ void operator()(std::int64_t i) const { to[which[i]] = from[i]; }
};

/// Which members are equal again, and where their runs begin.
struct FlagNextRuns {
    std::int64_t members;
    const std::int32_t* run_of;
    const std::int32_t* top_exponent; ///< of each run
    const std::uint64_t* keys;        ///< sorted
    std::uint8_t* is_equal;
    std::int32_t* is_head; ///< differs from the member before it

    __device__ void operator()(std::int64_t i) const {
        const auto is_like = [&](std::int64_t other) { return run_of[other] == run_of[i] && keys[other] == keys[i]; };
        const bool as_before = i > 0 && is_like(i - 1);
        const bool as_after = i + 1 < members && is_like(i + 1);
        is_head[i] = as_before ? 0 : 1;
        is_equal[i] = top_exponent[run_of[i]] != coincident && (as_before || as_after);
    }
};

} // namespace kith::detail::inline KITH_GPU
