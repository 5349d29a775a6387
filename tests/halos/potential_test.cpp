// Potentials of groups against sums over all pairs; what they must not depend on.
#include "halos/potential.hpp"
#include "halos/potential_tree.hpp"
#include "oracle/bound_halos.hpp"
#include "points/frame.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/catalog.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

using namespace detail;
using namespace detail::halos;

/// Particles of groups, one group after the other.
template <class T>
struct Groups {
    std::vector<T> positions; ///< row-major
    std::vector<double> masses;
    std::vector<std::int64_t> offset{0};
    Box box;

    void add_body(const std::array<double, 3>& at, double mass) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double period = box.period(static_cast<int>(axis));
            positions.push_back(
                static_cast<T>(period > 0 ? at[axis] - period * std::floor(at[axis] / period) : at[axis]));
        }
        masses.push_back(mass);
    }
    void end_group() { offset.push_back(std::ssize(masses)); }

    [[nodiscard]] std::vector<double> potentials(const Softening& softening, int threads = 1,
                                                 const std::vector<std::int32_t>& order = {}) const {
        Particles particles;
        particles.positions = PointsView(positions, 3);
        particles.masses = ScalarsView(masses);
        std::vector<std::int32_t> rows = order;
        if (rows.empty()) {
            rows.resize(masses.size());
            std::iota(rows.begin(), rows.end(), 0);
        }
        std::vector<double> found(masses.size());
        Context context(cpu(threads));
        context.stage("potentials", [&] {
            const Columns columns =
                columns_of(particles, 0, position_frame(normalize_sources<T>(particles.positions, box).frame));
            group_potentials(context, columns, {rows, offset}, softening, found);
        });
        return found;
    }
};

/// Halos with a cusp, with a core, and three that touch; 10 percent have five times the mass of others.
enum class Profile { cusp, core, three };

template <class T>
void add_halo(Groups<T>& groups, Random& random, Profile profile, std::int64_t count, std::array<double, 3> center,
              double radius) {
    for (std::int64_t i = 0; i < count; ++i) {
        const double share = random.uniform(0, 1);
        const double core = radius / 6 / std::sqrt(std::pow(0.99 * share + 1e-9, -2.0 / 3) - 1);
        const double r = profile == Profile::core ? core : radius * share * std::sqrt(share);
        std::array<double, 3> direction{random.normal(), random.normal(), random.normal()};
        const double length = std::hypot(direction[0], direction[1], direction[2]);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            direction[axis] = center[axis] + direction[axis] / length * r;
        }
        groups.add_body(direction, random.uniform(0, 1) < 0.1 ? 5 : 1);
    }
}

template <class T>
void add_group(Groups<T>& groups, Random& random, Profile profile, std::int64_t count) {
    const double radius = std::cbrt(3.0 * static_cast<double>(count) / (800 * 3.14159)); // the mean separation is 1
    const std::array<double, 3> center{99.9, 0.25, 50};
    if (profile == Profile::three) {
        add_halo(groups, random, Profile::cusp, count / 2, center, radius);
        add_halo(groups, random, Profile::core, count / 4, {center[0] + radius, center[1], center[2]}, radius / 2);
        add_halo(groups, random, Profile::cusp, count - count / 2 - count / 4,
                 {center[0], center[1] + radius / 2, center[2]}, radius / 3);
    } else {
        add_halo(groups, random, profile, count, center, radius);
    }
    groups.end_group();
}

/// By all pairs, from coordinates as T has them.
template <class T>
std::vector<double> by_pairs(const Groups<T>& groups, const Softening& softening) {
    std::vector<double> all;
    for (std::size_t group = 0; group + 1 < groups.offset.size(); ++group) {
        std::vector<oracle::Body> bodies;
        const std::int64_t first = groups.offset[group];
        for (std::int64_t i = first; i < groups.offset[group + 1]; ++i) {
            oracle::Body body{.mass = groups.masses[i]};
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double period = groups.box.period(static_cast<int>(axis));
                const double d = static_cast<double>(groups.positions[3 * i + axis]) -
                                 static_cast<double>(groups.positions[3 * first + axis]);
                body.position[axis] = period > 0 ? d - period * std::round(d / period) : d;
            }
            bodies.push_back(body);
        }
        const auto kernel = [&](double r) {
            return softening.kernel == SofteningKernel::spline ? oracle::spline_kernel(r, softening.length)
                                                               : oracle::plummer_kernel(r, softening.length);
        };
        for (const double potential : oracle::potentials(bodies, kernel)) {
            all.push_back(potential);
        }
    }
    return all;
}

struct Errors {
    double largest = 0;
    double root_mean_square = 0;
};
Errors errors_of(const std::vector<double>& found, const std::vector<double>& expected) {
    Errors errors;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = std::abs(found[i] / expected[i] - 1);
        errors.largest = std::max(errors.largest, error);
        errors.root_mean_square += error * error;
    }
    errors.root_mean_square = std::sqrt(errors.root_mean_square / static_cast<double>(expected.size()));
    return errors;
}

class Potentials : public NeedsDimension<3> {};

constexpr double separation_30th = 1.0 / 30;
constexpr Softening both[] = {{SofteningKernel::spline, separation_30th}, {SofteningKernel::plummer, separation_30th}};

template <class T>
void check_errors(const std::vector<std::int64_t>& sizes, double largest, double root_mean_square) {
    Random random(5);
    for (const Profile profile : {Profile::cusp, Profile::core, Profile::three}) {
        for (const std::int64_t size : sizes) {
            Groups<T> groups;
            groups.box = Box::periodic({100.0, 100.0, 100.0});
            add_group(groups, random, profile, size);
            for (const Softening& softening : both) {
                const Errors errors = errors_of(groups.potentials(softening), by_pairs(groups, softening));
                EXPECT_LE(errors.largest, largest) << size << " members, profile " << static_cast<int>(profile);
                EXPECT_LE(errors.root_mean_square, root_mean_square) << size << " members";
            }
        }
    }
}

TEST_F(Potentials, OfSmallGroupsAreSumsOverAllPairs) {
    check_errors<float>({2, 3, 15, 16, 17, 100, direct_sum_size}, 1e-12, 1e-13);
    check_errors<double>({2, 50}, 1e-12, 1e-13);
}

TEST_F(Potentials, OfLargeGroupsAreCloseToThem) {
    check_errors<float>({direct_sum_size + 1, 400, 1000, 4000}, 3e-3, 5e-4);
    check_errors<double>({1000}, 3e-3, 5e-4);
}

/// Of every size, one so large that all threads share it.
Groups<float> many_groups() {
    Random random(6);
    Groups<float> groups;
    groups.box = Box::periodic({100.0, 100.0, 100.0});
    for (const std::int64_t size : {sized(4 * shared_group_size / 3), std::int64_t{3000}, std::int64_t{300}}) {
        add_group(groups, random, Profile::three, size);
    }
    for (std::int64_t size = 40; size > 0; --size) {
        add_group(groups, random, Profile::core, size);
    }
    return groups;
}

TEST_F(Potentials, DoNotDependOnThreads) {
    const Groups<float> groups = many_groups();
    const std::vector<double> one = groups.potentials(both[0], 1);
    EXPECT_EQ(groups.potentials(both[0], 2), one);
    EXPECT_EQ(groups.potentials(both[0], 7), one);
    EXPECT_EQ(one.back(), 0); // alone
}

template <class T>
void check_order() {
    Random random(7);
    Groups<T> groups;
    groups.box = Box::periodic({100.0, 100.0, 100.0});
    add_group(groups, random, Profile::three, 3000);
    std::vector<std::int32_t> order(3000);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[random.integer(static_cast<std::int64_t>(i))]);
    }
    const std::vector<double> before = groups.potentials(both[1]);
    const std::vector<double> after = groups.potentials(both[1], 1, order);
    for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_EQ(after[i], before[order[i]]) << i;
    }
}

TEST_F(Potentials, DoNotDependOnTheOrderOfMembersThatDoNotCoincide) {
    check_order<float>();
    check_order<double>();
}

TEST_F(Potentials, DoNotDependOnPlaceAndUnits) {
    Random random(8);
    Groups<float> groups;
    for (int i = 0; i < 1000; ++i) { // on a lattice, so that all sums are exact
        groups.add_body({static_cast<double>(random.integer(1024)), static_cast<double>(random.integer(512)),
                         static_cast<double>(random.integer(2048))},
                        1 + random.uniform(0, 1));
    }
    groups.end_group();
    const Softening softening{SofteningKernel::spline, 12};
    const std::vector<double> expected = groups.potentials(softening);

    Groups<float> moved;
    moved.box = Box::periodic({8192.0, 8192.0, 8192.0});
    for (std::int64_t i = 0; i < 1000; ++i) { // over edges of a box
        moved.add_body({groups.positions[3 * i] - 100.0, groups.positions[3 * i + 1] + 8000.0,
                        groups.positions[3 * i + 2] + 3 * 8192.0 - 1024},
                       groups.masses[i]);
    }
    moved.end_group();
    EXPECT_EQ(moved.potentials(softening), expected);

    Groups<double> scaled;
    for (std::int64_t i = 0; i < 1000; ++i) {
        const auto position = [&](std::int64_t axis) { return 0x1p900 * groups.positions[3 * i + axis]; };
        scaled.add_body({position(0), position(1), position(2)}, 0x1p500 * groups.masses[i]);
    }
    scaled.end_group();
    std::vector<double> found = scaled.potentials({SofteningKernel::spline, 12 * 0x1p900});
    for (double& potential : found) {
        potential *= 0x1p400;
    }
    EXPECT_EQ(found, expected);
}

TEST_F(Potentials, OfMembersOutsideTheBoxAreThoseOfTheirImages) {
    Random random(10);
    Groups<double> groups;
    groups.box = Box::periodic({64.0, 64.0, 64.0});
    for (int i = 0; i < 400; ++i) { // on a lattice, over the corner of the box
        const auto place = [&] { return 0.125 * static_cast<double>(random.integer(64)) - 4; };
        groups.add_body({place(), place(), place()}, 1);
    }
    groups.end_group();
    const std::vector<double> expected = groups.potentials(both[0]);
    for (double& x : groups.positions) {
        x = x == 0 ? 64 : x + 64 * static_cast<double>(random.integer(2)) - (x > 32 ? 64 : 0);
    }
    EXPECT_EQ(groups.potentials(both[0]), expected);
}

TEST_F(Potentials, OfCoincidentBodies) {
    Groups<double> groups;
    for (int i = 0; i < 1000; ++i) {
        groups.add_body({1, 2, 3}, 0.5);
    }
    groups.end_group();
    for (const Softening& softening : both) {
        for (const double potential : groups.potentials(softening)) {
            EXPECT_NEAR(potential, -999 * 0.5 * 30, 1e-9);
        }
    }
}

TEST_F(Potentials, OfBodiesWithoutMass) {
    Random random(9);
    Groups<double> groups;
    add_group(groups, random, Profile::cusp, 600);
    for (std::size_t i = 0; i < 600; i += 2) {
        groups.masses[i] = 0;
    }
    // Nodes have few bodies with mass, so that their third moments come near the largest that are tolerated.
    const Errors errors = errors_of(groups.potentials(both[0]), by_pairs(groups, both[0]));
    EXPECT_LE(errors.largest, 5e-3);
    EXPECT_LE(errors.root_mean_square, 5e-4);
    std::fill(groups.masses.begin(), groups.masses.end(), 0.0);
    EXPECT_EQ(groups.potentials(both[0]), std::vector<double>(600, 0.0));
}

TEST_F(Potentials, OfPairsCloserThanAnySoftening) {
    Groups<double> groups;
    for (const double x : {0.0, 1e-9, 1.0}) {
        groups.add_body({x, 0, 0}, 1);
    }
    groups.end_group();
    for (const Softening softening : {Softening{SofteningKernel::spline, 1e-12},
                                      {SofteningKernel::plummer, 1e-12},
                                      {SofteningKernel::spline, 1e6},
                                      {SofteningKernel::plummer, 1e6}}) {
        EXPECT_LE(errors_of(groups.potentials(softening), by_pairs(groups, softening)).largest, 1e-12);
    }
}

} // namespace
} // namespace kith::test
