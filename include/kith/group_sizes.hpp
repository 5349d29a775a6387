// The sizes of groups that are numbered by decreasing size, as runs of equal ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace kith {

/// The number of groups of one size.
struct GroupsOfSize {
    std::int64_t size = 0;
    std::int64_t groups = 0;
    friend bool operator==(const GroupsOfSize&, const GroupsOfSize&) = default;
};

/// The size of each group, by decreasing size: a range of size() numbers. Memory: 32 bytes for each size
/// that occurs, of which there are at most sqrt(2 N) for N points.
class GroupSizes {
public:
    class Iterator;
    using value_type = std::int64_t;

    GroupSizes() = default;
    /// From the largest size to the smallest; each size once. Throws Error: invalid_argument unless sizes are 1 or more
    /// and decrease, each occurs, and there are at most 2^63 - 1 members.
    explicit GroupSizes(std::span<const GroupsOfSize> runs);
    /// One size for each group. Throws Error: invalid_argument (a size below 1, or larger than the one before).
    explicit GroupSizes(std::span<const std::int32_t> sizes);

    [[nodiscard]] std::int64_t size() const noexcept { return ends_.empty() ? 0 : ends_.back().groups; } ///< of groups
    [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
    /// Members of a group, 0 to size() - 1. Cost: O(log runs().size()).
    [[nodiscard]] std::int64_t operator[](std::int64_t group) const noexcept;
    [[nodiscard]] std::int64_t front() const noexcept { return runs_.front().size; } ///< of the largest group
    [[nodiscard]] std::int64_t back() const noexcept { return runs_.back().size; }   ///< of the smallest one
    [[nodiscard]] Iterator begin() const noexcept;
    [[nodiscard]] Iterator end() const noexcept;

    [[nodiscard]] std::span<const GroupsOfSize> runs() const noexcept { return runs_; }
    /// Number of groups with at least min_members members: the first ones.
    [[nodiscard]] std::int64_t of_at_least(std::int64_t min_members) const noexcept;
    /// Members of the first groups, all together: where those of group `groups` start. Cost: O(log runs().size()).
    [[nodiscard]] std::int64_t members_of_first(std::int64_t groups) const noexcept;

    friend bool operator==(const GroupSizes& a, const GroupSizes& b) noexcept { return a.runs_ == b.runs_; }

private:
    void append(const GroupsOfSize& run);

    /// Up to the end of a run.
    struct End {
        std::int64_t groups;
        std::int64_t members;
    };
    std::vector<GroupsOfSize> runs_;
    std::vector<End> ends_;
};

class GroupSizes::Iterator {
public:
    using value_type = std::int64_t;
    using difference_type = std::int64_t;
    using reference = std::int64_t;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    std::int64_t operator*() const noexcept { return run_->size; }
    Iterator& operator++() noexcept {
        if (++at_ == run_->groups) {
            ++run_;
            at_ = 0;
        }
        return *this;
    }
    Iterator operator++(int) noexcept {
        Iterator old = *this;
        ++*this;
        return old;
    }
    friend bool operator==(const Iterator&, const Iterator&) noexcept = default;

private:
    friend class GroupSizes;
    explicit Iterator(const GroupsOfSize* run) : run_(run) {}
    const GroupsOfSize* run_ = nullptr;
    std::int64_t at_ = 0; ///< within the run
};

inline GroupSizes::Iterator GroupSizes::begin() const noexcept {
    return Iterator(runs_.data());
}
inline GroupSizes::Iterator GroupSizes::end() const noexcept {
    return Iterator(runs_.data() + runs_.size());
}

} // namespace kith
