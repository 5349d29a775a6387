// The oracle's view of the points: what the contract (docs/semantics.md, "Numbers" and "Boxes") says the coordinates
// become before any distance is taken.
//
// A coordinate on a periodic axis is wrapped into the box, then everything is multiplied by one power of two that
// brings the largest absolute source coordinate, as given, or period into [2^47, 2^48) (float) or [2^31, 2^32)
// (double). Periods and origins are rounded to the coordinates' type first. All loops are the plainest possible;
// nothing here is shared with the library.
#pragma once

#include <kith/points.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::oracle {

template <class T>
struct WorkingCopy {
    int dimension = 0;
    int exponent = 0;                      ///< working = given * 2^exponent
    std::vector<T> points;                 ///< row-major, wrapped and scaled
    std::vector<T> given;                  ///< the same, wrapped only
    T largest = 0;                         ///< absolute source coordinate or period, as given
    std::array<T, max_dimension> period{}; ///< scaled; 0 on an open axis
    std::array<T, max_dimension> length{}; ///< the period as given, rounded to T
    std::array<T, max_dimension> origin{}; ///< as given or by default, rounded to T

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(points.size()) / dimension; }
    [[nodiscard]] const T* point(std::int64_t i) const { return points.data() + i * dimension; }
};

/// The working copy of row-major n x d sources.
template <class T>
WorkingCopy<T> working_copy(std::span<const T> sources, int dimension, const Box& box = {});

/// The working copy of row-major n x d positions and velocities as points of 2 d coordinates: the velocities in float64
/// times the linking length, rounded to T, over psi, rounded to T; space is open along them.
template <class T, class V>
WorkingCopy<T> phase_space_copy(std::span<const T> positions, std::span<const V> velocities, int dimension,
                                const Box& box, double linking_length, double psi);

/// Queries wrapped into the same box and scaled by the same power of two.
template <class T>
std::vector<T> normalized_queries(const WorkingCopy<T>& sources, std::span<const T> queries);

/// Queries wrapped into the same box only.
template <class T>
std::vector<T> wrapped_queries(const WorkingCopy<T>& sources, std::span<const T> queries);

/// x >= origin and x - origin, rounded to T, <= length.
template <class T>
bool is_inside(T x, T origin, T length);

/// A length in the units of the points, rounded to T and scaled, and its square in T.
template <class T>
T squared_radius(const WorkingCopy<T>& sources, double radius);

/// Whether linking by that length, or a radius search, is refused: it is above 0, and its square is below the smallest
/// normal number. Not if all points are at zero, which for separate queries makes a difference (`separate`).
template <class T>
bool is_refused(const WorkingCopy<T>& sources, double radius, bool separate = false);

/// Whether a neighbor at this squared distance is unresolved; query and point as given, wrapped only.
template <class T>
bool is_unresolved(const WorkingCopy<T>& sources, const T* query, const T* point, T squared);

/// Squared distance of two points of a working copy, nearest image.
template <class T>
T squared_distance(const WorkingCopy<T>& sources, const T* query, const T* point);

} // namespace kith::oracle
