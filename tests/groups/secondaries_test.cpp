// Groups of primary points with secondary ones joined, against the oracle, and what is refused.
#include "support/linking_lengths.hpp"

#include <kith/fof.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

class SecondaryPoints : public testing::TestWithParam<Case> {};

TEST_P(SecondaryPoints, JoinTheGroupOfTheirNearestPrimary) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        std::vector<std::uint8_t> marks(static_cast<std::size_t>(set.view().count()));
        Random random(51);
        std::generate(marks.begin(), marks.end(), [&] { return random.integer(3) == 0 ? 1 : 0; });
        std::vector<T> primaries;
        for (std::size_t i = 0; i < set.coordinates.size(); ++i) {
            if (marks[i / static_cast<std::size_t>(set.dimension)] == 0) {
                primaries.push_back(set.coordinates[i]);
            }
        }
        for (const NamedBox& named : {set.boxes.front(), set.boxes.back()}) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(primaries, set.dimension, named.box);
            for (const double length : interesting_lengths(set, named.box)) {
                if (oracle::is_refused(copy, length)) {
                    continue;
                }
                for (const std::int64_t least : {1, 3}) {
                    const oracle::Groups expected = oracle::groups_with_secondaries<T>(set.coordinates, set.dimension,
                                                                                       named.box, marks, length, least);
                    const FofResult found = fof_with_secondaries(set.view(), marks, LinkingLength::absolute(length),
                                                                 least, {.box = named.box, .execution = cpu(2)});
                    EXPECT_TRUE(same_groups(found, expected)) << named.name << ", " << length << ", " << least;
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(SomeSets, SecondaryPoints,
                         testing::ValuesIn(cases_of({"uniform", "clustered", "lattice", "coincident", "few_distinct"})),
                         case_name);

using Secondaries = NeedsDimension<3>;

TEST_F(Secondaries, LeaveTheMeanSeparationToThePrimaries) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 52);
    std::vector<std::uint8_t> marks(1000, 0);
    std::fill(marks.begin(), marks.begin() + 500, 1);
    const FofOptions options{.box = Box::periodic(1)};
    const FofResult found =
        fof_with_secondaries(PointsView(points, 3), marks, LinkingLength::relative(0.2), 1, options);
    const FofResult alone = fof(PointsView(std::span(points).subspan(1500), 3), LinkingLength::relative(0.2), options);
    EXPECT_EQ(found.linking_length, alone.linking_length);
    EXPECT_EQ(found.groups, alone.groups);
    marks.assign(1000, 0);
    const FofResult all = fof_with_secondaries(PointsView(points, 3), marks, LinkingLength::relative(0.2), 1, options);
    EXPECT_EQ(all.label_array, fof(PointsView(points, 3), LinkingLength::relative(0.2), options).label_array);
    marks.assign(1000, 1);
    const FofResult none = fof_with_secondaries(PointsView(points, 3), marks, LinkingLength::absolute(1), 1, options);
    EXPECT_EQ(none.groups, 0);
    EXPECT_EQ(none.label_array[0], -1);
}

TEST_F(Secondaries, AreRefusedWhereTheyAreNotJoined) {
    const std::vector<float> points = uniform_points<float>(10, 3, 0, 1, 53);
    const std::vector<std::uint8_t> marks(10, 1);
    const auto refused = [&](ErrorKind kind, const char* says, std::size_t rows, std::int64_t least,
                             const FofOptions& options) {
        return is_refused(kind, {says}, [&] {
            (void)fof_with_secondaries(PointsView(points, 3), std::span(marks).first(rows), LinkingLength::absolute(1),
                                       least, options);
        });
    };
    EXPECT_TRUE(refused(ErrorKind::invalid_argument, "is_secondary has 9 numbers for 10 points", 9, 1, {}));
    EXPECT_TRUE(refused(ErrorKind::invalid_argument, "min_primaries is 0", 10, 0, {}));
    EXPECT_TRUE(refused(ErrorKind::unsupported, "CPU only", 10, 1, {.execution = on_no_gpu}));
    EXPECT_TRUE(refused(ErrorKind::unsupported, "leave phase_space out", 10, 1,
                        {.phase_space = PhaseSpace{PointsView(points, 3), VelocityLength::absolute(1)}}));
}

} // namespace
} // namespace kith::test
