// See halo_properties.hpp.
#include "oracle/halo_properties.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

namespace kith::oracle {

namespace {

using Vector = std::array<double, 3>;
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

double square(double x) {
    return x * x;
}

Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Eigenvalues and vectors of a symmetric matrix, by plane rotations of its largest element (Jacobi 1846).
struct Eigen {
    std::array<double, 3> values;
    std::array<Vector, 3> vectors;
};
Eigen eigen(std::array<Vector, 3> matrix) {
    std::array<Vector, 3> vectors{Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}};
    for (int step = 0; step < 100; ++step) {
        std::size_t p = 0;
        std::size_t q = 1;
        for (const auto& [i, j] : {std::pair<std::size_t, std::size_t>{0, 2}, {1, 2}}) {
            if (std::abs(matrix[i][j]) > std::abs(matrix[p][q])) {
                p = i;
                q = j;
            }
        }
        const double angle = std::atan2(2 * matrix[p][q], matrix[q][q] - matrix[p][p]) / 2;
        const double cosine = std::cos(angle);
        const double sine = std::sin(angle);
        const auto turn = [&](double& a, double& b) {
            const double old = a;
            a = cosine * a - sine * b;
            b = sine * old + cosine * b;
        };
        for (Vector& row : matrix) {
            turn(row[p], row[q]);
        }
        for (std::size_t i = 0; i < 3; ++i) {
            turn(matrix[p][i], matrix[q][i]);
            turn(vectors[p][i], vectors[q][i]);
        }
    }
    return {{matrix[0][0], matrix[1][1], matrix[2][2]}, vectors};
}

/// The root of a function that increases through it between 1 and 1000.
double root(const std::function<double(double)>& increasing) {
    double low = 1;
    double high = 1000;
    if (increasing(low) > 0 || increasing(high) < 0) {
        return undefined;
    }
    for (double middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
        (increasing(middle) > 0 ? high : low) = middle;
    }
    return high;
}

/// Of the profile by Navarro, Frenk and White, within so many scale radii.
double mass_within(double c) {
    return std::log(1 + c) - c / (1 + c);
}

} // namespace

Motion motion(const std::vector<Body>& bodies, const Kernel& kernel, const Universe& universe) {
    Motion found;
    Vector center{};
    double mass = 0;
    for (const Body& body : bodies) {
        mass += body.mass;
    }
    const auto weight = [&](const Body& body) {
        return mass > 0 ? body.mass / mass : 1 / static_cast<double>(bodies.size());
    };
    for (const Body& body : bodies) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            center[axis] += weight(body) * body.position[axis];
            found.velocity[axis] += weight(body) * body.velocity[axis];
        }
    }
    const std::vector<double> depths = potentials(bodies, kernel);
    double squares = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        Vector x{};
        Vector v{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double offset = bodies[i].position[axis] - center[axis];
            x[axis] = universe.scale_factor * offset;
            v[axis] = bodies[i].velocity[axis] - found.velocity[axis] + universe.hubble * x[axis];
            squares += weight(bodies[i]) * square(v[axis]);
        }
        const Vector turn = cross(x, v);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            found.spin[axis] += weight(bodies[i]) * turn[axis];
        }
        found.energy += weight(bodies[i]) * universe.gravity / universe.scale_factor * depths[i] / 2;
    }
    found.dispersion = std::sqrt(squares / 3);
    found.energy += squares / 2;
    return found;
}

double bullock_parameter(double spin, double mass, const Universe& universe) {
    const double density = universe.omega_matter > 0 ? virial_density(universe) : 0;
    if (!(mass > 0 && density > 0)) {
        return undefined;
    }
    const double radius = universe.scale_factor * std::cbrt(mass / (4 * std::numbers::pi / 3 * density));
    return spin / (std::sqrt(2.0) * radius * std::sqrt(universe.gravity * mass / radius));
}

double peebles_parameter(double spin, double energy, double mass, const Universe& universe) {
    return mass > 0 ? mass * spin * std::sqrt(std::abs(mass * energy)) / (universe.gravity * std::pow(mass, 2.5))
                    : undefined;
}

Shape shape(const std::vector<std::array<double, 3>>& offsets, const std::vector<double>& masses, double radius) {
    std::array<Vector, 3> axes{Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}};
    double b_to_a = 1;
    double c_to_a = 1;
    for (int iteration = 0; iteration < 20; ++iteration) {
        const double longest = radius / std::cbrt(b_to_a * c_to_a);
        std::array<Vector, 3> tensor{};
        int inside = 0;
        double mass = 0;
        for (std::size_t k = 0; k < offsets.size(); ++k) {
            const Vector& x = offsets[k];
            const auto along = [&](std::size_t axis) {
                return std::inner_product(x.begin(), x.end(), axes[axis].begin(), 0.0);
            };
            const double r2 = square(along(0)) + square(along(1) / b_to_a) + square(along(2) / c_to_a);
            if (r2 == 0 || r2 > square(longest)) {
                continue;
            }
            ++inside;
            mass += masses[k];
            for (std::size_t i = 0; i < 3; ++i) {
                for (std::size_t j = 0; j < 3; ++j) {
                    tensor[i][j] += masses[k] * x[i] * x[j] / r2;
                }
            }
        }
        if (inside < 20 || mass == 0) {
            return {undefined, undefined, {undefined, undefined, undefined}};
        }
        const Eigen found = eigen(tensor);
        std::array<std::size_t, 3> order{0, 1, 2};
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return found.values[a] > found.values[b]; });
        for (std::size_t i = 0; i < 3; ++i) {
            axes[i] = found.vectors[order[i]];
        }
        const auto ratio = [&](std::size_t i) {
            return std::sqrt(std::max(found.values[order[i]], 0.0) / found.values[order[0]]);
        };
        const bool is_settled =
            std::abs(ratio(1) - b_to_a) <= 0.01 * b_to_a && std::abs(ratio(2) - c_to_a) <= 0.01 * c_to_a;
        b_to_a = ratio(1);
        c_to_a = ratio(2);
        if (is_settled || c_to_a < 1e-6) {
            break;
        }
    }
    Vector& major = axes[0];
    const double leading =
        *std::max_element(major.begin(), major.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (double& component : major) {
        component *= leading < 0 ? -1 : 1;
    }
    return {b_to_a, c_to_a, major};
}

double mean_radius(const Shells& shells, const Sphere& sphere) {
    // Mass is spread evenly between two distances, so that half of it lies beyond their middle.
    std::vector<std::size_t> order(shells.radii.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return shells.radii[a] < shells.radii[b]; });
    double inner = 0;
    double mass = 0;
    double moment = 0;
    for (const std::size_t i : order) {
        if (shells.radii[i] >= sphere.radius) {
            break;
        }
        inner = shells.radii[i];
        mass += shells.masses[i];
        moment += shells.masses[i] * inner;
    }
    const bool is_alone = order.empty() || shells.radii[order.back()] < sphere.radius; // nothing lies beyond
    const double between = is_alone ? 0 : sphere.mass - mass;
    return (moment + between * (inner + sphere.radius) / 2) / sphere.mass / sphere.radius;
}

double concentration_of_mean_radius(double ratio) {
    return root([&](double c) { return ratio - (c - 2 * std::log(1 + c) + c / (1 + c)) / (c * mass_within(c)); });
}

double concentration_of_peak(double ratio) {
    constexpr double of_peak = 2.1625815870646099; // the scale radii within which the velocity is largest
    const double target = ratio * of_peak / mass_within(of_peak);
    return root([&](double c) { return (c < of_peak ? of_peak / mass_within(of_peak) : c / mass_within(c)) - target; });
}

} // namespace kith::oracle
