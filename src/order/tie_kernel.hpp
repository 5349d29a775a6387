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
template <class Key>
struct EqualKeysJob {
    std::int64_t count;
    const Key* keys;
    std::uint8_t* is_equal;
};

template <class Key>
__global__ void flag_equal_keys_kernel(const __grid_constant__ EqualKeysJob<Key> job) {
    const std::int64_t i = thread_index();
    if (i < job.count) {
        const Key key = job.keys[i];
        job.is_equal[i] = (i > 0 && job.keys[i - 1] == key) || (i + 1 < job.count && job.keys[i + 1] == key);
    }
}

/// Members of runs: their positions in the order, the runs one after the other.
struct Members {
    std::int64_t count;
    const std::int32_t* position;
};

/// Says of every member whether a run begins with it: for the first round, by its key among all.
template <class Key>
struct FirstHeadsJob {
    Members members;
    const Key* keys; ///< of all points, in order
    std::int32_t* is_head;
};

template <class Key>
__global__ void flag_first_heads_kernel(const __grid_constant__ FirstHeadsJob<Key> job) {
    const std::int64_t i = thread_index();
    if (i < job.members.count) {
        job.is_head[i] = i == 0 || job.keys[job.members.position[i]] != job.keys[job.members.position[i - 1]] ? 1 : 0;
    }
}

/// Runs are counted from 1: run_of is the running sum of heads.
template <class Number>
struct RunStartsJob {
    std::int64_t members;
    const Number* run_of;
    Number* first_member;       ///< of each run, the first run's at 1
    std::int32_t* top_exponent; ///< of each run
};

template <class Number>
__global__ void start_runs_kernel(const __grid_constant__ RunStartsJob<Number> job) {
    const std::int64_t i = thread_index();
    if (i < job.members && (i == 0 || job.run_of[i] != job.run_of[i - 1])) {
        job.first_member[job.run_of[i]] = static_cast<Number>(i);
        job.top_exponent[job.run_of[i]] = coincident;
    }
}

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
__global__ void find_run_tops_kernel(const __grid_constant__ RunMembers<T> job) {
    const std::int64_t i = thread_index();
    if (i >= job.members.count) {
        return;
    }
    const std::int32_t run = job.run_of[i];
    const Split from_first = split_of<T, D>(job.template position_of<D>(job.first_member[run]),
                                            job.template position_of<D>(i), job.sign_exponent);
    if (from_first.exponent > job.top_exponent[run]) { // it only grows: most have nothing to add
        atomicMax(&job.top_exponent[run], from_first.exponent);
    }
}

template <class T>
struct TieKeysJob {
    RunMembers<T> runs;
    std::uint64_t* keys;
    std::int32_t* numbers; ///< get each member's own
};

template <class T, int D>
__global__ void make_run_keys_kernel(const __grid_constant__ TieKeysJob<T> job) {
    const std::int64_t i = thread_index();
    if (i < job.runs.members.count) {
        const int top = job.runs.top_exponent[job.runs.run_of[i]];
        job.keys[i] = top == coincident ? 0
                                        : device_key<T, D>(DeviceKeyEncoder<T, D>(top, job.runs.sign_exponent),
                                                           job.runs.template position_of<D>(i));
        job.numbers[i] = static_cast<std::int32_t>(i);
    }
}

/// to[i] = from[which[i]].
template <class Element>
struct TakeJob {
    std::int64_t count;
    const Element* from;
    const std::int32_t* which;
    Element* to;
};

template <class Element>
__global__ void take_kernel(const __grid_constant__ TakeJob<Element> job) {
    const std::int64_t i = thread_index();
    if (i < job.count) {
        job.to[i] = job.from[job.which[i]];
    }
}

/// to[which[i]] = from[i].
template <class Element>
struct PutJob {
    std::int64_t count;
    const Element* from;
    const std::int32_t* which;
    Element* to;
};

template <class Element>
__global__ void put_kernel(const __grid_constant__ PutJob<Element> job) {
    const std::int64_t i = thread_index();
    if (i < job.count) {
        job.to[job.which[i]] = job.from[i];
    }
}

/// Which members are equal again, and where their runs begin.
template <class Key>
struct NextRunsJob {
    std::int64_t members;
    const std::int32_t* run_of;
    const std::int32_t* top_exponent; ///< of each run
    const Key* keys;                  ///< sorted
    std::uint8_t* is_equal;
    std::int32_t* is_head; ///< differs from the member before it
};

template <class Key>
__global__ void flag_next_runs_kernel(const __grid_constant__ NextRunsJob<Key> job) {
    const std::int64_t i = thread_index();
    if (i >= job.members) {
        return;
    }
    const auto is_like = [&](std::int64_t other) {
        return job.run_of[other] == job.run_of[i] && job.keys[other] == job.keys[i];
    };
    const bool as_before = i > 0 && is_like(i - 1);
    const bool as_after = i + 1 < job.members && is_like(i + 1);
    job.is_head[i] = as_before ? 0 : 1;
    job.is_equal[i] = job.top_exponent[job.run_of[i]] != coincident && (as_before || as_after);
}

} // namespace kith::detail::inline KITH_GPU
