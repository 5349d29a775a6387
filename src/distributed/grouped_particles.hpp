// The particles of one rank by the groups that they are members of: what catalogs and halos over ranks begin with.
//
// A group whose members are all on one rank is whole there. The members of any other group are brought to one rank, in
// the order of their numbers, so that it is whole there: which rank that is, the caller decides. Labels are compared
// with the sizes of groups on the way. Cost: a sort of the labels of this rank's members.
#pragma once

#include <kith/catalog.hpp>

#include "distributed/gathered_members.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/group_division.hpp"
#include "distributed/ownership.hpp"
#include "distributed/part_vectors.hpp"
#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kith::detail {

/// Groups all of whose members are among some particles of this rank. A view.
struct WholeGroups {
    std::vector<std::int64_t> labels;  ///< ascending
    Buffer<std::int32_t> group_of_row; ///< of each particle, among the labels; -1: of none of them
    Particles particles;               ///< by ascending number
    PointNumbers numbers;
};

/// Throws invalid_argument if this rank has particles without types although other ranks passed some.
void require_types(bool has_types, const Particles& particles);

/// Collective. Throws invalid_argument, on all ranks, for labels that are not those of this number of groups.
void require_labels(Ranks& ranks, std::span<const std::int64_t> labels, std::int64_t groups);

class GroupedParticles {
public:
    /// Collective. Types are plain (halos/columns.hpp), on all ranks if `has_types`. Throws
    /// invalid_argument, on all ranks, for labels that are not those of the groups. Refers to what it is given.
    GroupedParticles(Ranks& ranks, Context& context, const FofResult& groups, std::int64_t min_members,
                     const Particles& particles, const PartVectors& vectors, bool has_types, const Ownership& ownership,
                     const GivenIds& ids);
    GroupedParticles(const GroupedParticles&) = delete;
    GroupedParticles& operator=(const GroupedParticles&) = delete;

    /// Of groups that have min_members.
    [[nodiscard]] const GroupDivision& division() const noexcept { return division_; }
    /// By ascending number.
    [[nodiscard]] const Particles& particles() const noexcept { return particles_; }
    [[nodiscard]] const PointNumbers& numbers() const noexcept { return numbers_; }
    [[nodiscard]] bool has_types() const noexcept { return has_types_; }

    /// Groups with members on this rank that have members elsewhere, too: labels, ascending, and how many are here.
    struct SpreadGroup {
        std::int64_t label;
        std::int64_t members;
    };
    [[nodiscard]] std::vector<SpreadGroup> spread_groups() const;

    /// The groups that are whole on this rank.
    [[nodiscard]] WholeGroups whole() const;
    /// Collective. Brings the members of each spread group to the rank that rank_of(label) is, on all ranks alike.
    [[nodiscard]] GatheredMembers gather(const std::function<int(std::int64_t label)>& rank_of);
    /// Those of which members have arrived. Refers to them.
    [[nodiscard]] WholeGroups whole(const GatheredMembers& members) const;

private:
    [[nodiscard]] bool is_described(std::int64_t label) const { return label >= 0 && label < division_.groups(); }
    [[nodiscard]] std::int64_t find(std::int64_t label) const;
    [[nodiscard]] bool is_whole(std::int64_t i) const { return counts_[i] == division_.size(labels_here_[i]); }
    void bring_into_order(std::span<const std::int64_t> order);
    void count_members();
    void count_here(std::int64_t labeled);
    void require_size(std::int64_t label, std::int64_t found, bool all) const;

    Ranks& ranks_;
    Context& context_;
    std::span<const std::int64_t> labels_; ///< this and the particles: of this rank, by ascending number
    Particles particles_;
    PartVectors vectors_;          ///< which read them
    GatheredMembers ordered_;      ///< what both refer to if they were not passed in this order
    HeldPoints ordered_positions_; ///< likewise
    HeldPoints ordered_velocities_;
    bool has_types_;
    GroupDivision division_;
    PointNumbers numbers_;
    std::vector<std::int64_t> labels_here_; ///< of members on this rank, each once, ascending
    std::vector<std::int64_t> counts_;      ///< of such members
};

} // namespace kith::detail
