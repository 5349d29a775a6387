#include "halos/shape.hpp"

#include "groups/resolve_length.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace kith::detail::halos {

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

constexpr int most_iterations = 20;
constexpr double settled = 0.01; ///< relative change of an axis ratio
constexpr double flat = 1e-6;    ///< an axis ratio below which there is no ellipsoid to go on with
constexpr int least_members = 20;

/// Eigenvalues and eigenvectors (rows), by decreasing eigenvalue.
struct Eigensystem {
    Vector values;
    Matrix vectors;
};

/// Of a symmetric matrix, by Jacobi's rotations (Golub, Van Loan, Matrix Computations, section 8.5).
Eigensystem eigensystem(Matrix a) {
    constexpr int sweeps = 30; // some six are enough
    Matrix v{Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}};
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        bool is_diagonal = true;
        for (const auto& [p, q] : {std::pair<std::size_t, std::size_t>{0, 1}, {0, 2}, {1, 2}}) {
            const double off = a[p][q];
            if (std::abs(off) <=
                std::numeric_limits<double>::epsilon() * std::sqrt(std::abs(a[p][p])) * std::sqrt(std::abs(a[q][q]))) {
                continue;
            }
            is_diagonal = false;
            const double tau = (a[q][q] - a[p][p]) / (2 * off);
            const double tangent = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
            const double cosine = 1 / std::sqrt(1 + tangent * tangent);
            const double sine = tangent * cosine;
            const auto turn = [&](double& of_p, double& of_q) {
                const double old = of_p;
                of_p = cosine * old - sine * of_q;
                of_q = sine * old + cosine * of_q;
            };
            for (Vector& row : a) {
                turn(row[p], row[q]);
            }
            for (std::size_t i = 0; i < 3; ++i) {
                turn(a[p][i], a[q][i]);
                turn(v[p][i], v[q][i]);
            }
        }
        if (is_diagonal) {
            break;
        }
    }
    std::array<std::size_t, 3> order{0, 1, 2};
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return a[i][i] > a[j][j]; });
    Eigensystem sorted{};
    for (std::size_t i = 0; i < 3; ++i) {
        sorted.values[i] = std::max(a[order[i]][order[i]], 0.0);
        sorted.vectors[i] = v[order[i]];
    }
    return sorted;
}

struct Ellipsoid {
    Matrix axes{Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}};
    double b_to_a = 1;
    double c_to_a = 1;
};

/// The tensor of the members inside; false if they are too few.
bool reduced_tensor(const std::array<std::vector<double>, 3>& offsets, std::span<const double> masses, double radius,
                    const Ellipsoid& ellipsoid, Matrix& tensor) {
    const double major = radius / root_of(ellipsoid.b_to_a * ellipsoid.c_to_a, 3);
    const double squared_major = major * major;
    Matrix scaled = ellipsoid.axes; // so that the ellipsoid becomes a ball
    for (std::size_t i = 0; i < 3; ++i) {
        scaled[1][i] /= ellipsoid.b_to_a;
        scaled[2][i] /= ellipsoid.c_to_a;
    }
    int inside = 0;
    double mass = 0;
    double xx = 0;
    double xy = 0;
    double xz = 0;
    double yy = 0;
    double yz = 0;
    double zz = 0;
    for (std::size_t k = 0; k < masses.size(); ++k) {
        const double x = offsets[0][k];
        const double y = offsets[1][k];
        const double z = offsets[2][k];
        double square = 0;
        for (const Vector& axis : scaled) {
            const double along = x * axis[0] + y * axis[1] + z * axis[2];
            square += along * along;
        }
        if (!(square > 0 && square <= squared_major)) {
            continue;
        }
        const double weight = masses[k] / square;
        ++inside;
        mass += masses[k];
        xx += weight * x * x;
        xy += weight * x * y;
        xz += weight * x * z;
        yy += weight * y * y;
        yz += weight * y * z;
        zz += weight * z * z;
    }
    tensor = {Vector{xx, xy, xz}, Vector{xy, yy, yz}, Vector{xz, yz, zz}};
    return inside >= least_members && mass > 0;
}

/// One of the two opposite directions of an axis.
Vector with_sign(Vector axis) {
    const double leading =
        *std::max_element(axis.begin(), axis.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (double& component : axis) {
        component = leading < 0 ? -component : component;
    }
    return axis;
}

} // namespace

Shape shape_of(const std::array<std::vector<double>, 3>& offsets, std::span<const double> masses, double radius) {
    Ellipsoid ellipsoid;
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
        Matrix tensor{};
        if (!reduced_tensor(offsets, masses, radius, ellipsoid, tensor)) {
            return {};
        }
        const Eigensystem found = eigensystem(tensor);
        const double b_to_a = std::sqrt(found.values[1] / found.values[0]);
        const double c_to_a = std::sqrt(found.values[2] / found.values[0]);
        const bool is_settled = std::abs(b_to_a - ellipsoid.b_to_a) <= settled * ellipsoid.b_to_a &&
                                std::abs(c_to_a - ellipsoid.c_to_a) <= settled * ellipsoid.c_to_a;
        ellipsoid = {found.vectors, b_to_a, c_to_a};
        if (is_settled || c_to_a < flat) {
            break;
        }
    }
    return {ellipsoid.b_to_a, ellipsoid.c_to_a, with_sign(ellipsoid.axes[0])};
}

} // namespace kith::detail::halos
