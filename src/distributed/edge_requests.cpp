#include "distributed/edge_requests.hpp"

#include "points/point_set.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

namespace kith::detail {

namespace {

/// In the first round: which points ask, and how far, in units of the least known edges out of their components,
/// squared. They save rounds; between 1 and 6, volume changes by a fifth.
template <Coordinate T>
constexpr T first_asking = 4;
template <Coordinate T>
constexpr T first_reach = 1.25;
/// Components of a leaf ask together if their least edges differ by no more than this factor, squared.
template <Coordinate T>
constexpr T alike = 256;
/// What is nearer to other ranks than twice its own diagonal is near them: its points have bounds of their own.
template <Coordinate T>
constexpr T near_diagonals = 4;
/// A point that asks for a group is known to this part of the group's longest side, as a power of two.
constexpr int bits_of_probe = 12;

template <Coordinate T>
T number_after(T number) {
    return std::nextafter(number, std::numeric_limits<T>::infinity());
}

} // namespace

template <class Metric>
EdgeRequests<Metric>::EdgeRequests(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const Metric& metric,
                                   const TreeView<T>& view)
    : shared_(shared), metric_(metric), view_(view), foreign_(ranks, shared.points.frame, view) {
    ranks.agreed([&] {
        bounds_ = Buffer<T>(context.memory_tracker(), view.points.count);
        context.stage("ask", [&] { find_bounds(); });
    });
}

template <class Metric>
auto EdgeRequests<Metric>::corners_at(std::int64_t position) const -> Corners<T> {
    Corners<T> point{};
    for (int axis = 0; axis < frame().dimension; ++axis) {
        point[axis] = point[max_dimension + axis] = view_.points.axis(axis)[position];
    }
    return point;
}

template <class Metric>
void EdgeRequests<Metric>::find_bounds() {
    if (view_.top < 0) {
        return;
    }
    const PlaneView<T>& leaves = view_.planes[0];
    constexpr std::int64_t any = EdgeRequest<T>::any;
    parallel_for(0, leaves.nodes, 64, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> near;
        for (std::int64_t leaf = begin; leaf < end; ++leaf) {
            const Corners<T> box = corners_of(leaves, leaf, frame().dimension);
            T nearest = std::numeric_limits<T>::infinity();
            std::int64_t at = -1;
            foreign_.each_near(box, any, nearest, [&](std::int64_t i, T distance) {
                nearest = distance;
                at = i;
            });
            // The bounds of points differ where the leaf is near other ranks; elsewhere that of the leaf suffices.
            const bool is_near = at >= 0 && nearest <= near_diagonals<T> * BoxDistances<T>(frame(), box, box).greatest;
            T reach = 0;
            for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
                T& bound = bounds_[view_.points.indices[i]];
                bound = is_near ? least(corners_at(i), foreign_.box(at)) : nearest;
                reach = std::max(reach, bound);
            }
            if (!is_near) {
                continue;
            }
            near.clear();
            foreign_.each_near(box, any, reach, [&](std::int64_t i, T) { near.push_back(i); });
            for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
                T& bound = bounds_[view_.points.indices[i]];
                const Corners<T> point = corners_at(i);
                for (const std::int64_t node : near) {
                    bound = std::min(bound, least(point, foreign_.box(node)));
                }
            }
        }
    });
}

template <class Metric>
std::vector<RankMessage> EdgeRequests<Metric>::make_probes(const Components& components, bool is_first) {
    requests_.clear();
    requesting_.clear();
    groups_.clear();
    most_requests_ = std::min(8 * most_requests_, std::int64_t{1} << 40);
    if (view_.top >= 0) {
        const std::int64_t leaves = view_.planes[0].nodes;
        constexpr std::int64_t of_block = 64;
        std::vector<std::vector<Group>> blocks(blocks_of(leaves, of_block));
        parallel_blocks(leaves, of_block, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
            for (std::int64_t leaf = begin; leaf < end; ++leaf) {
                find_groups(components, leaf, is_first, blocks[block]);
            }
        });
        for (std::vector<Group>& of_leaves : blocks) {
            std::ranges::move(of_leaves, std::back_inserter(groups_));
        }
    }
    each_component(components, [&](std::int32_t component, const Length& reach, std::span<const std::int64_t> asking) {
        const bool is_complete = std::ssize(asking) <= most_requests_;
        if (is_complete && !groups_[asking.front()].is_far) {
            return;
        }
        for (const std::int64_t i : asking.first(is_complete ? 1 : most_requests_)) {
            const auto first_row = std::ssize(requesting_);
            requesting_.push_back(*std::ranges::min_element(groups_[i].positions, {}, [&](std::int32_t position) {
                return bounds_[view_.points.indices[position]];
            }));
            add_request(groups_[i], first_row, groups_[i].is_far ? bits_of_side : bits_of_probe, reach,
                        components.names[component]);
        }
    });
    return addressed();
}

template <class Metric>
std::vector<RankMessage> EdgeRequests<Metric>::make(const Components& components, const EdgePoints<T>& points) {
    requests_.clear();
    lower_reaches(components, points);
    for (const Group& group : groups_) {
        if (group.component == Components::none) {
            const auto first_row = std::ssize(requesting_);
            requesting_.insert(requesting_.end(), group.positions.begin(), group.positions.end());
            add_request(group, first_row, bits_of_side, group.reach, EdgeRequest<T>::any);
        }
    }
    std::vector<std::int64_t> in_order;
    each_component(components, [&](std::int32_t component, const Length& reach, std::span<const std::int64_t> asking) {
        if (std::ssize(asking) > most_requests_) {
            return;
        }
        in_order.assign(asking.begin(), asking.end());
        std::ranges::sort(in_order); // that of leaves
        for (const std::int64_t i : in_order) {
            const auto first_row = std::ssize(requesting_);
            std::ranges::copy_if(groups_[i].positions, std::back_inserter(requesting_), [&](std::int32_t position) {
                return limit_of(view_.points.indices[position]) <= reach;
            });
            add_request(groups_[i], first_row, bits_of_side, reach, components.names[component]);
        }
    });
    return addressed();
}

/// Appends the groups of a leaf.
template <class Metric>
void EdgeRequests<Metric>::find_groups(const Components& components, std::int64_t leaf, bool is_first,
                                       std::vector<Group>& groups) {
    const PlaneView<T>& leaves = view_.planes[0];
    std::vector<AskingPoint> asking;
    Length smallest = after_all_edges<Length>; // of the least known edges
    for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
        const std::int32_t row = view_.points.indices[i];
        const std::int32_t component = components.of_row[row];
        if (component < 0) {
            continue;
        }
        if (limit_of(row) <= (is_first ? first_asking<T> : T(1)) * components.nearest[component]) {
            asking.emplace_back(component, i);
            smallest = std::min(smallest, components.nearest[component]);
        }
    }
    std::ranges::sort(asking);
    if (is_first) {
        std::vector<AskingPoint> together;
        std::ranges::copy_if(asking, std::back_inserter(together), [&](const AskingPoint& point) {
            return components.nearest[point.first] <= alike<T> * smallest;
        });
        Group all = together.empty() ? Group{} : group_of(together, leaf);
        if (!together.empty() && together.front().first != together.back().first && !all.is_far) {
            all.component = Components::none;
            for (const auto& [component, position] : together) {
                all.reach = std::max(all.reach, first_reach<T> * components.nearest[component]);
            }
            groups.push_back(std::move(all));
            std::erase_if(asking, [&](const AskingPoint& point) {
                return components.nearest[point.first] <= alike<T> * smallest;
            });
        }
    }
    for (std::size_t i = 0; i < asking.size();) {
        const std::size_t first = i;
        while (i < asking.size() && asking[i].first == asking[first].first) {
            ++i;
        }
        Group group = group_of(std::span(asking).subspan(first, i - first), leaf);
        if (find_reach(components, is_first, group)) {
            groups.push_back(std::move(group));
        }
    }
}

/// Its reach is left open.
template <class Metric>
auto EdgeRequests<Metric>::group_of(std::span<const AskingPoint> points, std::int64_t leaf) const -> Group {
    Group group{points.front().first, 0, {}, {}, false, corners_of(view_.planes[0], leaf, frame().dimension), {}, {}};
    for (const auto& [component, position] : points) {
        group.positions.push_back(position);
    }
    group.box = joined_box<T>(group.positions.begin(), group.positions.end(),
                              [this](std::int32_t position) { return corners_at(position); });
    find_limits(group);
    return group;
}

/// From the bounds of its points.
template <class Metric>
void EdgeRequests<Metric>::find_limits(Group& group) const {
    group.bound = std::numeric_limits<T>::infinity();
    group.limit = after_all_edges<Length>;
    for (const std::int32_t position : group.positions) {
        const std::int32_t row = view_.points.indices[position];
        group.bound = std::min(group.bound, bounds_[row]);
        group.limit = std::min(group.limit, limit_of(row));
    }
    group.is_far = group.bound > near_diagonals<T> * BoxDistances<T>(frame(), group.box, group.box).greatest;
}

/// Raises the bounds of a component's points in a leaf. Returns whether they may still ask.
template <class Metric>
bool EdgeRequests<Metric>::find_reach(const Components& components, bool is_first, Group& group) {
    group.reach = after_all_edges<Length>;
    if (is_first && !group.is_far) { // its bounds are those of its points
        return true;
    }
    T nearest = std::numeric_limits<T>::infinity();
    std::int64_t at = -1;
    foreign_.each_near(group.box, components.names[group.component], nearest, [&](std::int64_t i, T distance) {
        nearest = distance;
        at = i;
    });
    for (const std::int32_t position : group.positions) {
        T& bound = bounds_[view_.points.indices[position]];
        bound = std::max(bound, nearest);
    }
    find_limits(group);
    if constexpr (!Metric::has_cores) {
        if (at >= 0) {
            group.reach = BoxDistances<T>(frame(), group.box, foreign_.box(at)).greatest;
        }
    }
    return at >= 0 && group.limit <= components.nearest[group.component];
}

/// By edges to points that are known; and raises the groups' bounds to those of their points.
template <class Metric>
void EdgeRequests<Metric>::lower_reaches(const Components& components, const EdgePoints<T>& points) {
    const NormalizedPoints<T> known = normalized(frame(), PointsView(points.rows, frame().dimension));
    const PointReader<T> coordinates(known);
    std::vector<Corners<T>> corners(points.numbers.size());
    for (std::size_t i = 0; i < corners.size(); ++i) {
        for (int axis = 0; axis < frame().dimension; ++axis) {
            corners[i][axis] = corners[i][max_dimension + axis] = coordinates(static_cast<std::int64_t>(i), axis);
        }
    }
    parallel_each(std::ssize(groups_), 16, [&](std::int64_t g) {
        Group& group = groups_[g];
        if (group.component == Components::none) {
            return;
        }
        find_limits(group);
        for (std::size_t i = 0; i < corners.size(); ++i) {
            T core = 0;
            if constexpr (Metric::has_cores) {
                core = points.cores[i];
            }
            if (points.components[i] == components.names[group.component] ||
                !(metric_.between(0, core, least(group.box, corners[i])) < group.reach)) {
                continue;
            }
            for (const std::int32_t position : group.positions) {
                const T squared = least(corners_at(position), corners[i]);
                group.reach = std::min(group.reach, metric_.between(core_at(position), core, squared));
            }
        }
    });
}

/// body(component, reach, groups): those that may have an edge of up to `reach`, the nearest first.
template <class Metric>
template <class Body>
void EdgeRequests<Metric>::each_component(const Components& components, const Body& body) {
    std::vector<Length> reach = components.nearest;
    std::vector<std::tuple<std::int32_t, Length, std::int64_t>> order; // component, limit, group
    for (std::int64_t i = 0; i < std::ssize(groups_); ++i) {
        const Group& group = groups_[i];
        if (group.component != Components::none) {
            reach[group.component] = std::min(reach[group.component], group.reach);
            order.emplace_back(group.component, group.limit, i);
        }
    }
    std::ranges::sort(order);
    std::vector<std::int64_t> asking;
    for (std::size_t i = 0; i < order.size();) {
        const std::int32_t component = std::get<0>(order[i]);
        asking.clear();
        for (; i < order.size() && std::get<0>(order[i]) == component; ++i) {
            if (std::get<1>(order[i]) <= reach[component]) {
                asking.push_back(std::get<2>(order[i]));
            }
        }
        if (!asking.empty()) {
            body(component, reach[component], std::span<const std::int64_t>(asking));
        }
    }
}

/// Of the requesting points from `first_row` on, which are of the group.
template <class Metric>
void EdgeRequests<Metric>::add_request(const Group& group, std::int64_t first_row, int bits, const Length& reach,
                                       std::int64_t component) {
    const Corners<T> box = joined_box<T>(requesting_.begin() + first_row, requesting_.end(),
                                         [this](std::int32_t position) { return corners_at(position); });
    T smallest = std::numeric_limits<T>::infinity();
    T largest = 0;
    for (std::int64_t i = first_row; i < std::ssize(requesting_); ++i) {
        smallest = std::min(smallest, core_at(requesting_[i]));
        largest = std::max(largest, core_at(requesting_[i]));
    }
    const T bound = rounded_bound(metric_.radius_of(reach, smallest));
    requests_.push_back({{box, bound, component, group.of_leaf, bits, largest}, first_row, std::ssize(requesting_)});
}

/// The requests, to the ranks with boxes of other components within reach.
template <class Metric>
std::vector<RankMessage> EdgeRequests<Metric>::addressed() {
    requests_to_.assign(foreign_.ranks(), {});
    for (std::size_t r = 0; r < requests_.size(); ++r) {
        const EdgeRequest<T>& request = requests_[r].sent;
        const T reach = number_after(request.bound);
        int last = -1;
        foreign_.each_near(request.box, request.component, reach, [&](std::int64_t node, T) {
            const int rank = foreign_.rank_of(node);
            if (rank != last) {
                requests_to_[rank].push_back(static_cast<std::int32_t>(r));
                last = rank;
            }
        });
    }
    std::vector<EdgeRequest<T>> asked;
    return messages_to(requests_to_, [&](MessageWriter& writer, const std::vector<std::int32_t>& list) {
        asked.clear();
        for (const std::int32_t i : list) {
            asked.push_back(requests_[i].sent);
        }
        put_edge_requests<T>(writer, frame().dimension, Metric::has_cores, asked);
    });
}

template <class Metric>
void EdgeRequests<Metric>::take_bounds(int rank, MessageReader& reader) {
    std::vector<EdgeRequest<T>> asked;
    for (const std::int32_t i : requests_to_[rank]) {
        asked.push_back(requests_[i].sent);
    }
    take_answered_bounds<T>(reader, asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        T& bound = requests_[requests_to_[rank][i]].sent.bound;
        bound = std::min(bound, asked[i].bound);
    }
}

template <class Metric>
void EdgeRequests<Metric>::raise_bounds() {
    for (const Request& request : requests_) {
        for (std::int64_t i = request.first_row; i < request.end_row; ++i) {
            T& bound = bounds_[view_.points.indices[requesting_[i]]];
            bound = std::max(bound, number_after(request.sent.bound));
        }
    }
}

template class EdgeRequests<PlainDistance<float>>;
template class EdgeRequests<PlainDistance<double>>;
template class EdgeRequests<MutualReachability<float>>;
template class EdgeRequests<MutualReachability<double>>;

} // namespace kith::detail
