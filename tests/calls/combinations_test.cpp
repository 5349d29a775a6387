// Every public call with every engine on every device: the CPU, the first GPU, and a GPU that no machine has.
//
// A combination is answered or refused, never begun in vain: a refusal (invalid_argument, unsupported, device) comes
// before the first call of the progress callback. On the CPU the table of engines (calls/answers.hpp) must hold; on the
// emulated GPU, tests/emulation/table_calls_test.cpp holds it.
#include "calls/calls.hpp"
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::Task;
using detail::Where;

/// What the calls work on: enough points that none is answered without work.
struct Given {
    std::vector<float> points = uniform_points<float>(600, 3, 0, 1, 1);
    std::vector<float> velocities = uniform_points<float>(600, 3, 0, 1, 2);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(600, 1);
    PointsView view{points, 3};
    [[nodiscard]] Tree index(Engine engine) const { return Tree(view, {.engine = engine, .execution = cpu(1)}); }
    SpanningTree spanning{spanning_tree(view, {.execution = cpu(1)})};
    HdbscanResult clusters{hdbscan(view, 5, {.execution = cpu(1)})};
    LinkingLength length = LinkingLength::absolute(0.1);
    std::vector<double> edges{0.05, 0.1};
    PhaseSpace phase_space{PointsView(velocities, 3), VelocityLength::absolute(0.5)};
};

struct Call {
    std::string name;
    std::optional<Task> task; ///< none: the call has no engine
    bool runs_on_gpu = true;
    std::function<void(Engine, const Execution&)> make;
};

std::vector<Call> calls_on(Given& given) {
    const PointsView& points = given.view;
    return {
        {"knn", Task::neighbors, true,
         [&](Engine engine, const Execution& execution) {
             (void)knn(points, 3, {.engine = engine, .execution = execution});
         }},
        {"knn of queries", Task::neighbors, true,
         [&](Engine engine, const Execution& execution) {
             (void)knn(points, points, 3, {.engine = engine, .execution = execution});
         }},
        {"knn_visit", Task::neighbor_visits, true,
         [&](Engine engine, const Execution& execution) {
             (void)knn_visit([](const auto&) {}, points, 3, {.engine = engine, .execution = execution});
         }},
        {"knn in z-order", Task::neighbors_in_z_order, true,
         [&](Engine engine, const Execution& execution) {
             (void)knn(points, 3, {.engine = engine, .z_order = true, .execution = execution});
         }},
        {"knn_other_labels", Task::neighbors_of_other_labels, false,
         [&](Engine engine, const Execution& execution) {
             (void)knn_other_labels(points, given.labels, 3, {.engine = engine, .execution = execution});
         }},
        {"sum_neighbors by k", Task::neighbor_sums, false,
         [&](Engine engine, const Execution& execution) {
             (void)sum_neighbors(points, Nearest{3}, {.engine = engine, .execution = execution});
         }},
        {"sum_neighbors within a radius", Task::radius_sums, false,
         [&](Engine engine, const Execution& execution) {
             (void)sum_neighbors(points, Within{0.1}, {.engine = engine, .execution = execution});
         }},
        {"radius_search", Task::radius, true,
         [&](Engine engine, const Execution& execution) {
             (void)radius_search(points, 0.1, {.engine = engine, .execution = execution});
         }},
        {"radius_count", Task::radius, true,
         [&](Engine engine, const Execution& execution) {
             (void)radius_count(points, 0.1, {.engine = engine, .execution = execution});
         }},
        {"fof", Task::groups, true,
         [&](Engine engine, const Execution& execution) {
             (void)fof(points, given.length, {.engine = engine, .execution = execution});
         }},
        {"fof in phase space", Task::groups_in_phase_space, false,
         [&](Engine engine, const Execution& execution) {
             (void)fof(points, given.length,
                       {.engine = engine, .execution = execution, .phase_space = given.phase_space});
         }},
        {"dbscan", Task::clusters, true,
         [&](Engine engine, const Execution& execution) {
             (void)dbscan(points, 0.1, 5, {.engine = engine, .execution = execution});
         }},
        {"spanning_tree", Task::spanning_tree, true,
         [&](Engine engine, const Execution& execution) {
             (void)spanning_tree(points, {.engine = engine, .execution = execution});
         }},
        {"spanning_tree in phase space", Task::spanning_tree_in_phase_space, false,
         [&](Engine engine, const Execution& execution) {
             (void)spanning_tree(points, {.engine = engine,
                                          .execution = execution,
                                          .phase_space = PhaseSpaceAt{given.phase_space, given.length}});
         }},
        {"hierarchy", Task::spanning_tree, true,
         [&](Engine engine, const Execution& execution) {
             (void)hierarchy(points, {.engine = engine, .execution = execution});
         }},
        {"fof_ladder", Task::spanning_tree, false,
         [&](Engine engine, const Execution& execution) {
             const std::vector<LinkingLength> lengths = {given.length};
             (void)fof_ladder(points, lengths, {.engine = engine, .execution = execution});
         }},
        {"fof of a spanning tree", std::nullopt, false,
         [&](Engine, const Execution& execution) { (void)fof(given.spanning, given.length, execution); }},
        {"hierarchy of a spanning tree", std::nullopt, false,
         [&](Engine, const Execution& execution) { (void)hierarchy(given.spanning, execution); }},
        {"fof_ladder of a spanning tree", std::nullopt, false,
         [&](Engine engine, const Execution& execution) {
             const std::vector<LinkingLength> lengths = {given.length};
             (void)fof_ladder(given.spanning, lengths, {.engine = engine, .execution = execution});
         }},
        {"hdbscan", Task::density_clusters, false,
         [&](Engine engine, const Execution& execution) {
             (void)hdbscan(points, 5, {.engine = engine, .execution = execution});
         }},
        {"hdbscan of a tree", Task::density_clusters, false,
         [&](Engine engine, const Execution& execution) {
             (void)hdbscan(given.index(engine), 5, {.engine = engine, .execution = execution});
         }},
        {"approximate_predict", std::nullopt, false,
         [&](Engine, const Execution& execution) {
             (void)approximate_predict(given.clusters, points, points, execution);
         }},
        {"pair_counts", Task::pair_counts, false,
         [&](Engine engine, const Execution& execution) {
             (void)pair_counts(points, given.edges, {.engine = engine, .execution = execution});
         }},
        {"pair_counts of a tree", Task::pair_counts, false,
         [&](Engine engine, const Execution& execution) {
             (void)pair_counts(given.index(engine), points, given.edges, {.engine = engine, .execution = execution});
         }},
        {"Tree", Task::index, true,
         [&](Engine engine, const Execution& execution) {
             (void)Tree(points, {.engine = engine, .execution = execution});
         }},
        {"knn of a tree", Task::neighbors, false, // which is on the CPU
         [&](Engine engine, const Execution& execution) {
             (void)knn(given.index(engine), 3, {.engine = engine, .execution = execution});
         }},
        {"knn of a tree in z-order", Task::neighbors_in_z_order, false,
         [&](Engine engine, const Execution& execution) {
             (void)knn(given.index(engine), 3, {.engine = engine, .z_order = true, .execution = execution});
         }},
        {"radius_search of a tree", Task::radius, false,
         [&](Engine engine, const Execution& execution) {
             (void)radius_search(given.index(engine), 0.1, {.engine = engine, .execution = execution});
         }},
        {"radius_visit of a tree", Task::radius, false,
         [&](Engine engine, const Execution& execution) {
             (void)radius_visit([](const auto&) {}, given.index(engine), 0.1,
                                {.engine = engine, .execution = execution});
         }},
        {"dbscan of a tree", Task::clusters, false,
         [&](Engine engine, const Execution& execution) {
             (void)dbscan(given.index(engine), 0.1, 5, {.engine = engine, .execution = execution});
         }},
        {"spanning_tree of a tree", Task::spanning_tree, false,
         [&](Engine engine, const Execution& execution) {
             (void)spanning_tree(given.index(engine), {.engine = engine, .execution = execution});
         }},
        {"fof of a tree", Task::groups, false,
         [&](Engine engine, const Execution& execution) {
             (void)fof(given.index(engine), given.length, {.engine = engine, .execution = execution});
         }},
        {"kdtree_order", std::nullopt, true,
         [&](Engine, const Execution& execution) { (void)kdtree_order(points, kdtree::Split::widest, execution); }},
        {"z_order", std::nullopt, false,
         [&](Engine, const Execution& execution) { (void)z_order(points, {.execution = execution}); }},
        {"kdtree_order by tight boxes", std::nullopt, false,
         [&](Engine, const Execution& execution) { (void)kdtree_order(points, kdtree::Split::widest_box, execution); }},
        {"catalog", std::nullopt, true,
         [&](Engine, const Execution& execution) {
             const FofResult groups = fof(points, given.length, {.execution = cpu(1)});
             Particles particles;
             particles.positions = points;
             (void)catalog(groups, particles, {.min_members = 1, .execution = execution});
         }},
    };
}

using Combinations = NeedsDimension<3>;

TEST_F(Combinations, HaveCallsOfEveryTask) {
    Given given;
    const std::vector<Call> calls = calls_on(given);
    for (std::size_t task = 0; task < detail::task_names.size(); ++task) {
        EXPECT_TRUE(std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
            return call.task == static_cast<Task>(task);
        })) << detail::task_names[task];
    }
}

TEST_F(Combinations, AreAnsweredOrRefusedBeforeWork) {
    Given given;
    for (const Call& call : calls_on(given)) {
        for (const std::string_view engine_name : engine_names) {
            const Engine engine = engine_named(engine_name).value();
            for (Execution execution : {cpu(1), cuda(), on_no_gpu}) {
                const bool on_cpu = execution.device.kind == DeviceKind::cpu;
                SCOPED_TRACE(call.name + ", " + std::string(engine_name) + (on_cpu ? ", CPU" : ", GPU"));
                int steps = 0;
                execution.progress = [&](std::string_view, double) { return ++steps > 0; };
                const bool in_table = !call.task || detail::answers(engine, *call.task, detail::where_of(execution));
                try {
                    call.make(engine, execution);
                    EXPECT_TRUE(in_table && (on_cpu || call.runs_on_gpu));
                    EXPECT_EQ(steps > 0, true);
                } catch (const Error& error) {
                    const std::string text = error.what();
                    EXPECT_EQ(steps, 0) << text;
                    EXPECT_FALSE(on_cpu && in_table) << text;
                    EXPECT_TRUE(error.kind() == ErrorKind::unsupported ||
                                (!on_cpu && error.kind() == ErrorKind::device) ||
                                (!on_cpu && error.kind() == ErrorKind::invalid_argument))
                        << text;
                    if (!in_table) { // whatever the machine: the remedy is another engine, or the CPU
                        EXPECT_TRUE(text.find(engine_name) != std::string::npos ||
                                    text.find("CPU only") != std::string::npos)
                            << text;
                        EXPECT_TRUE(text.find("use one of: auto") != std::string::npos ||
                                    text.find("run on the CPU") != std::string::npos ||
                                    text.find("kith::cpu()") != std::string::npos)
                            << text;
                    }
                }
            }
        }
    }
}

// The tree is what automatic falls back on, and a row twice could contradict itself.
TEST(EngineTable, HasOneRowForTaskAndEngineAndTheTreeWhereAnyEngineIs) {
    for (const detail::EngineRow& row : detail::engine_table) {
        EXPECT_NE(row.engine, Engine::automatic);
        EXPECT_EQ(std::count_if(std::begin(detail::engine_table), std::end(detail::engine_table),
                                [&](const detail::EngineRow& other) {
                                    return other.task == row.task && other.engine == row.engine;
                                }),
                  1);
        for (const Where where : {Where::cpu, Where::gpu, Where::stream, Where::ranks, Where::gpu_ranks}) {
            EXPECT_TRUE(detail::answers(Engine::automatic, row.task, where) ||
                        !detail::answers(row.engine, row.task, where));
        }
    }
}

// As calls over ranks and asynchronous calls check them, whatever this build has.
TEST(EngineTable, IsCheckedWhereverACallRuns) {
    for (std::size_t number = 0; number < detail::task_names.size(); ++number) {
        const auto task = static_cast<Task>(number);
        for (const std::string_view name : engine_names) {
            const Engine engine = engine_named(name).value();
            for (const Where where : {Where::cpu, Where::gpu, Where::stream, Where::ranks, Where::gpu_ranks}) {
                SCOPED_TRACE(std::string(detail::task_names[number]) + ", " + std::string(name));
                const auto check = [&] { detail::check_engine(engine, task, where); };
                if (detail::answers(engine, task, where)) {
                    EXPECT_NO_THROW(check());
                } else {
                    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {std::string(detail::task_names[number])}, check));
                }
            }
        }
    }
    EXPECT_TRUE(is_refused(ErrorKind::unsupported,
                           {"'brute' does not support k nearest neighbors over ranks; use one of: auto, tree"},
                           [] { detail::check_engine(Engine::brute_force, Task::neighbors, Where::ranks); }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"a kept index is not found over ranks"},
                           [] { detail::check_engine(Engine::automatic, Task::index, Where::ranks); }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"pair counts are not found over ranks on GPUs; leave the GPU out"},
                           [] { detail::check_engine(Engine::automatic, Task::pair_counts, Where::gpu_ranks); }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"a kept index is not found over ranks; run the call on one"},
                           [] { detail::check_engine(Engine::automatic, Task::index, Where::gpu_ranks); }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"groups in phase space are not found asynchronously"},
                           [] { detail::check_engine(Engine::tree, Task::groups_in_phase_space, Where::stream); }));
}

} // namespace
} // namespace kith::test
