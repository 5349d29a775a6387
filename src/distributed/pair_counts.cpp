// Pair counts over ranks.
//
// Each rank counts the pairs of its own points, and those of its own points with the points of one other rank after the
// other, so that it never holds more than its own and one other part. In turn t rank r fetches from rank r + t, modulo
// their number, the points within the last edge of its own (ghost_points.hpp), and counts all pairs of both. Of one
// set half of the turns meet every two ranks once; of two sets each rank has points of the first and fetches points of
// the second. A turn in which no two ranks are near is left out, which all know beforehand. Counts are exact integers,
// weights whole numbers in a unit that follows from the largest weight of all ranks, and separations in one that
// follows from the edges, so the sums are those of one process.
//
// Points that are rebalanced are cut along the z-order (rebalance.hpp) and bring their weights; those of a second set
// go where the points of the first near them are. Nothing returns, since counts are sums of all ranks.
//
// Ghost points have no numbers, since ties do not matter here; what is sent with each is its weight as a whole number.
// Cost: a rank's own pairs, and the pairs within the last edge of it; every rank fetches the points of half of the
// others, or of all, if the last edge spans the box. Memory: the trees of the own points and of one other rank's.
#include "distributed/pair_counts.hpp"

#include "distributed/ghost_points.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/receivers.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/top_planes.hpp"
#include "pairs/count_pairs.hpp"
#include "pairs/edges.hpp"
#include "pairs/pair_weights.hpp"
#include "support/int128.hpp"
#include "support/int192.hpp"
#include "support/joined_stages.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

/// Collective. Replaces each sum, 0 or more, by that of all ranks: in parts of 32 bits, whose sums fit 64 bits.
void sum_of_all(Ranks& ranks, std::vector<Int192>& sums) {
    constexpr int parts = 6;
    std::vector<std::int64_t> split;
    for (const Int192& sum : sums) {
        for (int part = 0; part < parts; ++part) {
            split.push_back(static_cast<std::uint32_t>(sum.word(part / 2) >> 32 * (part % 2)));
        }
    }
    ranks.sum(split);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::int64_t* const of_sum = split.data() + i * parts;
        sums[i] = {};
        for (int word = 0; word < parts / 2; ++word) {
            const UnsignedInt128 of_word = (UnsignedInt128{static_cast<std::uint64_t>(of_sum[2 * word + 1])} << 32) +
                                           static_cast<std::uint64_t>(of_sum[2 * word]);
            sums[i] += Int192::shifted(of_word, word);
        }
    }
}

/// The same.
void sum_of_all(Ranks& ranks, std::vector<Int128>& sums) {
    std::vector<Int192> wide(sums.begin(), sums.end());
    sum_of_all(ranks, wide);
    std::ranges::transform(wide, sums.begin(), [](const Int192& sum) { return sum.low(); });
}

/// Collective. The unit of the weights of all ranks; 1 without weights.
WeightUnit shared_unit(Ranks& ranks, Context& context, const std::optional<std::span<const double>>& weights) {
    double largest = 0;
    if (weights) {
        ranks.agreed([&] { context.run([&] { largest = WeightUnit::largest_of(*weights); }); });
    }
    return WeightUnit(std::bit_cast<double>(ranks.max(std::bit_cast<std::int64_t>(largest)))); // 0 or more: in order
}

/// A squared distance that no pair within the last edges exceeds, as distances and boxes round it.
template <Coordinate T>
T farthest_pair(const PairLimits<T>& limits) {
    const T first = limits.first[limits.first_count - 1];
    if (limits.binning != PairBinning::rp_pi) {
        return first;
    }
    constexpr T slack = 64 * std::numeric_limits<T>::epsilon(); // d2 and the sum of rp2 and pi2 round some ten times
    return (first + limits.second[limits.second_count - 1]) * (1 + slack) + 64 * std::numeric_limits<T>::min();
}

/// One of the sets, on this rank.
template <Coordinate T>
struct RankSet {
    const SharedPoints<T>& points;
    const TreeView<T>& tree;
    const std::optional<std::span<const double>>& weights;
    WeightUnit unit;

    /// What is sent with a point.
    [[nodiscard]] std::int64_t whole(std::int32_t point) const { return weights ? unit.whole((*weights)[point]) : 0; }
};

/// The turns of this rank.
template <Coordinate T>
class PairTurns {
public:
    /// Pairs of points of `first` here and of `second` on other ranks; the same set if `job` is of pairs within it.
    PairTurns(Ranks& ranks, Context& context, const RankSet<T>& first, const RankSet<T>& second, const PairJob<T>& job)
        : ranks_(ranks), context_(context), first_(first), second_(second), job_(job),
          bound_(farthest_pair(job.limits)), tops_(ranks, second.tree, job.dimension) {}

    /// Collective.
    void count(PairSums& sums) {
        const std::vector<std::int64_t> near = near_turns();
        for (std::size_t turn = 1; turn <= near.size(); ++turn) {
            if (near[turn - 1] != 0) {
                count_turn(static_cast<int>(turn), sums);
            }
        }
    }

private:
    [[nodiscard]] const Frame<T>& frame() const { return first_.points.points.frame; }
    /// The rank that this one fetches points from, or -1.
    [[nodiscard]] int peer(int turn) const {
        const bool is_half = job_.within && 2 * turn == ranks_.size(); // the other one has the same peers
        return is_half && ranks_.rank() >= turn ? -1 : (ranks_.rank() + turn) % ranks_.size();
    }

    /// Collective. Whether any rank is near its peer, by turn from 1 on.
    [[nodiscard]] std::vector<std::int64_t> near_turns() {
        std::vector<std::int64_t> near(job_.within ? ranks_.size() / 2 : ranks_.size() - 1);
        if (first_.tree.top >= 0) {
            const PlaneView<T>& top = first_.tree.planes[first_.tree.top];
            std::vector<Corners<T>> nodes;
            for (std::int32_t node = 0; node < top.nodes; ++node) {
                nodes.push_back(corners_of(top, node, job_.dimension));
            }
            const Corners<T> own = joined_box<T>(nodes.begin(), nodes.end(),
                                                 [](const Corners<T>& box) -> const Corners<T>& { return box; });
            for (std::size_t i = 0; i < near.size(); ++i) {
                const int rank = peer(static_cast<int>(i + 1));
                near[i] = rank >= 0 && tops_.first(rank) < tops_.first(rank + 1) &&
                          BoxDistances<T>(frame(), own, tops_.of_ranks[rank]).least <= bound_;
            }
        }
        ranks_.max(near);
        return near;
    }

    void count_turn(int turn, PairSums& sums) {
        GhostRequests<T> requests;
        ranks_.agreed([&] {
            context_.stage("ask", [&] {
                requests = requests_near<T>(
                    context_, frame(), first_.tree, tops_, unlimited,
                    [&](std::int64_t) { return GlobalCandidate<T>{bound_}; },
                    [&](int rank) { return rank == peer(turn); });
            });
        });
        const GhostPoints<T> ghosts =
            fetch_ghosts(ranks_, context_, second_.points, second_.tree, requests.to, unlimited, [] {}, {},
                         {[&](std::int32_t point) { return second_.whole(point); }, false});
        ranks_.agreed([&] {
            if (ghosts.count() == 0) {
                return;
            }
            const PlaneTree<T> tree = tree_of_ghosts(context_, second_.points, ghosts);
            const TreeView<T> view = tree.view();
            PairJob<T> job = job_;
            job.within = false;
            job.second = {&view};
            PairWeights weights;
            context_.stage("count", [&] {
                if (second_.weights) {
                    weights = PairWeights(context_, view, [&](std::int32_t ghost) {
                        return static_cast<std::uint32_t>(ghosts.numbers[ghost]);
                    });
                    weights.enter(job.second);
                }
                sums.add(count_pairs(context_, job));
            });
        });
    }

    Ranks& ranks_;
    Context& context_;
    const RankSet<T>& first_;
    const RankSet<T>& second_;
    const PairJob<T>& job_;
    T bound_;
    TopPlanes<T> tops_;
};

/// Collective. Throws invalid_argument for edges whose squares underflow.
template <Coordinate T>
void refuse_unresolved_edges(Ranks& ranks, const PairsOverRanks& call, const SharedPoints<T>& shared) {
    const Frame<T>& frame = shared.points.frame;
    const auto is_unresolved = [&](double edge) { return frame.is_unresolved(edge); };
    const std::span<const double> lengths =
        call.options.binning == PairBinning::rp_pi ? call.options.second_edges : std::span<const double>();
    if (std::ranges::none_of(call.edges, is_unresolved) && std::ranges::none_of(lengths, is_unresolved)) {
        return;
    }
    const LargestCoordinate largest = largest_of_all(ranks, shared);
    Ranks::alike([&] {
        require_resolved_edges(call.edges, "edges", frame, [&] { return largest; });
        require_resolved_edges(lengths, "pi_edges", frame, [&] { return largest; });
    });
}

/// One of the sets, on this rank, before its tree is built.
template <Coordinate T>
struct PartOfSet {
    SharedPoints<T> points;
    std::optional<std::span<const double>> weights = {};
    WeightUnit unit = WeightUnit(0.0);
};

/// Collective. A second set in the frame of the first.
template <Coordinate T>
SharedPoints<T> share_others(Ranks& ranks, const PointsView& others, const SharedPoints<T>& first) {
    SharedPoints<T> shared;
    shared.points = *share_queries(ranks, &others, first);
    shared.given = others;
    shared.there = first.there;
    shared.ownership = Ownership(ranks, others.count());
    shared.numbers = shared.given_numbers = PointNumbers(shared.ownership);
    return shared;
}

/// Collective. Counts the pairs of one set, or of two if `second` is not null, and returns how many weights of this
/// rank vanish.
template <Coordinate T>
std::int64_t count_over_ranks(Ranks& ranks, Context& context, const PartOfSet<T>& first, const PartOfSet<T>* second,
                              PairJob<T> job, PairSums& sums) {
    PlaneTree<T> tree;
    PlaneTree<T> other_tree;
    PairWeights weights;
    PairWeights other_weights;
    TreeView<T> view;
    TreeView<T> other_view;
    ranks.agreed([&] {
        if (first.points.given.count() > 0) {
            tree = build_plane_tree<T>(context, first.points.points, {});
        }
        if (second != nullptr && second->points.given.count() > 0) {
            other_tree = build_plane_tree<T>(context, second->points.points, {});
        }
        view = tree.view();
        other_view = second != nullptr ? other_tree.view() : view;
        job.first.tree = &view;
        job.second.tree = job.within ? &view : &other_view;
        context.stage("count", [&] {
            if (first.weights && view.points.count > 0) {
                weights = PairWeights(context, *first.weights, first.unit, view);
                weights.enter(job.first);
            }
            if (second != nullptr && second->weights && other_view.points.count > 0) {
                other_weights = PairWeights(context, *second->weights, second->unit, other_view);
                other_weights.enter(job.second);
            }
            if (job.within) {
                job.second = job.first;
            }
            if (view.points.count > 0 && other_view.points.count > 0) {
                sums = count_pairs(context, job);
            }
        });
    });
    const RankSet<T> own{first.points, view, first.weights, first.unit};
    if (second == nullptr) {
        PairTurns<T>(ranks, context, own, own, job).count(sums);
    } else {
        const RankSet<T> others{second->points, other_view, second->weights, second->unit};
        PairTurns<T>(ranks, context, own, others, job).count(sums);
    }
    return weights.vanished() + other_weights.vanished();
}

/// Collective. The same of sets that have been moved for the call, with their weights.
template <Coordinate T>
std::int64_t count_rebalanced(Ranks& ranks, Context& context, const PartOfSet<T>& first, const PartOfSet<T>* second,
                              const RebalancedSearch<T>& moved, const PairJob<T>& job, PairSums& sums) {
    std::vector<double> weights;
    std::vector<double> other_weights;
    const auto move = [](const PartOfSet<T>& part, const MovedPoints<T>& points, SharedPoints<T> shared,
                         std::vector<double>& memory) {
        PartOfSet<T> here{std::move(shared), {}, part.unit};
        if (part.weights) {
            memory = points.template carry<double>(1, [&](std::int64_t row, int) { return (*part.weights)[row]; });
            here.weights = memory;
        }
        return here;
    };
    const PartOfSet<T> own = move(first, moved.sources.moved, moved.sources.points, weights);
    if (second == nullptr) {
        return count_over_ranks<T>(ranks, context, own, nullptr, job, sums);
    }
    const PartOfSet<T> others =
        move(*second, moved.receivers(), share_others(ranks, *moved.queries(), first.points), other_weights);
    return count_over_ranks<T>(ranks, context, own, &others, job, sums);
}

} // namespace

template <Coordinate T>
PairCounts pair_counts_over_ranks(Ranks& ranks, Context& context, const PairsOverRanks& call) {
    const PairCountOptions& options = call.options;
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    PartOfSet<T> first{share_frame<T>(ranks, context, call.points, options.box), options.weights};
    ids.number(first.points);
    const Frame<T>& frame = first.points.points.frame;
    std::optional<PartOfSet<T>> others;
    if (call.other != nullptr) {
        others = PartOfSet<T>{share_others(ranks, *call.other, first.points), options.other_weights};
    }
    const bool has_pairs = first.points.ownership.total() > 0 && (!others || others->points.ownership.total() > 0);
    if (has_pairs && (others || frame.largest > 0)) {
        refuse_unresolved_edges(ranks, call, first.points);
    }
    PairJob<T> job;
    job.within = !others;
    job.weighted = options.weights || options.other_weights;
    job.dimension = frame.dimension;
    job.periodic = frame.periodic;
    job.limits = pair_limits(call.edges, options, frame);
    PairCounts result;
    describe(frame, call.edges, options, result);
    PairSums sums(job.limits, job.weighted);
    int exponent = 0;
    const bool rebalances = call.of_ranks.rebalance && ranks.size() > 1;
    std::optional<RebalancedSearch<T>> moved;
    if (has_pairs) {
        first.unit = shared_unit(ranks, context, options.weights);
        exponent = 2 * first.unit.exponent();
        if (others) {
            others->unit = shared_unit(ranks, context, options.other_weights);
            exponent = first.unit.exponent() + others->unit.exponent();
        }
        const PartOfSet<T>* const second = others ? &*others : nullptr;
        if (rebalances) {
            moved.emplace(ranks, context, first.points, std::span<const std::int64_t>(), call.other, call.of_ranks);
        }
        result.vanished_weights =
            ranks.sum(moved ? count_rebalanced<T>(ranks, context, first, second, *moved, job, sums)
                            : count_over_ranks<T>(ranks, context, first, second, job, sums));
    }
    ranks.sum(sums.counts);
    sum_of_all(ranks, sums.weights);
    sum_of_all(ranks, sums.separations);
    enter(sums, exponent, result);
    result.stages = joined_stages(context.take_stages());
    std::vector<float>& work = result.distribution.emplace().work;
    if (moved) {
        work = moved->sources.moved.work(seconds_of(result.stages));
    } else if (rebalances) {
        work.resize(call.points.count()); // without others there is nothing to do
    }
    return result;
}

template PairCounts pair_counts_over_ranks<float>(Ranks&, Context&, const PairsOverRanks&);
template PairCounts pair_counts_over_ranks<double>(Ranks&, Context&, const PairsOverRanks&);

} // namespace kith::detail
