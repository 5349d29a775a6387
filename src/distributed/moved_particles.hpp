// What belongs to particles whose positions rebalancing has moved to this rank (rebalance.hpp): columns and labels.
#pragma once

#include <kith/catalog.hpp>
#include <kith/fof.hpp>

#include "distributed/rebalance.hpp"
#include "halos/columns.hpp"
#include "points/coordinates.hpp"
#include "support/dimension.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace kith::detail {

/// Particles that were moved to this rank, and the labels of their groups.
template <Coordinate T>
class MovedParticles {
public:
    /// Collective. The positions have been moved; what belongs to them follows.
    MovedParticles(const MovedPoints<T>& moved, const FofResult& groups, const Particles& particles, bool has_types)
        : labels_(moved.template carry<std::int64_t>(1, [&](std::int64_t row, int) { return groups.labels64()[row]; })),
          particles_{.positions = moved.view(), .uniform_mass = particles.uniform_mass} {
        if (particles.velocities) {
            with_dtype(particles.velocities->dtype(), [&]<Coordinate V>(V) {
                const Coordinates<V> velocities(*particles.velocities);
                velocities_ =
                    moved.template carry<V>(3, [&](std::int64_t row, int axis) { return velocities(row, axis); });
            });
            particles_.velocities = std::visit([](const auto& of) { return PointsView(of, 3); }, velocities_);
        }
        if (particles.masses) {
            masses_ = moved.template carry<double>(1, [&](std::int64_t row, int) { return (*particles.masses)[row]; });
            particles_.masses = ScalarsView(masses_);
        }
        if (particles.internal_energies) {
            internal_energies_ = moved.template carry<double>(
                1, [&](std::int64_t row, int) { return (*particles.internal_energies)[row]; });
            particles_.internal_energies = ScalarsView(internal_energies_);
        }
        if (has_types) {
            const std::span<const std::uint8_t> types = halos::plain_types(particles);
            types_ = moved.template carry<std::uint8_t>(1, [&](std::int64_t row, int) { return types[row]; });
            particles_.types = types_;
        }
    }
    MovedParticles(const MovedParticles&) = delete;
    MovedParticles& operator=(const MovedParticles&) = delete;

    [[nodiscard]] const Particles& particles() const { return particles_; }
    [[nodiscard]] std::vector<std::int64_t> take_labels() { return std::move(labels_); }

private:
    std::vector<std::int64_t> labels_;
    std::variant<std::vector<float>, std::vector<double>> velocities_;
    std::vector<double> masses_; ///< these and energies may be of another type on each rank, and are read as double
    std::vector<double> internal_energies_;
    std::vector<std::uint8_t> types_;
    Particles particles_; ///< refers to the others
};

} // namespace kith::detail
