// The k nearest so far of one query, kept in order by the lanes of a warp.
//
// Candidates wait in shared memory until there is one for every lane. Such a batch is sorted across the lanes and
// merged into the rows of the list from the nearest on; what a row has no room for goes on to the next (bitonic
// networks: 15 exchanges for a batch, 10 for a row). So an accepted candidate costs a few instructions of the warp,
// where insertion costs about k. The list has room for 32 * Rows candidates; all are kept, the bound is the wanted-th.
#pragma once

#include "neighbors/rank_key.hpp"

namespace kith::detail::inline KITH_GPU {

/// How many rows of 32 a list of so many neighbors takes.
template <int List>
inline constexpr int rows_of_list = (List + warp_size - 1) / warp_size;

template <class T, int Rows>
class WarpTopK {
public:
    static constexpr int capacity = warp_size * Rows;

    /// For `wanted` neighbors, 1 to the capacity; only candidates before `limit` count.
    __device__ WarpTopK(int wanted, RankKey<T> limit)
        : wanted_(wanted), lane_(static_cast<int>(threadIdx.x) % warp_size), bound_(limit) {
        for (int row = 0; row < Rows; ++row) {
            list_[row] = no_candidate<T>();
        }
    }

    /// What comes after this is no answer.
    __device__ RankKey<T> bound() const { return bound_; }

    /// Takes a candidate of each lane, or no_candidate(). To be called by the whole warp.
    __device__ void add(RankKey<T> candidate) {
        candidate = sorted(candidate);
#pragma unroll
        for (int row = 0; row < Rows; ++row) {
            const RankKey<T> farthest_first = candidate.across(warp_size - 1);
            const bool mine_is_nearer = list_[row] < farthest_first;
            const RankKey<T> nearer = RankKey<T>::either(mine_is_nearer, list_[row], farthest_first);
            if (row + 1 < Rows) { // or else a merge that nobody uses: the compiler keeps its shuffles
                candidate = merged(RankKey<T>::either(mine_is_nearer, farthest_first, list_[row]));
            }
            list_[row] = merged(nearer);
        }
        const RankKey<T> last = last_wanted();
        bound_ = RankKey<T>::either(last < bound_, last, bound_);
    }

    /// The wanted-th neighbor so far; no_candidate() if there are fewer.
    __device__ RankKey<T> last_wanted() const {
        RankKey<T> last = list_[0];
#pragma unroll
        for (int row = 1; row < Rows; ++row) {
            last = RankKey<T>::either((wanted_ - 1) / warp_size == row, list_[row], last);
        }
        return last.from_lane((wanted_ - 1) % warp_size);
    }

    /// How many neighbors the list holds.
    __device__ int found() const {
        int found = 0;
#pragma unroll
        for (int row = 0; row < Rows; ++row) {
            found += __popc(__ballot_sync(whole_warp, list_[row] < no_candidate<T>()));
        }
        return found;
    }

    /// The neighbor of rank row * 32 + lane.
    __device__ RankKey<T> of_row(int row) const {
        return list_[row];
    }

private:
    __device__ RankKey<T> exchanged(RankKey<T> key, int lanes, bool keep_nearer) const {
        const RankKey<T> other = key.across(lanes);
        return RankKey<T>::either((other < key) == keep_nearer, other, key);
    }

    __device__ RankKey<T> sorted(RankKey<T> key) const {
#pragma unroll
        for (int size = 2; size <= warp_size; size *= 2) {
#pragma unroll
            for (int lanes = size / 2; lanes > 0; lanes /= 2) {
                key = exchanged(key, lanes, ((lane_ & lanes) == 0) == ((lane_ & size) == 0));
            }
        }
        return key;
    }

    /// Sorts what ascends and then descends, or the other way round.
    __device__ RankKey<T> merged(RankKey<T> key) const {
#pragma unroll
        for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
            key = exchanged(key, lanes, (lane_ & lanes) == 0);
        }
        return key;
    }

    RankKey<T> list_[Rows];
    int wanted_;
    int lane_;
    RankKey<T> bound_;
};

inline constexpr int queue_size = 2 * warp_size; ///< of one warp

/// The list with its waiting room, which is the warp's part of a shared array.
template <class T, int Rows, int Size>
class NearestOfWarp {
public:
    static constexpr int capacity = WarpTopK<T, Rows>::capacity;

    /// The waiting room is waiting[first] and what follows.
    __device__ NearestOfWarp(SharedArray<RankKey<T>, Size>& waiting, int first, int wanted, RankKey<T> limit)
        : waiting_(waiting), first_(first), lane_(static_cast<int>(threadIdx.x) % warp_size), list_(wanted, limit) {}

    /// What comes after this is no answer. Those who wait have not had their say.
    __device__ RankKey<T> bound() const { return list_.bound(); }

    /// Takes the candidates of the lanes where `counts`. To be called by the whole warp.
    __device__ void offer(RankKey<T> candidate, bool counts) {
        const unsigned counting = __ballot_sync(whole_warp, counts);
        if (counts) {
            waiting_[first_ + waits_ + __popc(counting & ((1U << lane_) - 1))] = candidate;
        }
        waits_ += __popc(counting);
        __syncwarp();
        if (waits_ < warp_size) {
            return;
        }
        list_.add(waiting_[first_ + lane_]);
        waits_ -= warp_size;
        const bool moves = lane_ < waits_;
        const RankKey<T> moved = moves ? RankKey<T>(waiting_[first_ + warp_size + lane_]) : candidate;
        __syncwarp();
        if (moves) {
            waiting_[first_ + lane_] = moved;
        }
        __syncwarp();
    }

    /// Lets all in who wait. To be called by the whole warp.
    __device__ void flush() {
        if (waits_ > 0) {
            list_.add(lane_ < waits_ ? RankKey<T>(waiting_[first_ + lane_]) : no_candidate<T>());
            waits_ = 0;
            __syncwarp();
        }
    }

    /// The neighbor of rank row * 32 + lane, once all are settled.
    __device__ RankKey<T> of_row(int row) const { return list_.of_row(row); }
    /// The wanted-th, no_candidate() if there are fewer, and how many there are, once all are settled.
    __device__ RankKey<T> last_wanted() const { return list_.last_wanted(); }
    __device__ int found() const { return list_.found(); }
    /// The last one that the list holds.
    __device__ RankKey<T> last() const { return list_.of_row(Rows - 1).from_lane(warp_size - 1); }

private:
    SharedArray<RankKey<T>, Size>& waiting_;
    int first_;
    int lane_;
    int waits_ = 0; ///< how many; less than a warp between calls
    WarpTopK<T, Rows> list_;
};

} // namespace kith::detail::inline KITH_GPU
