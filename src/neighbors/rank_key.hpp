// A candidate neighbor as kernels handle it: a key that orders as (squared distance, original index) does.
//
// Squared distances are not negative, so that their bits order as they do: in float32 distance and index fit one word.
#pragma once

#include "cuda/intrinsics.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

template <class T>
class RankKey;

template <>
class RankKey<float> {
public:
    RankKey() = default;
    __host__ __device__ RankKey(float squared, std::int32_t index)
        : bits_(std::uint64_t{std::bit_cast<std::uint32_t>(squared)} << 32 | static_cast<std::uint32_t>(index)) {}
    __host__ __device__ float squared() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits_ >> 32)); }
    __host__ __device__ std::int32_t index() const { return static_cast<std::int32_t>(bits_ & 0xFFFFFFFFU); }
    __host__ __device__ friend bool operator<(RankKey a, RankKey b) { return a.bits_ < b.bits_; }

    /// That of another lane of the warp.
    __device__ RankKey from_lane(int lane) const { return RankKey(__shfl_sync(whole_warp, bits_, lane)); }
    __device__ RankKey across(int lanes) const { return RankKey(__shfl_xor_sync(whole_warp, bits_, lanes)); }

    /// One of two, without a branch: "condition ? a : b" would choose between places in memory, and so keep both there.
    __device__ static RankKey either(bool first, RankKey a, RankKey b) { return RankKey(first ? a.bits_ : b.bits_); }

private:
    __device__ explicit RankKey(std::uint64_t bits) : bits_(bits) {}
    std::uint64_t bits_;
};

template <>
class RankKey<double> {
public:
    RankKey() = default;
    __host__ __device__ RankKey(double squared, std::int32_t index) : squared_(squared), index_(index) {}
    __host__ __device__ double squared() const { return squared_; }
    __host__ __device__ std::int32_t index() const { return index_; }
    __host__ __device__ friend bool operator<(RankKey a, RankKey b) {
        return a.squared_ < b.squared_ || (a.squared_ == b.squared_ && a.index_ < b.index_);
    }

    __device__ RankKey from_lane(int lane) const {
        return {__shfl_sync(whole_warp, squared_, lane), __shfl_sync(whole_warp, index_, lane)};
    }
    __device__ RankKey across(int lanes) const {
        return {__shfl_xor_sync(whole_warp, squared_, lanes), __shfl_xor_sync(whole_warp, index_, lanes)};
    }

    __device__ static RankKey either(bool first, RankKey a, RankKey b) {
        return {first ? a.squared_ : b.squared_, first ? a.index_ : b.index_};
    }

private:
    double squared_;
    std::int32_t index_;
};

/// After every candidate: a missing neighbor.
template <class T>
__host__ __device__ RankKey<T> no_candidate() {
    return {std::numeric_limits<T>::infinity(), std::numeric_limits<std::int32_t>::max()};
}

/// The first of all lanes of the warp, for each of them.
template <class T>
__device__ RankKey<T> least_of_warp(RankKey<T> key) {
#pragma unroll
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
        const RankKey<T> other = key.across(lanes);
        key = RankKey<T>::either(other < key, other, key);
    }
    return key;
}

} // namespace kith::detail::inline KITH_GPU
