// See bound_halos.hpp.
#include "oracle/bound_halos.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kith::oracle {

namespace {

double square(double x) {
    return x * x;
}

double distance(const Body& a, const Body& b) {
    double sum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        sum += square(a.position[axis] - b.position[axis]);
    }
    return std::sqrt(sum);
}

/// The mean of a vector of bodies, by mass; those without any count alike.
template <class Of>
std::array<double, 3> mean(const std::vector<Body>& bodies, const Of& of) {
    const bool have_mass = std::any_of(bodies.begin(), bodies.end(), [](const Body& body) { return body.mass > 0; });
    std::array<double, 3> sum{};
    double sum_of_weights = 0;
    for (const Body& body : bodies) {
        const double weight = have_mass ? body.mass : 1;
        sum_of_weights += weight;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            sum[axis] += weight * of(body)[axis];
        }
    }
    for (double& component : sum) {
        component /= sum_of_weights;
    }
    return sum;
}

/// All mass within a radius, for every radius that has any: ascending.
struct Enclosed {
    double radius = 0;
    double mass = 0;
};
std::vector<Enclosed> enclosed(const Shells& shells) {
    std::vector<std::size_t> order(shells.radii.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return shells.radii[a] < shells.radii[b]; });
    std::vector<Enclosed> all{{0, 0}}; // mass at the center has no other radius
    for (const std::size_t i : order) {
        if (shells.radii[i] > all.back().radius) {
            all.push_back({shells.radii[i], all.back().mass});
        }
        all.back().mass += shells.masses[i];
    }
    return all;
}

double sphere_mass(double radius, double density) {
    return 4 * std::numbers::pi / 3 * density * radius * radius * radius;
}

Sphere ball_of(double mass, double density) {
    return {std::cbrt(mass / sphere_mass(1, density)), mass};
}

/// Whether the sphere up to an entry is less dense than that.
bool is_below(const Enclosed& entry, double density) {
    return entry.mass < sphere_mass(entry.radius, density);
}

/// Between two radii of which only the outer one is below: by halving, mass grows linearly.
Sphere crossing(const Enclosed& inner, const Enclosed& outer, double density) {
    if (outer.mass == 0) {
        return {}; // the root is 0
    }
    double low = inner.radius;
    double high = outer.radius;
    const double slope = (outer.mass - inner.mass) / (outer.radius - inner.radius);
    for (double middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
        (sphere_mass(middle, density) > inner.mass + slope * (middle - inner.radius) ? high : low) = middle;
    }
    return {high, sphere_mass(high, density)};
}

} // namespace

double critical_density(const Universe& universe) {
    return 3 * square(universe.hubble) / (8 * std::numbers::pi * universe.gravity) * std::pow(universe.scale_factor, 3);
}

double mean_density(const Universe& universe) {
    return universe.omega_matter * critical_density(universe);
}

double virial_density(const Universe& universe) {
    const double x = universe.omega_matter - 1;
    return (18 * square(std::numbers::pi) + 82 * x - 39 * x * x) * critical_density(universe);
}

Shells shells_about(const std::array<double, 3>& center, const std::vector<Body>& bodies,
                    const std::array<double, 3>& period) {
    Shells shells;
    for (const Body& body : bodies) {
        double sum = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double offset = body.position[axis] - center[axis];
            sum += square(period[axis] > 0 ? std::remainder(offset, period[axis]) : offset);
        }
        shells.radii.push_back(std::sqrt(sum));
        shells.masses.push_back(body.mass);
    }
    return shells;
}

double spline_kernel(double r, double softening) {
    const double h = 2.8 * softening;
    const double u = r / h;
    if (u >= 1) {
        return 1 / r;
    }
    if (u >= 0.5) {
        return (16.0 / 5 - 1 / (15 * u) - 32.0 / 3 * u * u + 16 * u * u * u - 48.0 / 5 * u * u * u * u +
                32.0 / 15 * u * u * u * u * u) /
               h;
    }
    return (14.0 / 5 - 16.0 / 3 * u * u + 48.0 / 5 * u * u * u * u - 32.0 / 5 * u * u * u * u * u) / h;
}

double plummer_kernel(double r, double softening) {
    return 1 / std::sqrt(r * r + softening * softening);
}

std::vector<double> potentials(const std::vector<Body>& bodies, const Kernel& kernel) {
    std::vector<double> found(bodies.size(), 0.0);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        for (std::size_t j = 0; j < bodies.size(); ++j) {
            if (j != i) {
                found[i] -= bodies[j].mass * kernel(distance(bodies[i], bodies[j]));
            }
        }
    }
    return found;
}

std::vector<double> binding_energies(const std::vector<Body>& bodies, const Kernel& kernel, const Universe& universe) {
    const std::array<double, 3> center = mean(bodies, [](const Body& body) { return body.position; });
    const std::array<double, 3> velocity = mean(bodies, [](const Body& body) { return body.velocity; });
    std::vector<double> found = potentials(bodies, kernel);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        double squared_speed = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            squared_speed +=
                square(bodies[i].velocity[axis] - velocity[axis] +
                       universe.hubble * universe.scale_factor * (bodies[i].position[axis] - center[axis]));
        }
        found[i] = universe.gravity / universe.scale_factor * found[i] + squared_speed / 2 + bodies[i].internal_energy;
    }
    return found;
}

BoundMembers unbind(const std::vector<Body>& bodies, const Kernel& kernel, const Universe& universe,
                    std::int64_t min_members) {
    BoundMembers left;
    left.members.resize(bodies.size());
    std::iota(left.members.begin(), left.members.end(), std::int64_t{0});
    for (;;) {
        if (static_cast<std::int64_t>(left.members.size()) < min_members) {
            return {};
        }
        std::sort(left.members.begin(), left.members.end());
        std::vector<Body> kept;
        for (const std::int64_t i : left.members) {
            kept.push_back(bodies[static_cast<std::size_t>(i)]);
        }
        const std::vector<double> energy = binding_energies(kept, kernel, universe);
        std::vector<std::size_t> order(kept.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return energy[a] < energy[b]; });
        BoundMembers sorted;
        for (const std::size_t i : order) {
            sorted.members.push_back(left.members[i]);
            sorted.energies.push_back(energy[i]);
        }
        // The least bound go first; of equal energies the lowest index.
        std::vector<std::size_t> unbound;
        for (const std::size_t i : order) {
            if (energy[i] > 0) {
                unbound.push_back(i);
            }
        }
        if (unbound.empty()) {
            const std::vector<double> potential = potentials(kept, kernel);
            std::size_t deepest = 0;
            for (std::size_t i = 1; i < kept.size(); ++i) {
                deepest = potential[i] < potential[deepest] ? i : deepest;
            }
            sorted.deepest = kept.empty() ? -1 : left.members[deepest];
            return sorted;
        }
        std::stable_sort(unbound.begin(), unbound.end(), [&](std::size_t a, std::size_t b) {
            return energy[a] != energy[b] ? energy[a] > energy[b] : a < b;
        });
        unbound.resize(std::min(unbound.size(), std::max<std::size_t>(5, kept.size() / 50)));
        std::sort(unbound.begin(), unbound.end());
        std::vector<std::int64_t> members;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (!std::binary_search(unbound.begin(), unbound.end(), i)) {
                members.push_back(left.members[i]);
            }
        }
        left.members = members;
    }
}

Sphere first_overdensity(const Shells& shells, double density, bool alone) {
    const std::vector<Enclosed> all = enclosed(shells);
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (is_below(all[i], density)) {
            return crossing(all[i - 1], all[i], density);
        }
    }
    return alone ? ball_of(all.back().mass, density) : Sphere{};
}

Sphere outermost_overdensity(const Shells& shells, double density, bool alone) {
    const std::vector<Enclosed> all = enclosed(shells);
    std::size_t i = all.size() - 1;
    if (!is_below(all[i], density)) {
        return alone ? ball_of(all[i].mass, density) : Sphere{};
    }
    while (is_below(all[i - 1], density)) {
        --i;
    }
    return crossing(all[i - 1], all[i], density);
}

VelocityPeak largest_circular_velocity(const Shells& shells, double least_radius, double density, double farthest) {
    std::vector<Enclosed> all = enclosed(shells);
    const auto crossed =
        std::find_if(all.begin(), all.end(), [&](const Enclosed& entry) { return is_below(entry, density); });
    const auto beyond =
        std::find_if(all.begin(), all.end(), [&](const Enclosed& entry) { return entry.radius > farthest; });
    all.erase(crossed != all.end() ? crossed : beyond, all.end());
    VelocityPeak peak;
    for (const Enclosed& entry : all) {
        const double radius = std::max(entry.radius, least_radius);
        if (radius > 0 && entry.mass / radius > peak.squared_velocity) {
            peak = {radius, entry.mass / radius};
        }
    }
    return peak;
}

double half_mass_radius(const Shells& shells) {
    const std::vector<Enclosed> all = enclosed(shells);
    const double half = all.back().mass / 2;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].mass >= half) {
            const double slope = i == 0 ? 0 : (all[i].radius - all[i - 1].radius) / (all[i].mass - all[i - 1].mass);
            return i == 0 ? 0 : all[i - 1].radius + slope * (half - all[i - 1].mass);
        }
    }
    return 0;
}

} // namespace kith::oracle
