// The points of other ranks that the receivers of this rank can want.
//
// A rank walks its tree down for each request that it gets (piece_requests.hpp) and marks the points that are not
// beyond the bound; what it has marked for any leaf, it sends: coordinates as given, so that both ranks have the same
// working coordinates and can tell tiny ones apart, and a number each. Source: jz-tree paper, section III-C, with
// leaves in place of all planes: a bound is known beforehand, so that one round does.
//
// A leaf whose points are all at one place wants no more points than its answers have, however many lie there.
#pragma once

#include "distributed/differences.hpp"
#include "distributed/piece_requests.hpp"
#include "distributed/shared_frame.hpp"
#include "points/coordinates.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::detail {

/// Walks a tree down for one request and marks the points that it wants. May run for many requests at once.
template <Coordinate T>
class PieceWalk {
public:
    /// `most` is the number of points that a request of one place wants at most, or unlimited.
    PieceWalk(const SharedPoints<T>& shared, const TreeView<T>& tree, std::int64_t most, std::uint8_t* is_wanted)
        : frame_(shared.points.frame), numbers_(shared.numbers), tree_(tree), most_(most), is_wanted_(is_wanted) {}

    /// is_whole(level, node): one point of the node will do if all of it is within reach of all of the request's box.
    template <class IsWhole>
    void walk(const PieceRequest<T>& request, const IsWhole& is_whole) {
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
    template <class IsWhole>
    void visit(const Corners<T>& box, int level, std::int32_t node, const IsWhole& is_whole) {
        const PlaneView<T>& plane = tree_.planes[level];
        const BoxDistances<T> distances(frame_, box, corners_of(plane, node, frame_.dimension));
        if (bound_ < GlobalCandidate<T>{distances.least, numbers_[plane.smallest_index[node]]}) {
            return;
        }
        if (distances.greatest <= bound_.distance && is_whole(level, node)) {
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
                point[axis] = point[max_dimension + axis] = tree_.points.axis(axis)[i];
            }
            const GlobalCandidate<T> candidate{BoxDistances<T>(frame_, box, point).least,
                                               numbers_[tree_.points.indices[i]]};
            if (!(bound_ < candidate)) {
                take(candidate, i);
            }
        }
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
    const TreeView<T>& tree_;
    std::int64_t most_;
    std::uint8_t* is_wanted_;
    GlobalCandidate<T> bound_;
    bool limited_ = false; ///< the nearest few do
    std::vector<std::pair<GlobalCandidate<T>, std::int32_t>> nearest_;
};

/// Throws too_large if a rank must work on more points of its own and of others than one process can number.
inline void require_countable(std::int64_t points) {
    if (points > std::numeric_limits<std::int32_t>::max()) {
        throw detail::error(ErrorKind::too_large, "this rank's points are near ", points,
                            " points, more than 2147483647; distribute the points so that "
                            "those of a rank are near each other");
    }
}

/// Points of other ranks, as given, by ascending number.
template <Coordinate T>
struct FetchedPoints {
    std::vector<T> rows;               ///< row-major
    std::vector<std::int64_t> numbers; ///< a global index for each

    [[nodiscard]] std::int64_t count() const { return std::ssize(numbers); }
    /// Where the point of that number is, if numbers are global indices, which ascend.
    [[nodiscard]] std::int64_t position(std::int64_t number) const {
        return std::ranges::lower_bound(numbers, number) - numbers.begin();
    }

    /// Of several ranks, each by ascending number.
    void sort(int dimension) {
        if (std::ranges::is_sorted(numbers)) {
            return;
        }
        const std::vector<std::int64_t> order = order_of<std::int64_t>(numbers);
        rows = rows_in_order<T>(rows, dimension, order);
        numbers = rows_in_order<std::int64_t>(numbers, 1, order);
    }
};

/// Answers the requests of all ranks and gets the answers to this rank's own; meanwhile() is work of this rank alone,
/// done while requests travel. number_of(row) is the number that is sent with each point (differences.hpp): an int64,
/// or an int32 that others add to the first global index of this rank.
template <Coordinate T, class Meanwhile, class IsWhole, class NumberOf>
FetchedPoints<T> fetch_pieces(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& tree,
                              const std::vector<std::vector<PieceRequest<T>>>& to, std::int64_t most,
                              const Meanwhile& meanwhile, const IsWhole& is_whole, const NumberOf& number_of) {
    using Number = std::invoke_result_t<NumberOf, std::int32_t>;
    const Frame<T>& frame = shared.points.frame;
    std::vector<RankMessage> messages;
    ranks.agreed([&] { messages = messages_of(to, frame.dimension); });
    std::vector<RankMessage> asked = ranks.exchange_during(std::move(messages), meanwhile);
    messages.clear();
    ranks.agreed([&] {
        context.stage("select", [&] {
            Buffer<std::uint8_t> is_wanted(context.memory_tracker(), tree.points.count);
            const Coordinates<T> given(shared.points.view);
            for (RankMessage& of_rank : asked) {
                const std::vector<PieceRequest<T>> requests = requests_of<T>(of_rank, frame.dimension);
                of_rank.bytes = std::vector<std::byte>(); // frees them
                std::memset(is_wanted.data(), 0, tree.points.count);
                parallel_for(0, std::ssize(requests), 16, [&](std::int64_t begin, std::int64_t end) {
                    PieceWalk<T> walk(shared, tree, most, is_wanted.data());
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
                DifferenceWriter numbers(writer);
                for (const std::int32_t row : wanted) {
                    numbers.put(number_of(row));
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
    FetchedPoints<T> fetched;
    ranks.agreed([&] {
        for (RankMessage& message : received) {
            MessageReader reader(message.bytes);
            const auto count = reader.take<std::int64_t>();
            const std::int64_t first = sizeof(Number) == 8 ? 0 : shared.ownership.first_of(message.rank);
            take_differences(reader, count, first, fetched.numbers);
            reader.take(count * frame.dimension, fetched.rows);
            message.bytes = std::vector<std::byte>(); // frees them
        }
        require_countable(fetched.count());
    });
    return fetched;
}

/// The same with the points' own numbers, by which the answer is sorted.
template <Coordinate T, class Meanwhile>
FetchedPoints<T> fetch_points(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& tree,
                              const std::vector<std::vector<PieceRequest<T>>>& to, std::int64_t most,
                              const Meanwhile& meanwhile) {
    const auto never_whole = [](int, std::int32_t) { return false; };
    if (!shared.numbers.are_given()) {
        return fetch_pieces<T>(ranks, context, shared, tree, to, most, meanwhile, never_whole,
                               [](std::int32_t row) { return row; });
    }
    FetchedPoints<T> fetched = fetch_pieces<T>(ranks, context, shared, tree, to, most, meanwhile, never_whole,
                                               [&](std::int32_t row) { return shared.numbers[row]; });
    ranks.agreed([&] { fetched.sort(shared.points.frame.dimension); });
    return fetched;
}

} // namespace kith::detail
