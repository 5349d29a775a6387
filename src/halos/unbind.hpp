// The members of groups that are bound to them.
//
// About center of mass and mean velocity of the members left, those with positive energy are removed, the least bound
// first and at most max(5, n/50) of n at a time, until none is left or fewer than the minimum (docs/semantics.md,
// "Bound halos"). Source: Springel, White, Tormen, Kauffmann (2001), MNRAS 328, 726, section 4.2 (SUBFIND). Cost: that
// of potentials, each time a fifth has been removed; between these the product of members left and removed.
#pragma once

#include "halos/bound_members.hpp"
#include "halos/potential.hpp"

#include <cstdint>

namespace kith::detail::halos {

/// Runs inside a stage; `columns` have three dimensions and velocities, and have been checked.
BoundMembers bound_members(Context& context, const Columns& columns, const GroupMembers& groups,
                           const Softening& softening, const Universe& universe, std::int64_t min_members);

/// The same if nothing is unbound: the energy of a member is its potential alone, and all members of a group that has
/// at least the minimum are bound. Needs no velocities, and describes the motion if there are any.
BoundMembers members_by_potential(Context& context, const Columns& columns, const GroupMembers& groups,
                                  const Softening& softening, const Universe& universe, std::int64_t min_members);

/// One or the other, as the options of a call say, whose softening has been resolved.
BoundMembers find_bound(Context& context, const Columns& columns, const GroupMembers& groups,
                        const HaloOptions& options);

} // namespace kith::detail::halos
