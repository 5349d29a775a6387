// Which rank has which group of a catalog in its part.
//
// Groups are numbered by decreasing size, so the sizes say, on every rank alike, where the members of each group start
// in the list of the members of all. This list is cut into as many equal parts as there are ranks; a group belongs to
// the part in which its members start. So ranks describe about equally many members, unless a group is larger than a
// part.
#pragma once

#include <kith/group_sizes.hpp>

#include <cstdint>

namespace kith::detail {

class GroupDivision {
public:
    /// Of the groups with at least min_members members.
    GroupDivision(const GroupSizes& sizes, std::int64_t min_members, int ranks)
        : sizes_(sizes), groups_(sizes.of_at_least(min_members)), members_(sizes.members_of_first(groups_)),
          ranks_(ranks) {}
    [[nodiscard]] std::int64_t groups() const noexcept { return groups_; }
    [[nodiscard]] std::int64_t members() const noexcept { return members_; }
    /// Members of a group.
    [[nodiscard]] std::int64_t size(std::int64_t group) const { return sizes_[group]; }
    /// Members of all groups before this one, or of all.
    [[nodiscard]] std::int64_t offset(std::int64_t group) const { return sizes_.members_of_first(group); }
    [[nodiscard]] int rank_of(std::int64_t group) const { return static_cast<int>(offset(group) / members_per_rank()); }
    /// The first group of a rank's part; that of the rank after the last is the number of groups.
    [[nodiscard]] std::int64_t first_of(int rank) const {
        std::int64_t begin = 0;
        std::int64_t end = groups_;
        while (begin < end) {
            const std::int64_t middle = begin + (end - begin) / 2;
            if (rank_of(middle) < rank) {
                begin = middle + 1;
            } else {
                end = middle;
            }
        }
        return begin;
    }

private:
    [[nodiscard]] std::int64_t members_per_rank() const { return (members_ + ranks_ - 1) / ranks_; }

    const GroupSizes& sizes_;
    std::int64_t groups_;
    std::int64_t members_;
    int ranks_;
};

} // namespace kith::detail
