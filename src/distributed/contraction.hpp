// Components of points that are known to be joined in the spanning tree, and the rule by which they grow.
//
// A component may be joined through its least edge. Its limit is a length, squared, that no unknown edge out of it is
// shorter than. So the least known edge is the least of all if it is shorter than the limit. Edges are offered in
// ascending order. One that is not known to be the least of either of its components is open, and closes both: whatever
// comes later is not their least edge. Two closed components are never joined, so that one pass finds all that can be
// joined, and an open edge remains between two components. Source: the cut property that Boruvka's method (1926) rests
// on. Cost: close to O(1) for each edge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::detail {

enum class EdgeState : std::uint8_t {
    joined, ///< an edge of the spanning tree
    open,   ///< not known yet
    inner,  ///< within a component: not an edge of the spanning tree
};

/// What no edge comes after, in the order of edges; and what none comes before.
template <class T>
inline constexpr T after_all_edges = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T before_all_edges = -1;

/// T is a squared length; or what else edges are ordered by, in its place.
template <class T>
class Contraction {
public:
    /// A component of one member. Returns its number.
    std::int32_t add(T limit) {
        parents_.push_back(static_cast<std::int32_t>(parents_.size()));
        components_.push_back({limit, none});
        return parents_.back();
    }
    void reserve(std::int64_t members) {
        parents_.reserve(static_cast<std::size_t>(members));
        components_.reserve(static_cast<std::size_t>(members));
    }
    [[nodiscard]] std::int32_t members() const { return static_cast<std::int32_t>(parents_.size()); }

    /// Offers an edge. Those of a pass ascend in the order of edges.
    EdgeState offer(T squared, std::int32_t a, std::int32_t b) {
        a = root_of(a);
        b = root_of(b);
        if (a == b) {
            return EdgeState::inner;
        }
        Component& first = components_[a];
        Component& second = components_[b];
        if (!first.has_least(squared) && !second.has_least(squared)) {
            first.nearest = std::min(first.nearest, squared);
            second.nearest = std::min(second.nearest, squared);
            return EdgeState::open;
        }
        join(a, b);
        return EdgeState::joined;
    }
    /// Makes one component of two. Returns whether they were two.
    bool join(std::int32_t a, std::int32_t b) {
        const std::pair<std::int32_t, std::int32_t> roots = std::minmax({root_of(a), root_of(b)});
        const auto [kept, gone] = roots;
        if (kept == gone) {
            return false;
        }
        parents_[gone] = kept;
        components_[kept] = {std::min(components_[kept].limit, components_[gone].limit),
                             std::min(components_[kept].nearest, components_[gone].nearest)};
        return true;
    }

    /// Leaves an edge out of a component open, even if it is the least.
    void leave_open(T squared, std::int32_t member) {
        T& nearest = components_[root_of(member)].nearest;
        nearest = std::min(nearest, squared);
    }

    /// The smallest member of a component.
    [[nodiscard]] std::int32_t root_of(std::int32_t member) {
        while (parents_[member] != member) {
            parents_[member] = parents_[parents_[member]];
            member = parents_[member];
        }
        return member;
    }
    /// The squared length of the least open edge out of a component, by its root; infinity if there is none.
    [[nodiscard]] T nearest(std::int32_t root) const { return components_[root].nearest; }

    [[nodiscard]] T limit(std::int32_t root) const { return components_[root].limit; }

    /// Before another pass: limits are infinite until they are lowered, and no edge is open.
    void reopen() { std::fill(components_.begin(), components_.end(), Component{}); }
    void lower_limit(std::int32_t member, T limit) {
        T& of_component = components_[root_of(member)].limit;
        of_component = std::min(of_component, limit);
    }

private:
    static constexpr T none = after_all_edges<T>; // squared lengths are finite

    struct Component {
        T limit = after_all_edges<T>;
        T nearest = none; ///< of its open edges; or none

        [[nodiscard]] bool has_least(T squared) const { return nearest == none && squared < limit; }
    };

    std::vector<std::int32_t> parents_;
    std::vector<Component> components_;
};

} // namespace kith::detail
