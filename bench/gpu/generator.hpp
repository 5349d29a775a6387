// Fills memory of the device with a point set, row-major.
#pragma once

#include "device.hpp"
#include "point_set.hpp"

namespace bench {

/// Instantiated for float and double. Waits until the points are there.
template <class T>
[[nodiscard]] DeviceArray<T> generate(const PointSet& set, const Stream& stream);

/// Whether the device places some clustered points where the host does, bit for bit.
[[nodiscard]] bool places_as_the_host(const Stream& stream);

} // namespace bench
