// Catalogs over ranks against the serial catalog, which other suites hold against plain loops: groups on one rank, over
// several and over all, with and without velocities, masses and types.
#include "distributed/distributions.hpp"
#include "distributed/grouped_parts.hpp"
#include "halos/samples.hpp"
#include "support/cases.hpp"

#include <kith/catalog.hpp>
#include <kith/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using test::part_of;

std::vector<std::int64_t>& labels_of(FofResult& groups) {
    return groups.label_array.vector<std::int64_t>();
}

testing::AssertionResult same_as_serial(const FofResult& groups, const Particles& particles, std::int64_t min_members,
                                        const RankFirsts& firsts, std::int64_t* bytes = nullptr) {
    const Catalog serial = catalog(groups, particles, {.min_members = min_members});
    const int size = static_cast<int>(firsts.size()) - 1;
    std::vector<Catalog> parts(static_cast<std::size_t>(size));
    run_ranks(size, [&](Communicator& ranks) {
        parts[static_cast<std::size_t>(ranks.rank())] =
            catalog(part_of(groups, firsts, ranks.rank()), part_of(particles, firsts, ranks.rank()),
                    {.min_members = min_members, .execution = over(ranks, cpu(1))});
    });
    Catalog all;
    for (const Catalog& part : parts) {
        append(part, all);
        EXPECT_EQ(part.distribution->total, serial.groups);
        if (bytes != nullptr) {
            *bytes += part.distribution->traffic.bytes_sent;
        }
    }
    if (all.member_array != serial.member_array) {
        return testing::AssertionFailure() << "the members of " << size << " ranks differ";
    }
    return same_values(all, serial) << " over " << size << " ranks";
}

std::vector<std::int32_t> some_sizes() {
    std::vector<std::int32_t> sizes{700, 300, 300, 41};
    sizes.insert(sizes.end(), 30, 20);
    sizes.insert(sizes.end(), 40, 3);
    sizes.insert(sizes.end(), 100, 1);
    return sizes;
}

template <class T>
class CatalogOverRanks : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CatalogOverRanks, Types);

TYPED_TEST(CatalogOverRanks, HasTheBitsOfOneProcess) {
    for (const int dimension : {2, 3, 6}) {
        const Sample<TypeParam> shuffled = sample<TypeParam>(some_sizes(), dimension, 301);
        const Sample<TypeParam> in_order = in_order_of_groups(shuffled);
        for (const Sample<TypeParam>* points : {&shuffled, &in_order}) {
            for (const Box& box : {Box{}, Box::periodic(sample_period)}) {
                const FofResult groups = in_box(points->groups, box);
                for (const int ranks : rank_counts) {
                    const std::int64_t count = points->count();
                    EXPECT_TRUE(same_as_serial(groups, points->everything(), 3, evenly(count, ranks)));
                    EXPECT_TRUE(same_as_serial(groups, points->positions_only(), 20, unevenly(count, ranks)));
                    EXPECT_TRUE(same_as_serial(groups, points->everything(), 1, all_on(ranks / 2, count, ranks)));
                }
            }
        }
    }
}

class CatalogOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(CatalogOverRanksIn3D, OfGroupsFoundOverTheSameRanks) {
    const PointSet<float> set = point_set<float>("clustered", 3);
    const std::vector<float> slabs = along_the_first_axis(set.coordinates, 3);
    const FofOptions options{.box = Box::periodic(2 * set.extent() + 1), .execution = cpu(1)};
    const LinkingLength length = LinkingLength::relative(0.3);
    const PointsView points(slabs, 3);
    const Catalog serial = catalog(fof(points, length, options), {points, points}, {.min_members = 5});
    ASSERT_GT(serial.groups, 3);
    const RankFirsts firsts = evenly(set.count(), 5);
    std::vector<Catalog> parts(5);
    run_ranks(5, [&](Communicator& ranks) {
        const PointsView mine = part_of(points, firsts, ranks.rank());
        parts[static_cast<std::size_t>(ranks.rank())] =
            catalog(fof(mine, length, over_ranks(ranks, options)), {mine, mine},
                    {.min_members = 5, .execution = over(ranks, cpu(1))});
    });
    Catalog all;
    for (const Catalog& part : parts) {
        append(part, all);
    }
    EXPECT_EQ(parts[1].box, serial.box);
    EXPECT_EQ(parts[1].lengths.linking_length, serial.lengths.linking_length);
    EXPECT_EQ(all.member_array, serial.member_array);
    EXPECT_TRUE(same_values(all, serial));
}

/// Of groups that were linked over ranks; those below min_members are not described.
TEST_F(CatalogOverRanksIn3D, LooksAtThePositionsOfMembersAlone) {
    Sample<double> points = sample<double>({40, 30, 20, 3}, 3, 306);
    points.groups.coordinates_below = 8;
    const Particles particles = points.everything();
    const auto set_first_of = [&](std::int32_t label, double x) {
        const auto labels = points.groups.labels();
        points.positions[3 * static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin())] = x;
    };
    set_first_of(3, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(same_as_serial(points.groups, particles, 4, evenly(93, 3)));
    set_first_of(1, -1.5e308); // not a point that was linked
    set_first_of(3, 1);
    EXPECT_TRUE(same_as_serial(points.groups, particles, 4, evenly(93, 3)));
    set_first_of(1, std::numeric_limits<double>::infinity());
    const RankFirsts firsts = evenly(93, 3);
    run_ranks(3, [&](Communicator& ranks) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"inf"}, [&] {
            (void)catalog(part_of(points.groups, firsts, ranks.rank()), part_of(particles, firsts, ranks.rank()),
                          {.min_members = 4, .execution = over(ranks, cpu(1))});
        }));
    });
}

/// Differences of the members of one group overflow unless all are scaled, where it is described, too.
TEST_F(CatalogOverRanksIn3D, UnitsFollowFromAllRanks) {
    Sample<double> points = sample<double>({40, 30, 20}, 3, 302);
    for (std::int64_t row = 0; row < points.count(); ++row) {
        for (std::int64_t i = 3 * row; i < 3 * row + 3; ++i) {
            if (points.groups.label_array[row] == 2) {
                points.positions[static_cast<std::size_t>(i)] = row % 2 == 0 ? 1.5e308 : -1.5e308;
                points.velocities[static_cast<std::size_t>(i)] = row % 2 == 0 ? 1.5e308 : -1.5e308;
            }
        }
    }
    std::vector<std::int32_t> place(90); // group 2 on the first ranks, so that the last has its part alone
    for (std::int32_t row = 0, first = 0, next = 20; row < 90; ++row) {
        place[static_cast<std::size_t>(row)] = points.groups.label_array[row] == 2 ? first++ : next++;
    }
    points = permuted(points, place);
    const Catalog serial = catalog(points.groups, points.everything(), {.min_members = 1});
    EXPECT_GT(serial.velocity_dispersion[2], 1e308);
    EXPECT_TRUE(same_as_serial(points.groups, points.everything(), 1, {0, 10, 30, 90}));
}

TEST_F(CatalogOverRanksIn3D, MembersOfLocalGroupsDoNotTravel) {
    std::vector<std::int32_t> labels; // 40 groups of 500, one after the other
    for (std::int32_t row = 0; row < 20000; ++row) {
        labels.push_back(row / 500);
    }
    const std::vector<double> points = uniform_points<double>(20000, 3, 0, 1, 303);
    std::int64_t bytes = 0;
    EXPECT_TRUE(same_as_serial(groups_with(labels), {PointsView(points, 3)}, 1, evenly(20000, 4), &bytes));
    EXPECT_LT(bytes, 40000);
}

TEST_F(CatalogOverRanksIn3D, NothingToDescribe) {
    const Sample<float> points = sample<float>({4, 3}, 3, 304);
    EXPECT_TRUE(same_as_serial(points.groups, points.everything(), 5, evenly(7, 3)));
    EXPECT_TRUE(same_as_serial(points.groups, points.everything(), 4, all_on(1, 7, 3)));
    FofResult none = points.groups;
    none.label_array = {};
    none.sizes = {};
    none.groups = 0;
    EXPECT_TRUE(same_as_serial(none, {PointsView(std::span<const float>(), 3)}, 1, evenly(0, 3)));
}

TEST_F(CatalogOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    const Sample<float> points = sample<float>({40, 30, 20}, 3, 305);
    const RankFirsts firsts = evenly(90, 3);
    run_ranks(3, [&](Communicator& ranks) {
        const bool is_one = ranks.rank() == 1;
        const FofResult groups = part_of(points.groups, firsts, ranks.rank());
        const Particles particles = part_of(points.everything(), firsts, ranks.rank());
        const auto refuses = [&](const std::vector<std::string>& words, const auto& change,
                                 const CatalogOptions& options = {}) {
            FofResult changed_groups = groups;
            Particles changed = particles;
            change(changed_groups, changed);
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words,
                                   [&] { (void)catalog(changed_groups, changed, over_ranks(ranks, options)); }));
        };
        std::vector<float> masses(30, 1);
        masses[7] = is_one ? -1.0F : 1.0F;
        refuses({"rank 1", "masses: row 7 is -1"}, [&](auto&, Particles& all) { all.masses = ScalarsView(masses); });
        refuses({"rank 1", "types: other ranks passed types"},
                [&](auto&, Particles& all) { all.types = is_one ? std::span<const std::uint8_t>() : all.types; });
        refuses({"rank 1", "velocities"},
                [&](auto&, Particles& all) { all.velocities = is_one ? std::nullopt : all.velocities; });
        refuses({"rank 1", "uniform_mass: 2"}, [&](auto&, Particles& all) { all.uniform_mass = is_one ? 2 : 1; });
        refuses({"rank 1", "min_members: 7"}, [](auto&, auto&) {}, {.min_members = is_one ? 7 : 8});
        refuses({"min_members is 0"}, [](auto&, auto&) {}, {.min_members = 0});
        refuses({"rank 1", "positions: 29 rows for 30 labels"},
                [&](auto&, Particles& all) { all.positions = is_one ? all.positions.subview(0, 29) : all.positions; });
        refuses({"rank 1", "row 3 has label 9"},
                [&](FofResult& all, auto&) { labels_of(all)[3] = is_one ? 9 : labels_of(all)[3]; });
        refuses({"sizes of groups", "those on rank 1 are not those on rank 0"}, [&](FofResult& all, auto&) {
            all.sizes = GroupSizes(is_one ? std::vector{51, 20, 20} : std::vector{50, 20, 20});
        });
        refuses({"found over 2 ranks", "described over 3"},
                [&](FofResult& all, auto&) { all.distribution->ranks = 2; });
        refuses({"found by one process", "described over 3"}, [&](FofResult& all, auto&) { all.distribution.reset(); });
        refuses({"rank 0", "sizes are those of 3 groups, but there are 4"},
                [&](FofResult& all, auto&) { all.groups = 4; });
        refuses({"89 points", "90 members"},
                [&](FofResult& all, auto&) { labels_of(all)[3] = is_one ? -1 : labels_of(all)[3]; },
                {.min_members = 1});
        refuses({"group 2 has size 20 but"},
                [&](FofResult& all, auto&) { std::ranges::replace(labels_of(all), 1, 2); });
    });
}

} // namespace
} // namespace kith::test
