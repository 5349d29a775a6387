// Spanning trees in phase space: edges against the oracle, and cuts against the groups that fof() finds.
#include "oracle/spanning_tree.hpp"
#include "support/cases.hpp"
#include "support/engines.hpp"
#include "support/linking_lengths.hpp"
#include "support/special_numbers.hpp"
#include "support/velocities.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

std::vector<Case> cases_in_phase_space() {
    std::vector<Case> cases = every_case();
    std::erase_if(cases, [](const Case& one) { return !is_built(2 * one.dimension); });
    return cases;
}

class PhaseSpaceTrees : public testing::TestWithParam<Case> {};

TEST_P(PhaseSpaceTrees, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const int dimension = GetParam().dimension;
        const PointSet<T> set = point_set<T>(GetParam().set, dimension);
        Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{sizeof(T)}));
        for (const NamedBox& named : set.boxes) {
            const std::vector<float> velocities = velocities_for<float>(set.count(), dimension, draw);
            const double length = 0.2 * set.extent();
            const double psi = std::vector<double>{0.05, 0.5, infinity}[static_cast<std::size_t>(draw.integer(3))];
            const PhaseSpaceAt at{{PointsView(velocities, dimension), VelocityLength::absolute(psi)},
                                  LinkingLength::absolute(length)};
            for (const Engine engine : engines_of(detail::Task::spanning_tree_in_phase_space)) {
                SCOPED_TRACE("box " + named.name + ", psi " + std::to_string(psi) + ", " + name_of(engine));
                const SpanningTreeOptions options{
                    .box = named.box, .engine = engine, .execution = cpu(2), .phase_space = at};
                SpanningTree found;
                try {
                    found = spanning_tree(set.view(), options);
                } catch (const Error&) { // as fof() refuses it: tests of groups say what
                    EXPECT_THROW((void)fof(set.view(), at.linking_length,
                                           {.box = named.box, .engine = engine, .phase_space = at.phase_space}),
                                 Error);
                    continue;
                }
                const auto expected = oracle::spanning_tree(
                    oracle::phase_space_copy<T, float>(set.coordinates, velocities, dimension, named.box, length, psi));
                ASSERT_EQ(found.edges().size(), expected.size());
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    const auto [smaller, larger] = found.edges()[i];
                    ASSERT_EQ((oracle::TreeEdge<T>{smaller, larger, found.weights<T>()[i], found.heights<T>()[i]}),
                              expected[i])
                        << "edge " << i;
                }
            }
        }
    });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PhaseSpaceTrees);
INSTANTIATE_TEST_SUITE_P(EveryCase, PhaseSpaceTrees, testing::ValuesIn(cases_in_phase_space()), case_name);

class PhaseSpaceCuts : public NeedsDimension<6> {
protected:
    const std::vector<float> points_ = uniform_points<float>(400, 3, 0, 1, 21);
    const std::vector<float> velocities_ = uniform_points<float>(400, 3, -300, 300, 22);
    const PointsView view_{points_, 3};
    const PhaseSpace phase_space_{PointsView(velocities_, 3), VelocityLength::sigmas(0.5)};
};

// One tree has the groups at every length R, with psi longer as much as R is.
TEST_F(PhaseSpaceCuts, AreGroupsAtEveryLength) {
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const SpanningTree tree =
            spanning_tree(view_, {.box = box, .phase_space = PhaseSpaceAt{phase_space_, LinkingLength::relative(1)}});
        for (const double factor : {0.5, 1.0, 2.0}) { // so that l / psi is the same number
            PhaseSpace scaled = phase_space_;
            scaled.length = VelocityLength::sigmas(0.5 * factor);
            const FofResult expected = fof(view_, LinkingLength::relative(factor), {.box = box, .phase_space = scaled});
            const FofResult found = fof(tree, LinkingLength::relative(factor));
            EXPECT_EQ(found.label_array, expected.label_array) << factor;
            EXPECT_EQ(found.linking_length, expected.linking_length);
            EXPECT_EQ(found.velocity_length, expected.velocity_length);
            EXPECT_EQ(found.velocity_scale, expected.velocity_scale);
            EXPECT_EQ(found.volume, expected.volume);
            EXPECT_EQ(found.volume_kind, expected.volume_kind);
            EXPECT_EQ(found.box, expected.box);
            EXPECT_GT(found.sizes.front(), factor < 1 ? 0 : 1);
            EXPECT_LT(found.sizes.front(), 400);
        }
    }
}

TEST_F(PhaseSpaceCuts, RefuseWhatGroupsDo) {
    const auto refuses = [&](ErrorKind kind, const std::vector<std::string>& parts, const PointsOrTree& points,
                             const PhaseSpaceAt& at) {
        return is_refused(kind, parts, [&] { (void)spanning_tree(points, {.phase_space = at}); });
    };
    const auto length = LinkingLength::absolute(0.1);
    const PointsView short_by_one = PointsView(velocities_, 3).subview(0, 399);
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"give the points"}, Tree(view_), {phase_space_, length}));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"399 velocities"}, view_,
                        {{short_by_one, VelocityLength::absolute(1)}, length}));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"linking length", "-1"}, view_,
                        {phase_space_, LinkingLength::absolute(-1)}));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"linking length is 0"}, view_,
                        {phase_space_, LinkingLength::absolute(0)}));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"psi", "is 0"}, view_,
                        {{PointsView(velocities_, 3), VelocityLength::absolute(0)}, length}));
}

TEST_F(PhaseSpaceCuts, OfFewPoints) {
    for (std::int64_t count = 0; count < 3; ++count) {
        const PhaseSpaceAt at{{PointsView(velocities_, 3).subview(0, count), VelocityLength::absolute(1e6)},
                              LinkingLength::absolute(2)};
        const SpanningTree tree = spanning_tree(view_.subview(0, count), {.phase_space = at});
        EXPECT_EQ(tree.count(), std::max<std::int64_t>(count - 1, 0));
        EXPECT_EQ(fof(tree, LinkingLength::absolute(2)).groups, std::min<std::int64_t>(count, 1));
    }
}

} // namespace
} // namespace kith::test
