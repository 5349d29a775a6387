// What all ranks must do alike: the function that they call, and its arguments.
#pragma once

#include <kith/box.hpp>
#include <kith/points.hpp>

#include "distributed/ranks.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::detail {

/// How the value of an argument is written in an error.
enum class ArgumentKind : std::uint8_t {
    number,
    flag, ///< true or false
    type, ///< of coordinates or other numbers, by its bytes
    hash, ///< of what is too much to be written
};

struct Argument {
    std::string name; ///< as errors call it
    double value;
    ArgumentKind kind = ArgumentKind::number;
};

inline Argument flag(std::string name, bool value) {
    return {std::move(name), value ? 1.0 : 0.0, ArgumentKind::flag};
}
inline Argument type(std::string name, DType dtype) {
    return {std::move(name), dtype == DType::float32 ? 4.0 : 8.0, ArgumentKind::type};
}

/// Numbers that nobody but the ranks among each other compares.
Argument hash(std::string name, std::span<const std::int64_t> values);

/// The points' dimension and type and the box.
std::vector<Argument> shape_arguments(const PointsView& points, const Box& box);

/// The functions over ranks.
enum class RankFunction : std::uint8_t {
    knn,
    knn_visit,
    radius_search,
    radius_count,
    sum_neighbors,
    pair_counts,
    fof,
    dbscan,
    spanning_tree,
    catalog,
    halos,
    z_order,
    gather,
    fof_of_tree,
    fof_ladder,
    hierarchy,
    edges_in_order
};

/// Throws invalid_argument on all ranks unless all call the same function with the same values of these arguments.
void require_same(Ranks& ranks, RankFunction function, const std::vector<Argument>& arguments);

} // namespace kith::detail
