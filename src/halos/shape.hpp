// The shape of a halo: axis ratios of the ellipsoid that its members fill, and the direction of the longest axis.
//
// The tensor sum m x_i x_j / r^2, r the distance in the ellipsoid itself, is taken of the members in an ellipsoid whose
// volume stays that of a ball; its eigenvalues are the next ellipsoid's squared axes. Sources: Allgood et al. (2006),
// MNRAS 367, 1781, equation 1, for the reduced tensor; SOAP, for the volume that is held and the members that are
// needed. Sums are in the order of the members, in float64. Cost: some five passes over the members, at most 20.
//
// The CPU and the GPU share this text: only operations that IEEE 754 rounds correctly.
#pragma once

#include "groups/resolve_length.hpp"
#include "support/host_device.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail::halos {

struct Shape {
    double b_to_a = std::numeric_limits<double>::quiet_NaN(); ///< NaN: too few members
    double c_to_a = std::numeric_limits<double>::quiet_NaN();
    std::array<double, 3> major_axis{b_to_a, b_to_a, b_to_a}; ///< its component of largest absolute value is above 0
};

/// A symmetric matrix and its rotations.
struct Matrix {
    double at[3][3];

    KITH_HOST_DEVICE static Matrix identity() noexcept { return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
};

/// Eigenvalues and eigenvectors (rows), by decreasing eigenvalue.
struct Eigensystem {
    double values[3];
    Matrix vectors;

    /// Of a symmetric matrix, by Jacobi's rotations (Golub, Van Loan, Matrix Computations, section 8.5).
    KITH_HOST_DEVICE explicit Eigensystem(Matrix a) noexcept : values{} {
        constexpr int sweeps = 30; // some six are enough
        Matrix v = Matrix::identity();
        bool is_diagonal = false;
        for (int sweep = 0; sweep < sweeps && !is_diagonal; ++sweep) {
            is_diagonal = true;
            for (int p = 0; p < 2; ++p) {
                for (int q = p + 1; q < 3; ++q) {
                    is_diagonal = !rotate(a, v, p, q) && is_diagonal;
                }
            }
        }
        int order[3] = {0, 1, 2};
        const auto swap_if_less = [&](int i) {
            if (a.at[order[i]][order[i]] < a.at[order[i + 1]][order[i + 1]]) {
                const int first = order[i];
                order[i] = order[i + 1];
                order[i + 1] = first;
            }
        };
        swap_if_less(0);
        swap_if_less(1);
        swap_if_less(0);
        for (int i = 0; i < 3; ++i) {
            values[i] = std::max(a.at[order[i]][order[i]], 0.0);
            for (int axis = 0; axis < 3; ++axis) {
                vectors.at[i][axis] = v.at[order[i]][axis];
            }
        }
    }

private:
    /// Whether there was anything to rotate away.
    KITH_HOST_DEVICE static bool rotate(Matrix& a, Matrix& v, int p, int q) noexcept {
        const double off = a.at[p][q];
        if (std::abs(off) <= std::numeric_limits<double>::epsilon() * std::sqrt(std::abs(a.at[p][p])) *
                                 std::sqrt(std::abs(a.at[q][q]))) {
            return false;
        }
        const double tau = (a.at[q][q] - a.at[p][p]) / (2 * off);
        const double tangent = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent);
        const double sine = tangent * cosine;
        const auto turn = [&](double& of_p, double& of_q) {
            const double old = of_p;
            of_p = cosine * old - sine * of_q;
            of_q = sine * old + cosine * of_q;
        };
        for (auto& row : a.at) {
            turn(row[p], row[q]);
        }
        for (int i = 0; i < 3; ++i) {
            turn(a.at[p][i], a.at[q][i]);
            turn(v.at[p][i], v.at[q][i]);
        }
        return true;
    }
};

/// What a member adds to the sums: its mass times x_i x_j/r^2, (xx, xy, xz, yy, yz, zz), and its mass.
inline constexpr int shape_terms = 7;

/// The search for one halo's ellipsoid: sums are asked for, again and again, of the members in an ellipsoid.
class ShapeSearch {
public:
    /// In an ellipsoid with the volume of a ball of that radius.
    KITH_HOST_DEVICE explicit ShapeSearch(double radius) noexcept : radius_(radius) { aim(); }

    [[nodiscard]] KITH_HOST_DEVICE bool is_done() const noexcept { return iterations_ == most_iterations; }
    /// Writes the terms of a member at an offset from the center. False if it is not in the ellipsoid: it adds nothing.
    KITH_HOST_DEVICE bool find_terms(double x, double y, double z, double mass,
                                     double (&terms)[shape_terms]) const noexcept {
        double square = 0;
        for (const auto& axis : scaled_.at) {
            const double along = x * axis[0] + y * axis[1] + z * axis[2];
            square += along * along;
        }
        if (!(square > 0 && square <= squared_major_)) {
            return false;
        }
        const double weight = mass / square;
        terms[0] = weight * x * x;
        terms[1] = weight * x * y;
        terms[2] = weight * x * z;
        terms[3] = weight * y * y;
        terms[4] = weight * y * z;
        terms[5] = weight * z * z;
        terms[6] = mass;
        return true;
    }
    /// Takes the sums over `inside` members.
    KITH_HOST_DEVICE void step(std::int64_t inside, const double (&sums)[shape_terms]) noexcept {
        ++iterations_;
        if (!(inside >= least_members && sums[6] > 0)) {
            is_defined_ = false;
            iterations_ = most_iterations;
            return;
        }
        const Eigensystem found(
            {{{sums[0], sums[1], sums[2]}, {sums[1], sums[3], sums[4]}, {sums[2], sums[4], sums[5]}}});
        const double b_to_a = std::sqrt(found.values[1] / found.values[0]);
        const double c_to_a = std::sqrt(found.values[2] / found.values[0]);
        const bool is_settled =
            std::abs(b_to_a - b_to_a_) <= settled * b_to_a_ && std::abs(c_to_a - c_to_a_) <= settled * c_to_a_;
        axes_ = found.vectors;
        b_to_a_ = b_to_a;
        c_to_a_ = c_to_a;
        if (is_settled || c_to_a < flat) {
            iterations_ = most_iterations;
        }
        aim();
    }
    /// Once it is done.
    [[nodiscard]] KITH_HOST_DEVICE Shape shape() const noexcept {
        Shape shape;
        if (is_defined_) {
            shape.b_to_a = b_to_a_;
            shape.c_to_a = c_to_a_;
            double leading = 0; // of two opposite directions, the one with this component above 0
            for (const double component : axes_.at[0]) {
                leading = std::abs(component) > std::abs(leading) ? component : leading;
            }
            for (int axis = 0; axis < 3; ++axis) {
                shape.major_axis[axis] = leading < 0 ? -axes_.at[0][axis] : axes_.at[0][axis];
            }
        }
        return shape;
    }

private:
    static constexpr int most_iterations = 20;
    static constexpr double settled = 0.01; ///< relative change of an axis ratio
    static constexpr double flat = 1e-6;    ///< an axis ratio below which there is no ellipsoid to go on with
    static constexpr int least_members = 20;

    /// At the ellipsoid whose axis ratios are known, in which members are looked for next.
    KITH_HOST_DEVICE void aim() noexcept {
        const double major = radius_ / root_of(b_to_a_ * c_to_a_, 3);
        squared_major_ = major * major;
        scaled_ = axes_; // so that the ellipsoid becomes a ball
        for (int axis = 0; axis < 3; ++axis) {
            scaled_.at[1][axis] /= b_to_a_;
            scaled_.at[2][axis] /= c_to_a_;
        }
    }

    double radius_;
    double squared_major_ = 0;
    Matrix axes_ = Matrix::identity();
    Matrix scaled_{};
    double b_to_a_ = 1;
    double c_to_a_ = 1;
    int iterations_ = 0;
    bool is_defined_ = true;
};

/// Of the first masses.size() offsets from the center, in an ellipsoid with the volume of a ball of that radius.
[[nodiscard]] Shape shape_of(const std::array<std::vector<double>, 3>& offsets, std::span<const double> masses,
                             double radius);

} // namespace kith::detail::halos
