// Beyond which radius no sphere about a center can have a given density.
//
// The mass within R is at most that of all nodes that R meets, M. No sphere larger than R is known to be dense enough,
// so one that is has at most the radius of a ball of mass M: R shrinks to that, again and again, until it hardly does.
// Nodes smaller than R count whole, so a step reads the top plane and opens few nodes.
#pragma once

#include "halos/sphere_search.hpp"
#include "support/context.hpp"
#include "support/host_device.hpp"
#include "tree/node_attributes.hpp"
#include "tree/view.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::detail::halos {

inline constexpr double size_of_whole = 0.2; ///< sides of nodes that count whole, in radii

/// A radius that shrinks to that of the ball which all mass within it would make.
class LargestRadius {
public:
    static constexpr double above_rounding = 1 + 1e-9;

    KITH_HOST_DEVICE explicit LargestRadius(double ball_mass) noexcept : ball_mass_(ball_mass) {}

    [[nodiscard]] KITH_HOST_DEVICE double value() const noexcept { return radius_; }
    /// Takes an upper limit of the mass within the radius. Returns whether another step is worth it.
    KITH_HOST_DEVICE bool shrink(double most_within) noexcept {
        constexpr double hardly = 0.95;
        const double next = ball_radius(above_rounding * most_within, ball_mass_);
        const bool shrinks = next < hardly * radius_;
        radius_ = std::min(next, radius_);
        return shrinks;
    }

private:
    double ball_mass_;
    double radius_ = std::numeric_limits<double>::infinity();
};

template <class T>
class MassBound {
public:
    /// `mass_of` a place in the order of the tree. The tree is not empty.
    template <class MassOf>
    MassBound(Context& context, const TreeView<T>& tree, const MassOf& mass_of)
        : tree_(tree), masses_(node_attributes<double>(context, tree, mass_of, std::plus<>())) {}

    /// In working units; a ball of the density has `ball_mass` times its radius cubed.
    [[nodiscard]] double largest_radius(const std::array<double, 3>& center, double ball_mass) const {
        LargestRadius radius(ball_mass);
        while (radius.shrink(most_within(center, radius.value()))) {
        }
        return radius.value();
    }
    /// An upper limit of the mass within a radius, but for rounding.
    [[nodiscard]] double most_within(const std::array<double, 3>& center, double radius) const {
        return sum(tree_.top, 0, tree_.planes[tree_.top].nodes, center, radius);
    }

private:
    [[nodiscard]] double sum(int level, std::int32_t first, std::int32_t last, const std::array<double, 3>& center,
                             double radius) const {
        const PlaneView<T>& plane = tree_.planes[level];
        double mass = 0;
        for (std::int32_t node = first; node < last; ++node) {
            double square = 0; // of the distance to the node's box
            double side = 0;
            for (int axis = 0; axis < 3; ++axis) {
                const double lower = plane.lower(axis)[node];
                const double upper = plane.upper(axis)[node];
                const double x = center[static_cast<std::size_t>(axis)];
                const double farthest = std::max(upper - x, x - lower);
                const double nearest = std::max({lower - x, x - upper, 0.0});
                const double least =
                    std::max(std::min(nearest, static_cast<double>(tree_.period[axis]) - farthest), 0.0);
                square += least * least;
                side = std::max(side, upper - lower);
            }
            if (square > LargestRadius::above_rounding * radius * radius) {
                continue;
            }
            mass += level == 0 || side <= size_of_whole * radius
                        ? masses_[level][node]
                        : sum(level - 1, plane.first_child[node], plane.first_child[node + 1], center, radius);
        }
        return mass;
    }

    TreeView<T> tree_;
    std::vector<Buffer<double>> masses_; ///< of nodes, plane by plane
};

} // namespace kith::detail::halos
