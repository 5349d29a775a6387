#include <kith/error.hpp>
#include <kith/group_sizes.hpp>

#include "support/message.hpp"

#include <algorithm>
#include <functional>

namespace kith {

namespace {

void check_size(std::int64_t size, std::int64_t group) {
    if (size < 1) {
        throw detail::error(ErrorKind::invalid_argument, "groups: group ", group, " has size ", size,
                            "; every group has at least one member");
    }
}

void check_order(std::int64_t size, std::int64_t group, std::int64_t before) {
    if (group > 0 && size > before) {
        throw detail::error(ErrorKind::invalid_argument, "groups: group ", group, " has ", size,
                            " members, more than group ", group - 1, " with ", before,
                            "; number the groups by decreasing size");
    }
}

} // namespace

GroupSizes::GroupSizes(std::span<const GroupsOfSize> runs) {
    for (const GroupsOfSize& run : runs) {
        const std::int64_t group = size();
        const std::int64_t before = empty() ? 0 : runs_.back().size;
        check_size(run.size, group);
        check_order(run.size, group, before);
        if (run.groups < 1 || run.size == before) {
            throw detail::error(ErrorKind::invalid_argument, "groups: size ", run.size, " is listed ",
                                run.groups < 1 ? "without a group" : "twice", "; list each size that occurs, once");
        }
        runs_.push_back(run);
        ends_.push_back(group + run.groups);
    }
}

GroupSizes::GroupSizes(std::span<const std::int32_t> sizes) {
    for (const std::int32_t one : sizes) {
        const std::int64_t group = size();
        check_size(one, group);
        check_order(one, group, empty() ? 0 : runs_.back().size);
        if (empty() || runs_.back().size != one) {
            runs_.push_back({one, 0});
            ends_.push_back(group);
        }
        ++runs_.back().groups;
        ++ends_.back();
    }
}

std::int64_t GroupSizes::operator[](std::int64_t group) const noexcept {
    return runs_[static_cast<std::size_t>(std::ranges::upper_bound(ends_, group) - ends_.begin())].size;
}

std::int64_t GroupSizes::of_at_least(std::int64_t min_members) const noexcept {
    const auto smaller =
        std::ranges::partition_point(runs_, [min_members](const GroupsOfSize& run) { return run.size >= min_members; });
    return smaller == runs_.begin() ? 0 : ends_[static_cast<std::size_t>(smaller - runs_.begin()) - 1];
}

std::int64_t GroupSizes::members_of_first(std::int64_t groups) const noexcept {
    std::int64_t members = 0;
    for (const GroupsOfSize& run : runs_) {
        const std::int64_t taken = std::min(groups, run.groups);
        members += taken * run.size;
        groups -= taken;
    }
    return members;
}

} // namespace kith
