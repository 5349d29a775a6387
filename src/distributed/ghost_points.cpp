#include "distributed/ghost_points.hpp"

#include "distributed/differences.hpp"
#include "points/coordinates.hpp"
#include "points/point_set.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace kith::detail {

namespace {

/// Walks down a tree for one request and marks the points that it needs. Several may run at once.
template <Coordinate T>
class GhostWalk {
public:
    /// `most` is the number of points that a request whose box is a point needs, or unlimited.
    GhostWalk(const SharedPoints<T>& shared, const TreeView<T>& tree, std::int64_t most, std::uint8_t* is_wanted)
        : frame_(shared.points.frame), numbers_(shared.numbers), given_(shared.points), tree_(tree), most_(most),
          is_wanted_(is_wanted) {}

    void walk(const GhostRequest<T>& request, const IsWhole& is_whole) {
        bound_ = request.bound;
        limited_ = most_ != unlimited && request.is_single_point();
        nearest_.clear();
        for (std::int32_t node = 0; node < tree_.planes[tree_.top].nodes; ++node) {
            visit(request.box, tree_.top, node, is_whole);
        }
        for (const auto& [candidate, position] : nearest_) {
            mark(position);
        }
    }

private:
    void visit(const Corners<T>& box, int level, std::int32_t node, const IsWhole& is_whole) {
        const PlaneView<T>& plane = tree_.planes[level];
        const BoxDistances<T> distances(frame_, box, corners_of(plane, node, frame_.dimension));
        if (bound_ < GlobalCandidate<T>{distances.least, numbers_[plane.smallest_index[node]]}) {
            return;
        }
        if (distances.greatest <= bound_.distance && is_whole && is_whole(level, node)) {
            mark(plane.first_point[node]);
            return;
        }
        if (level > 0) {
            for (std::int32_t child = plane.first_child[node]; child < plane.first_child[node + 1]; ++child) {
                visit(box, level - 1, child, is_whole);
            }
            return;
        }
        for (std::int32_t i = plane.first_point[node]; i < plane.first_point[node + 1]; ++i) {
            Corners<T> point{};
            for (int axis = 0; axis < frame_.dimension; ++axis) {
                point[axis] = point[max_dimension + axis] = coordinate(i, axis);
            }
            const GlobalCandidate<T> candidate{BoxDistances<T>(frame_, box, point).least,
                                               numbers_[tree_.points.indices[i]]};
            if (!(bound_ < candidate)) {
                take(candidate, i);
            }
        }
    }

    /// In working units; of the points as given where the tree's coordinates are on a GPU.
    [[nodiscard]] T coordinate(std::int32_t position, int axis) const {
        return tree_.points.coordinates != nullptr ? tree_.points.axis(axis)[position]
                                                   : given_(tree_.points.indices[position], axis);
    }

    void take(const GlobalCandidate<T>& candidate, std::int32_t position) {
        if (!limited_) {
            mark(position);
            return;
        }
        nearest_.emplace_back(candidate, position);
        std::push_heap(nearest_.begin(), nearest_.end());
        if (std::ssize(nearest_) > most_) {
            std::pop_heap(nearest_.begin(), nearest_.end());
            nearest_.pop_back();
            bound_ = nearest_.front().first;
        }
    }
    void mark(std::int32_t position) const {
        std::atomic_ref(is_wanted_[position]).store(1, std::memory_order_relaxed);
    }

    const Frame<T>& frame_;
    const PointNumbers& numbers_;
    PointReader<T> given_;
    const TreeView<T>& tree_;
    std::int64_t most_;
    std::uint8_t* is_wanted_;
    GlobalCandidate<T> bound_;
    bool limited_ = false; ///< to the nearest `most_`
    std::vector<std::pair<GlobalCandidate<T>, std::int32_t>> nearest_;
};

} // namespace

template <Coordinate T>
GhostPoints<T> fetch_ghosts(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& tree,
                            const std::vector<std::vector<GhostRequest<T>>>& to, std::int64_t most,
                            const std::function<void()>& meanwhile, const IsWhole& is_whole,
                            const SentNumbers& numbers) {
    const Frame<T>& frame = shared.points.frame;
    std::vector<RankMessage> messages;
    ranks.agreed([&] { messages = messages_of(to, frame.dimension); });
    std::vector<RankMessage> received_requests = ranks.exchange_during(std::move(messages), meanwhile);
    messages.clear();
    ranks.agreed([&] {
        context.stage("select", [&] {
            Buffer<std::uint8_t> is_wanted(context.memory_tracker(), tree.points.count);
            const Coordinates<T> given(shared.points.view);
            for (RankMessage& of_rank : received_requests) {
                const std::vector<GhostRequest<T>> requests = requests_of<T>(of_rank, frame.dimension);
                of_rank.bytes = std::vector<std::byte>(); // frees them
                std::memset(is_wanted.data(), 0, tree.points.count);
                parallel_for(0, std::ssize(requests), 16, [&](std::int64_t begin, std::int64_t end) {
                    GhostWalk<T> walk(shared, tree, most, is_wanted.data());
                    for (std::int64_t i = begin; i < end; ++i) {
                        walk.walk(requests[i], is_whole);
                    }
                });
                std::vector<std::int32_t> wanted;
                for (std::int32_t i = 0; i < tree.points.count; ++i) {
                    if (is_wanted[i] != 0) {
                        wanted.push_back(tree.points.indices[i]);
                    }
                }
                std::ranges::sort(wanted);
                RankMessage& message = messages.emplace_back(RankMessage{of_rank.rank, {}});
                message.bytes.reserve(wanted.size() * (frame.dimension * sizeof(T) + 2) +
                                      8); // most differences are small
                MessageWriter writer(message.bytes);
                writer.put_value(std::ssize(wanted));
                DifferenceWriter differences(writer);
                for (const std::int32_t row : wanted) {
                    differences.put(numbers.of(row));
                }
                for (const std::int32_t row : wanted) {
                    for (int axis = 0; axis < frame.dimension; ++axis) {
                        writer.put_value(given(row, axis));
                    }
                }
            }
        });
    });
    std::vector<RankMessage> received = ranks.exchange(std::move(messages));
    GhostPoints<T> ghosts;
    ranks.agreed([&] {
        for (RankMessage& message : received) {
            MessageReader reader(message.bytes);
            const auto count = reader.take<std::int64_t>();
            const std::int64_t first = numbers.are_local ? shared.ownership.first_of(message.rank) : 0;
            take_differences(reader, count, first, ghosts.numbers);
            reader.take(count * frame.dimension, ghosts.rows);
            message.bytes = std::vector<std::byte>(); // frees them
        }
        require_countable(ghosts.count());
    });
    return ghosts;
}

template <Coordinate T>
GhostPoints<T> fetch_numbered_ghosts(Ranks& ranks, Context& context, const SharedPoints<T>& shared,
                                     const TreeView<T>& tree, const std::vector<std::vector<GhostRequest<T>>>& to,
                                     std::int64_t most, const std::function<void()>& meanwhile) {
    if (!shared.numbers.are_given()) {
        return fetch_ghosts(ranks, context, shared, tree, to, most, meanwhile, {},
                            {[](std::int32_t row) { return row; }, true});
    }
    GhostPoints<T> ghosts = fetch_ghosts(ranks, context, shared, tree, to, most, meanwhile, {},
                                         {[&](std::int32_t row) { return shared.numbers[row]; }, false});
    ranks.agreed([&] { ghosts.sort(shared.points.frame.dimension); });
    return ghosts;
}

template <Coordinate T>
std::vector<T> rows_with_own(const SharedPoints<T>& shared, std::vector<T> ghosts,
                             std::span<const std::int32_t> own_rows) {
    const int dimension = shared.points.frame.dimension;
    require_countable(std::ssize(ghosts) / dimension + std::ssize(own_rows));
    const Coordinates<T> given(shared.points.view);
    for (const std::int32_t row : own_rows) {
        for (int axis = 0; axis < dimension; ++axis) {
            ghosts.push_back(given(row, axis));
        }
    }
    return ghosts;
}

template <Coordinate T>
PlaneTree<T> tree_of_ghosts(Context& context, const SharedPoints<T>& shared, const std::vector<T>& ghosts) {
    const Frame<T>& frame = shared.points.frame;
    NormalizedPoints<T> points;
    context.run([&] { points = normalized(frame, PointsView(ghosts, frame.dimension)); });
    return build_plane_tree<T>(context, points, {});
}

template std::vector<float> rows_with_own(const SharedPoints<float>&, std::vector<float>,
                                          std::span<const std::int32_t>);
template PlaneTree<float> tree_of_ghosts(Context&, const SharedPoints<float>&, const std::vector<float>&);
template GhostPoints<float> fetch_ghosts(Ranks&, Context&, const SharedPoints<float>&, const TreeView<float>&,
                                         const std::vector<std::vector<GhostRequest<float>>>&, std::int64_t,
                                         const std::function<void()>&, const IsWhole&, const SentNumbers&);
template GhostPoints<float> fetch_numbered_ghosts(Ranks&, Context&, const SharedPoints<float>&, const TreeView<float>&,
                                                  const std::vector<std::vector<GhostRequest<float>>>&, std::int64_t,
                                                  const std::function<void()>&);
template std::vector<double> rows_with_own(const SharedPoints<double>&, std::vector<double>,
                                           std::span<const std::int32_t>);
template PlaneTree<double> tree_of_ghosts(Context&, const SharedPoints<double>&, const std::vector<double>&);
template GhostPoints<double> fetch_ghosts(Ranks&, Context&, const SharedPoints<double>&, const TreeView<double>&,
                                          const std::vector<std::vector<GhostRequest<double>>>&, std::int64_t,
                                          const std::function<void()>&, const IsWhole&, const SentNumbers&);
template GhostPoints<double> fetch_numbered_ghosts(Ranks&, Context&, const SharedPoints<double>&,
                                                   const TreeView<double>&,
                                                   const std::vector<std::vector<GhostRequest<double>>>&, std::int64_t,
                                                   const std::function<void()>&);

} // namespace kith::detail
