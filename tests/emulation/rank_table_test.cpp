// Every row of the table of engines that says that ranks can have GPUs, on two emulated devices.
#include "calls/answers.hpp"
#include "cuda/instances.hpp"
#include "emulation/ranks_on_devices.hpp"

#include "distributed/distributions.hpp"
#include "support/cases.hpp"
#include "support/velocities.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::Task;
using detail::Where;

/// The part of a rank, and the whole.
struct Part {
    Communicator& ranks;
    PointsView mine;
    PointsView all;
    std::int64_t first;
    const std::vector<float>& velocities; ///< of all points

    /// Whether numbers of this rank's points are those of one process.
    template <class Number>
    [[nodiscard]] bool are_mine(std::span<const std::int64_t> found, std::span<const Number> of_all,
                                std::int64_t each = 1) const {
        return std::ranges::equal(found, of_all.subspan(static_cast<std::size_t>(first * each),
                                                        static_cast<std::size_t>(mine.count() * each)));
    }
    [[nodiscard]] FofOptions in_phase_space(const PointsView& points, std::int64_t from) const {
        FofOptions options{.execution = cpu(1)};
        options.phase_space =
            PhaseSpace{PointsView(velocities, 3).subview(from, points.count()), VelocityLength::absolute(1.5)};
        return options;
    }
};

/// What each task finds on a GPU of each rank; false if that is not what one process finds.
std::map<Task, std::function<bool(const Part&)>> tasks_on_gpus() {
    return {
        {Task::neighbors,
         [](const Part& part) {
             const KnnResult found =
                 neighbors_of_rank<float>(part.ranks, part.mine, nullptr, 5, {}, {}, part.ranks.rank());
             return part.are_mine(found.indices64(), knn(part.all, 5).indices(), 5);
         }},
        {Task::radius,
         [](const Part& part) {
             const RadiusCounts found =
                 counts_within_of_rank<float>(part.ranks, part.mine, nullptr, 0.2, {}, {}, part.ranks.rank());
             return part.are_mine(std::span<const std::int64_t>(found.counts),
                                  std::span<const std::int64_t>(radius_count(part.all, 0.2).counts));
         }},
        {Task::groups,
         [](const Part& part) {
             const auto length = LinkingLength::relative(0.6);
             const FofResult found = groups_of_rank(part.ranks, part.mine, length, {}, {}, part.ranks.rank());
             return part.are_mine(found.labels64(), fof(part.all, length).labels());
         }},
        {Task::groups_in_phase_space,
         [](const Part& part) {
             const auto length = LinkingLength::relative(0.6);
             const FofResult found = groups_of_rank(part.ranks, part.mine, length,
                                                    part.in_phase_space(part.mine, part.first), {}, part.ranks.rank());
             return part.are_mine(found.labels64(), fof(part.all, length, part.in_phase_space(part.all, 0)).labels());
         }},
        {Task::clusters,
         [](const Part& part) {
             const DbscanResult found = clusters_of_rank(part.ranks, part.mine, 0.15, 4, {}, {}, part.ranks.rank());
             return part.are_mine(found.labels64(), dbscan(part.all, 0.15, 4).labels());
         }},
    };
}

class GpusOfRanks : public NeedsDimension<3> {};

TEST_F(GpusOfRanks, AnswerEveryRowOfTheTable) {
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(200, 3, 0, 1, 91), 3);
    Random draw(92);
    const std::vector<float> velocities = velocities_for<float>(200, 3, draw);
    const RankFirsts firsts = evenly(200, 2);
    const auto tasks = tasks_on_gpus();
    for (const detail::EngineRow& row : detail::engine_table) {
        if (!row.supported[static_cast<std::size_t>(Where::gpu_ranks)]) {
            continue;
        }
        SCOPED_TRACE(std::string(detail::task_names[static_cast<std::size_t>(row.task)]));
        EXPECT_EQ(row.engine, Engine::tree);
        const auto found = tasks.find(row.task);
        ASSERT_NE(found, tasks.end()) << "is not tested here";
        if (row.task == Task::groups_in_phase_space && !detail::dimension_is_on_device(6)) {
            continue;
        }
        std::mutex turn;
        run_ranks(2, [&](Communicator& inner) {
            const std::unique_lock lock(turn);
            TakingTurns ranks(inner, turn);
            const PointsView all(points, 3);
            EXPECT_TRUE(found->second({ranks, part_of(all, firsts, ranks.rank()), all,
                                       firsts[static_cast<std::size_t>(ranks.rank())], velocities}))
                << "rank " << ranks.rank();
        });
    }
}

} // namespace
} // namespace kith::test
