// What each task of the table of engines that ranks can run on GPUs finds there, held against one process: on the emulated
// devices of threads or of processes.
#pragma once

#include "calls/answers.hpp"
#include "cuda/instances.hpp"
#include "emulation/ranks_on_devices.hpp"

#include "distributed/distributions.hpp"
#include "support/velocities.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kith::test {

/// The part of a rank, which works on that device, and the whole.
struct PartOnDevice {
    Communicator& ranks;
    PointsView mine;
    PointsView all;
    std::int64_t first;
    const std::vector<float>& velocities; ///< of all points
    int device;

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
inline std::map<detail::Task, std::function<bool(const PartOnDevice&)>> tasks_on_gpus() {
    return {
        {detail::Task::neighbors,
         [](const PartOnDevice& part) {
             const KnnResult found = neighbors_of_rank<float>(part.ranks, part.mine, nullptr, 5, {}, {}, part.device);
             return part.are_mine(found.indices64(), knn(part.all, 5).indices(), 5);
         }},
        {detail::Task::radius,
         [](const PartOnDevice& part) {
             const RadiusCounts found =
                 counts_within_of_rank<float>(part.ranks, part.mine, nullptr, 0.2, {}, {}, part.device);
             return part.are_mine(std::span<const std::int64_t>(found.counts),
                                  std::span<const std::int64_t>(radius_count(part.all, 0.2).counts));
         }},
        {detail::Task::groups,
         [](const PartOnDevice& part) {
             const auto length = LinkingLength::relative(0.6);
             const FofResult found = groups_of_rank(part.ranks, part.mine, length, {}, {}, part.device);
             return part.are_mine(found.labels64(), fof(part.all, length).labels());
         }},
        {detail::Task::groups_in_phase_space,
         [](const PartOnDevice& part) {
             const auto length = LinkingLength::relative(0.6);
             const FofResult found = groups_of_rank(part.ranks, part.mine, length,
                                                    part.in_phase_space(part.mine, part.first), {}, part.device);
             return part.are_mine(found.labels64(), fof(part.all, length, part.in_phase_space(part.all, 0)).labels());
         }},
        {detail::Task::clusters,
         [](const PartOnDevice& part) {
             const DbscanResult found = clusters_of_rank(part.ranks, part.mine, 0.15, 4, {}, {}, part.device);
             return part.are_mine(found.labels64(), dbscan(part.all, 0.15, 4).labels());
         }},
    };
}

/// Calls function(name, call) for each row of the table that says that ranks can have GPUs; call(part) says whether the
/// task finds what one process finds.
template <class Function>
void for_each_task_on_gpus(const Function& function) {
    const auto tasks = tasks_on_gpus();
    for (const detail::EngineRow& row : detail::engine_table) {
        if (!row.supported[static_cast<std::size_t>(detail::Where::gpu_ranks)]) {
            continue;
        }
        const std::string name(detail::task_names[static_cast<std::size_t>(row.task)]);
        EXPECT_EQ(row.engine, Engine::tree) << name;
        const auto found = tasks.find(row.task);
        ASSERT_NE(found, tasks.end()) << name << " is not tested here";
        if (row.task != detail::Task::groups_in_phase_space || detail::dimension_is_on_device(6)) {
            function(name, found->second);
        }
    }
}

/// Points along the first axis, with velocities.
struct MovingPoints {
    static constexpr std::int64_t count = 200;
    std::vector<float> points = along_the_first_axis(uniform_points<float>(count, 3, 0, 1, 91), 3);
    std::vector<float> velocities;

    MovingPoints() {
        Random draw(92);
        velocities = velocities_for<float>(count, 3, draw);
    }
    [[nodiscard]] PartOnDevice part(Communicator& ranks, const RankFirsts& firsts, int device) const {
        const PointsView all(points, 3);
        return {ranks,      part_of(all, firsts, ranks.rank()),
                all,        firsts[static_cast<std::size_t>(ranks.rank())],
                velocities, device};
    }
};

} // namespace kith::test
