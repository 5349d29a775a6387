#include "halos/motion.hpp"

#include "groups/resolve_length.hpp"

#include <cmath>
#include <limits>

namespace kith::detail::halos {

namespace {

using Vector = std::array<double, 3>;
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

double length(const Vector& v) {
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

} // namespace

Motion motion_of(const MovingMembers& members, std::span<const std::int32_t> places, std::span<const double> potentials,
                 const Universe& universe) {
    double mass = 0;
    for (const std::int32_t i : places) {
        mass += members.masses[i];
    }
    const double weight = mass > 0 ? mass : static_cast<double>(places.size());
    const auto weight_of = [&](std::int32_t i) { return mass > 0 ? members.masses[i] : 1; };
    const auto mean = [&](const Vectors& vectors) {
        Vector sum{};
        for (const std::int32_t i : places) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                sum[axis] += weight_of(i) * vectors[axis][i];
            }
        }
        for (double& component : sum) {
            component /= weight;
        }
        return sum;
    };

    const Vector velocity = mean(members.velocities);
    const Vector center = mean(members.offsets);
    MotionSums sums;
    for (std::size_t at = 0; at < places.size(); ++at) {
        const std::int32_t i = places[at];
        Vector x{};
        Vector u{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            x[axis] = members.offsets[axis][i] - center[axis];
            u[axis] = members.velocities[axis][i] - velocity[axis];
        }
        const MotionSums terms = motion_of_member(weight_of(i), x, u, potentials[at], universe);
        sums.squared_speeds += terms.squared_speeds;
        sums.depths += terms.depths;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            sums.spin[axis] += terms.spin[axis];
        }
    }
    return motion_from(velocity, sums, weight, universe);
}

double bullock_parameter(const Motion& motion, double mass, const Universe& universe) {
    const double ball = 4 * std::numbers::pi / 3 * density_of(overdensities::virial, universe);
    if (!(mass > 0 && ball > 0)) {
        return undefined;
    }
    const double radius = universe.scale_factor * root_of(mass / ball, 3);
    return length(motion.spin) / std::sqrt(2 * universe.gravity * mass * radius);
}

double peebles_parameter(const Motion& motion, double mass, const Universe& universe) {
    return mass > 0 ? length(motion.spin) * std::sqrt(std::abs(motion.energy)) / (universe.gravity * mass) : undefined;
}

} // namespace kith::detail::halos
