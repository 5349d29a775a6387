// Hubs that lie apart, selected on the host for the flat form of CLOVER on the CPU and on a GPU.
//
// Each is drawn with a probability that grows with the square of its distance from those before it, among a random
// sample of points. Cost: hubs times samples. Source: CLOVER (ICS 2025), section 4.2.3; D. Arthur, S. Vassilvitskii,
// "k-means++" (SODA 2007).
#pragma once

#include "points/frame.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// Number of points to draw; all points where there are fewer.
constexpr std::int64_t samples_for(std::int64_t hubs) noexcept {
    return 32 * hubs;
}

/// Which samples become hubs, fewer than wanted where places are fewer. Samples lie axis after axis, in working
/// coordinates.
std::vector<std::int32_t> spread_hubs(const Frame<float>& frame, std::vector<float> samples, std::int64_t wanted,
                                      std::uint64_t seed);
std::vector<std::int32_t> spread_hubs(const Frame<double>& frame, std::vector<double> samples, std::int64_t wanted,
                                      std::uint64_t seed);

} // namespace kith::detail
