// The table of engines (calls/answers.hpp) on the emulated GPU: each call that it grants is answered as on the CPU, each
// other one is refused by the check that the public functions share.
#include "emulation/calls_on_device.hpp"

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "cuda_emulation/cuda_runtime.hpp"
#include "neighbors/radius_result_access.hpp"
#include "support/context.hpp"

#include <kith/hdbscan.hpp>
#include <kith/knn.hpp>
#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::Task;
using detail::Where;

class TableOnDevice : public CallsOnDevice {
protected:
    std::vector<float> points_ = clustered_points(200);
    /// A view of the device's memory, which no check reads.
    [[nodiscard]] PointsView there() const { return {points_.data(), DType::float32, 200, 3, 3, 1, cuda().device}; }
    PointsView view_{points_, 3};
    LinkingLength length_ = LinkingLength::absolute(0.05);
    PhaseSpace phase_space_{view_, VelocityLength::absolute(1)};
    Execution execution_ = [] {
        Execution execution = cuda();
        execution.threads = 1; // shared memory of the emulator is every thread's own
        return execution;
    }();

    void check_call(Task task, Engine engine, Where where) const {
        const PointsOrTree points = there();
        const KnnOptions knn_options{.engine = engine, .execution = execution_};
        switch (task) {
        case Task::neighbors:
        case Task::neighbors_in_z_order: {
            KnnOptions options = knn_options;
            options.z_order = task == Task::neighbors_in_z_order;
            return detail::check(detail::KnnCall{points, nullptr, 3, options}, where);
        }
        case Task::neighbor_visits: {
            const NeighborVisitor visitor = [](const NeighborBlock&) {};
            return detail::check(detail::KnnCall{points, nullptr, 3, knn_options, nullptr, &visitor}, where);
        }
        case Task::neighbors_of_other_labels: {
            const std::vector<std::int32_t> numbers(static_cast<std::size_t>(points.count()));
            const detail::Labels labels{numbers, numbers};
            return detail::check(detail::KnnCall{points, nullptr, 3, knn_options, nullptr, nullptr, &labels}, where);
        }
        case Task::radius: {
            const Radii radii(0.05);
            const RadiusOptions options{.engine = engine, .execution = execution_};
            (void)detail::check(detail::RadiusCall{points, nullptr, radii, options}, where);
            return;
        }
        case Task::neighbor_sums:
        case Task::radius_sums: {
            const Neighborhood neighborhood = task == Task::neighbor_sums ? Neighborhood(Nearest{3}) : Within{0.05};
            const SumOptions options{.engine = engine, .execution = execution_};
            (void)detail::check(detail::SumCall{points, nullptr, neighborhood, options}, where);
            return;
        }
        case Task::groups:
        case Task::groups_in_phase_space: {
            FofOptions options{.engine = engine, .execution = execution_};
            if (task == Task::groups_in_phase_space) {
                options.phase_space = phase_space_;
            }
            return detail::check(detail::FofCall{points, length_, options}, where);
        }
        case Task::clusters: {
            const DbscanOptions options{.engine = engine, .execution = execution_};
            return detail::check(detail::DbscanCall{points, 0.05, 4, options}, where);
        }
        case Task::spanning_tree:
        case Task::spanning_tree_in_phase_space: {
            SpanningTreeOptions options{.engine = engine, .execution = execution_};
            if (task == Task::spanning_tree_in_phase_space) {
                options.phase_space = PhaseSpaceAt{phase_space_, length_};
            }
            return detail::check(detail::SpanningTreeCall{points, options}, where);
        }
        case Task::density_clusters: {
            const HdbscanOptions options{.engine = engine, .execution = execution_};
            return detail::check(detail::HdbscanCall{points, 5, options}, where);
        }
        case Task::pair_counts: {
            const std::vector<double> edges{0, 0.1};
            const PairCountOptions options{.engine = engine, .execution = execution_};
            return detail::check(detail::PairCall{points, nullptr, edges, options}, where);
        }
        case Task::index:
            return detail::check_engine(engine, task, where);
        }
    }

    /// Whether a waiting call with the points, or an index of them, gives the answer of the CPU.
    [[nodiscard]] bool is_answered(Task task, Engine engine, const PointsOrTree& points) const {
        const KnnResult expected = knn(view_, 3, {.execution = cpu(1)});
        switch (task) {
        case Task::neighbors_in_z_order: {
            std::vector<std::int32_t> queries(static_cast<std::size_t>(view_.count()));
            const NeighborRows rows{std::span<std::int32_t>(), std::span<float>(), queries};
            (void)detail::on_gpu().knn(view_, nullptr, {3, {.z_order = true, .execution = execution_}, &rows}, engine);
            return std::ranges::equal(queries, Tree(view_, {.execution = cpu(1)}).order());
        }
        case Task::neighbors: {
            KnnResult found(view_.count(), 3, IndexType::int32, view_.dtype());
            const NeighborRows rows = found.rows_view();
            return detail::on_gpu().knn(points, nullptr, {3, {.execution = execution_}, &rows}, engine).engine ==
                       engine &&
                   std::ranges::equal(found.indices(), expected.indices());
        }
        case Task::neighbor_visits: {
            bool is_equal = true;
            const NeighborVisitor visitor = [&](const NeighborBlock& block) {
                emulation::touch([&] {
                    for (std::size_t i = 0; i < block.indices().size(); ++i) {
                        const std::int64_t query = block.query_indices[i / 3];
                        is_equal = is_equal && block.indices()[i] ==
                                                   expected.indices()[query * 3 + static_cast<std::int64_t>(i % 3)];
                    }
                });
            };
            detail::on_gpu().knn(points, nullptr, {3, {.execution = execution_}, nullptr, &visitor}, engine);
            return is_equal;
        }
        case Task::radius: {
            std::vector<std::int64_t> counts;
            const Radii radii(0.05);
            const RadiusOptions options{.execution = execution_};
            (void)detail::on_gpu().radius(points, nullptr, {radii, 0, options, &counts}, engine);
            return counts == radius_count(view_, 0.05, {.execution = cpu(1)}).counts;
        }
        case Task::pair_counts: {
            const std::vector<double> edges{0, 0.05, 0.2};
            PairCounts found;
            detail::on_gpu().pair_counts(points, nullptr, edges, {.execution = execution_}, found);
            return found.counts == pair_counts(view_, edges, {.execution = cpu(1)}).counts;
        }
        case Task::neighbor_sums:
        case Task::radius_sums: {
            const Neighborhood neighborhood = task == Task::neighbor_sums ? Neighborhood(Nearest{3}) : Within{0.05};
            const NeighborSums sums = sum_neighbors(view_, neighborhood, {.execution = cpu(1)});
            NeighborSums found;
            found.density.resize(sums.density.size());
            found.reach.resize(sums.reach.size());
            found.counts.resize(sums.counts.size());
            const SumOptions options{.execution = execution_};
            detail::on_gpu().sum_neighbors(points, nullptr, {neighborhood, 0, options}, engine, found);
            return found.engine == engine && found.density == sums.density && found.reach == sums.reach &&
                   found.counts == sums.counts;
        }
        case Task::groups: {
            std::vector<std::int32_t> labels(static_cast<std::size_t>(view_.count()));
            FofSummary found;
            found.engine = engine;
            detail::on_gpu().fof(points, length_, {.execution = execution_}, labels, found);
            return labels == fof(view_, length_, {.execution = cpu(1)}).label_array;
        }
        case Task::groups_in_phase_space: {
            std::vector<std::int32_t> labels(static_cast<std::size_t>(view_.count()));
            FofSummary found;
            found.engine = engine;
            detail::on_gpu().fof(points, length_, {.execution = execution_, .phase_space = phase_space_}, labels,
                                 found);
            return labels == fof(view_, length_, {.execution = cpu(1), .phase_space = phase_space_}).label_array;
        }
        case Task::clusters:
            return clusters_on_device(points, 0.05, 4, {}).label_array ==
                   dbscan(view_, 0.05, 4, {.execution = cpu(1)}).label_array;
        case Task::spanning_tree:
            return std::ranges::equal(detail::on_gpu().spanning_tree(points, {.execution = execution_}, engine).edges(),
                                      spanning_tree(view_, {.execution = cpu(1)}).edges());
        case Task::spanning_tree_in_phase_space: {
            const PhaseSpaceAt at{phase_space_, length_};
            return std::ranges::equal(
                detail::on_gpu().spanning_tree(points, {.execution = execution_, .phase_space = at}, engine).edges(),
                spanning_tree(view_, {.execution = cpu(1), .phase_space = at}).edges());
        }
        case Task::density_clusters: {
            detail::Context host(cpu(1));
            HdbscanResult found;
            found.min_samples = 4;
            detail::on_gpu().density_tree(points, {.execution = execution_}, host, found);
            const HdbscanResult on_cpu = hdbscan(view_, 4, {.execution = cpu(1)});
            return found.edges == on_cpu.edges && found.core_distances == on_cpu.core_distances;
        }
        case Task::neighbors_of_other_labels: // on no GPU
            return false;
        case Task::index: {
            bool is_equal = answers_granted_calls(index_on_device(view_, {.engine = engine}));
            if (engine == Engine::clover) {
                const CloverOptions flat{.form = CloverForm::flat, .hubs = 20, .seed = 3};
                is_equal =
                    is_equal && answers_granted_calls(index_on_device(view_, {.engine = engine, .clover = flat}));
            } else if (engine == Engine::tree) {
                const Tree tree = tree_on_device(view_, {});
                const Tree on_host(view_, {.execution = cpu(1)});
                emulation::touch([&] { is_equal = is_equal && std::ranges::equal(tree.order(), on_host.order()); });
            }
            return is_equal;
        }
        }
        return false;
    }

    /// All calls that take an index of its engine.
    [[nodiscard]] bool answers_granted_calls(const Tree& index) const {
        int answered = 0;
        for (const Task task :
             {Task::neighbors, Task::neighbor_visits, Task::radius, Task::groups, Task::clusters, Task::spanning_tree,
              Task::density_clusters, Task::pair_counts, Task::neighbor_sums, Task::radius_sums}) {
            if (detail::answers(index.engine(), task, Where::gpu)) {
                if (!is_answered(task, index.engine(), index)) {
                    return false;
                }
                ++answered;
            }
        }
        return answered > 0;
    }

    /// Bytes that an asynchronous call needs, or 0 if there is none of the task.
    [[nodiscard]] std::int64_t bytes_needed(Task task, Engine engine) const {
        return task == Task::neighbors || task == Task::neighbors_in_z_order
                   ? detail::on_gpu().knn_async_bytes(AsyncTreeSize{DType::float32, 3, 200}, {}, 3, engine, execution_)
               : task == Task::groups
                   ? detail::on_gpu().fof_async_bytes(AsyncTreeSize{DType::float32, 3, 200}, engine, execution_)
                   : 0;
    }
};

TEST_F(TableOnDevice, HoldsForEveryTaskEngineAndPlace) {
    for (std::size_t number = 0; number < detail::task_names.size(); ++number) {
        const auto task = static_cast<Task>(number);
        for (const std::string_view name : engine_names) {
            const Engine engine = engine_named(name).value();
            for (const Where where : {Where::gpu, Where::stream}) {
                SCOPED_TRACE(std::string(detail::task_names[number]) + ", " + std::string(name) +
                             (where == Where::stream ? ", asynchronously" : ""));
                if (!detail::answers(engine, task, where)) {
                    const auto call = [&] { check_call(task, engine, where); };
                    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"not found asynchronously"}, call) ||
                                is_refused(ErrorKind::unsupported, {"found on the CPU only"}, call) ||
                                is_refused(ErrorKind::unsupported, {name_of(engine), "use one of: auto"}, call));
                    continue;
                }
                EXPECT_NO_THROW(check_call(task, engine, where));
                const Engine chosen = detail::choose(task, engine, detail::size_of(view_, nullptr, 3, where));
                if (where == Where::stream) {
                    EXPECT_GT(bytes_needed(task, engine), 0);
                } else {
                    EXPECT_TRUE(is_answered(task, chosen, view_));
                }
            }
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

} // namespace
} // namespace kith::test
