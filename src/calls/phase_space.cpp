#include "calls/phase_space.hpp"

#include "groups/linking_length.hpp"
#include "groups/velocity_length.hpp"
#include "halos/dispersion.hpp"
#include "points/as_given.hpp"
#include "points/coordinates.hpp"

namespace kith::detail {

template <Coordinate T>
PhaseSpacePoints<T> resolve_phase_space(const NormalizedPoints<T>& positions, const Box& box, const PhaseSpaceAt& at,
                                        FofSummary& result) {
    const std::int64_t count = positions.view.count();
    resolve_length(at.linking_length, positions.frame, count, result,
                   [&] { return largest_coordinate(positions.frame, Coordinates<T>(positions.view), count); });
    result.box = resolved_box(positions.frame);
    result.wrapped_points = positions.frame.outside;
    const FiniteVelocities velocities = finite_velocities(at.phase_space.velocities);
    const VelocityLength& psi = at.phase_space.length;
    resolve_velocity_length(psi, psi.is_relative() ? halos::velocity_dispersion(velocities, at.phase_space.masses) : 0,
                            count, result);
    const PhaseSpacePoints<T> points = in_phase_space(positions, box, velocities, result.velocity_scale);
    const Frame<T>& frame = points.positions.frame;
    require_resolved(frame, count, result.linking_length);
    return points;
}

template PhaseSpacePoints<float> resolve_phase_space(const NormalizedPoints<float>&, const Box&, const PhaseSpaceAt&,
                                                     FofSummary&);
template PhaseSpacePoints<double> resolve_phase_space(const NormalizedPoints<double>&, const Box&, const PhaseSpaceAt&,
                                                      FofSummary&);

} // namespace kith::detail
