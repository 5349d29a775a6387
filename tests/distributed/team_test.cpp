// Every public function with an execution over ranks: answered as the table of engines says, or refused on all ranks,
// never answered by each process alone.
#include "distributed/distributions.hpp"
#include "distributed/machines.hpp"
#include "support/cases.hpp"
#include "support/engines.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::test {

namespace {

using detail::Task;
using detail::Where;

constexpr double length = 0.11;

/// The points of one rank, and those of all.
struct Share {
    PointsView mine;
    PointsView all;
    std::int64_t first;

    /// Whether numbers of this rank's points are those of one process.
    template <class Wide, class Narrow>
    [[nodiscard]] bool are_mine(const Wide& wide, const Narrow& narrow, std::int64_t of_each = 1) const {
        return std::ranges::equal(wide, std::span(narrow).subspan(static_cast<std::size_t>(first * of_each),
                                                                  static_cast<std::size_t>(mine.count() * of_each)));
    }
    [[nodiscard]] bool is_mine(const std::optional<Distribution>& part, int ranks) const {
        return part && part->ranks == ranks && part->first == first && part->total == all.count();
    }
};

/// A public function: its task, or none if no way leads over ranks whatever the table says.
struct Function {
    std::string name;
    std::optional<Task> task;
    std::function<bool(const Share&, Engine, const Execution&, int ranks)> is_right;
};

/// Calls that are refused wherever the points are.
template <class Call>
Function refused(std::string name, const Call& call) {
    return {std::move(name), std::nullopt, [call](const Share& share, Engine, const Execution& execution, int) {
                call(share, execution);
                return false;
            }};
}

PhaseSpace phase_space_of(const PointsView& points) {
    return {points, VelocityLength::absolute(1)};
}

/// Whether a part has the edges of one process whose larger ends are points of the rank.
bool is_part_of_tree(const SpanningTree& part, const Share& share, int ranks, const SpanningTree& whole) {
    std::vector<SpanningEdge64> expected;
    for (const auto& [smaller, larger] : whole.edges()) {
        if (larger >= share.first && larger < share.first + share.mine.count()) {
            expected.push_back({smaller, larger});
        }
    }
    return std::ranges::equal(part.edges64(), expected) && part.distribution->ranks == ranks &&
           part.distribution->total == whole.count();
}

std::vector<Function> functions() {
    return {
        {"knn", Task::neighbors,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const KnnResult found = knn(share.mine, 3, {.engine = engine, .execution = execution});
             return share.are_mine(found.indices64(), knn(share.all, 3).indices(), 3) &&
                    share.is_mine(found.distribution, ranks);
         }},
        {"knn_into", Task::neighbors,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const KnnOptions options{.engine = engine, .execution = execution};
             const KnnResult all = knn(share.all, 3);
             const auto size = static_cast<std::size_t>(3 * share.mine.count());
             std::vector<std::int64_t> indices(size, -7);
             std::vector<float> distances(size, -7);
             const SearchSummary found = knn_into({indices, distances}, share.mine, 3, options);
             std::vector<std::int64_t> alone(size, -7);
             knn_into({std::span(alone), std::span<float>()}, share.mine, 3, options);
             std::vector<float> only(size, -7);
             knn_into({std::span<std::int64_t>(), std::span(only)}, share.mine, 3, options);
             return share.are_mine(indices, all.indices(), 3) && share.are_mine(distances, all.distances<float>(), 3) &&
                    alone == indices && only == distances && share.is_mine(found.distribution, ranks);
         }},
        {"knn in z-order", Task::neighbors_in_z_order,
         [](const Share& share, Engine engine, const Execution& execution, int) {
             (void)knn(share.mine, 3, {.engine = engine, .z_order = true, .execution = execution});
             return false;
         }},
        {"knn_visit", Task::neighbor_visits,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             std::vector<std::int64_t> nearest(static_cast<std::size_t>(share.mine.count()), -7);
             const auto visit = [&](const NeighborBlock& block) {
                 for (std::int64_t row = 0; row < block.rows(); ++row) {
                     nearest[static_cast<std::size_t>(block.query_indices[row])] = block.indices64()[row * block.k];
                 }
             };
             const SearchSummary found =
                 knn_visit(visit, share.mine, 1, {.exclude_self = true, .engine = engine, .execution = execution});
             return share.are_mine(nearest, knn(share.all, 1, {.exclude_self = true}).indices()) &&
                    share.is_mine(found.distribution, ranks);
         }},
        {"radius_search", Task::radius,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const RadiusResult found = radius_search(share.mine, length, {.engine = engine, .execution = execution});
             const RadiusResult all = radius_search(share.all, length);
             const auto begin = static_cast<std::size_t>(all.offsets()[share.first]);
             const auto end = static_cast<std::size_t>(all.offsets()[share.first + share.mine.count()]);
             return std::ranges::equal(found.indices64(), all.indices().subspan(begin, end - begin)) &&
                    share.is_mine(found.distribution, ranks);
         }},
        {"radius_count", Task::radius,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const RadiusCounts found = radius_count(share.mine, length, {.engine = engine, .execution = execution});
             return share.are_mine(found.counts, radius_count(share.all, length).counts) &&
                    share.is_mine(found.distribution, ranks);
         }},
        {"fof", Task::groups,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const FofResult found =
                 fof(share.mine, LinkingLength::absolute(length), {.engine = engine, .execution = execution});
             const FofResult all = fof(share.all, LinkingLength::absolute(length));
             return share.are_mine(found.labels64(), all.labels()) && found.sizes == all.sizes &&
                    share.is_mine(found.distribution, ranks);
         }},
        {"fof in phase space", Task::groups_in_phase_space,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             FofOptions options{.engine = engine, .execution = execution, .phase_space = phase_space_of(share.mine)};
             const FofResult found = fof(share.mine, LinkingLength::absolute(length), options);
             const FofResult all =
                 fof(share.all, LinkingLength::absolute(length), {.phase_space = phase_space_of(share.all)});
             return share.are_mine(found.labels64(), all.labels()) && share.is_mine(found.distribution, ranks);
         }},
        {"dbscan", Task::clusters,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const DbscanResult found = dbscan(share.mine, length, 3, {.engine = engine, .execution = execution});
             const DbscanResult all = dbscan(share.all, length, 3);
             return share.are_mine(found.labels64(), all.labels()) && share.are_mine(found.is_core, all.is_core) &&
                    found.sizes == all.sizes && share.is_mine(found.distribution, ranks);
         }},
        {"hdbscan", Task::density_clusters,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const HdbscanResult found = hdbscan(share.mine, 5, {.engine = engine, .execution = execution});
             const HdbscanResult all = hdbscan(share.all, 5);
             return share.are_mine(found.labels, all.labels) &&
                    share.are_mine(found.outlier_scores, all.outlier_scores) && found.sizes == all.sizes &&
                    share.is_mine(found.distribution, ranks);
         }},
        {"pair_counts", Task::pair_counts,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const std::vector<double> edges{0, length};
             const PairCounts found = pair_counts(share.mine, edges, {.engine = engine, .execution = execution});
             return found.counts == pair_counts(share.all, edges).counts && share.is_mine(found.distribution, ranks);
         }},
        {"knn_other_labels", Task::neighbors_of_other_labels,
         [](const Share& share, Engine engine, const Execution& execution, int) {
             const std::vector<std::int32_t> labels(static_cast<std::size_t>(share.mine.count()));
             (void)knn_other_labels(share.mine, labels, 3, {.engine = engine, .execution = execution});
             return false;
         }},
        {"sum_neighbors by k", Task::neighbor_sums,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const NeighborSums found =
                 sum_neighbors(share.mine, Nearest{3}, {.engine = engine, .execution = execution});
             return share.are_mine(found.density, sum_neighbors(share.all, Nearest{3}).density) &&
                    share.is_mine(found.distribution, ranks);
         }},
        {"sum_neighbors within a radius", Task::radius_sums,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const NeighborSums found =
                 sum_neighbors(share.mine, Within{length}, {.engine = engine, .execution = execution});
             return share.are_mine(found.density, sum_neighbors(share.all, Within{length}).density) &&
                    share.is_mine(found.distribution, ranks);
         }},
        {"spanning_tree", Task::spanning_tree,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             return is_part_of_tree(spanning_tree(share.mine, {.engine = engine, .execution = execution}), share, ranks,
                                    spanning_tree(share.all));
         }},
        {"spanning_tree in phase space", Task::spanning_tree_in_phase_space,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const auto at = [](const PointsView& points) {
                 return PhaseSpaceAt{phase_space_of(points), LinkingLength::absolute(length)};
             };
             const SpanningTree found =
                 spanning_tree(share.mine, {.engine = engine, .execution = execution, .phase_space = at(share.mine)});
             return is_part_of_tree(found, share, ranks, spanning_tree(share.all, {.phase_space = at(share.all)}));
         }},
        refused("radius_visit",
                [](const Share& share, const Execution& execution) {
                    radius_visit([](const RadiusBlock&) { ADD_FAILURE() << "was called"; }, share.mine, length,
                                 {.execution = execution});
                }),
        refused("fof_into",
                [](const Share& share, const Execution& execution) {
                    std::vector<std::int32_t> labels(static_cast<std::size_t>(share.mine.count()));
                    fof_into(labels, share.mine, LinkingLength::absolute(length), {.execution = execution});
                }),
        refused("approximate_predict",
                [](const Share& share, const Execution& execution) {
                    (void)approximate_predict(hdbscan(share.all, 5), share.all, share.mine, execution);
                }),
        refused("dbscan_into",
                [](const Share& share, const Execution& execution) {
                    std::vector<std::int32_t> labels(static_cast<std::size_t>(share.mine.count()));
                    dbscan_into(labels, {}, share.mine, length, 3, {.execution = execution});
                }),
        {"Tree", Task::index,
         [](const Share& share, Engine engine, const Execution& execution, int) {
             return Tree(share.mine, {.engine = engine, .execution = execution}).size() == share.mine.count();
         }},
        refused("knn of a tree",
                [](const Share& share, const Execution& execution) {
                    (void)knn(Tree(share.mine), 1, {.execution = execution});
                }),
        refused("few queries of a tree",
                [](const Share& share, const Execution& execution) {
                    (void)knn(Tree(share.all), share.all.subview(0, 1), 1, {.execution = execution});
                }),
        refused("a count of few queries of a tree",
                [](const Share& share, const Execution& execution) {
                    (void)radius_count(Tree(share.all), share.all.subview(0, 1), length, {.execution = execution});
                }),
        refused("fof_into of a spanning tree",
                [](const Share& share, const Execution& execution) {
                    const SpanningTree tree = spanning_tree(share.all);
                    std::vector<std::int32_t> labels(static_cast<std::size_t>(tree.points()));
                    fof_into(labels, tree, LinkingLength::absolute(length), execution);
                }),
        {"hierarchy", Task::spanning_tree,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const Hierarchy found = hierarchy(share.mine, {.engine = engine, .execution = execution});
             return found.distribution->ranks == ranks && found.distribution->total == share.all.count() - 1;
         }},
        {"fof_ladder", Task::spanning_tree,
         [](const Share& share, Engine engine, const Execution& execution, int ranks) {
             const auto at = LinkingLength::absolute(length);
             const FofLadder found = fof_ladder(share.mine, {at}, {.engine = engine, .execution = execution});
             return share.are_mine(found.labels64(0, execution), fof(share.all, at).labels()) &&
                    share.is_mine(found.distribution, ranks);
         }},
        refused("catalog of labels",
                [](const Share& share, const Execution& execution) {
                    const FofResult groups = fof(share.all, LinkingLength::absolute(length));
                    (void)catalog(groups.labels(), groups, {share.all}, {.execution = execution});
                }),
        refused("halos of labels",
                [](const Share& share, const Execution& execution) {
                    const FofResult groups = fof(share.all, LinkingLength::absolute(length));
                    HaloOptions options{.unbind = false, .execution = execution};
                    (void)halos(groups.labels(), groups, {share.all}, options);
                }),
        refused("knn_async",
                [](const Share& share, const Execution& execution) {
                    Execution on_gpu = execution;
                    on_gpu.device = cuda().device;
                    DeviceStatus status;
                    knn_async({}, share.mine, 1, {.execution = on_gpu}, {}, &status);
                }),
    };
}

class CallsOverTeams : public NeedsDimension<3> {
protected:
    /// Calls body(share, ranks) on the ranks of teams of 1, 2 and 3, of which the last has no points.
    template <class Body>
    static void each_team(const Body& body) {
        const PointSet<float> set = point_set<float>("uniform", 3);
        const std::int64_t count = std::min<std::int64_t>(set.view().count(), 400);
        const PointsView all = set.view().subview(0, count);
        for (const int ranks : {1, 2, 3}) {
            const auto firsts =
                ranks < 3 ? evenly(count, ranks) : std::vector<std::int64_t>{0, count / 3, count, count};
            run_ranks(ranks, [&](Communicator& communicator) {
                const int rank = communicator.rank();
                const auto first = firsts[static_cast<std::size_t>(rank)];
                body(Share{part_of(all, firsts, rank), all, first}, communicator);
            });
        }
    }
};

TEST_F(CallsOverTeams, AreAnsweredAsTheTableSaysOrRefusedOnAllRanks) {
    const auto start = std::chrono::steady_clock::now();
    each_team([](const Share& share, Communicator& ranks) {
        const Execution team = over(ranks, cpu(1));
        for (const Function& function : functions()) {
            for (std::size_t i = 0; i < engine_names.size(); ++i) {
                const auto engine = static_cast<Engine>(i);
                SCOPED_TRACE(function.name + ", " + name_of(engine) + ", rank " + std::to_string(ranks.rank()));
                const bool is_in_phase_space =
                    function.task == Task::groups_in_phase_space || function.task == Task::spanning_tree_in_phase_space;
                if (is_in_phase_space && !is_built(6)) {
                    continue; // of positions and velocities of 3 dimensions each
                }
                if (function.task && detail::answers(engine, *function.task, Where::ranks)) {
                    EXPECT_TRUE(function.is_right(share, engine, team, ranks.size()));
                } else {
                    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {},
                                           [&] { (void)function.is_right(share, engine, team, ranks.size()); }));
                }
            }
        }
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(small_tests ? 300 : 60));
}

TEST_F(CallsOverTeams, HaveAFunctionForEachTaskOfTheTable) {
    for (const detail::EngineRow& row : detail::engine_table) {
        const std::vector<Function> all = functions();
        EXPECT_TRUE(std::ranges::any_of(all, [&](const Function& function) { return function.task == row.task; }))
            << detail::task_names[static_cast<std::size_t>(row.task)];
    }
}

TEST_F(CallsOverTeams, WriteWideIndicesAlone) {
    each_team([](const Share& share, Communicator& ranks) {
        std::vector<std::int32_t> indices(static_cast<std::size_t>(share.mine.count()));
        std::vector<float> distances(indices.size());
        const auto call = [&] { knn_into({indices, distances}, share.mine, 1, {.execution = over(ranks, cpu(1))}); };
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"64 bits wide"}, call)); // also without rows of its own
    });
}

TEST_F(CallsOverTeams, RanksOfAMachineTakeItsGpusInTurn) {
    const std::vector<std::string> machines{"a", "b", "a", "a", "b"};
    std::vector<std::int64_t> found;
    for (int rank = 0; rank < 5; ++rank) {
        found.push_back(detail::rank_on_machine(std::span<const std::string>(machines), rank));
    }
    EXPECT_EQ(found, (std::vector<std::int64_t>{0, 0, 1, 2, 1}));
    if (!has_cuda()) {
        run_ranks(2, [](Communicator& ranks) {
            EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"rank 0", "no CUDA"}, [&] { (void)gpu_of_rank(ranks); }));
        });
    }
}

// What no GPU of a rank does is refused as it is without one, not done by the CPU; on all ranks, if one has a GPU.
TEST_F(CallsOverTeams, RefuseGpusExceptInTheTable) {
    each_team([](const Share& share, Communicator& ranks) {
        const auto refused = [&](const Function& function, const char* how) {
            SCOPED_TRACE(function.name);
            for (const Execution& here : {cuda(), ranks.rank() == 0 ? cuda() : cpu(1)}) {
                EXPECT_TRUE(is_refused(ErrorKind::unsupported, {how}, [&] {
                    (void)function.is_right(share, Engine::tree, over(ranks, here), ranks.size());
                }));
            }
        };
        for (const Function& function : functions()) {
            if (function.task && !detail::answers(Engine::tree, *function.task, Where::gpu_ranks)) {
                refused(function, detail::answers(Engine::tree, *function.task, Where::ranks) ? "over ranks on GPUs"
                                                                                              : "not found over ranks");
            } else if (function.task && !has_cuda()) {
                refused(function, "has no CUDA");
            }
        }
        const FofResult groups = fof(share.mine, LinkingLength::absolute(length), {.execution = over(ranks, cpu(1))});
        if (!has_cuda()) {
            EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"has no CUDA"},
                                   [&] { (void)catalog(groups, {share.mine}, {.execution = over(ranks, cuda())}); }));
        }
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"z-orders over ranks run on the CPU only", "leave the GPU out"},
                               [&] { (void)z_order(share.mine, {.execution = over(ranks, cuda())}); }));
        HaloOptions of_halos{.unbind = false, .execution = over(ranks, cuda())};
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"halos over ranks run on the CPU only", "leave the GPU out"},
                               [&] { (void)halos(groups, {share.mine}, of_halos); }));
    });
}

TEST_F(CallsOverTeams, DescribeGroupsThatWereFoundOverAsManyRanks) {
    each_team([](const Share& share, Communicator& ranks) {
        const LinkingLength reach = LinkingLength::absolute(length);
        const CatalogOptions together{.min_members = 2, .execution = over(ranks, cpu(1))};
        const CatalogOptions here{.min_members = 2, .execution = cpu(1)};
        const FofResult groups = fof(share.mine, reach, {.execution = together.execution});
        const FofResult mine = fof(share.mine, reach, {.execution = cpu(1)});
        const Catalog part = catalog(groups, {share.mine}, together);
        EXPECT_EQ(part.distribution->total, groups.groups_of_at_least(2));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"found by one process", "described over"},
                               [&] { (void)catalog(mine, {share.mine}, together); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"found over", "described by one process"},
                               [&] { (void)catalog(groups, {share.mine}, here); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"64 bits wide"}, [&] { (void)groups.labels(); }));
    });
}

} // namespace
} // namespace kith::test
