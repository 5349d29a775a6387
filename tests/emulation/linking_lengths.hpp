// Linking lengths as kernels take them.
#pragma once

#include "points/frame.hpp"
#include "support/linking_lengths.hpp"

namespace kith::test {

/// In working units.
template <class T>
T squared_length_of(const detail::Frame<T>& frame, double length) {
    const T radius = frame.load_radius(static_cast<double>(static_cast<T>(length)));
    return radius * radius;
}

} // namespace kith::test
