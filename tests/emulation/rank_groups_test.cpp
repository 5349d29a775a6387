// Groups over ranks that each have a GPU of their own, on two and on four emulated devices: those of one process.
#include "cuda/instances.hpp"
#include "emulation/ranks_on_devices.hpp"

#include "distributed/distributions.hpp"
#include "support/cases.hpp"
#include "support/velocities.hpp"

#include <kith/fof.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::test {
namespace {

class GroupsOverGpus : public testing::TestWithParam<Case> {};

/// Holds every rank's labels, and what it knows of all groups, against those of one process; and the bytes that the
/// result reports against those that left the devices.
void expect_groups_of_one_process(const PointsView& points, const LinkingLength& length, const FofOptions& options,
                                  const RankFirsts& firsts, const DeviceOfRank& devices, bool rebalance = false,
                                  OnGpu at = OnGpu::none, bool is_direct = true) {
    const int count = static_cast<int>(firsts.size()) - 1;
    FofOptions alone = options;
    alone.execution = cpu(1);
    const FofResult expected = fof(points, length, alone);
    run_ranks_on_devices(count, 2, is_direct, [&](Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const int device = devices[rank % devices.size()];
        FofOptions here = alone;
        std::optional<PointsOfRank> velocities;
        if (options.phase_space) { // on the other side from the positions, where only some ranks have them on a GPU
            const PointsView all = part_of(options.phase_space->velocities, firsts, ranks.rank());
            velocities.emplace(all, ranks.rank() + 1, device, at);
            here.phase_space->velocities = velocities->view();
        }
        const PointsOfRank points_here(part_of(points, firsts, ranks.rank()), ranks.rank(), device, at);
        const PointsView& mine = points_here.view();
        const FofResult found = groups_of_rank(ranks, mine, length, here, {.rebalance = rebalance}, device);
        EXPECT_TRUE(std::ranges::equal(found.labels64(), std::span(expected.labels())
                                                             .subspan(static_cast<std::size_t>(firsts[rank]),
                                                                      static_cast<std::size_t>(mine.count()))))
            << "rank " << rank << " of " << count;
        EXPECT_EQ(found.groups, expected.groups);
        EXPECT_EQ(found.sizes, expected.sizes);
        EXPECT_EQ(found.linking_length, expected.linking_length);
        EXPECT_EQ(found.box, expected.box);
        EXPECT_EQ(found.wrapped_points, expected.wrapped_points);
        const std::int64_t from_device = found.distribution->traffic.bytes_from_device;
        EXPECT_TRUE(device >= 0 || from_device == 0);
        return from_device;
    });
}

INSTANTIATE_TEST_SUITE_P(
    Sets, GroupsOverGpus,
    testing::ValuesIn(cases_of({"empty", "two", "clustered", "lattice", "coincident", "slightly_outside"})), case_name);

TEST_P(GroupsOverGpus, AreThoseOfOneProcess) {
    if (!detail::dimension_is_on_device(GetParam().dimension)) {
        GTEST_SKIP() << "dimension " << GetParam().dimension << " is not emulated";
    }
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> points = first_points<T>(GetParam(), 300);
        const std::vector<T> slabs = along_the_first_axis(points, set.dimension);
        const PointsView view(slabs, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 31 + sizeof(T));
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            const auto length = LinkingLength::absolute(set.extent() * (draw.integer(2) == 0 ? 0.05 : 0.15) + 1e-3);
            const int ranks = static_cast<int>(1 + draw.integer(4));
            const DeviceOfRank devices = draw.integer(2) == 0 ? DeviceOfRank{0, 1} : DeviceOfRank{3, 0, 2, 1};
            expect_groups_of_one_process(view, length, {.box = named.box},
                                         drawn_distribution(view.count(), ranks, draw), devices, false,
                                         on_gpus[draw.integer(3)], draw.integer(3) > 0);
        }
    });
}

class GroupsOverGpusIn3D : public NeedsDimension<3> {};

TEST_F(GroupsOverGpusIn3D, OfEveryNumberOfRanks) {
    const std::vector<float> slabs =
        along_the_first_axis(first_points<float>({DType::float32, 3, "clustered"}, 300), 3);
    const PointsView points(slabs, 3);
    for (const int ranks : {1, 2, 3, 4}) {
        for (const RankFirsts& firsts : {evenly(points.count(), ranks), all_on(ranks / 2, points.count(), ranks),
                                         unevenly(points.count(), ranks)}) {
            expect_groups_of_one_process(points, LinkingLength::relative(0.4), {}, firsts, {0, 1, 2, 3});
            expect_groups_of_one_process(points, LinkingLength::relative(0.4), {}, firsts, {1, -1}, false,
                                         OnGpu::all); // and a CPU
        }
    }
}

TEST_F(GroupsOverGpusIn3D, OfPointsThatMoveOrHaveIds) {
    const std::vector<float> points = first_points<float>({DType::float32, 3, "clustered"}, 300);
    const PointsView view(points, 3);
    const RankFirsts firsts = unevenly(view.count(), 4);
    expect_groups_of_one_process(view, LinkingLength::relative(0.4), {}, firsts, {0, 1, 2, 3}, true);
    expect_groups_of_one_process(view, LinkingLength::relative(0.4), {}, firsts, {0, 1, 2, 3}, true, OnGpu::all);
    std::vector<std::int64_t> ids; // descending
    std::vector<float> by_id;
    for (std::int64_t i = view.count() - 1; i >= 0; --i) {
        ids.push_back(i);
        by_id.insert(by_id.end(), points.begin() + 3 * i, points.begin() + 3 * (i + 1));
    }
    const FofResult expected = fof(PointsView(by_id, 3), LinkingLength::relative(0.4), {.execution = cpu(1)});
    run_ranks_on_devices(2, 2, [&](Communicator& ranks) {
        const RankFirsts halves = evenly(view.count(), 2);
        const auto first = static_cast<std::size_t>(halves[static_cast<std::size_t>(ranks.rank())]);
        const PointsOfRank mine(part_of(view, halves, ranks.rank()), ranks.rank(), ranks.rank(),
                                OnGpu::every_other_rank);
        const auto my_ids = std::span(ids).subspan(first, static_cast<std::size_t>(mine.view().count()));
        const FofResult found =
            groups_of_rank(ranks, mine.view(), LinkingLength::relative(0.4), {}, {.ids = my_ids}, ranks.rank());
        for (std::size_t i = 0; i < my_ids.size(); ++i) {
            EXPECT_EQ(found.labels64()[i], expected.labels()[static_cast<std::size_t>(my_ids[i])]);
        }
        return found.distribution->traffic.bytes_from_device;
    });
}

TEST_F(GroupsOverGpusIn3D, AreFoundInPhaseSpace) {
    if (!detail::dimension_is_on_device(6)) {
        GTEST_SKIP() << "dimension 6 is not emulated";
    }
    const std::vector<float> slabs =
        along_the_first_axis(first_points<float>({DType::float32, 3, "clustered"}, 300), 3);
    const PointsView points(slabs, 3);
    Random draw(11);
    const std::vector<float> velocities = velocities_for<float>(points.count(), 3, draw);
    FofOptions options;
    options.phase_space = PhaseSpace{PointsView(velocities, 3), VelocityLength::absolute(1.5)};
    for (const int ranks : {1, 2, 4}) {
        for (const OnGpu at : on_gpus) {
            expect_groups_of_one_process(points, LinkingLength::relative(0.6), options, evenly(points.count(), ranks),
                                         {0, 1, 2, 3}, false, at);
        }
    }
    options.phase_space->length = VelocityLength::sigmas(1);
    expect_groups_of_one_process(points, LinkingLength::relative(0.6), options, evenly(points.count(), 3), {0, 1},
                                 false, OnGpu::all);
}

TEST_F(GroupsOverGpusIn3D, FailOnAllRanksWhereOneGpuIsMissing) {
    const std::vector<float> coordinates = first_points<float>({DType::float32, 3, "clustered"}, 300);
    const PointsView points(coordinates, 3);
    const RankFirsts firsts = evenly(points.count(), 2);
    const std::int64_t groups = fof(points, LinkingLength::relative(0.4), {.execution = cpu(1)}).groups;
    run_ranks_on_devices(2, 2, [&](Communicator& ranks) {
        const auto call = [&](int device) {
            return groups_of_rank(ranks, test::part_of(points, firsts, ranks.rank()), LinkingLength::relative(0.4), {},
                                  {}, device);
        };
        EXPECT_TRUE(is_refused(ErrorKind::device, {"rank 1"}, [&] { (void)call(ranks.rank() == 0 ? 0 : 9); }));
        const FofResult found = call(ranks.rank());
        EXPECT_EQ(found.groups, groups);
        return found.distribution->traffic.bytes_from_device;
    });
}

} // namespace
} // namespace kith::test
