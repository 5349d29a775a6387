// What one body or node of a group's tree is, in arithmetic that the CPU and a GPU share.
//
// docs/semantics.md, "Bound halos": the group's frame, words, moments of nodes, and which of them count as a whole.
// Only operations that IEEE 754 rounds correctly, in an order that is written here, so that all give the same bits.
#pragma once

#include <kith/halos.hpp>

#include "points/frame.hpp"
#include "support/bits.hpp"
#include "support/host_device.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace kith::detail::halos {

inline constexpr std::int64_t potential_leaf_size = 16;
inline constexpr std::int64_t direct_sum_size = 256;
inline constexpr double node_opening = 0.7;     ///< largest radius of a node over its distance
inline constexpr double node_tolerance = 0.007; ///< largest contribution of third moments, by mass and radius

/// Virtual lanes of all sums.
inline constexpr std::int64_t potential_lanes = 16;

KITH_HOST_DEVICE inline std::int64_t whole_lanes(std::int64_t count) noexcept {
    return (count + potential_lanes - 1) / potential_lanes * potential_lanes;
}

/// Where the bodies are that fill up a block of lanes, which have no mass: no point is there.
inline constexpr double padding_position = -1;

/// The longest side of a group is below 2^this in its frame, and not below half of that.
inline constexpr int bits_of_side = 21;

/// e with 2^(e - 1) <= x < 2^e; 0 for 0.
KITH_HOST_DEVICE inline int exponent_of(double x) noexcept {
    int exponent = 0;
    (void)std::frexp(x, &exponent);
    return exponent;
}

/// From the lowest coordinate of a group on an axis, nearest image; coordinates need not be inside the box. A period of
/// 0 is none.
KITH_HOST_DEVICE inline double offset_from_lowest(double coordinate, double lowest, double period) noexcept {
    // Of images, in periods: a member that seems so much nearer to the corner from the other side lies on it.
    constexpr double rounding_of_images = 0x1p-40;
    double offset = coordinate - lowest;
    if (period > 0 && (offset < 0 || offset >= period)) { // an image, where a box edge lies between
        offset -= period * std::floor(offset / period);
    }
    const bool is_below = period > 0 && offset > period * (1 - rounding_of_images);
    return is_below ? 0.0 : std::max(offset, 0.0);
}

/// The powers of two of a group's frame, and what a potential in the frame is multiplied by.
struct FrameUnits {
    int length_exponent = 0;
    int mass_exponent = 0;
    double softening = 0; ///< in the frame
    double unit = 0;      ///< of a potential in the frame, in the caller's units; 0 if nothing has mass

    FrameUnits() = default;
    /// For a group of that longest side and largest mass; numbers times `unit_of_positions` are the caller's.
    KITH_HOST_DEVICE FrameUnits(double side, double largest_mass, double softening_length,
                                double unit_of_positions) noexcept
        : length_exponent(bits_of_side - exponent_of(side)), mass_exponent(1 - exponent_of(largest_mass)) {
        constexpr int least_softening = -300; // shorter ones, as powers of two, are this long: squares remain
        softening = std::max(std::ldexp(softening_length / unit_of_positions, length_exponent),
                             std::ldexp(1.0, least_softening));
        unit = largest_mass == 0 ? 0 : std::ldexp(1 / unit_of_positions, length_exponent - mass_exponent);
    }
};

/// Coordinates and masses, one array after the other.
struct BodyView {
    std::array<const double*, 3> position;
    const double* mass;
    std::int64_t count;
};

/// Two zeros after each of the lowest 21 bits.
KITH_HOST_DEVICE inline std::uint64_t spread_bits(std::uint64_t v) noexcept {
    v = (v | v << 32) & 0x001f00000000ffff;
    v = (v | v << 16) & 0x001f0000ff0000ff;
    v = (v | v << 8) & 0x100f00f00f00f00f;
    v = (v | v << 4) & 0x10c30c30c30c30c3;
    return (v | v << 2) & 0x1249249249249249;
}

/// The words of a group's bodies: cells above places.
struct WordLayout {
    int place_bits;
    int used_bits;
    double units;

    /// Of a group of two bodies or more.
    KITH_HOST_DEVICE explicit WordLayout(std::int64_t count) noexcept
        : place_bits(bit_width(static_cast<std::uint64_t>(count - 1))) {
        const int bits = std::min(int{bits_of_side}, (64 - place_bits) / 3);
        units = std::ldexp(1.0, bits - bits_of_side);
        used_bits = 3 * bits + place_bits;
    }
    KITH_HOST_DEVICE std::uint64_t operator()(const std::array<double, 3>& position,
                                              std::int64_t place) const noexcept {
        std::uint64_t cell = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            cell |= spread_bits(static_cast<std::uint64_t>(position[axis] * units)) << (2 - axis);
        }
        return cell << place_bits | static_cast<std::uint64_t>(place);
    }
};

/// What the walk reads: a cache line.
struct PotentialNode {
    std::array<double, 3> center; ///< of mass
    double mass;
    double nearest;       ///< square of the distance within which the node is opened, whatever its mass
    double third_moments; ///< mass^2 radius^6
    std::int32_t next;
    std::int32_t first; ///< body, in the order of the tree
    std::int32_t last;

    [[nodiscard]] KITH_HOST_DEVICE bool is_leaf(std::int32_t index) const noexcept { return next == index + 1; }
};

/// Sums of m x_i x_j about the center of mass: xx, xy, xz, yy, yz, zz.
using SecondMoments = std::array<double, 6>;

KITH_HOST_DEVICE inline void add_products(double mass, const std::array<double, 3>& d, SecondMoments& sum) noexcept {
    std::size_t at = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = i; j < 3; ++j) {
            sum[at++] += mass * d[i] * d[j];
        }
    }
}

KITH_HOST_DEVICE inline std::array<double, 3> difference(const std::array<double, 3>& a,
                                                         const std::array<double, 3>& b) noexcept {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

KITH_HOST_DEVICE inline std::array<double, 3> from_center(const PotentialNode& node, const BodyView& bodies,
                                                          std::int64_t i) noexcept {
    return difference({bodies.position[0][i], bodies.position[1][i], bodies.position[2][i]}, node.center);
}
KITH_HOST_DEVICE inline double squared_distance_from_center(const PotentialNode& node, const BodyView& bodies,
                                                            std::int64_t i) noexcept {
    const std::array<double, 3> d = from_center(node, bodies, i);
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/// Fills mass, center and moments of a leaf.
KITH_HOST_DEVICE inline void sum_bodies(const BodyView& bodies, PotentialNode& node, SecondMoments& moments) noexcept {
    double mass = 0;
    std::array<double, 3> sums{};
    for (std::int32_t i = node.first; i < node.last; ++i) {
        mass += bodies.mass[i];
        for (std::size_t axis = 0; axis < 3; ++axis) {
            sums[axis] += bodies.mass[i] * bodies.position[axis][i];
        }
    }
    node.mass = mass;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        node.center[axis] = mass > 0 ? sums[axis] / mass : bodies.position[axis][node.first];
    }
    moments = {};
    for (std::int32_t i = node.first; i < node.last; ++i) {
        add_products(bodies.mass[i], from_center(node, bodies, i), moments);
    }
}

/// Fills mass, center and moments of a node from those of its children.
KITH_HOST_DEVICE inline void sum_children(PotentialNode* nodes, SecondMoments* moments, std::int32_t index) noexcept {
    PotentialNode& node = nodes[index];
    const PotentialNode& left = nodes[index + 1];
    const PotentialNode& right = nodes[left.next];
    node.mass = left.mass + right.mass;
    const double share = node.mass > 0 ? right.mass / node.mass : 0;
    const std::array<double, 3> apart = difference(right.center, left.center);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        node.center[axis] = left.center[axis] + share * apart[axis];
    }
    SecondMoments& sum = moments[index];
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = moments[index + 1][i] + moments[left.next][i];
    }
    add_products(left.mass * share, apart, sum);
}

/// How far beyond their radius nodes are opened.
KITH_HOST_DEVICE inline double reach_of(SofteningKernel kernel, double softening) noexcept {
    return kernel == SofteningKernel::spline ? 2.8 * softening : 0;
}

/// Fills what decides whether the node counts as a whole.
KITH_HOST_DEVICE inline void fill_limits(PotentialNode& node, double squared_radius, double reach) noexcept {
    const double opened = squared_radius / (node_opening * node_opening);
    const double softened = std::sqrt(squared_radius) + reach;
    node.nearest = std::max(opened, softened * softened);
    node.third_moments = node.mass * node.mass * squared_radius * squared_radius * squared_radius;
}

/// Of a group, the mean square distance from its center of mass.
KITH_HOST_DEVICE inline double squared_size_of(const PotentialNode& root, const SecondMoments& moments) noexcept {
    return root.mass > 0 ? (moments[0] + moments[3] + moments[5]) / root.mass : 0;
}

/// Receivers of a leaf as a box, and which nodes count as a whole for it.
struct LeafBox {
    std::array<double, 3> lower;
    std::array<double, 3> upper;

    /// From the nearest point of the box.
    [[nodiscard]] KITH_HOST_DEVICE double squared_distance(const std::array<double, 3>& to) const noexcept {
        double sum = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double d = std::max(std::max(lower[axis] - to[axis], to[axis] - upper[axis]), 0.0);
            sum += d * d;
        }
        return sum;
    }
    [[nodiscard]] KITH_HOST_DEVICE double squared_distance_of_middle(const std::array<double, 3>& to) const noexcept {
        double sum = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double d = (lower[axis] + upper[axis]) / 2 - to[axis];
            sum += d * d;
        }
        return sum;
    }
    /// The group's mass over its distance, times the tolerance, squared: what (mass/d) (radius/d)^3 is compared with.
    [[nodiscard]] KITH_HOST_DEVICE double limit(const PotentialNode& root, double squared_size) const noexcept {
        return node_tolerance * node_tolerance * root.mass * root.mass /
               (squared_distance_of_middle(root.center) + squared_size);
    }
    [[nodiscard]] KITH_HOST_DEVICE bool takes_whole(const PotentialNode& node, double limit) const noexcept {
        const double square = squared_distance(node.center);
        const double fourth = square * square;
        return square > node.nearest && node.third_moments <= limit * fourth * fourth;
    }
};

/// What a node adds to a potential besides its mass: factors of x^2, xy, xz, y^2, yz, z^2, and of 1.
KITH_HOST_DEVICE inline std::array<double, 7> quadratic_form(const SecondMoments& m) noexcept {
    return {1.5 * m[0], 3 * m[1], 3 * m[2], 1.5 * m[3], 3 * m[4], 1.5 * m[5], -0.5 * (m[0] + m[3] + m[5])};
}

} // namespace kith::detail::halos
