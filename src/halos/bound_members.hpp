// What is left of groups once their members are unbound.
#pragma once

#include "halos/motion.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail::halos {

struct BoundMembers {
    std::vector<std::int64_t> count;   ///< of each group; 0 if fewer than the minimum are bound
    std::vector<std::int32_t> rows;    ///< group after group: the bound ones by energy, ties in order, then the others
    std::vector<double> energies;      ///< per unit of mass, of the bound ones; 0 for others
    std::vector<std::int32_t> deepest; ///< of each group, the bound member of lowest potential; -1 if none is bound
    std::vector<Motion> motions;       ///< of the bound members of each group; empty without velocities
};

} // namespace kith::detail::halos
