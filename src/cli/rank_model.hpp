// What calls over ranks cost on machines that are not at hand: a model, from constants measured on this one.
//
// The points are uniform in a periodic box; each rank owns one block of a grid. A rank receives the points of others in
// a layer around its block, whose thickness in mean separations depends on the call and is measured; requests and links
// count as points of the layer. In addition every rank receives the boxes of the top planes of all others, in as many
// messages, and small numbers. A rank's
// own work and that on the layer take a measured time per point; the search of other ranks' boxes is part of it, since
// up to some thousands of ranks a leaf looks at few of them. Left out: uneven loads, waits for other ranks, reading and
// writing, networks that are slower than their links.
#pragma once

#include "cli/report.hpp"

#include <kith/points.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

using StageSeconds = Named<double>;

/// Cost of one call. Points of the layer are those that a rank receives from others.
struct CallCost {
    double layer = 0;             ///< thickness around a block, in mean separations
    StageSeconds per_point;       ///< seconds for each point of a rank
    StageSeconds per_layer_point; ///< seconds for each point of the layer, besides those of the stages above
    double ask_seconds = 0;       ///< for each point of a rank: the search for other ranks that are near
    double working_bytes = 0;     ///< peak working memory per point of a rank
    double result_bytes = 0;      ///< of its result, alike
    double collective_calls = 0;  ///< each of which takes a logarithmic number of messages
    double rank_bytes = 0;        ///< that every rank receives from each other, besides points and boxes
};

/// Measured by measure_rank_constants(), stored by `kith bench --ranks --json`.
struct RankConstants {
    int dimension = 3;
    DType dtype = DType::float32;
    std::int64_t k = 16;
    double b = 0.2;
    std::int64_t points_per_rank = 0; ///< of the measurement, as are the following
    int ranks = 0;
    int threads = 0; ///< of a rank; 0: all cores
    CallCost knn;
    CallCost fof;

    /// Of a point on its way: coordinates and an int32.
    [[nodiscard]] double point_bytes() const { return coordinate_bytes() + 4.0; }
    [[nodiscard]] double coordinate_bytes() const { return dimension * scalar_bytes(); }
    [[nodiscard]] double scalar_bytes() const { return dtype == DType::float32 ? 4.0 : 8.0; }
    /// Of a node of the top plane: its corners and a number.
    [[nodiscard]] double node_bytes() const { return 2 * dimension * scalar_bytes() + 8; }
};

[[nodiscard]] Json json_of(const RankConstants& constants);
/// Throws Error(file) for other JSON; `name` is that of the file.
[[nodiscard]] RankConstants rank_constants_of(const Json& json, const std::string& name);

/// A machine that is not at hand.
struct Cluster {
    double points = 0;
    int ranks = 1;
    double link = 0;    ///< bytes per second that a rank receives, while it sends as many
    double latency = 0; ///< seconds of a message
};

/// The modeled cost of a call, per rank.
struct CallPlan {
    double layer_points = 0;
    double bytes = 0;     ///< received, and sent
    double messages = 0;  ///< received, and sent
    StageSeconds seconds; ///< by stage; "exchange" is the network's
    double memory = 0;    ///< bytes: points, working memory, layer, result

    [[nodiscard]] double all_seconds() const;
};

/// The grid of blocks: one number per axis, whose product is the number of ranks, as equal as its factors allow.
[[nodiscard]] std::vector<int> blocks_of(int ranks, int dimension);

/// Points of other ranks within `layer` mean separations of a block of that grid.
[[nodiscard]] double points_in_layer(double points_per_rank, const std::vector<int>& blocks, double layer);
/// The inverse: the layer that holds so many points. Grids of one block have none.
[[nodiscard]] double layer_of(double layer_points, double points_per_rank, const std::vector<int>& blocks);

/// Nodes of the top plane of so many points (TreeShape): the finest plane that has few enough.
[[nodiscard]] double top_nodes(double points);

[[nodiscard]] CallPlan plan_of(const CallCost& cost, const RankConstants& constants, const Cluster& cluster);

} // namespace kith::cli
