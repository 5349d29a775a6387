// Rows of halos: what their bound members say of them, and what was found about their centers.
//
// Sums are in the order of the bound members, or of their distances from the center, ties by index, so threads do not
// show. Cost: linear in the members; some 60 bytes for each bound one of the halo at hand.
#pragma once

#include <kith/halos.hpp>

#include "halos/distance_sort.hpp"
#include "halos/halo_rows.hpp"
#include "halos/sphere_search.hpp"
#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "support/per_thread.hpp"
#include "support/scratch_array.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::halos {

/// Positions and masses of particles. Refers to the frame.
template <Coordinate T>
struct MassPoints {
    const Frame<T>* frame;
    Coordinates<T> positions;
    std::optional<ScalarsView> masses;
    double uniform_mass;

    [[nodiscard]] double mass(std::int64_t row) const { return masses ? (*masses)[row] : uniform_mass; }
    /// In the working copy.
    [[nodiscard]] double coordinate(std::int64_t row, int axis) const noexcept {
        return static_cast<double>(frame->load(positions(row, axis), axis));
    }
};

/// Several threads may call it, each for another halo.
template <Coordinate T>
class HaloDescriber {
public:
    /// `types` of the particles; empty: all are type 1. Refers to the request and the options.
    HaloDescriber(const MassPoints<T>& particles, std::span<const std::uint8_t> types, const SphereRequest& request,
                  const HaloOptions& options);

    /// Fills what the group's members say, of which the halo's `count` first are bound, and with options.bound_only the
    /// whole row.
    BoundExtent describe_members(std::span<const std::int32_t> members, std::int64_t halo, Halos& halos);
    /// Fills the rest of the row.
    void write_spheres(const BoundExtent& extent, const MassProfile& profile, std::int64_t halo, Halos& halos) const;

private:
    /// Memory of one thread.
    struct Scratch {
        std::array<std::vector<double>, 3> offsets; ///< of the bound members from the center
        std::vector<double> squares;                ///< of their distances from it
        std::vector<double> weights;
        ScratchArray<double> radii; ///< by distance
        ScratchArray<double> masses;
        DistanceSort sort;
        std::vector<Crossing> crossings;
    };

    [[nodiscard]] double period(int axis) const noexcept {
        return static_cast<double>(particles_.frame->working_period[axis]);
    }
    void read_rows(std::span<const std::int32_t> rows, Scratch& scratch) const;
    BoundExtent load_bound(std::span<const std::int32_t> rows, std::int64_t center_row, Scratch& scratch) const;

    MassPoints<T> particles_;
    std::span<const std::uint8_t> types_;
    const SphereRequest& request_;
    const HaloOptions& options_;
    HaloRows<T> rows_;
    PerThread<Scratch> scratch_;
};

} // namespace kith::detail::halos
