#include "distributed/ghost_points.hpp"

#include "distributed/ghost_answers.hpp"
#include "points/coordinates.hpp"
#include "points/point_set.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

namespace kith::detail {

namespace {

/// What requests of one rank reach.
template <Coordinate T>
struct Reached {
    /// A leaf that a request reaches, by their numbers.
    struct Leaf {
        std::int32_t leaf;
        std::int32_t request;
        friend auto operator<=>(const Leaf&, const Leaf&) = default;
    };
    int rank;
    std::vector<GhostRequest<T>> requests;
    std::vector<std::int32_t> rows;   ///< that are wanted
    std::vector<Leaf> leaves;         ///< some of whose points may be wanted: those of a GPU
    std::vector<Leaf> nearest_leaves; ///< the same of requests for a number of points
};

/// Walks down a tree for one request after the other, and marks the points that they need, or lists the leaves if a GPU
/// has the points. Several may run at once.
template <Coordinate T>
class GhostWalk {
public:
    using Leaf = typename Reached<T>::Leaf;

    /// `most` is the number of points that a request whose box is a point needs, or unlimited.
    GhostWalk(const SharedPoints<T>& shared, const TreeView<T>& tree, std::int64_t most, std::uint8_t* is_wanted)
        : frame_(shared.points.frame), numbers_(shared.numbers), given_(shared.points),
          is_on_host_(is_on_host(shared.points.view)), tree_(tree), most_(most), is_wanted_(is_wanted) {}

    void walk(const GhostRequest<T>& request, std::int32_t number, const IsWhole& is_whole) {
        bound_ = request.bound;
        number_ = number;
        limited_ = most_ != unlimited && request.is_single_point();
        nearest_.clear();
        guarantees_.clear();
        guaranteed_ = 0;
        reached_.clear();
        for (std::int32_t node = 0; node < tree_.planes[tree_.top].nodes; ++node) {
            visit(request.box, tree_.top, node, is_whole);
        }
        for (const auto& [candidate, position] : nearest_) {
            mark(position);
        }
        for (const auto& [least, leaf] : reached_) {
            if (least <= bound_.distance) {
                nearest_leaves_.push_back(leaf);
            }
        }
    }
    void take_leaves(Reached<T>& reached) const {
        reached.leaves.insert(reached.leaves.end(), leaves_.begin(), leaves_.end());
        reached.nearest_leaves.insert(reached.nearest_leaves.end(), nearest_leaves_.begin(), nearest_leaves_.end());
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
        if (!limited_ && distances.greatest < bound_.distance) { // all of its points
            for (std::int32_t i = plane.first_point[node]; i < plane.first_point[node + 1]; ++i) {
                mark(i);
            }
            return;
        }
        if (level > 0) {
            for (std::int32_t child = plane.first_child[node]; child < plane.first_child[node + 1]; ++child) {
                visit(box, level - 1, child, is_whole);
            }
            return;
        }
        if (!is_on_host_) {
            list(node, distances);
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

    /// Lists a leaf. Lowers the bound to the distance within which the leaves so far hold `most` points.
    void list(std::int32_t leaf, const BoxDistances<T>& distances) {
        if (!limited_) {
            leaves_.push_back({leaf, number_});
            return;
        }
        reached_.push_back({distances.least, {leaf, number_}});
        const std::int64_t points = tree_.planes[0].points_in(leaf);
        guaranteed_ += points;
        guarantees_.emplace_back(distances.greatest, points);
        std::push_heap(guarantees_.begin(), guarantees_.end());
        while (guaranteed_ - guarantees_.front().second >= most_) {
            guaranteed_ -= guarantees_.front().second;
            std::pop_heap(guarantees_.begin(), guarantees_.end());
            guarantees_.pop_back();
        }
        if (guaranteed_ >= most_) {
            bound_ = std::min(bound_, GlobalCandidate<T>{guarantees_.front().first});
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
    PointReader<T> given_;
    bool is_on_host_;
    const TreeView<T>& tree_;
    std::int64_t most_;
    std::uint8_t* is_wanted_;
    GlobalCandidate<T> bound_;
    std::int32_t number_ = 0; ///< of the request
    bool limited_ = false;    ///< to the nearest `most_`
    std::vector<std::pair<GlobalCandidate<T>, std::int32_t>> nearest_;
    std::vector<std::pair<T, std::int64_t>> guarantees_; ///< greatest distance and points of leaves
    std::int64_t guaranteed_ = 0;                        ///< points of these
    std::vector<std::pair<T, Leaf>> reached_;            ///< by a request for `most_`, with the least distance
    std::vector<Leaf> leaves_;
    std::vector<Leaf> nearest_leaves_;
};

/// Adds the points of listed leaves that requests want.
template <Coordinate T>
void want_of_leaves(const SharedPoints<T>& shared, const TreeView<T>& tree, std::int64_t most, Reached<T>& reached) {
    if (reached.leaves.empty() && reached.nearest_leaves.empty()) {
        return;
    }
    ReachedLists<T> lists;
    for (const GhostRequest<T>& request : reached.requests) {
        const std::int64_t end_row = shared.numbers.rows_up_to(request.bound.index);
        lists.boxes.push_back({request.box, request.bound.distance, static_cast<std::int32_t>(end_row)});
    }
    const auto add_rows = [&](std::int32_t leaf) {
        const PlaneView<T>& leaves = tree.planes[0];
        const std::int32_t* const rows = tree.points.indices;
        lists.rows.insert(lists.rows.end(), rows + leaves.first_point[leaf], rows + leaves.first_point[leaf + 1]);
        lists.list_of_row.resize(lists.rows.size(), static_cast<std::int32_t>(std::ssize(lists.first_number) - 1));
    };
    const auto end_list = [&] { lists.first_number.push_back(std::ssize(lists.box_numbers)); };
    std::ranges::sort(reached.leaves); // a list for each leaf
    for (std::size_t i = 0; i < reached.leaves.size(); ++i) {
        const auto [leaf, request] = reached.leaves[i];
        lists.box_numbers.push_back(request);
        if (i + 1 == reached.leaves.size() || reached.leaves[i + 1].leaf != leaf) {
            add_rows(leaf);
            end_list();
        }
    }
    const std::size_t unlimited_rows = lists.rows.size();
    std::ranges::sort(reached.nearest_leaves, {}, [](const auto& leaf) { return std::pair(leaf.request, leaf.leaf); });
    for (std::size_t i = 0; i < reached.nearest_leaves.size(); ++i) { // a list for each request
        const auto [leaf, request] = reached.nearest_leaves[i];
        add_rows(leaf);
        if (i + 1 == reached.nearest_leaves.size() || reached.nearest_leaves[i + 1].request != request) {
            lists.box_numbers.push_back(request);
            end_list();
        }
    }
    const std::vector<T> least = shared.there->least_squares(shared.points, lists);
    constexpr T none = std::numeric_limits<T>::infinity();
    std::vector<std::pair<T, std::int32_t>> nearest; // squared distance and row, which ascends as numbers do
    for (std::size_t i = 0; i < least.size(); ++i) {
        if (i < unlimited_rows) {
            if (least[i] < none) {
                reached.rows.push_back(lists.rows[i]);
            }
            continue;
        }
        if (least[i] < none) {
            nearest.emplace_back(least[i], lists.rows[i]);
        }
        if (i + 1 == least.size() || lists.list_of_row[i + 1] != lists.list_of_row[i]) {
            const auto end = nearest.begin() + std::min<std::int64_t>(most, std::ssize(nearest));
            std::ranges::nth_element(nearest, end);
            std::transform(nearest.begin(), end, std::back_inserter(reached.rows),
                           [](const auto& of) { return of.second; });
            nearest.clear();
        }
    }
}

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
    GhostAnswers<T> answers(ranks, shared, numbers);
    ranks.agreed([&] {
        std::vector<Reached<T>> on_gpu;
        context.stage("select", [&] {
            Buffer<std::uint8_t> is_wanted(context.memory_tracker(), tree.points.count);
            for (RankMessage& of_rank : received_requests) {
                Reached<T> reached{of_rank.rank, requests_of<T>(of_rank, frame.dimension), {}, {}, {}};
                of_rank.bytes = std::vector<std::byte>(); // frees them
                std::memset(is_wanted.data(), 0, tree.points.count);
                std::mutex taking;
                parallel_for(0, std::ssize(reached.requests), 16, [&](std::int64_t begin, std::int64_t end) {
                    GhostWalk<T> walk(shared, tree, most, is_wanted.data());
                    for (std::int64_t i = begin; i < end; ++i) {
                        walk.walk(reached.requests[i], static_cast<std::int32_t>(i), is_whole);
                    }
                    const std::lock_guard lock(taking);
                    walk.take_leaves(reached);
                });
                for (std::int32_t i = 0; i < tree.points.count; ++i) {
                    if (is_wanted[i] != 0) {
                        reached.rows.push_back(tree.points.indices[i]);
                    }
                }
                if (is_on_host(shared.points.view)) {
                    answers.add(reached.rank, std::move(reached.rows));
                } else {
                    on_gpu.push_back(std::move(reached));
                }
            }
        });
        for (Reached<T>& reached : on_gpu) { // not in a stage: the GPU is the calling thread's
            want_of_leaves(shared, tree, most, reached);
            answers.add(reached.rank, std::move(reached.rows));
        }
        answers.gather();
    });
    return answers.exchange();
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
    ranks.agreed([&] {
        if (std::ranges::is_sorted(ghosts.numbers)) {
            return;
        }
        const std::vector<std::int64_t> order = order_of<std::int64_t>(ghosts.numbers);
        std::vector<std::int32_t> which;
        for (const std::int64_t position : order) {
            which.push_back(static_cast<std::int32_t>(-1 - position));
        }
        ghosts.rows = shared.there->joined(shared.points.view, which, ghosts.rows.view);
        ghosts.numbers = rows_in_order<std::int64_t>(ghosts.numbers, 1, order);
    });
    return ghosts;
}

template <Coordinate T>
PlaneTree<T> tree_of_ghosts(Context& context, const SharedPoints<T>& shared, const GhostPoints<T>& ghosts) {
    NormalizedPoints<T> points;
    context.run([&] { points = normalized(shared.points.frame, ghosts.rows.view); });
    return build_plane_tree<T>(context, points, {});
}

template PlaneTree<float> tree_of_ghosts(Context&, const SharedPoints<float>&, const GhostPoints<float>&);
template GhostPoints<float> fetch_ghosts(Ranks&, Context&, const SharedPoints<float>&, const TreeView<float>&,
                                         const std::vector<std::vector<GhostRequest<float>>>&, std::int64_t,
                                         const std::function<void()>&, const IsWhole&, const SentNumbers&);
template GhostPoints<float> fetch_numbered_ghosts(Ranks&, Context&, const SharedPoints<float>&, const TreeView<float>&,
                                                  const std::vector<std::vector<GhostRequest<float>>>&, std::int64_t,
                                                  const std::function<void()>&);
template PlaneTree<double> tree_of_ghosts(Context&, const SharedPoints<double>&, const GhostPoints<double>&);
template GhostPoints<double> fetch_ghosts(Ranks&, Context&, const SharedPoints<double>&, const TreeView<double>&,
                                          const std::vector<std::vector<GhostRequest<double>>>&, std::int64_t,
                                          const std::function<void()>&, const IsWhole&, const SentNumbers&);
template GhostPoints<double> fetch_numbered_ghosts(Ranks&, Context&, const SharedPoints<double>&,
                                                   const TreeView<double>&,
                                                   const std::vector<std::vector<GhostRequest<double>>>&, std::int64_t,
                                                   const std::function<void()>&);

} // namespace kith::detail
