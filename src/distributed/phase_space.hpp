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
#include "points/coordinates.hpp"
#include "points/phase_space.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail {

/// Collective. The velocities' bounds of all ranks, with the view of this one's.
inline FiniteVelocities velocities_of_all(Ranks& ranks, Context& context, const PointsView& view) {
    FiniteVelocities mine;
    ranks.agreed([&] { context.run([&] { mine = finite_velocities(view); }); });
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

template <Coordinate T>
struct SharedPhaseSpace {
    std::vector<T> rows; ///< row-major, of this rank: positions, then velocities in the units of positions
    SharedPoints<T> points;
};

/// Collective. Resolves psi; the lengths have the linking length.
template <Coordinate T>
SharedPhaseSpace<T> share_phase_space(Ranks& ranks, Context& context, const SharedPoints<T>& positions, const Box& box,
                                      const PhaseSpace& phase_space, ResolvedLengths& lengths) {
    const FiniteVelocities velocities = velocities_of_all(ranks, context, phase_space.velocities);
    const std::int64_t total = positions.ownership.total();
    const double dispersion =
        phase_space.length.is_relative() ? dispersion_of_all(ranks, context, velocities, phase_space.masses) : 0;
    PhaseSpacePoints<T> all;
    Ranks::alike([&] {
        resolve_velocity_length(phase_space.length, dispersion, total, lengths);
        NormalizedPoints<T> bounds = positions.points;
        bounds.lower = positions.lower;
        bounds.upper = positions.upper;
        all = in_phase_space(bounds, box, velocities, lengths.velocity_scale);
        require_resolved(all.positions.frame, total, lengths.linking_length);
    });
    SharedPhaseSpace<T> shared;
    ranks.agreed([&] {
        const PointsView& given = positions.given;
        const int dimension = given.dimension();
        shared.rows.resize(given.count() * 2 * dimension);
        const Coordinates<T> x(given);
        with_dtype(velocities.view.dtype(), [&]<Coordinate V>(V) {
            const Coordinates<V> v(velocities.view);
            context.run([&] {
                parallel_for(0, given.count(), 1 << 14, [&](std::int64_t begin, std::int64_t end) {
                    T* row = shared.rows.data() + begin * 2 * dimension;
                    for (std::int64_t i = begin; i < end; ++i) {
                        for (int axis = 0; axis < dimension; ++axis) {
                            *row++ = x(i, axis);
                        }
                        for (int axis = 0; axis < dimension; ++axis) {
                            *row++ = scaled_velocity<T>(v(i, axis), lengths.velocity_scale);
                        }
                    }
                });
            });
        });
        shared.points.given = PointsView(shared.rows, 2 * dimension);
        context.run([&] { shared.points.points = normalized(all.positions.frame, shared.points.given); });
    });
    shared.points.ownership = positions.ownership;
    shared.points.numbers = positions.numbers;
    shared.points.given_numbers = positions.given_numbers;
    shared.points.lower = all.positions.lower;
    shared.points.upper = all.positions.upper;
    return shared;
}

} // namespace kith::detail
