// The points of a row: generated, or read from a file of raw coordinates.
#pragma once

#include "device.hpp"
#include "generator.hpp"

#include <string>

namespace bench {

/// Number of points in a file of three float32 each. Throws if there is no such file, or part of a point.
[[nodiscard]] std::int64_t points_in(const std::string& path);

/// Without a path, the set.
template <class T>
[[nodiscard]] DeviceArray<T> points_of(const PointSet& set, const std::string& path, const Stream& stream);

[[nodiscard]] std::string name_of(Kind kind);

} // namespace bench
