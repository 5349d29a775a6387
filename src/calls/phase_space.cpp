#include "calls/phase_space.hpp"

#include "groups/linking_length.hpp"
#include "groups/velocity_length.hpp"
#include "halos/dispersion.hpp"
#include "points/as_given.hpp"
#include "points/coordinates.hpp"

namespace kith::detail {

template <Coordinate T>
PhaseSpacePoints<T> resolve_phase_space(const NormalizedPoints<T>& positions, const Box& box, const PhaseSpaceAt& at,
                                        ResolvedLengths& lengths) {
    const std::int64_t count = positions.view.count();
    resolve_length(at.linking_length, positions.frame, count, lengths,
                   [&] { return largest_coordinate(positions.frame, Coordinates<T>(positions.view), count); });
    const FiniteVelocities velocities = finite_velocities(at.phase_space.velocities);
    const VelocityLength& psi = at.phase_space.length;
    resolve_velocity_length(psi, psi.is_relative() ? halos::velocity_dispersion(velocities, at.phase_space.masses) : 0,
                            count, lengths);
    const PhaseSpacePoints<T> points = in_phase_space(positions, box, velocities, lengths.velocity_scale);
    const Frame<T>& frame = points.positions.frame;
    require_resolved(frame, count, lengths.linking_length);
    return points;
}

template PhaseSpacePoints<float> resolve_phase_space(const NormalizedPoints<float>&, const Box&, const PhaseSpaceAt&,
                                                     ResolvedLengths&);
template PhaseSpacePoints<double> resolve_phase_space(const NormalizedPoints<double>&, const Box&, const PhaseSpaceAt&,
                                                      ResolvedLengths&);

} // namespace kith::detail
