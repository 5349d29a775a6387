// HDBSCAN* over ranks.
//
// Core distances come from a search for neighbors over ranks (near_ghosts.hpp), the tree of mutual reachability
// distances from the rounds of spanning trees (tree_rounds.hpp). If all core distances are alike, 0 or infinite,
// distances order the edges. Rank 0 gets the edges of all ranks, in the order of ids or global indices; there the
// hierarchy is condensed and clusters are selected as in one process, and each rank gets the rows of its points. Cost:
// that of the search and of the tree, and O(n log n) on rank 0. Traffic: also 76 bytes per point to and from rank 0,
// or 88 of float64.
#include "distributed/hdbscan.hpp"

#include "distributed/given_ids.hpp"
#include "distributed/near_ghosts.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/sorted_keys.hpp"
#include "distributed/tree_rounds.hpp"
#include "distributed/unresolved.hpp"
#include "groups/resolve_length.hpp"
#include "mst/cluster_selection.hpp"
#include "mst/weighed_tree.hpp"
#include "support/allocation_errors.hpp"
#include "support/message.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

/// Collective. The places of points in the order of all numbers.
std::vector<std::int64_t> places_of(Ranks& ranks, const PointNumbers& numbers, std::int64_t count) {
    std::vector<std::int64_t> places;
    ranks.agreed([&] {
        for (std::int64_t row = 0; row < count; ++row) {
            places.push_back(numbers[row]);
        }
    });
    return numbers.are_given() ? SortedKeys<std::int64_t>(ranks, places).positions() : places;
}

/// Points of a rank and edges that it has found, for rank 0.
template <Coordinate T>
struct TreePieces {
    std::vector<std::int64_t> places;
    std::vector<T> core;               ///< squared core distances
    std::vector<WeighedEdge<T>> edges; ///< between places
};

/// The edges whose larger ends are points of a rank, whose numbers are places. weighed(length) is {weight, squared}.
template <Coordinate T, class Length, class Weighed>
std::vector<WeighedEdge<T>> in_places(const PointNumbers& places, const FoundEdges<Length>& found,
                                      const Weighed& weighed) {
    std::vector<WeighedEdge<T>> edges;
    const auto add = [&](const Length& length, std::int64_t smaller, std::int64_t larger) {
        const ReachLength<T> weight = weighed(length);
        edges.push_back(
            {weight.reach, weight.squared, {static_cast<std::int32_t>(smaller), static_cast<std::int32_t>(larger)}});
    };
    edges.reserve(static_cast<std::size_t>(found.joined_own + std::ssize(found.joined)));
    for (std::int64_t i = 0; i < found.joined_own; ++i) {
        const auto& [length, ends] = found.own[i];
        add(length, places[ends.smaller], places[ends.larger]);
    }
    for (const RankEdge<Length>& edge : found.joined) {
        add(edge.length, edge.smaller, edge.larger);
    }
    return edges;
}

/// Collective. On the ranks that the points move to, if they do; the points in the order of their numbers, instead of
/// which they have places from then on.
template <Coordinate T>
TreePieces<T> tree_pieces(Ranks& ranks, Context& context, SharedPoints<T>& shared, std::int64_t min_samples) {
    TreePieces<T> pieces;
    pieces.places = places_of(ranks, shared.numbers, shared.points.view.count());
    const std::int64_t total = shared.ownership.total();
    const bool are_alike = min_samples == 1 || min_samples > total;
    const T same = min_samples == 1 ? T(0) : std::numeric_limits<T>::infinity();
    if (are_alike) {
        ranks.agreed([&] { pieces.core.assign(pieces.places.size(), same); });
    } else {
        pieces.core = kth_squares_over_ranks(ranks, context, shared, min_samples - 1);
    }
    if (shared.numbers.are_given()) {
        shared.numbers = PointNumbers(pieces.places, true);
    }
    const auto find = [&](const auto& metric, const auto& weighed) {
        const auto found = tree_edges_over_ranks(ranks, context, shared, metric);
        ranks.agreed([&] { pieces.edges = in_places<T>(shared.numbers, found, weighed); });
    };
    if (are_alike) {
        find(PlainDistance<T>(), [&](T squared) { return ReachLength<T>{std::max(same, squared), squared}; });
    } else {
        find(MutualReachability<T>{pieces.core}, std::identity());
    }
    return pieces;
}

/// A point's row of the answer.
struct ClusteredRow {
    double probability;
    double outlier_score;
    double lambda;
    double core_distance;
    std::int32_t label;
    std::int32_t last_cluster;
};

template <Coordinate T>
class ClustersOfRanks {
public:
    ClustersOfRanks(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const HdbscanOverRanks& call,
                    HdbscanResult& result)
        : ranks_(ranks), context_(context), shared_(shared), call_(call), result_(result) {}

    void run(TreePieces<T> pieces) {
        const auto places = places_of(ranks_, shared_.given_numbers, shared_.given.count());
        gather(std::move(pieces));
        if (shared_.points.frame.has_tiny) {
            count_unresolved_edges(places);
        }
        scatter(places);
    }

private:
    [[nodiscard]] std::int64_t total() const { return shared_.ownership.total(); }

    /// Rank 0 gets all edges, and finds the clusters.
    void gather(TreePieces<T> pieces) {
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            MessageWriter writer(messages.emplace_back(RankMessage{0, {}}).bytes);
            writer.put_value(std::ssize(pieces.places));
            writer.put(std::span<const std::int64_t>(pieces.places));
            writer.put(std::span<const T>(pieces.core));
            writer.put(std::span<const WeighedEdge<T>>(pieces.edges));
            pieces = TreePieces<T>(); // frees them
        });
        std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            if (ranks_.rank() == 0) {
                WeighedTree<T> tree(context_, total());
                std::int64_t edges = 0;
                for (RankMessage& message : received) {
                    MessageReader reader(message.bytes);
                    std::vector<std::int64_t> places;
                    std::vector<T> core;
                    const auto count = reader.take<std::int64_t>();
                    reader.take(count, places);
                    reader.take(count, core);
                    for (std::size_t i = 0; i < places.size(); ++i) {
                        tree.core[places[i]] = core[i];
                    }
                    while (reader.bytes_left() > 0) {
                        tree.edges[edges++] = reader.take<WeighedEdge<T>>();
                    }
                    message.bytes = std::vector<std::byte>(); // frees them
                }
                context_.stage("edges", [&] { finish_tree(context_, shared_.points.frame, tree, result_); });
            }
            if (ranks_.rank() == 0) {
                find_clusters(context_, total(), call_.options, result_);
            }
        });
    }

    /// On rank 0, which gets the points of all ranks as they were passed. Only sets with tiny coordinates come here,
    /// and rank 0 holds more than that of each point already.
    void count_unresolved_edges(std::span<const std::int64_t> places) {
        const int dimension = shared_.points.frame.dimension;
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            MessageWriter writer(messages.emplace_back(RankMessage{0, {}}).bytes);
            writer.put_value(std::ssize(places));
            writer.put(places);
            writer.put(std::span<const T>(packed<T>(shared_.given)));
        });
        const std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        UnresolvedRows found;
        ranks_.agreed([&] {
            if (ranks_.rank() != 0) {
                return;
            }
            std::vector<T> given(static_cast<std::size_t>(total() * dimension));
            for (const RankMessage& message : received) {
                MessageReader reader(message.bytes);
                std::vector<std::int64_t> rows;
                reader.take(reader.take<std::int64_t>(), rows);
                for (const std::int64_t row : rows) {
                    for (int axis = 0; axis < dimension; ++axis) {
                        given[row * dimension + axis] = reader.take<T>();
                    }
                }
            }
            count_unresolved(context_, shared_.points.frame, PointsView(given, dimension), result_);
            found.rows = result_.unresolved.count;
        });
        found = unresolved_of_all(ranks_, shared_, found);
        result_.unresolved = {found.rows, found.farthest_point, found.axis, found.value, found.dtype};
    }

    /// Each rank gets the clusters, and the rows of its points.
    void scatter(std::span<const std::int64_t> places) {
        std::vector<RankMessage> messages;
        ranks_.agreed([&] { MessageWriter(messages.emplace_back(RankMessage{0, {}}).bytes).put(places); });
        const std::vector<RankMessage> wanted = ranks_.exchange(std::move(messages));
        std::vector<RankMessage> answers;
        ranks_.agreed([&] {
            const CondensedTree& tree = result_.condensed_tree;
            for (const RankMessage& message : wanted) {
                MessageWriter writer(answers.emplace_back(RankMessage{message.rank, {}}).bytes);
                writer.put_value(std::ssize(tree.clusters));
                writer.put(std::span<const CondensedCluster>(tree.clusters));
                writer.put_value(std::ssize(result_.sizes));
                writer.put(std::span<const std::int64_t>(result_.sizes));
                writer.put_value(result_.noise_points);
                for (const std::int64_t i : values_of<std::int64_t>(message)) {
                    writer.put_value(ClusteredRow{result_.probabilities[i], result_.outlier_scores[i], tree.lambdas[i],
                                                  result_.core_distances[i], result_.labels[i], tree.last_clusters[i]});
                }
            }
        });
        const std::vector<RankMessage> answered = ranks_.exchange(std::move(answers));
        ranks_.agreed(
            [&] { with_allocation_errors("the clusters", [&] { take(answered.front(), std::ssize(places)); }); });
    }

    void take(const RankMessage& message, std::int64_t count) {
        MessageReader reader(message.bytes);
        CondensedTree& tree = result_.condensed_tree;
        tree = CondensedTree();
        result_.sizes.clear();
        reader.take(reader.take<std::int64_t>(), tree.clusters);
        reader.take(reader.take<std::int64_t>(), result_.sizes);
        result_.noise_points = reader.take<std::int64_t>();
        const auto resize = [count](auto&... columns) { (columns.resize(static_cast<std::size_t>(count)), ...); };
        resize(result_.labels, result_.probabilities, result_.outlier_scores, result_.core_distances, tree.lambdas,
               tree.last_clusters);
        for (std::int64_t row = 0; row < count; ++row) {
            const auto found = reader.take<ClusteredRow>();
            result_.labels[row] = found.label;
            result_.probabilities[row] = found.probability;
            result_.outlier_scores[row] = found.outlier_score;
            result_.core_distances[row] = found.core_distance;
            tree.lambdas[row] = found.lambda;
            tree.last_clusters[row] = found.last_cluster;
        }
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const HdbscanOverRanks& call_;
    HdbscanResult& result_;
};

} // namespace

template <Coordinate T>
HdbscanResult hdbscan_over_ranks(Ranks& ranks, Context& context, const HdbscanOverRanks& call) {
    const HdbscanOptions& options = call.options;
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, options.box);
    ids.number(shared);
    const std::int64_t total = shared.ownership.total();
    Ranks::alike([&] {
        if (total > std::numeric_limits<std::int32_t>::max()) {
            throw error(ErrorKind::too_large, "there are ", total,
                        " points on all ranks; HDBSCAN* takes at most "
                        "2147483647, since rank 0 condenses the hierarchy of all of them");
        }
    });
    HdbscanResult result;
    result.min_samples = options.min_samples > 0 ? options.min_samples : call.min_cluster_size;
    result.min_cluster_size = call.min_cluster_size;
    result.selection_epsilon = options.selection_epsilon;
    result.dtype = dtype_of<T>;
    describe(shared.points.frame, total, result);
    result.has_ids = shared.given_numbers.are_given();
    if (total == 0) {
        return result;
    }
    TreePieces<T> pieces;
    std::vector<float> work;
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        Rebalanced<T> here(ranks, context, shared, ids.given(), call.of_ranks);
        ranks.agreed([&] { here.ids->sort(here.points); });
        pieces = tree_pieces(ranks, context, here.points, result.min_samples);
        result.stages = context.take_stages();
        work = here.moved.work(seconds_of(result.stages));
    } else {
        ranks.agreed([&] { ids.sort(shared); });
        pieces = tree_pieces(ranks, context, shared, result.min_samples);
    }
    ClustersOfRanks<T>(ranks, context, shared, call, result).run(std::move(pieces));
    const StageReports of_clusters = context.take_stages();
    result.stages.insert(result.stages.end(), of_clusters.begin(), of_clusters.end());
    result.distribution.emplace().work = std::move(work);
    return result;
}

template HdbscanResult hdbscan_over_ranks<float>(Ranks&, Context&, const HdbscanOverRanks&);
template HdbscanResult hdbscan_over_ranks<double>(Ranks&, Context&, const HdbscanOverRanks&);

} // namespace kith::detail
