// Which rank has which group of a catalog in its part.
//
// Groups are numbered by decreasing size, so the sizes say, on every rank alike, where the members of each group start
// in the list of the members of all. This list is cut into as many equal parts as there are ranks; a group belongs to
// the part in which its members start. So ranks describe about equally many members, unless a group is larger than a
// part.
#pragma once

#include <kith/distributed.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

class GroupDivision {
public:
    /// Of the groups with at least min_members members. `sizes` have been checked.
    GroupDivision(std::span<const GroupsOfSize> sizes, std::int64_t min_members, int ranks) : ranks_(ranks) {
        for (const GroupsOfSize& of_size : sizes) {
            if (of_size.size < min_members) {
                break;
            }
            runs_.push_back({of_size.size, groups_, members_});
            groups_ += of_size.groups;
            members_ += of_size.groups * of_size.size;
        }
    }
    [[nodiscard]] std::int64_t groups() const noexcept { return groups_; }
    [[nodiscard]] std::int64_t members() const noexcept { return members_; }
    /// Members of a group.
    [[nodiscard]] std::int64_t size(std::int64_t group) const { return run_of(group).size; }
    /// Members of all groups before this one, or of all.
    [[nodiscard]] std::int64_t offset(std::int64_t group) const {
        if (group == groups_) {
            return members_;
        }
        const Run& run = run_of(group);
        return run.first_member + (group - run.first_group) * run.size;
    }
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
    /// Consecutive groups of one size.
    struct Run {
        std::int64_t size;
        std::int64_t first_group;
        std::int64_t first_member;
    };

    [[nodiscard]] std::int64_t members_per_rank() const { return (members_ + ranks_ - 1) / ranks_; }
    [[nodiscard]] const Run& run_of(std::int64_t group) const {
        return *(std::ranges::upper_bound(runs_, group, {}, &Run::first_group) - 1);
    }

    std::vector<Run> runs_;
    std::int64_t groups_ = 0;
    std::int64_t members_ = 0;
    int ranks_;
};

} // namespace kith::detail
