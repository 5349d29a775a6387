// From positions, velocities and lengths of both to points of phase space, for groups and spanning trees.
//
// The contract is docs/semantics.md, "Phase space". Cost: a pass over the velocities, and one more if psi is given in
// dispersions.
#pragma once

#include <kith/fof.hpp>

#include "points/frame.hpp"
#include "points/phase_space.hpp"
#include "points/point_set.hpp"

namespace kith::detail {

/// Resolves both lengths. Throws what docs/semantics.md says is refused.
template <Coordinate T>
PhaseSpacePoints<T> resolve_phase_space(const NormalizedPoints<T>& positions, const Box& box, const PhaseSpaceAt& at,
                                        ResolvedLengths& lengths);

} // namespace kith::detail
