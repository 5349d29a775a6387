#include <kith/error.hpp>
#include <kith/group_sizes.hpp>

#include "support/message.hpp"

#include <algorithm>
#include <utility>

namespace kith {

namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
    throw detail::error(ErrorKind::invalid_argument, "groups: ", parts...);
}

} // namespace

/// Adds groups to the last run, or a run.
void GroupSizes::append(const GroupsOfSize& run) {
    const auto [groups, members] = empty() ? End{0, 0} : ends_.back();
    if (run.size < 1) {
        refuse("group ", groups, " has size ", run.size, "; every group has at least one member");
    }
    if (!empty() && run.size > runs_.back().size) {
        refuse("group ", groups, " has ", run.size, " members, more than group ", groups - 1, " with ",
               runs_.back().size, "; number the groups by decreasing size");
    }
    End end{groups + run.groups, 0};
    if (__builtin_mul_overflow(run.size, run.groups, &end.members) ||
        __builtin_add_overflow(members, end.members, &end.members)) {
        refuse(run.groups, " groups have size ", run.size, "; all groups have at most 2^63 - 1 members");
    }
    if (!empty() && run.size == runs_.back().size) {
        runs_.back().groups += run.groups;
        ends_.back() = end;
    } else {
        runs_.push_back(run);
        ends_.push_back(end);
    }
}

GroupSizes::GroupSizes(std::span<const GroupsOfSize> runs) {
    for (const GroupsOfSize& run : runs) {
        if (run.groups < 1 || (!empty() && run.size == runs_.back().size)) {
            refuse("size ", run.size, " is listed ", run.groups < 1 ? "without a group" : "twice",
                   "; list each size that occurs, once");
        }
        append(run);
    }
}

GroupSizes::GroupSizes(std::span<const std::int32_t> sizes) {
    for (const std::int32_t size : sizes) {
        append({size, 1});
    }
}

std::int64_t GroupSizes::operator[](std::int64_t group) const noexcept {
    return runs_[std::ranges::upper_bound(ends_, group, {}, &End::groups) - ends_.begin()].size;
}

std::int64_t GroupSizes::of_at_least(std::int64_t min_members) const noexcept {
    const auto smaller =
        std::ranges::partition_point(runs_, [min_members](const GroupsOfSize& run) { return run.size >= min_members; });
    return smaller == runs_.begin() ? 0 : ends_[smaller - runs_.begin() - 1].groups;
}

std::int64_t GroupSizes::members_of_first(std::int64_t groups) const noexcept {
    if (groups <= 0) {
        return 0;
    }
    const auto run = std::ranges::lower_bound(ends_, groups, {}, &End::groups) - ends_.begin();
    return ends_[run].members - (ends_[run].groups - groups) * runs_[run].size;
}

} // namespace kith
