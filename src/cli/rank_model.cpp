#include "cli/rank_model.hpp"

#include "cli/options.hpp"

#include <kith/error.hpp>
#include <kith/tree.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace kith::cli {

namespace {

constexpr const char* kind_of_constants = "costs over ranks";

Json json_of(const CallCost& cost) {
    return {{"layer", cost.layer},
            {"seconds_per_point", object_of(cost.per_point)},
            {"seconds_per_layer_point", object_of(cost.per_layer_point)},
            {"ask_seconds", cost.ask_seconds},
            {"working_bytes", cost.working_bytes},
            {"result_bytes", cost.result_bytes},
            {"collective_calls", cost.collective_calls},
            {"rank_bytes", cost.rank_bytes}};
}

/// A measured number: finite, 0 or more.
double number_of(const Json& json, const char* name) {
    const double value = json.at(name).get<double>();
    if (!std::isfinite(value) || value < 0) {
        throw std::invalid_argument(fmt::format("'{}' is {}", name, value));
    }
    return value;
}

StageSeconds stages_of(const Json& json) {
    StageSeconds stages;
    for (const auto& [stage, seconds] : json.items()) {
        stages.emplace_back(stage, number_of(json, stage.c_str()));
    }
    return stages;
}

CallCost cost_of(const Json& json) {
    return {number_of(json, "layer"),
            stages_of(json.at("seconds_per_point")),
            stages_of(json.at("seconds_per_layer_point")),
            number_of(json, "ask_seconds"),
            number_of(json, "working_bytes"),
            number_of(json, "result_bytes"),
            number_of(json, "collective_calls"),
            number_of(json, "rank_bytes")};
}

template <class Number>
Number count_of(const Json& json, const char* name, Number least = 1) {
    const Json& value = json.at(name);
    if (!value.is_number_integer() || value.get<std::int64_t>() < least ||
        value.get<std::int64_t>() > std::numeric_limits<Number>::max()) {
        throw std::invalid_argument(
            fmt::format("'{}' is {}, not a whole number of {} or more", name, value.dump(), least));
    }
    return value.get<Number>();
}

DType dtype_in(const Json& json) {
    const Json& name = json.at("dtype");
    for (const DType dtype : {DType::float32, DType::float64}) {
        if (name == name_of(dtype)) {
            return dtype;
        }
    }
    throw std::invalid_argument(fmt::format("'dtype' is {}, neither float32 nor float64", name.dump()));
}

/// What an exception says, without the number that the JSON library gives it.
std::string reason_of(const std::exception& error) {
    const std::string text = error.what();
    const bool is_numbered = dynamic_cast<const Json::exception*>(&error) != nullptr && text.starts_with('[');
    return is_numbered ? text.substr(text.find(']') + 2) : text;
}

/// Blocks that touch a block, at corners too; no more than there are others.
double neighbors_of(const std::vector<int>& blocks) {
    const double touching = std::accumulate(blocks.begin(), blocks.end(), 1.0,
                                            [](double product, int count) { return product * std::min(count, 3); });
    return touching - 1;
}

} // namespace

Json json_of(const RankConstants& constants) {
    return {{"kind", kind_of_constants},
            {"dimension", constants.dimension},
            {"dtype", name_of(constants.dtype)},
            {"k", constants.k},
            {"b", constants.b},
            {"points_per_rank", constants.points_per_rank},
            {"ranks", constants.ranks},
            {"threads", constants.threads},
            {"knn", json_of(constants.knn)},
            {"fof", json_of(constants.fof)}};
}

RankConstants rank_constants_of(const Json& json, const std::string& name) {
    if (!json.is_object() || json.value("kind", Json()) != kind_of_constants) {
        throw Error(ErrorKind::file, fmt::format("--constants is '{}', which is no JSON of kith bench --ranks; make it "
                                                 "with: kith bench --ranks --json > node.json",
                                                 name));
    }
    try {
        RankConstants constants;
        constants.dimension = json.at("dimension").get<int>();
        if (constants.dimension < 2 || constants.dimension > max_dimension) {
            throw std::invalid_argument(
                fmt::format("'dimension' is {}, not 2 to {}", constants.dimension, max_dimension));
        }
        constants.dtype = dtype_in(json);
        constants.k = count_of<std::int64_t>(json, "k");
        constants.b = number_of(json, "b");
        constants.points_per_rank = count_of<std::int64_t>(json, "points_per_rank");
        constants.ranks = count_of<int>(json, "ranks");
        constants.threads = count_of<int>(json, "threads", 0);
        constants.knn = cost_of(json.at("knn"));
        constants.fof = cost_of(json.at("fof"));
        return constants;
    } catch (const std::exception& error) {
        throw Error(
            ErrorKind::file,
            fmt::format("--constants is '{}', which does not hold the costs of calls over ranks ({}); make it with: "
                        "kith bench --ranks --json > node.json",
                        name, reason_of(error)));
    }
}

double CallPlan::all_seconds() const {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0,
                           [](double sum, const auto& stage) { return sum + stage.second; });
}

std::vector<int> blocks_of(int ranks, int dimension) {
    std::vector<int> factors;
    for (int factor = 2; ranks > 1; ++factor) {
        if (factor > ranks / factor) {
            factor = ranks; // what is left has no smaller factor
        }
        for (; ranks % factor == 0; ranks /= factor) {
            factors.push_back(factor);
        }
    }
    std::vector<int> blocks(dimension, 1);
    std::for_each(factors.rbegin(), factors.rend(),
                  [&](int factor) { *std::min_element(blocks.begin(), blocks.end()) *= factor; });
    std::sort(blocks.rbegin(), blocks.rend());
    return blocks;
}

double points_in_layer(double points_per_rank, const std::vector<int>& blocks, double layer) {
    const double ranks = std::accumulate(blocks.begin(), blocks.end(), 1.0, std::multiplies<>());
    const double side = std::pow(points_per_rank * ranks, 1.0 / static_cast<double>(blocks.size()));
    double volume = 1; // of the block with its layer, in blocks
    for (const int count : blocks) {
        volume *= count == 1 ? 1.0 : std::min(1 + 2 * layer * count / side, static_cast<double>(count));
    }
    return (volume - 1) * points_per_rank;
}

double layer_of(double layer_points, double points_per_rank, const std::vector<int>& blocks) {
    const double ranks = std::accumulate(blocks.begin(), blocks.end(), 1.0, std::multiplies<>());
    double low = 0;
    double high = std::pow(points_per_rank * ranks, 1.0 / static_cast<double>(blocks.size()));
    for (int halving = 0; halving < 60; ++halving) {
        const double middle = (low + high) / 2;
        (points_in_layer(points_per_rank, blocks, middle) < layer_points ? low : high) = middle;
    }
    return low;
}

double top_nodes(double points) {
    constexpr double fill = 0.72; // of a node, of the most points that it can hold; measured, of uniform points
    const TreeShape shape;
    double nodes = points / (fill * shape.leaf_size);
    while (nodes > shape.top_size) {
        nodes /= shape.coarsening;
    }
    return points > 0 ? std::max(nodes, 1.0) : 0;
}

CallPlan plan_of(const CallCost& cost, const RankConstants& constants, const Cluster& cluster) {
    const double points = cluster.points / cluster.ranks;
    const double others = cluster.ranks - 1;
    const std::vector<int> blocks = blocks_of(cluster.ranks, constants.dimension);
    CallPlan plan;
    plan.layer_points = points_in_layer(points, blocks, cost.layer);
    const double top_planes = others * top_nodes(points) * constants.node_bytes();
    plan.bytes = plan.layer_points * constants.point_bytes() + top_planes + others * cost.rank_bytes;
    plan.messages = 2 * neighbors_of(blocks); // requests and answers
    for (const auto& [stage, seconds] : cost.per_point) {
        const bool is_tree = stage == "order" || stage == "tree"; // the points of the layer have one, too
        plan.seconds.emplace_back(stage, seconds * (points + (is_tree ? plan.layer_points : 0)));
    }
    for (const auto& [stage, seconds] : cost.per_layer_point) {
        const double own = stage == "ask" && others > 0 ? cost.ask_seconds * points : 0;
        plan.seconds.emplace_back(stage, seconds * plan.layer_points + own);
    }
    const double steps = cluster.ranks > 1 ? std::ceil(std::log2(cluster.ranks)) : 0;
    // The top planes are long, so MPI gathers them around a ring: one message from every other rank.
    plan.seconds.emplace_back("exchange",
                              plan.bytes / cluster.link +
                                  cluster.latency * (plan.messages + others + cost.collective_calls * steps));
    // What is sent lies there once; what arrives, three times.
    plan.memory = points * (constants.coordinate_bytes() + cost.working_bytes + cost.result_bytes) +
                  4 * plan.layer_points * constants.point_bytes() + top_planes;
    return plan;
}

} // namespace kith::cli
