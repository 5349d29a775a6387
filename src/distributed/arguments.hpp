// What all ranks must do alike: the function that they call, and its arguments.
#pragma once

#include <kith/box.hpp>
#include <kith/points.hpp>

#include "distributed/ranks.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::detail {

/// How the value of an argument is written in an error.
enum class ArgumentKind : std::uint8_t {
    number,
    flag,   ///< true or false
    given,  ///< whether there is one
    type,   ///< of coordinates or other numbers, by its bytes
    choice, ///< of names, by its number
    hash,   ///< of what is too much to be written
};

struct Argument {
    std::string name; ///< as errors call it
    double value;
    ArgumentKind kind = ArgumentKind::number;
    std::span<const std::string_view> names = {}; ///< by value, of choices
};

inline Argument flag(std::string name, bool value) {
    return {std::move(name), value ? 1.0 : 0.0, ArgumentKind::flag};
}
inline Argument given(std::string name, bool is_given) {
    return {std::move(name), is_given ? 1.0 : 0.0, ArgumentKind::given};
}
inline Argument type(std::string name, DType dtype) {
    return {std::move(name), dtype == DType::float32 ? 4.0 : 8.0, ArgumentKind::type};
}

/// A name from a list that outlives the argument.
inline Argument choice(std::string name, std::size_t number, std::span<const std::string_view> names) {
    return {std::move(name), static_cast<double>(number), ArgumentKind::choice, names};
}

/// Numbers that are compared between ranks only.
Argument hash(std::string name, std::span<const std::int64_t> values);

/// The points' dimension and type, the box, and what else a function takes.
std::vector<Argument> arguments_about(const PointsView& points, const Box& box, const std::vector<Argument>& others);
/// The same of a function that may rebalance.
std::vector<Argument> arguments_about(const PointsView& points, const Box& box, const RankOptions& of_ranks,
                                      const std::vector<Argument>& others);

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
    hdbscan,
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
