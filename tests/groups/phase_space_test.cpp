// Groups in phase space against the oracle, and by hand where defects of other programs are known.
#include "support/cases.hpp"
#include "support/engines.hpp"
#include "support/linking_lengths.hpp"
#include "support/special_numbers.hpp"
#include "support/velocities.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace kith::test {
namespace {

const std::vector<Engine> engines = engines_of(detail::Task::groups_in_phase_space);

/// The engine, or where it finds no spanning trees, one that does.
Engine for_spanning_trees(Engine engine) {
    return engine == Engine::kdtree ? Engine::tree : engine;
}

class PhaseSpaceGroups : public testing::TestWithParam<Case> {
protected:
    template <class T, class V>
    void compare_with_oracle() {
        const int dimension = GetParam().dimension;
        const PointSet<T> set = point_set<T>(GetParam().set, dimension);
        Random draw(
            std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{sizeof(T) + sizeof(V)}));
        for (const NamedBox& named : set.boxes) {
            const std::vector<V> velocities = velocities_for<V>(set.count(), dimension, draw);
            const std::vector<double> lengths = interesting_lengths(set, named.box);
            for (int trial = 0; trial < 3; ++trial) {
                const double length = lengths[static_cast<std::size_t>(draw.integer(std::ssize(lengths)))];
                const double psi =
                    std::vector<double>{0.05, 0.5, 2, infinity}[static_cast<std::size_t>(draw.integer(4))];
                FofOptions options{.box = named.box,
                                   .engine = engines[static_cast<std::size_t>(draw.integer(std::ssize(engines)))],
                                   .execution = cpu(1 + static_cast<int>(draw.integer(3)))};
                if (oracle::is_refused(oracle::working_copy<T>(set.coordinates, dimension, named.box), length)) {
                    continue;
                }
                const FofResult in_space = fof(set.view(), LinkingLength::absolute(length), options);
                if (in_space.linking_length == 0 && psi != infinity) {
                    continue;
                }
                SCOPED_TRACE("box " + named.name + ", linking length " + std::to_string(length) + ", psi " +
                             std::to_string(psi) + ", " + name_of(options.engine));
                const auto copy =
                    oracle::phase_space_copy<T, V>(set.coordinates, velocities, dimension, named.box, length, psi);
                options.phase_space = PhaseSpace{PointsView(velocities, dimension), VelocityLength::absolute(psi)};
                const auto find = [&] { return fof(set.view(), LinkingLength::absolute(length), options); };
                if (set.count() > 0 && psi != infinity && !std::isnormal(in_space.linking_length / psi)) {
                    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"beyond what float64"}, find));
                    continue;
                }
                if (!std::all_of(copy.points.begin(), copy.points.end(), [](T x) { return std::isfinite(x); })) {
                    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"velocities", "cannot express"}, find));
                    continue;
                }
                if (oracle::is_refused(copy, length)) {
                    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"underflows relative to the largest"}, find));
                    continue;
                }
                const FofResult found = find();
                EXPECT_TRUE(same_groups(found, oracle::groups(copy, length)));
                if (draw.integer(3) == 0) {
                    const SpanningTree tree = spanning_tree(
                        set.view(),
                        {.box = named.box,
                         .engine = for_spanning_trees(options.engine),
                         .execution = options.execution,
                         .phase_space = PhaseSpaceAt{*options.phase_space, LinkingLength::absolute(length)}});
                    const FofResult cut = fof(tree, LinkingLength::absolute(length));
                    EXPECT_EQ(cut.label_array, found.label_array);
                    EXPECT_EQ(cut.sizes, found.sizes);
                    EXPECT_EQ(cut.box, found.box);
                    EXPECT_EQ(cut.velocity_length, psi);
                    EXPECT_EQ(cut.velocity_scale, found.velocity_scale);
                }
                EXPECT_EQ(found.linking_length, in_space.linking_length);
                EXPECT_EQ(found.velocity_length, psi);
                EXPECT_EQ(found.velocity_scale, set.count() == 0 ? 0 : in_space.linking_length / psi);
                EXPECT_EQ(found.box, in_space.box);
                if (psi == infinity) {
                    EXPECT_EQ(found.label_array, in_space.label_array);
                    EXPECT_EQ(found.sizes, in_space.sizes);
                }
            }
        }
    }
};

TEST_P(PhaseSpaceGroups, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        compare_with_oracle<T, T>();
        compare_with_oracle<T, std::conditional_t<std::is_same_v<T, float>, double, float>>();
    });
}

/// Those whose phase space is built.
std::vector<Case> cases_in_phase_space() {
    std::vector<Case> cases = every_case();
    std::erase_if(cases, [](const Case& one) { return !is_built(2 * one.dimension); });
    return cases;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PhaseSpaceGroups);
INSTANTIATE_TEST_SUITE_P(EveryCase, PhaseSpaceGroups, testing::ValuesIn(cases_in_phase_space()), case_name);

template <class T>
void expect_phase_space_of(int dimension) {
    constexpr std::int64_t count = 600;
    const std::vector<T> points = uniform_points<T>(count, dimension, 0, 1, 178);
    const std::vector<float> velocities = uniform_points<float>(count, dimension, -1, 1, 179);
    const double length = 0.3 * std::pow(2.0, dimension - 2) * std::pow(count, -0.5 / dimension);
    const double psi = 2 * length;
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const PhaseSpace phase_space{PointsView(velocities, dimension), VelocityLength::absolute(psi)};
        const auto linking_length = LinkingLength::absolute(length);
        const oracle::Groups expected =
            oracle::groups(oracle::phase_space_copy<T, float>(points, velocities, dimension, box, length, psi), length);
        EXPECT_GT(expected.sizes.front(), 2) << dimension;
        EXPECT_LT(expected.sizes.front(), count) << dimension;
        const PointsView view(points, dimension);
        for (const Engine engine : engines) {
            EXPECT_TRUE(same_groups(
                fof(view, linking_length, {.box = box, .engine = engine, .phase_space = phase_space}), expected))
                << dimension << name_of(engine);
            const SpanningTree tree = spanning_tree(view, {.box = box,
                                                           .engine = for_spanning_trees(engine),
                                                           .phase_space = PhaseSpaceAt{phase_space, linking_length}});
            EXPECT_TRUE(same_groups(fof(tree, linking_length), expected)) << dimension << name_of(engine);
        }
    }
}

TEST(PhaseSpaceInEveryDimension, EqualsTheOracle) {
    for (int dimension = 2; dimension <= max_dimension / 2; ++dimension) {
        if (is_built(dimension) && is_built(2 * dimension)) {
            expect_phase_space_of<float>(dimension);
            expect_phase_space_of<double>(dimension);
        }
    }
}

/// Positions on a line and velocities, in groups of given lengths.
class PhaseSpace3 : public NeedsDimension<6> {
protected:
    static std::vector<std::int32_t> labels(const std::vector<float>& positions, const std::vector<float>& velocities,
                                            double length, double psi, const Box& box = {}) {
        const FofOptions options{.box = box,
                                 .phase_space = PhaseSpace{PointsView(velocities, 3), VelocityLength::absolute(psi)}};
        IndexArray found;
        for (const Engine engine : engines) {
            FofOptions with = options;
            with.engine = engine;
            const FofResult groups = fof(PointsView(positions, 3), LinkingLength::absolute(length), with);
            EXPECT_TRUE(found.empty() || found == groups.label_array) << name_of(engine);
            found = groups.label_array;
        }
        const SpanningTree tree = spanning_tree(
            PointsView(positions, 3),
            {.box = box, .phase_space = PhaseSpaceAt{*options.phase_space, LinkingLength::absolute(length)}});
        EXPECT_EQ(fof(tree, LinkingLength::absolute(length)).label_array, found);
        return {found.as_int32().begin(), found.as_int32().end()};
    }
    const std::vector<std::int32_t> together{0, 0};
    const std::vector<std::int32_t> apart{0, 1};
};

TEST_F(PhaseSpace3, TheLimitIsInclusive) { // (3/5)^2 + (4/5)^2 = 1
    const std::vector<float> positions{0, 0, 0, 3, 0, 0};
    const std::vector<float> velocities{0, 0, 0, 0, 4, 0};
    EXPECT_EQ(labels(positions, velocities, 5, 5), together);
    EXPECT_EQ(labels(positions, velocities, 5, 4.99999), apart);
    EXPECT_EQ(labels(positions, velocities, 4.999, 5), apart);
}

TEST_F(PhaseSpace3, ComponentsAreSquaredOneByOne) { // their sum is zero
    EXPECT_EQ(labels({0, 0, 0, 0, 0, 0}, {4, -4, 0, 0, 0, 0}, 1, 5), apart);
    EXPECT_EQ(labels({0, 0, 0, 1, -1, 0}, {0, 0, 0, 0, 0, 0}, 1, 5), apart);
}

TEST_F(PhaseSpace3, CoincidentPointsAreFriends) {
    EXPECT_EQ(labels({1, 2, 3, 1, 2, 3}, {7, 8, 9, 7, 8, 9}, 1e-3, 1e-3), together);
    EXPECT_EQ(labels({1, 2, 3, 1, 2, 3}, {7, 8, 9, 7, 8, 9.5F}, 1e-3, 1e-3), apart); // at one place, but not at rest
}

// A triangulation of the positions joins the first and the last to the middle one only.
TEST_F(PhaseSpace3, FriendsNeedNotBeNeighborsInPosition) {
    EXPECT_EQ(labels({0, 0, 0, 1, 0, 0, 2, 0, 0}, {0, 0, 0, 9, 0, 0, 0, 0, 0}, 2.5, 2.5),
              (std::vector<std::int32_t>{0, 1, 0}));
}

TEST_F(PhaseSpace3, PositionsArePeriodicAndVelocitiesAreNot) {
    EXPECT_EQ(labels({0.05F, 0.5F, 0.5F, 0.95F, 0.5F, 0.5F}, {0, 0, 0, 0, 0, 0}, 0.2, 1, Box::periodic(1)), together);
    EXPECT_EQ(labels({0.05F, 0.5F, 0.5F, 0.95F, 0.5F, 0.5F}, {0, 0, 0, 0, 0, 0}, 0.2, 1), apart);
    EXPECT_EQ(labels({0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F}, {0, 0, 0, 5, 0, 0}, 0.2, 1, Box::periodic(1)), apart);
}

TEST_F(PhaseSpace3, StreamsThatCrossArePartedAndEachIsLinked) {
    std::vector<float> positions;
    std::vector<float> velocities;
    std::vector<std::int32_t> expected;
    for (int i = 0; i < 3000; ++i) { // one hundred in each place, every third in the slower stream
        positions.insert(positions.end(), {static_cast<float>(i / 100) * 0.1F, 0, 0});
        velocities.insert(velocities.end(), {i % 3 == 0 ? 100.0F : 300.0F, 0, 0});
        expected.push_back(i % 3 == 0 ? 1 : 0);
    }
    EXPECT_EQ(labels(positions, velocities, 0.15, 100), expected);
    EXPECT_EQ(labels(positions, velocities, 0.15, 200), std::vector<std::int32_t>(3000, 0));
}

TEST_F(PhaseSpace3, OfALargerSetThatIsClustered) {
    const std::int64_t count = sized(4000);
    Random draw(171);
    std::vector<float> positions;
    std::vector<float> velocities;
    for (std::int64_t i = 0; i < count; ++i) {
        const double halo = static_cast<double>(i % 4);
        for (int axis = 0; axis < 3; ++axis) {
            positions.push_back(static_cast<float>(std::fmod(1 + 0.02 * halo + 0.02 * draw.normal(), 1.0)));
            velocities.push_back(static_cast<float>(300 * halo + 100 * draw.normal()));
        }
    }
    for (const double psi : {20.0, 60.0, 100.0, 300.0}) {
        const FofOptions options{.box = Box::periodic(1),
                                 .engine = Engine::tree,
                                 .phase_space = PhaseSpace{PointsView(velocities, 3), VelocityLength::absolute(psi)}};
        const FofResult found = fof(PointsView(positions, 3), LinkingLength::absolute(0.02), options);
        EXPECT_TRUE(same_groups(found, oracle::groups(oracle::phase_space_copy<float, float>(
                                                          positions, velocities, 3, Box::periodic(1), 0.02, psi),
                                                      0.02)))
            << psi;
    }
}

/// sqrt(sum m |v - mean|^2 / sum m), by plain loops.
long double plain_dispersion(const std::vector<double>& velocities, const std::vector<double>& masses) {
    long double total = 0;
    long double mean[3] = {};
    long double square = 0;
    for (std::size_t i = 0; i < masses.size(); ++i) {
        total += masses[i];
    }
    for (std::size_t i = 0; i < velocities.size(); ++i) {
        mean[i % 3] += masses[i / 3] * velocities[i] / total;
    }
    for (std::size_t i = 0; i < velocities.size(); ++i) {
        square += masses[i / 3] * (velocities[i] - mean[i % 3]) * (velocities[i] - mean[i % 3]) / total;
    }
    return std::sqrt(square);
}

class Dispersions : public NeedsDimension<6> {
protected:
    double sigma(double factor = 1, int threads = 0) const {
        PhaseSpace phase_space{PointsView(velocities, 3), VelocityLength::sigmas(factor)};
        if (!masses.empty()) {
            phase_space.masses = masses;
        }
        return fof(PointsView(positions, 3), LinkingLength::absolute(1),
                   {.execution = cpu(threads), .phase_space = phase_space})
            .velocity_length;
    }
    std::vector<double> positions = uniform_points<double>(50000, 3, 0, 100, 172);
    std::vector<double> velocities = uniform_points<double>(50000, 3, -300, 500, 173);
    std::vector<double> masses;
};

TEST_F(Dispersions, AreThoseOfPlainLoopsWithAndWithoutMasses) {
    const auto equal = static_cast<double>(plain_dispersion(velocities, std::vector<double>(50000, 1)));
    EXPECT_NEAR(sigma(), equal, 1e-13 * equal);
    EXPECT_EQ(sigma(1.25), 1.25 * sigma());
    masses.assign(50000, 0);
    EXPECT_EQ(sigma(), sigma());
    EXPECT_NEAR(sigma(), equal, 1e-13 * equal); // nobody has mass: all count alike
    masses = uniform_points<double>(50000, 1, 0, 1e9, 174);
    const auto weighted = static_cast<double>(plain_dispersion(velocities, masses));
    EXPECT_NEAR(sigma(), weighted, 1e-13 * weighted);
    EXPECT_NE(static_cast<float>(weighted), static_cast<float>(equal));
}

TEST_F(Dispersions, AreTheSameInAnyOrderAndOnAnyNumberOfThreads) {
    masses = uniform_points<double>(50000, 1, 0, 1, 175);
    const double expected = sigma(1, 1);
    EXPECT_EQ(sigma(1, 2), expected);
    EXPECT_EQ(sigma(1, 7), expected);
    for (std::size_t i = 0; i < masses.size() / 2; ++i) {
        const std::size_t other = masses.size() - 1 - i;
        std::swap(masses[i], masses[other]);
        std::swap_ranges(velocities.begin() + static_cast<std::ptrdiff_t>(3 * i),
                         velocities.begin() + static_cast<std::ptrdiff_t>(3 * i + 3),
                         velocities.begin() + static_cast<std::ptrdiff_t>(3 * other));
    }
    EXPECT_EQ(sigma(1, 2), expected);
}

class PhaseSpaceRefuses : public NeedsDimension<6> {
protected:
    testing::AssertionResult refuses(ErrorKind kind, const std::vector<std::string>& parts, const FofOptions& options,
                                     double length = 0.1) {
        return is_refused(kind, parts,
                          [&] { (void)fof(PointsView(points, 3), LinkingLength::absolute(length), options); });
    }
    FofOptions with(VelocityLength length) const {
        return {.phase_space = PhaseSpace{PointsView(velocities, 3), length}};
    }

    std::vector<float> points = uniform_points<float>(30, 3, 0, 1, 176);
    std::vector<float> velocities = uniform_points<float>(30, 3, -1, 1, 177);
};

TEST_F(PhaseSpaceRefuses, LengthsThatAreNone) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto absolute = [&](double psi) { return with(VelocityLength::absolute(psi)); };
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"psi", "is 0"}, absolute(0)));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"psi", "-1"}, absolute(-1)));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"psi", "nan"}, absolute(nan)));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"psi", "inf", "finite"}, with(VelocityLength::sigmas(infinity))));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"psi", "-2"}, with(VelocityLength::sigmas(-2))));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"linking length is 0"}, absolute(1), 0));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"0.1", "1e-310", "units"}, absolute(1e-310)));
    EXPECT_TRUE(refuses(ErrorKind::invalid_points, {"velocities", "component 0", "express"}, absolute(1e-45)));
    // Scaled velocities of some 1e37 leave nothing of the square of 0.1.
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"0.1", "underflows relative to the largest"}, absolute(1e-38)));
}

// Whatever their products with masses and the sums of these are rounded to.
TEST_F(PhaseSpaceRefuses, DispersionsOfEqualVelocities) {
    std::vector<double> masses;
    for (std::uint64_t seed = 1; seed < 9; ++seed) {
        std::fill(velocities.begin(), velocities.end(), uniform_points<float>(1, 1, 0, 1, seed)[0]);
        masses = uniform_points<double>(30, 1, 0, 1, seed);
        FofOptions options = with(VelocityLength::sigmas(2));
        EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"2 times", "alike"}, options));
        options.phase_space->masses = masses;
        EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"2 times", "alike"}, options));
    }
}

TEST_F(PhaseSpaceRefuses, VelocitiesThatAreNotFinite) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        velocities[17 * 3 + 2] = bad;
        const std::vector<std::string> parts{"velocities", "point 17", "coordinate 2",
                                             std::isnan(bad) ? "NaN" : "-infinity"};
        EXPECT_TRUE(refuses(ErrorKind::invalid_points, parts, with(VelocityLength::absolute(1))));
        EXPECT_TRUE(refuses(ErrorKind::invalid_points, parts, with(VelocityLength::absolute(infinity))));
        EXPECT_TRUE(refuses(ErrorKind::invalid_points, parts, with(VelocityLength::sigmas(1))));
    }
}

TEST_F(PhaseSpaceRefuses, ColumnsOfAnotherShape) {
    const auto psi = VelocityLength::absolute(1);
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"45 velocities of 2", "30 points of 3"},
                        {.phase_space = PhaseSpace{PointsView(velocities, 2), psi}}));
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"29 velocities", "30 points"},
                        {.phase_space = PhaseSpace{PointsView(velocities, 3).subview(0, 29), psi}}));
    EXPECT_TRUE(
        refuses(ErrorKind::invalid_argument, {"0 velocities", "30 points"}, {.phase_space = PhaseSpace{{}, psi}}));
    std::vector<double> masses(29, 1.0);
    FofOptions options = with(VelocityLength::sigmas(1));
    options.phase_space->masses = masses;
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"29 masses", "30 points"}, options));
    masses = std::vector<double>(30, 1.0);
    masses[11] = -4;
    options.phase_space->masses = masses;
    EXPECT_TRUE(refuses(ErrorKind::invalid_argument, {"masses: row 11 is -4"}, options));
}

TEST_F(PhaseSpaceRefuses, TreesAndDevices) {
    const Tree tree{PointsView(points, 3)};
    FofOptions options = with(VelocityLength::absolute(1));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"phase space", "tree", "give the points"},
                           [&] { (void)fof(tree, LinkingLength::absolute(1), options); }));
    options.execution = on_no_gpu;
    EXPECT_TRUE(lacks_its_gpu([&] { (void)fof(PointsView(points, 3), LinkingLength::absolute(1), options); }));
}

TEST_F(PhaseSpaceRefuses, DimensionsThatAreTooMany) {
    for (const int dimension : built_dimensions()) {
        if (!is_built(2 * dimension)) {
            EXPECT_TRUE(is_refused(ErrorKind::unsupported, {std::to_string(2 * dimension)}, [&] {
                (void)fof(PointsView(points, dimension), LinkingLength::absolute(1),
                          {.phase_space = PhaseSpace{PointsView(velocities, dimension), VelocityLength::absolute(1)}});
            }));
        }
    }
}

TEST_F(PhaseSpaceRefuses, ButNoPointsAreFine) {
    points.clear();
    velocities.clear();
    for (const VelocityLength& length : {VelocityLength::absolute(2), VelocityLength::sigmas(2)}) {
        const FofResult found = fof(PointsView(points, 3), LinkingLength::relative(0.2), with(length));
        EXPECT_TRUE(found.label_array.empty());
        EXPECT_EQ(found.groups, 0);
    }
}

} // namespace
} // namespace kith::test
