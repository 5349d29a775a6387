// Calls of record_launches.cpp by subject: whether a name is one of them; then it is recorded with that parameter.
#pragma once

#include "recorded_points.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

namespace kith::bench {

/// The radius of a ball in the unit box that holds `points` points on average.
inline double length_around(double points, std::int64_t count, int dimension) {
    const double unit_ball = std::pow(std::numbers::pi, dimension / 2.0) / std::tgamma(dimension / 2.0 + 1);
    return std::pow(points / (static_cast<double>(count) * unit_ball), 1.0 / dimension);
}

template <class T>
bool record_neighbors(RecordedPoints<T>& points, const std::string& call, double parameter);
template <class T>
bool record_groups(RecordedPoints<T>& points, const std::string& call, double parameter);
template <class T>
bool record_halos(RecordedPoints<T>& points, const std::string& call, double parameter);

} // namespace kith::bench
