#include "distributed/edge_requests.hpp"

#include "distributed/differences.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace kith::detail {

namespace {

/// In the first round: which points ask, and how far, in units of the least known edges out of their components, squared.
/// They save rounds; between 1 and 6, volume changes by a fifth.
template <Coordinate T>
constexpr T first_asking = 4;
template <Coordinate T>
constexpr T first_reach = 1.25;
/// Components of a leaf ask together if their least edges differ by no more than this factor, squared.
template <Coordinate T>
constexpr T alike = 16;
/// A leaf that is nearer to other ranks than twice its own diagonal has bounds for each point.
template <Coordinate T>
constexpr T near_diagonals = 4;

template <Coordinate T>
T number_after(T number) {
    return std::nextafter(number, std::numeric_limits<T>::infinity());
}

} // namespace

template <Coordinate T>
EdgeRequests<T>::EdgeRequests(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& view)
    : shared_(shared), view_(view), tops_(ranks, view_, shared.points.frame.dimension) {
    ranks.agreed([&] {
        bounds_ = Buffer<T>(context.memory_tracker(), view.points.count);
        context.stage("ask", [&] { find_bounds(); });
    });
}

template <Coordinate T>
Corners<T> EdgeRequests<T>::corners_at(std::int64_t position) const {
    Corners<T> point{};
    for (int axis = 0; axis < frame().dimension; ++axis) {
        point[axis] = point[max_dimension + axis] = view_.points.axis(axis)[position];
    }
    return point;
}

template <Coordinate T>
void EdgeRequests<T>::find_bounds() {
    if (view_.top < 0) {
        return;
    }
    const PlaneView<T>& leaves = view_.planes[0];
    const auto least = [&](const Corners<T>& a, const Corners<T>& b) { return BoxDistances<T>(frame(), a, b).least; };
    const auto each_near = [&](const Corners<T>& box, T& reach, const auto& body) {
        for (int rank = 0; rank < tops_.ranks; ++rank) {
            if (rank == tops_.own_rank || tops_.first(rank) == tops_.first(rank + 1) ||
                !(least(box, tops_.of_ranks[rank]) < reach)) {
                continue;
            }
            for (std::int64_t i = tops_.first(rank); i < tops_.first(rank + 1); ++i) {
                if (const T distance = least(box, tops_.nodes[i].box); distance < reach) {
                    body(i, distance);
                }
            }
        }
    };
    parallel_for(0, leaves.nodes, 64, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> near;
        for (std::int64_t leaf = begin; leaf < end; ++leaf) {
            const Corners<T> box = corners_of(leaves, leaf, frame().dimension);
            T nearest = std::numeric_limits<T>::infinity();
            std::int64_t at = -1;
            each_near(box, nearest, [&](std::int64_t i, T distance) {
                nearest = distance;
                at = i;
            });
            // The bounds of points differ where the leaf is near other ranks; elsewhere that of the leaf suffices.
            const bool is_near = at >= 0 && nearest <= near_diagonals<T> * BoxDistances<T>(frame(), box, box).greatest;
            T reach = 0;
            for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
                T& bound = bounds_[view_.points.indices[i]];
                bound = is_near ? least(corners_at(i), tops_.nodes[at].box) : nearest;
                reach = std::max(reach, bound);
            }
            if (!is_near) {
                continue;
            }
            near.clear();
            each_near(box, reach, [&](std::int64_t i, T) { near.push_back(i); });
            for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
                T& bound = bounds_[view_.points.indices[i]];
                const Corners<T> point = corners_at(i);
                for (const std::int64_t node : near) {
                    bound = std::min(bound, least(point, tops_.nodes[node].box));
                }
            }
        }
    });
}

template <Coordinate T>
std::vector<RankMessage> EdgeRequests<T>::make(const OwnComponents<T>& components, bool is_first) {
    requests_.clear();
    requesting_.clear();
    if (view_.top >= 0) {
        for (std::int64_t leaf = 0; leaf < view_.planes[0].nodes; ++leaf) {
            request(components, leaf, is_first);
        }
        keep_nearest_requests();
        add_probes(components);
    }
    address_requests();
    return messages_to(requests_to_, [&](MessageWriter& writer, const std::vector<std::int32_t>& list) {
        writer.put_value(std::ssize(list));
        for (const std::int32_t i : list) {
            put_corners(writer, requests_[i].sent.box, frame().dimension);
            writer.put_value(requests_[i].sent.bound);
        }
        DifferenceWriter names(writer);
        for (const std::int32_t i : list) {
            names.put(requests_[i].sent.component);
        }
    });
}

template <Coordinate T>
void EdgeRequests<T>::request(const OwnComponents<T>& components, std::int64_t leaf, bool is_first) {
    const PlaneView<T>& leaves = view_.planes[0];
    std::vector<std::pair<std::int32_t, std::int32_t>> asking; // component, position
    T least = std::numeric_limits<T>::infinity();
    T greatest = 0;
    for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
        const std::int32_t row = view_.points.indices[i];
        const std::int32_t component = components.of_row[row];
        if (component < 0 || !(components.nearest[component] < std::numeric_limits<T>::infinity())) {
            continue;
        }
        const T nearest = components.nearest[component];
        if (bounds_[row] <= (is_first ? first_asking<T> : T(1)) * nearest) {
            asking.emplace_back(component, i);
            least = std::min(least, nearest);
            greatest = std::max(greatest, nearest);
        }
    }
    std::ranges::sort(asking);
    const bool are_several = !asking.empty() && asking.front().first != asking.back().first;
    const bool is_joint = is_first && are_several && greatest <= alike<T> * least;
    for (std::size_t i = 0; i < asking.size();) {
        const std::int32_t component = asking[i].first;
        const auto first_row = std::ssize(requesting_);
        for (; i < asking.size() && (is_joint || asking[i].first == component); ++i) {
            requesting_.push_back(asking[i].second);
        }
        is_joint ? add_request(first_row, first_reach<T> * greatest, EdgeRequest<T>::any)
                 : add_request(first_row, components.nearest[component], components.names[component]);
    }
}

/// The least edge of a component may be much shorter than the one that is known. So of the requests of a component those
/// with the nearest points come first, and more of them from round to round.
template <Coordinate T>
void EdgeRequests<T>::keep_nearest_requests() {
    std::vector<std::tuple<std::int64_t, T, std::int64_t>> order; // component, least bound, request
    for (std::int64_t i = 0; i < std::ssize(requests_); ++i) {
        T bound = std::numeric_limits<T>::infinity();
        for (std::int64_t j = requests_[i].first_row; j < requests_[i].end_row; ++j) {
            bound = std::min(bound, bounds_[view_.points.indices[requesting_[j]]]);
        }
        order.emplace_back(requests_[i].sent.component, bound, i);
    }
    std::ranges::sort(order);
    std::vector<Request> kept;
    std::vector<std::int32_t> requesting;
    std::int64_t of_component = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& [component, bound, request] = order[i];
        of_component = i > 0 && component == std::get<0>(order[i - 1]) ? of_component + 1 : 0;
        if (component == EdgeRequest<T>::any || of_component < most_requests_) {
            Request& last = kept.emplace_back(requests_[request]);
            const auto first_row = std::ssize(requesting);
            requesting.insert(requesting.end(), requesting_.begin() + last.first_row,
                              requesting_.begin() + last.end_row);
            last.first_row = first_row;
            last.end_row = std::ssize(requesting);
        }
    }
    requests_ = std::move(kept);
    requesting_ = std::move(requesting);
    most_requests_ = std::min(8 * most_requests_, std::int64_t{1} << 40);
}

/// Components without a known edge: of each other rank's box, the nearest leaf asks with one point.
template <Coordinate T>
void EdgeRequests<T>::add_probes(const OwnComponents<T>& components) {
    const PlaneView<T>& leaves = view_.planes[0];
    for (std::int32_t component = 0; component < std::ssize(components.names); ++component) {
        if (components.nearest[component] < std::numeric_limits<T>::infinity()) {
            continue;
        }
        std::vector<std::int32_t> positions(tops_.ranks, -1); // by rank
        std::vector<T> distances(tops_.ranks, std::numeric_limits<T>::infinity());
        for (std::int64_t leaf = 0; leaf < leaves.nodes; ++leaf) {
            std::int32_t i = leaves.first_point[leaf];
            while (i < leaves.first_point[leaf + 1] && components.of_row[view_.points.indices[i]] != component) {
                ++i;
            }
            if (i == leaves.first_point[leaf + 1]) {
                continue;
            }
            const Corners<T> box = corners_of(leaves, leaf, frame().dimension);
            for (int rank = 0; rank < tops_.ranks; ++rank) {
                const T distance = BoxDistances<T>(frame(), box, tops_.of_ranks[rank]).least;
                if (positions[rank] < 0 || distance < distances[rank]) {
                    positions[rank] = i;
                    distances[rank] = distance;
                }
            }
        }
        std::ranges::sort(positions);
        positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
        for (const std::int32_t position : positions) {
            requesting_.push_back(position);
            add_request(std::ssize(requesting_) - 1, std::numeric_limits<T>::infinity(), components.names[component]);
        }
    }
}

/// Of the requesting points from `first_row` on.
template <Coordinate T>
void EdgeRequests<T>::add_request(std::int64_t first_row, T bound, std::int64_t component) {
    const Corners<T> box = joined_box<T>(requesting_.begin() + first_row, requesting_.end(),
                                         [this](std::int32_t position) { return corners_at(position); });
    requests_.push_back({{box, bound, component}, first_row, std::ssize(requesting_)});
}

template <Coordinate T>
void EdgeRequests<T>::address_requests() {
    requests_to_.assign(tops_.ranks, {});
    for (std::size_t r = 0; r < requests_.size(); ++r) {
        const Request& request = requests_[r];
        const auto is_near = [&](const Corners<T>& box) {
            return BoxDistances<T>(frame(), request.sent.box, box).least <= request.sent.bound;
        };
        for (int rank = 0; rank < tops_.ranks; ++rank) {
            if (rank == tops_.own_rank || tops_.first(rank) == tops_.first(rank + 1) ||
                !is_near(tops_.of_ranks[rank])) {
                continue;
            }
            for (std::int64_t i = tops_.first(rank); i < tops_.first(rank + 1); ++i) {
                if (is_near(tops_.nodes[i].box)) {
                    requests_to_[rank].push_back(static_cast<std::int32_t>(r));
                    break;
                }
            }
        }
    }
}

template <Coordinate T>
std::vector<EdgeRequest<T>> EdgeRequests<T>::taken(const RankMessage& message, int dimension) {
    MessageReader reader(message.bytes);
    std::vector<EdgeRequest<T>> requests(reader.take<std::int64_t>());
    for (EdgeRequest<T>& request : requests) {
        request.box = take_corners<T>(reader, dimension);
        request.bound = reader.take<T>();
    }
    std::vector<std::int64_t> names;
    take_differences(reader, std::ssize(requests), 0, names);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        requests[i].component = names[i];
    }
    return requests;
}

template <Coordinate T>
void EdgeRequests<T>::take_bounds(int rank, MessageReader& reader) {
    for (const std::int32_t i : requests_to_[rank]) {
        requests_[i].sent.bound = std::min(requests_[i].sent.bound, reader.take<T>());
    }
}

template <Coordinate T>
void EdgeRequests<T>::raise_bounds() {
    for (const Request& request : requests_) {
        for (std::int64_t i = request.first_row; i < request.end_row; ++i) {
            T& bound = bounds_[view_.points.indices[requesting_[i]]];
            bound = std::max(bound, number_after(request.sent.bound));
        }
    }
}

template class EdgeRequests<float>;
template class EdgeRequests<double>;

} // namespace kith::detail
