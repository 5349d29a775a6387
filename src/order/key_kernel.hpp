// The keys that points are sorted by on a GPU, a thread for each point: those of the CPU (keys.hpp), with as many bits
// as make up 63.
#pragma once

#include "cuda/intrinsics.hpp"
#include "order/keys.hpp"
#include "order/root_cell.hpp"
#include "points/device_view.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T, int D>
using DeviceKeyEncoder = KeyEncoder<T, D, 63 / D>;

/// A point's key within the cell of the encoder.
template <class T, int D>
__device__ std::uint64_t device_key(const DeviceKeyEncoder<T, D>& encoder, const std::array<T, D>& x) {
    std::uint64_t key = 0;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        const std::uint64_t bits = encoder.axis_bits(x[axis]);
#pragma unroll
        for (int bit = 0; bit < DeviceKeyEncoder<T, D>::bits_per_axis; ++bit) {
            key |= ((bits >> bit) & 1U) << (bit * D + D - 1 - axis);
        }
    }
    return key;
}

/// Keys within a cell that need not hold all points: those beyond it get the keys of its edge, so that a few far points
/// do not take the bits from all others.
template <class T, int D>
struct KeysWithin {
    Corners<T, D> corners;
    DeviceKeyEncoder<T, D> encoder;

    KITH_HOST_DEVICE explicit KeysWithin(const Corners<T, D>& of_cell) : KeysWithin(of_cell, cell_of(of_cell)) {}
    KITH_HOST_DEVICE KeysWithin(const Corners<T, D>& of_cell, const RootCell& cell)
        : corners(of_cell), encoder(cell.top_exponent, cell.sign_exponent) {}

    [[nodiscard]] __device__ std::uint64_t operator()(std::array<T, D> x) const {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = device_min(device_max(x[axis], corners.least[axis]), corners.greatest[axis]);
        }
        return device_key<T, D>(encoder, x);
    }
};

template <class T, int D>
struct MakeKeysWithin {
    DeviceView<T> points;
    const KeysWithin<T, D>* key_of; ///< in memory of the device
    std::uint64_t* keys;
    std::int32_t* indices; ///< gets each point's own

    __device__ void operator()(std::int64_t i) const {
        keys[i] = (*key_of)(points.template position<D>(i));
        indices[i] = static_cast<std::int32_t>(i);
    }
};

template <class T, int D>
struct MakeKeys {
    DeviceView<T> points;
    const DeviceKeyEncoder<T, D>* encoder; ///< for the cell of all points; in memory of the device
    std::uint64_t* keys;
    std::int32_t* indices; ///< gets each point's own

    __device__ void operator()(std::int64_t i) const {
        const std::int64_t point = points.first + i;
        keys[i] = device_key<T, D>(*encoder, points.template position<D>(point));
        indices[i] = static_cast<std::int32_t>(point);
    }
};

} // namespace kith::detail::inline KITH_GPU
