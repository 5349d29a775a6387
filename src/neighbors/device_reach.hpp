// How far the neighbors of the next leaf are expected to lie, for kernels: reach.hpp in single precision, with a first
// guess for a warp that has learned nothing. A guess decides how long a search takes, never what it finds.
#pragma once

#include "cuda/intrinsics.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Squared lengths are those of working units. Every lane of a warp holds the same.
template <int D>
class DeviceReach {
public:
    /// A leaf that is a cube of uniform points has the calibration that is assumed first: the radius that holds
    /// `needed` points is this share of its diagonal (squared), and its farthest point needs about half as much again.
    /// Where a density tells nothing either, the first radius is tried.
    __device__ DeviceReach(std::int64_t needed, float first_radius)
        : last_(first_radius > 0 ? std::log2(first_radius) : unknown()),
          calibration_(std::log2(0.385F * 1.5F / D) + 2.0F / D * std::log2(static_cast<float>(needed) + 1.0F)) {}

    /// The squared radius to try first, for a leaf with this squared diagonal and so many points; 0 points if its
    /// density says nothing about the sources. Infinity if nothing is known.
    __device__ float guess(float squared_diagonal, std::int32_t points) {
        const bool tells = points > 2 && squared_diagonal > 0;
        density_ = tells ? std::log2(squared_diagonal) - 2.0F / D * std::log2(static_cast<float>(points)) : unknown();
        const float by_density = density_ + calibration_;
        const float logarithm = !tells ? last_ : learned_ ? 0.7F * by_density + 0.3F * last_ : by_density;
        return logarithm == unknown() ? std::numeric_limits<float>::infinity() : std::exp2(logarithm + margin);
    }

    /// What the leaf of the last guess needed.
    __device__ void learn(float squared_radius) {
        if (!(squared_radius > 0 && squared_radius < std::numeric_limits<float>::infinity())) {
            return;
        }
        last_ = std::log2(squared_radius);
        if (density_ != unknown()) {
            const float seen = last_ - density_;
            calibration_ = learned_ ? calibration_ + 0.3F * (seen - calibration_) : seen;
            learned_ = true;
        }
    }

private:
    static constexpr float margin = 0.2F;
    __device__ static constexpr float unknown() { return -std::numeric_limits<float>::infinity(); }

    float last_; // all are log2 of squared lengths
    float density_ = unknown();
    float calibration_;
    bool learned_ = false;
};

} // namespace kith::detail::inline KITH_GPU
