// Requests for edges and the bounds to which they have been answered, in messages.
//
// A box takes some seven bytes (packed_boxes.hpp), rounded outward; a bound two, rounded up, and only one for all
// requests of a component that follow each other. The asking rank knows bounds as rounded. An answered bound is as it
// is, since the edge that it is the length of must be certain; that it has not changed takes a bit.
#pragma once

#include "distributed/corners.hpp"
#include "distributed/ranks.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// Asks for the points of other components within a bound of a box.
template <Coordinate T>
struct EdgeRequest {
    static constexpr std::int64_t any = -3; ///< component: all of the asking rank's

    Corners<T> box;
    T bound;                ///< squared
    std::int64_t component; ///< name, or any
    Corners<T> whole;       ///< contains the box; not sent
    int bits;               ///< of its longest side to which the box is rounded; not sent
    T core = 0; ///< the largest squared core distance of points that ask; sent where there are such, rounded up
};

/// Points of other ranks.
template <Coordinate T>
struct EdgePoints {
    std::vector<T> rows; ///< coordinates as given, row-major
    std::vector<std::int64_t> numbers;
    std::vector<std::int64_t> components; ///< names
    std::vector<std::int32_t> ranks;
    std::vector<T> cores; ///< squared core distances, if there are such
};

/// A bound as it is sent, which is no less.
template <Coordinate T>
T rounded_bound(T bound);

/// Without core distances, those of a component that follow each other have one bound.
template <Coordinate T>
void put_edge_requests(MessageWriter& writer, int dimension, bool has_cores, std::span<const EdgeRequest<T>> requests);
template <Coordinate T>
std::vector<EdgeRequest<T>> taken_edge_requests(MessageReader& reader, int dimension, bool has_cores);

/// The bounds to which requests have been answered.
template <Coordinate T>
void put_answered_bounds(MessageWriter& writer, std::span<const EdgeRequest<T>> asked, std::span<const T> answered);
/// Lowers the bounds of the requests to these.
template <Coordinate T>
void take_answered_bounds(MessageReader& reader, std::span<EdgeRequest<T>> asked);

} // namespace kith::detail
