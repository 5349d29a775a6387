// Groups, levels and hierarchies of spanning trees over ranks against those of one process, which other suites hold
// against the oracle and against fof().
#include "distributed/distributions.hpp"
#include "mst/conformance.hpp"
#include "support/cases.hpp"
#include "support/linking_lengths.hpp"
#include "support/velocities.hpp"

#include <kith/distributed.hpp>
#include <kith/hierarchy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// What the ranks find of one set of points, rank after rank.
struct OfRanks {
    std::vector<FofResult> cuts;                   ///< of the last rank, with the labels of all; one for each length
    std::vector<FofLevel64> levels;                ///< with the groups of all
    std::vector<std::vector<std::int64_t>> labels; ///< of each level
    std::vector<Merge64> merges;
    std::vector<double> linkage;
    std::vector<SpanningEdge64> edges; ///< in order
    std::vector<double> heights;       ///< of these
    std::int64_t largest_share = 0;    ///< of the merges, on a rank
};

std::vector<double> heights_of(const SpanningTree& tree) {
    return tree.dtype() == DType::float32
               ? std::vector<double>(tree.heights<float>().begin(), tree.heights<float>().end())
               : std::vector<double>(tree.heights<double>().begin(), tree.heights<double>().end());
}

template <class Value>
void append(std::vector<Value>& to, std::span<const Value> more) {
    to.insert(to.end(), more.begin(), more.end());
}

struct Arguments {
    std::vector<LinkingLength> lengths;
    std::int64_t min_members = 1;
    SpanningTreeOptions options = {};
    std::vector<std::int64_t> ids = {}; ///< of the rows, or none
    bool from_points = false;           ///< the ladder and the hierarchy
    bool rebalance = false;
};

OfRanks find(const PointsView& points, const Arguments& arguments, const RankFirsts& firsts) {
    const auto ranks = firsts.size() - 1;
    std::vector<OfRanks> found(ranks);
    run_ranks(static_cast<int>(ranks), [&](Communicator& communicator) {
        const auto rank = static_cast<std::size_t>(communicator.rank());
        const PointsView mine = part_of(points, firsts, communicator.rank());
        RankOptions of_ranks{.rebalance = arguments.rebalance};
        if (!arguments.ids.empty()) {
            of_ranks.ids = std::span(arguments.ids)
                               .subspan(static_cast<std::size_t>(firsts[rank]), static_cast<std::size_t>(mine.count()));
        }
        const Execution execution = over(communicator, cpu(1), of_ranks);
        SpanningTreeOptions options = arguments.options;
        options.execution = execution;
        if (options.phase_space) {
            PhaseSpace& phase_space = options.phase_space->phase_space;
            phase_space.velocities = part_of(phase_space.velocities, firsts, communicator.rank());
        }
        const SpanningTree tree = spanning_tree(mine, options);
        EXPECT_TRUE(!arguments.ids.empty() || std::ranges::all_of(tree.edges64(), [&](const SpanningEdge64& edge) {
            return edge.larger >= firsts[rank] && edge.larger < firsts[rank + 1];
        }));
        OfRanks& here = found[rank];
        for (const LinkingLength& length : arguments.lengths) {
            here.cuts.push_back(fof(tree, length, execution));
        }
        const FofLadderOptions of_ladder{.min_members = arguments.min_members, .execution = execution};
        FofLadderOptions of_points = of_ladder;
        of_points.box = options.box;
        const FofLadder ladder = arguments.from_points ? fof_ladder(mine, arguments.lengths, of_points)
                                                       : fof_ladder(tree, arguments.lengths, of_ladder);
        append(here.levels, ladder.levels64());
        for (std::int64_t level = 0; level < std::ssize(here.levels); ++level) {
            here.labels.push_back(ladder.labels64(level, execution));
        }
        const Hierarchy merged = arguments.from_points ? hierarchy(mine, options) : hierarchy(tree, execution);
        append(here.merges, merged.merges64());
        here.linkage.resize(4 * here.merges.size());
        merged.write_linkage(here.linkage);
        const SpanningTree ordered = edges_in_order(tree, execution);
        append(here.edges, ordered.edges64());
        here.heights = heights_of(ordered);
        EXPECT_TRUE(std::ranges::equal(ordered.edges64(), merged.merged_edges().edges64()));
        EXPECT_EQ(merged.distribution->total, std::max<std::int64_t>(points.count() - 1, 0));
        EXPECT_EQ(ladder.distribution->first, firsts[rank]);
        here.largest_share = std::ssize(here.merges);
    });
    OfRanks all = found.back();
    all.merges.clear();
    all.linkage.clear();
    all.edges.clear();
    all.heights.clear();
    for (std::size_t level = 0; level < all.levels.size(); ++level) {
        FofLevel64& joined = all.levels[level];
        joined.sizes.clear();
        joined.first_members.clear();
        joined.parents.clear();
        all.labels[level].clear();
        all.cuts[level].label_array.vector<std::int64_t>().clear();
    }
    for (const OfRanks& part : found) {
        for (std::size_t level = 0; level < all.levels.size(); ++level) {
            const FofLevel64& of_rank = part.levels[level];
            EXPECT_EQ(of_rank.first_group, std::ssize(all.levels[level].sizes));
            append<std::int64_t>(all.levels[level].sizes, of_rank.sizes);
            append<std::int64_t>(all.levels[level].first_members, of_rank.first_members);
            append<std::int64_t>(all.levels[level].parents, of_rank.parents);
            append<std::int64_t>(all.labels[level], part.labels[level]);
            append<std::int64_t>(all.cuts[level].label_array.vector<std::int64_t>(), part.cuts[level].labels64());
            EXPECT_EQ(part.cuts[level].sizes, all.cuts[level].sizes);
        }
        append<Merge64>(all.merges, part.merges);
        append<double>(all.linkage, part.linkage);
        append<SpanningEdge64>(all.edges, part.edges);
        append<double>(all.heights, part.heights);
        all.largest_share = std::max(all.largest_share, part.largest_share);
    }
    return all;
}

template <class Wide, class Narrow>
bool are_equal(const Wide& wide, const Narrow& narrow) {
    return std::ranges::equal(wide, narrow, [](std::int64_t a, std::int64_t b) { return a == b; });
}

/// Without ids.
void expect_those_of_one_process(const PointsView& points, const Arguments& arguments, const RankFirsts& firsts) {
    const OfRanks found = find(points, arguments, firsts);
    const Hierarchy expected = hierarchy(points, arguments.options);
    const SpanningTree& tree = expected.spanning_tree();
    const FofLadder ladder = fof_ladder(tree, arguments.lengths, {.min_members = arguments.min_members});
    for (std::size_t i = 0; i < arguments.lengths.size(); ++i) {
        const FofResult cut = fof(tree, arguments.lengths[i]);
        EXPECT_TRUE(are_equal(found.cuts[i].labels64(), cut.labels())) << "cut " << i;
        EXPECT_TRUE(std::ranges::equal(found.labels[i], found.cuts[i].labels64()));
        EXPECT_EQ(found.cuts[i].sizes, cut.sizes);
        EXPECT_EQ(found.cuts[i].groups, cut.groups);
        EXPECT_EQ(found.cuts[i].linking_length, cut.linking_length);
        EXPECT_EQ(found.cuts[i].velocity_length, cut.velocity_length);
        EXPECT_EQ(found.cuts[i].volume, cut.volume);
        EXPECT_EQ(found.cuts[i].box, cut.box);
        EXPECT_EQ(found.cuts[i].wrapped_points, cut.wrapped_points);
        const FofLevel64& level = found.levels[i];
        const FofLevel& serial = ladder.levels()[i];
        EXPECT_EQ(level.linking_length, serial.linking_length);
        EXPECT_EQ(level.groups, serial.groups);
        EXPECT_EQ(level.listed, std::ssize(serial.sizes));
        EXPECT_TRUE(are_equal(level.sizes, serial.sizes)) << "level " << i;
        EXPECT_TRUE(are_equal(level.first_members, serial.first_members)) << "level " << i;
        EXPECT_TRUE(are_equal(level.parents, serial.parents)) << "level " << i;
    }
    EXPECT_TRUE(std::ranges::equal(found.merges, expected.merges(), [](const Merge64& a, const Merge& b) {
        return a.left == b.left && a.right == b.right && a.count == b.count;
    }));
    std::vector<double> linkage(4 * expected.merges().size());
    expected.write_linkage(linkage);
    EXPECT_EQ(found.linkage, linkage);
    EXPECT_TRUE(std::ranges::equal(found.edges, tree.edges(), [](const SpanningEdge64& a, const SpanningEdge& b) {
        return a.smaller == b.smaller && a.larger == b.larger;
    }));
    EXPECT_EQ(found.heights, heights_of(tree));
}

/// Some lengths that the set does not refuse, ascending.
template <class T>
std::vector<LinkingLength> lengths_for(const PointSet<T>& set, const Box& box) {
    const SpanningTree tree = spanning_tree(set.view(), {.box = box});
    std::vector<double> lengths = round_lengths(set);
    lengths.resize(4);
    const std::vector<double> heights = heights_of(tree);
    if (!heights.empty()) {
        lengths.insert(lengths.end(), {heights[heights.size() / 2], heights[heights.size() / 2], heights.back()});
    }
    lengths.push_back(0);
    std::erase_if(lengths, [&](double length) {
        try {
            (void)fof(tree, LinkingLength::absolute(length));
        } catch (const Error&) {
            return true;
        }
        return false;
    });
    std::ranges::sort(lengths);
    std::vector<LinkingLength> accepted;
    for (const double length : lengths) {
        accepted.push_back(LinkingLength::absolute(length));
    }
    return accepted;
}

class HierarchiesOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, HierarchiesOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(HierarchiesOverRanks, AreThoseOfOneProcess) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 59 + static_cast<std::uint64_t>(set.dimension));
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
            const Arguments arguments{.lengths = lengths_for(set, named.box),
                                      .min_members = draw.integer(2) == 0 ? 1 : 3,
                                      .options = {.box = named.box},
                                      .from_points = draw.integer(2) == 0,
                                      .rebalance = draw.integer(2) == 0};
            expect_those_of_one_process({draw.integer(3) == 0 ? set.coordinates : slabs, set.dimension}, arguments,
                                        drawn_distribution(set.count(), ranks, draw));
        }
    });
}

class HierarchiesOverRanksIn3D : public NeedsDimension<3> {
protected:
    const std::vector<LinkingLength> lengths_{LinkingLength::relative(0.1), LinkingLength::relative(0.2),
                                              LinkingLength::relative(0.2), LinkingLength::relative(0.8),
                                              LinkingLength::relative(3)};
    const std::vector<LinkingLength> on_a_line_{LinkingLength::absolute(1), LinkingLength::absolute(50),
                                                LinkingLength::absolute(5000)};
};

TEST_F(HierarchiesOverRanksIn3D, AreThoseOfOneProcessForManyPoints) {
    const std::int64_t count = sized(4096);
    for (const char* kind : {"halos", "lattice", "crowded places", "growing steps"}) {
        const std::vector<float> scattered = many_points(kind, count);
        const std::vector<float> slabs = along_the_first_axis(scattered, 3);
        for (const int ranks : {1, 2, 3, 4, 5, 7, 8}) {
            SCOPED_TRACE(std::string(kind) + " on " + std::to_string(ranks));
            const bool is_line = kind == std::string("growing steps"); // without a volume
            expect_those_of_one_process(
                {ranks == 3 ? scattered : slabs, 3},
                {.lengths = is_line ? on_a_line_ : lengths_, .min_members = ranks == 4 ? 20 : 1}, evenly(count, ranks));
        }
    }
}

TEST_F(HierarchiesOverRanksIn3D, AreCutInPhaseSpace) {
    if (!is_built(6)) {
        GTEST_SKIP() << "dimension 6 is not built";
    }
    const std::int64_t count = sized(2048);
    const std::vector<float> points = along_the_first_axis(many_points("halos", count), 3);
    Random draw(60);
    const std::vector<double> velocities = velocities_for<double>(count, 3, draw);
    const PhaseSpace phase_space{PointsView(velocities, 3), VelocityLength::sigmas(0.8)};
    expect_those_of_one_process(
        {points, 3},
        {.lengths = lengths_, .options = {.phase_space = PhaseSpaceAt{phase_space, LinkingLength::relative(0.3)}}},
        evenly(count, 4));
}

TEST_F(HierarchiesOverRanksIn3D, NameIdsWhoeverHasThePoints) {
    const std::int64_t count = sized(4096);
    const std::vector<float> points = many_points("crowded places", count); // by ascending id
    Random draw(61);
    std::vector<std::int64_t> order(static_cast<std::size_t>(count)); // of the rows, once they are permuted
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size() - 1; i > 0; --i) {
        std::swap(order[i], order[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(i) + 1))]);
    }
    const auto id_of = [](std::int64_t place) { return 1'000'000'000'000 + 7 * place; };
    Arguments arguments{.lengths = lengths_, .min_members = 2};
    std::vector<float> permuted;
    for (const std::int64_t place : order) {
        arguments.ids.push_back(id_of(place));
        permuted.insert(permuted.end(), points.begin() + 3 * place, points.begin() + 3 * place + 3);
    }
    const Hierarchy expected = hierarchy(PointsView(points, 3));
    const FofLadder ladder = fof_ladder(expected.spanning_tree(), lengths_, {.min_members = 2});
    for (const int ranks : {1, 3, 4}) {
        SCOPED_TRACE(ranks);
        arguments.rebalance = ranks == 4;
        const OfRanks found = find({permuted, 3}, arguments, evenly(count, ranks));
        for (std::size_t i = 0; i < lengths_.size(); ++i) {
            const std::vector<std::int32_t> labels = ladder.labels(static_cast<std::int64_t>(i));
            for (std::size_t row = 0; row < order.size(); ++row) {
                ASSERT_EQ(found.cuts[i].labels64()[row], labels[static_cast<std::size_t>(order[row])]) << row;
            }
            const FofLevel& level = ladder.levels()[i];
            EXPECT_TRUE(are_equal(found.levels[i].sizes, level.sizes));
            EXPECT_TRUE(are_equal(found.levels[i].parents, level.parents));
            EXPECT_TRUE(std::ranges::equal(found.levels[i].first_members, level.first_members,
                                           [&](std::int64_t id, std::int32_t place) { return id == id_of(place); }));
        }
        EXPECT_TRUE(std::ranges::equal(found.merges, expected.merges(), [](const Merge64& a, const Merge& b) {
            return a.left == b.left && a.right == b.right && a.count == b.count;
        }));
        EXPECT_TRUE(std::ranges::equal(found.edges, expected.spanning_tree().edges(),
                                       [&](const SpanningEdge64& a, const SpanningEdge& b) {
                                           return a.smaller == id_of(b.smaller) && a.larger == id_of(b.larger);
                                       }));
    }
}

// Equal squares, and the same smaller end in all edges: no rank gets them all.
TEST_F(HierarchiesOverRanksIn3D, DivideTheEdgesOfCoincidentPoints) {
    const std::vector<float> points(3 * 4000, 0.5F);
    const OfRanks found = find({points, 3}, {.lengths = {LinkingLength::absolute(0)}}, evenly(4000, 4));
    EXPECT_EQ(found.cuts[0].groups, 1);
    EXPECT_EQ(std::ssize(found.merges), 3999);
    EXPECT_LT(found.largest_share, 1100);
}

TEST_F(HierarchiesOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    const std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 58);
    const RankFirsts firsts = evenly(100, 4);
    const SpanningTree of_one_process = spanning_tree(PointsView(points, 3));
    const auto at = LinkingLength::absolute(0.1);
    run_ranks(4, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        const Execution here = over(ranks, cpu(1));
        const SpanningTree part = spanning_tree(mine, {.execution = here});
        const auto refused = [](const std::vector<std::string>& parts, const auto& call) {
            return is_refused(ErrorKind::invalid_argument, parts, call);
        };
        EXPECT_TRUE(refused({"found by one process", "runs over 4"}, [&] { (void)fof(of_one_process, at, here); }));
        EXPECT_TRUE(refused({"found by one process"}, [&] { (void)hierarchy(of_one_process, here); }));
        EXPECT_TRUE(
            refused({"found by one process"}, [&] { (void)fof_ladder(of_one_process, {at}, {.execution = here}); }));
        const SpanningTree ordered = edges_in_order(part, here);
        EXPECT_TRUE(refused({"edges_in_order()"}, [&] { (void)fof(ordered, at, here); }));
        EXPECT_TRUE(refused({"over()"}, [&] { (void)edges_in_order(part, cpu(1)); }));
        EXPECT_TRUE(refused({"rank 1", "linking length", "-1"},
                            [&] { (void)fof(part, ranks.rank() == 1 ? LinkingLength::absolute(-1) : at, here); }));
        EXPECT_TRUE(refused({"linking length: 0.2 on rank 2"},
                            [&] { (void)fof(part, LinkingLength::absolute(ranks.rank() == 2 ? 0.2 : 0.1), here); }));
        EXPECT_TRUE(refused({"rank 3", "min_members is 0"}, [&] {
            (void)fof_ladder(mine, {at}, {.min_members = ranks.rank() == 3 ? 0 : 1, .execution = here});
        }));
        EXPECT_TRUE(refused({"descend"}, [&] {
            (void)fof_ladder(mine, {at, LinkingLength::absolute(0.05)}, {.execution = here});
        }));
        std::vector<std::int64_t> others;
        for (std::int64_t i = 0; i < mine.count(); ++i) {
            others.push_back(1000 + firsts[static_cast<std::size_t>(ranks.rank())] + i);
        }
        const Execution with_others = over(ranks, cpu(1), {.ids = std::span<const std::int64_t>(others)});
        EXPECT_TRUE(refused({"ids", "found without"}, [&] { (void)fof(part, at, with_others); }));
        const SpanningTree of_ids = spanning_tree(mine, {.execution = with_others});
        EXPECT_TRUE(refused({"ids", "found with ids"}, [&] { (void)hierarchy(of_ids, here); }));
        for (std::int64_t& id : others) {
            id += 5000;
        }
        EXPECT_TRUE(refused({"ids", "not among them"}, [&] { (void)fof(of_ids, at, with_others); }));
        const FofLadder ladder = fof_ladder(part, {at}, {.execution = here});
        EXPECT_TRUE(refused({"levels64()"}, [&] { (void)ladder.levels(); }));
        EXPECT_TRUE(refused({"labels64()"}, [&] { (void)ladder.labels(0); }));
        EXPECT_TRUE(refused({"no level 1"}, [&] { (void)ladder.labels64(1, here); }));
        EXPECT_TRUE(refused({"merges64()"}, [&] { (void)hierarchy(part, here).merges(); }));
    });
}

} // namespace
} // namespace kith::test
