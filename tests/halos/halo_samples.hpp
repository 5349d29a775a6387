// Halos made by hand, with the particles around them, described on the CPU.
#pragma once

#include "halos/bound_halos.hpp"
#include "oracle/bound_halos.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/catalog_columns.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::test {

/// A universe with this density of matter.
inline Universe universe_of(double density, double omega_matter = 0.3) {
    Universe universe{.gravity = 2, .scale_factor = 0.8, .hubble = 1, .omega_matter = omega_matter};
    universe.hubble = std::sqrt(density / omega_matter / critical_density(universe));
    return universe;
}

/// Particles, of which some are in groups.
template <class T>
struct HaloSample {
    std::array<double, 3> period{}; ///< 0: open
    std::vector<T> positions;       ///< row-major
    std::vector<float> velocities;
    std::vector<double> masses;
    std::vector<std::uint8_t> types; ///< empty: all are type 1
    std::vector<std::int32_t> members;
    std::vector<std::int64_t> offset{0};
    Universe universe; ///< of the spheres; nothing flows with it while members are unbound
    HaloOptions options{.least_radius = 0};
    Softening softening{SofteningKernel::spline, 0.01};
    std::int64_t min_members = 1;
    TreeShape shape;
    detail::halos::BoundMembers bound; ///< of the last call

    void add(const std::array<double, 3>& at, double mass, double speed = 0) {
        for (const double x : at) {
            positions.push_back(static_cast<T>(x));
            velocities.push_back(static_cast<float>(speed));
        }
        masses.push_back(mass);
    }
    void add_member(const std::array<double, 3>& at, double mass, double speed = 0) {
        members.push_back(static_cast<std::int32_t>(masses.size()));
        add(at, mass, speed);
    }
    void end_group() { offset.push_back(std::ssize(members)); }

    [[nodiscard]] Box box() const { return Box::periodic({period[0], period[1], period[2]}); }
    [[nodiscard]] Halos halos(int threads = 1) {
        Particles particles;
        particles.positions = PointsView(positions, 3);
        particles.velocities = PointsView(velocities, 3);
        particles.masses = ScalarsView(masses);
        Halos found;
        detail::Context context(cpu(threads));
        detail::NormalizedPoints<T> normalized;
        context.run([&] { normalized = detail::normalize_sources<T>(particles.positions, box()); });
        const detail::PlaneTree<T> tree = detail::build_plane_tree<T>(context, normalized, shape);
        context.stage("halos", [&] {
            const detail::halos::GroupMembers groups{members, offset};
            const detail::halos::Columns columns =
                detail::halos::columns_of(particles, detail::halos::check_particle_values(particles),
                                          detail::halos::position_frame(normalized.frame));
            bound = detail::halos::bound_members(context, columns, groups, softening,
                                                 {.gravity = universe.gravity, .scale_factor = 0.8}, min_members);
            options.universe = universe;
            found.options = options;
            detail::halos::describe_halos<T>(context, {&tree, particles.positions, particles.masses, 1, types}, groups,
                                             bound, found);
        });
        return found;
    }
    [[nodiscard]] oracle::Body body(std::int64_t row) const {
        oracle::Body body{.mass = masses[row]};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            body.position[axis] = static_cast<double>(positions[3 * static_cast<std::size_t>(row) + axis]);
            body.velocity[axis] = velocities[3 * static_cast<std::size_t>(row) + axis];
        }
        return body;
    }
    [[nodiscard]] std::vector<oracle::Body> bodies(std::span<const std::int32_t> rows) const {
        std::vector<oracle::Body> all;
        for (const std::int32_t row : rows) {
            all.push_back(body(row));
        }
        return all;
    }
};

/// Halos with a cusp in a periodic box, some of them at its edges, pairs touching, with particles around them.
template <class T>
HaloSample<T> mock(std::int64_t particles, const std::vector<std::int64_t>& sizes, std::uint64_t seed) {
    Random random(seed);
    HaloSample<T> sample;
    sample.period = {50, 50, 50};
    sample.min_members = 10;
    sample.options.least_radius = 0.03;
    std::array<double, 3> center{0.1, 49.9, 25};
    double mass = 0;
    for (const std::int64_t size : sizes) {
        const double radius = 0.25 * std::cbrt(static_cast<double>(size));
        for (std::int64_t i = 0; i < size; ++i) {
            std::array<double, 3> at{random.normal(), random.normal(), random.normal()};
            const double stretch = radius * std::pow(random.uniform(0, 1), 1.5) / std::hypot(at[0], at[1], at[2]);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double x = center[axis] + stretch * at[axis];
                at[axis] = x - 50 * std::floor(x / 50);
            }
            const double speed = random.uniform(0, 1) < 0.05 ? 25 * std::cbrt(static_cast<double>(size)) : 0;
            sample.add_member(at, random.uniform(0.5, 2), i % 2 == 0 ? speed : -speed);
            mass += sample.masses.back();
        }
        sample.end_group();
        const double apart = sample.offset.size() % 2 == 0 ? 0.85 * radius : 17;
        center = {center[0] + apart, center[1] + random.uniform(0, 4), center[2] - random.uniform(0, 4)};
        for (double& x : center) {
            x -= 50 * std::floor(x / 50);
        }
    }
    while (std::ssize(sample.masses) < particles) {
        sample.add({random.uniform(0, 50), random.uniform(0, 50), random.uniform(0, 50)}, 1);
        mass += 1;
    }
    sample.universe = universe_of(mass / (50 * 50 * 50));
    return sample;
}

inline const std::vector<std::int64_t> sizes_of_mock{1500, 40, 400, 30, 150, 60, 25, 20, 15, 12, 8};

/// All columns, bit by bit.
inline void expect_same(const Halos& a, const Halos& b) {
    std::vector<std::span<const std::byte>> expected;
    for_each_field(
        b, [&](const HaloColumn&, const auto& values) { expected.push_back(std::as_bytes(std::span(values))); });
    std::size_t at = 0;
    for_each_field(a, [&](const HaloColumn& column, const auto& values) {
        EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(values)), expected[at++])) << column.field;
    });
}

} // namespace kith::test
