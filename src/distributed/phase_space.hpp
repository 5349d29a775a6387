// Points of phase space over ranks (points/phase_space.hpp): their lengths, and their coordinates as points of twice
// the dimension.
//
// Bounds of velocities are joined by minimum and maximum, the sums of the dispersion are in fixed point
// (halos/dispersion); so both lengths, and the frame, are those of one process. Cost: a copy of all coordinates.
#pragma once

#include <kith/fof.hpp>

#include "distributed/shared_frame.hpp"
#include "groups/velocity_length.hpp"
#include "halos/dispersion.hpp"
#include "points/part_points.hpp"
#include "points/phase_space.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace kith::detail {

/// Collective. The velocities' bounds of all ranks, with the view of this one's.
template <Coordinate T>
FiniteVelocities velocities_of_all(Ranks& ranks, const PointsView& view, PartPoints<T>& there) {
    FiniteVelocities mine;
    ranks.agreed([&] { mine = there.velocities(view); });
    struct Bounds {
        std::array<double, max_dimension> lower;
        std::array<double, max_dimension> upper;
        std::int64_t count;
    };
    FiniteVelocities all{view};
    bool is_first = true;
    for (const Bounds& of_rank : ranks.gather(Bounds{mine.lower, mine.upper, view.count()})) {
        for (std::size_t axis = 0; of_rank.count > 0 && axis < all.lower.size(); ++axis) {
            all.lower[axis] = is_first ? of_rank.lower[axis] : std::min(all.lower[axis], of_rank.lower[axis]);
            all.upper[axis] = is_first ? of_rank.upper[axis] : std::max(all.upper[axis], of_rank.upper[axis]);
        }
        is_first = is_first && of_rank.count == 0;
    }
    return all;
}

/// Collective. `velocities` are bounds of all ranks.
inline double dispersion_of_all(Ranks& ranks, Context& context, const FiniteVelocities& velocities,
                                const std::optional<ScalarsView>& masses) {
    bool has_mass = false;
    ranks.agreed([&] { context.run([&] { has_mass = masses && halos::any_has_mass(*masses); }); });
    halos::DispersionOfRanks of_ranks;
    of_ranks.count = ranks.sum(velocities.view.count());
    of_ranks.weighted = ranks.any(has_mass);
    of_ranks.run = [&](const std::function<void()>& pass) { ranks.agreed([&] { context.run(pass); }); };
    of_ranks.gather = [&](std::span<const std::byte> bytes) { return ranks.gather_lists(bytes).values; };
    return halos::velocity_dispersion(velocities, masses, of_ranks);
}

/// Collective. The points of phase space of this rank, in memory of their own; resolves psi. The lengths have the
/// linking length. Points are read by what on_gpu() makes, if there is such a function.
template <Coordinate T>
SharedPoints<T> share_phase_space(Ranks& ranks, Context& context, const SharedPoints<T>& positions, const Box& box,
                                  const PhaseSpace& phase_space, ResolvedLengths& lengths,
                                  const MakePartPoints<T>& on_gpu = {}) {
    FiniteVelocities velocities = velocities_of_all(ranks, phase_space.velocities, *positions.there);
    const std::int64_t total = positions.ownership.total();
    double dispersion = 0;
    HeldPoints on_host; // what the velocities refer to then
    if (phase_space.length.is_relative()) {
        ranks.agreed([&] { on_host = positions.there->on_host(velocities.view); });
        velocities.view = on_host.view;
        dispersion = dispersion_of_all(ranks, context, velocities, phase_space.masses);
    }
    PhaseSpacePoints<T> all;
    Ranks::alike([&] {
        resolve_velocity_length(phase_space.length, dispersion, total, lengths);
        NormalizedPoints<T> bounds = positions.points;
        bounds.lower = positions.lower;
        bounds.upper = positions.upper;
        all = in_phase_space(bounds, box, velocities, lengths.velocity_scale);
        require_resolved(all.positions.frame, total, lengths.linking_length);
    });
    SharedPoints<T> shared;
    ranks.agreed([&] {
        const int dimension = 2 * positions.given.dimension();
        shared.there = on_gpu ? on_gpu(context, dimension) : std::make_shared<PartPoints<T>>(context);
        HeldPoints rows =
            positions.there->in_phase_space(positions.given, phase_space.velocities, lengths.velocity_scale);
        shared.memory = std::move(rows.memory);
        shared.given = rows.view;
        shared.points = shared.there->in_frame(shared.given, all.positions.frame);
    });
    shared.ownership = positions.ownership;
    shared.numbers = positions.numbers;
    shared.given_numbers = positions.given_numbers;
    shared.lower = all.positions.lower;
    shared.upper = all.positions.upper;
    return shared;
}

} // namespace kith::detail
