#include "distributed/arguments.hpp"

#include "support/message.hpp"

#include <bit>
#include <string>
#include <string_view>

namespace kith::detail {

namespace {

constexpr std::array<std::string_view, 18> function_names{
    "knn",         "knn_visit", "radius_search", "radius_count", "sum_neighbors",
    "pair_counts", "fof",       "dbscan",        "hdbscan",      "spanning_tree",
    "catalog",     "halos",     "z_order",       "gather",       "fof of a spanning tree",
    "fof_ladder",  "hierarchy", "edges_in_order"};

std::string text_of(const Argument& argument, double value) {
    switch (argument.kind) {
    case ArgumentKind::flag:
        return value != 0 ? "true" : "false";
    case ArgumentKind::given:
        return value != 0 ? "given" : "not given";
    case ArgumentKind::type:
        return value == 4 ? "float32" : "float64";
    case ArgumentKind::choice:
        return std::string(argument.names[static_cast<std::size_t>(value)]);
    default:
        return message(value);
    }
}

std::string difference(const Argument& argument, double value, double expected, int rank) {
    if (argument.kind == ArgumentKind::hash) {
        return message("those on rank ", rank, " are not those on rank 0");
    }
    return message(std::string_view(text_of(argument, value)), " on rank ", rank, ", ",
                   std::string_view(text_of(argument, expected)), " on rank 0");
}

} // namespace

Argument hash(std::string name, std::span<const std::int64_t> values) {
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a, of whole numbers, with the high bits brought down
    for (const std::int64_t value : values) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
        hash ^= hash >> 32;
    }
    return {std::move(name), static_cast<double>(hash >> 11), ArgumentKind::hash}; // a double holds 53 bits
}

std::vector<Argument> arguments_about(const PointsView& points, const Box& box, const std::vector<Argument>& others) {
    std::vector<Argument> arguments{{"dimension of the points", static_cast<double>(points.dimension())},
                                    type("type of the points", points.dtype()),
                                    {"number of axes of the box", static_cast<double>(box.axes())}};
    for (int axis = 0; axis < max_dimension; ++axis) {
        arguments.push_back({message("period of axis ", axis, " of the box"), box.period(axis)});
        arguments.push_back(given(message("origin of axis ", axis, " of the box"), box.origin(axis).has_value()));
        arguments.push_back({message("origin of axis ", axis, " of the box"), box.origin(axis).value_or(0)});
    }
    arguments.insert(arguments.end(), others.begin(), others.end());
    return arguments;
}

std::vector<Argument> arguments_about(const PointsView& points, const Box& box, const RankOptions& of_ranks,
                                      const std::vector<Argument>& others) {
    std::vector<Argument> arguments = arguments_about(points, box, others);
    arguments.insert(arguments.end(), {flag("rebalance", of_ranks.rebalance), {"imbalance", of_ranks.imbalance}});
    return arguments;
}

void require_same(Ranks& ranks, RankFunction function, const std::vector<Argument>& arguments) {
    std::vector<double> mine{static_cast<double>(function)};
    for (const Argument& argument : arguments) {
        mine.push_back(argument.value);
    }
    const auto all = ranks.gather_lists<double>(mine);
    const auto value_of = [&](int rank, std::size_t i) {
        return all.values[static_cast<std::size_t>(all.firsts[rank]) + i];
    };
    Ranks::alike([&] {
        for (int rank = 1; rank < ranks.size(); ++rank) {
            if (value_of(rank, 0) != value_of(0, 0)) {
                const auto name_of_function = [&](int of_rank) {
                    return function_names[static_cast<std::size_t>(value_of(of_rank, 0))];
                };
                throw error(ErrorKind::invalid_argument, "rank ", rank, " called ", name_of_function(rank), ", rank 0 ",
                            name_of_function(0), "; all ranks must call the same function");
            }
            for (std::size_t i = 0; i < arguments.size(); ++i) { // as many on all ranks, since it is one function
                const double value = value_of(rank, i + 1);
                const double expected = value_of(0, i + 1);
                if (std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(expected)) {
                    throw error(ErrorKind::invalid_argument, std::string_view(arguments[i].name), ": ",
                                std::string_view(difference(arguments[i], value, expected, rank)),
                                "; all ranks must pass the same");
                }
            }
        }
    });
}

} // namespace kith::detail
