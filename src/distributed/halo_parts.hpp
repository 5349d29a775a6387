// Halos that ranks have found, on their way to the ranks that have the groups in their parts.
#pragma once

#include <kith/halos.hpp>

#include "distributed/group_division.hpp"
#include "distributed/grouped_particles.hpp"
#include "distributed/ranks.hpp"
#include "halos/potential.hpp"
#include "halos/unbind.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// Groups that are whole on this rank, and their halos, whose groups are places among the labels of these.
struct LocalHalos {
    WholeGroups groups;
    std::vector<std::int32_t> rows; ///< of the members, ascending in each group
    halos::BoundMembers bound;
    Halos found;

    [[nodiscard]] halos::GroupMembers members() const { return {rows, found.group_offset}; }
    /// The bound ones first.
    [[nodiscard]] std::span<const std::int32_t> members_of(std::int64_t halo) const {
        return halos::GroupMembers{bound.rows, found.group_offset}.of(found.group[halo]);
    }
};

/// Appends messages with groups, members and rows of halos to the ranks of the groups' parts. Puts labels and numbers
/// into the rows.
void pack_halos(LocalHalos& local, const GroupDivision& division, std::vector<RankMessage>& messages);

/// Fills the part of a rank with what has arrived. Its options have been set. Frees the messages.
void put_together(std::vector<RankMessage>& messages, const GroupDivision& division, int rank, bool has_velocities,
                  Halos& part);

} // namespace kith::detail
