#include "distributed/near_ghosts.hpp"

#include "distributed/joined_points.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/radius_checks.hpp"
#include "neighbors/sinks.hpp"
#include "tree/subtree.hpp"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

/// Keeps the last neighbor of each query.
template <Coordinate T>
class LastNeighbors final : public RowSink<T> {
public:
    LastNeighbors(std::int64_t queries, const PointNumbers& numbers, const GlobalCandidate<T>& limit)
        : numbers_(numbers), limit_(limit), last_(static_cast<std::size_t>(queries), limit) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            const std::int64_t last = row * block.k + block.k - 1;
            last_[block.queries[row]] = block.indices[last] < 0
                                            ? limit_
                                            : GlobalCandidate<T>{block.distances[last], numbers_[block.indices[last]]};
        }
    }
    [[nodiscard]] const GlobalCandidate<T>& of(std::int64_t query) const { return last_[query]; }

private:
    const PointNumbers& numbers_;
    GlobalCandidate<T> limit_;
    std::vector<GlobalCandidate<T>> last_;
};

/// Keeps the squared distance to the last neighbor of each query, which has all of its row.
template <Coordinate T>
class LastSquares final : public RowSink<T> {
public:
    explicit LastSquares(std::vector<T>& squares) : squares_(squares) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            squares_[block.queries[row]] = block.distances[row * block.k + block.k - 1];
        }
    }

private:
    std::vector<T>& squares_;
};

/// Collective. Searches the receivers among this rank's own points, and requests what other ranks can add.
template <Coordinate T>
GhostRequests<T> request_nearest(Ranks& ranks, Context& context, const SharedPoints<T>& shared,
                                 const PartTrees<T>& trees, const KnnRequest<T>& request, LastNeighbors<T>& last) {
    ranks.agreed([&] {
        context.stage("bound", [&] {
            if (shared.points.view.count() > 0 && trees.receivers().points.count > 0) {
                search_tree(context, trees.receivers(), trees.sources, request, last);
            }
        });
    });
    const TreeView<T> receivers = trees.receivers().view();
    return request_ghosts(ranks, context, shared.points.frame, trees.sources.view(), receivers, request.needed(),
                          [&](std::int64_t leaf) {
                              return largest_bound(receivers, leaf, [&](std::int32_t query) { return last.of(query); });
                          });
}

} // namespace

template <Coordinate T>
NearGhosts<T> fetch_nearest(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PartTrees<T>& trees,
                            std::int64_t k, const KnnOptions& options) {
    const KnnRequest<T> request = working_request(shared.points.frame, k, options);
    std::optional<LastNeighbors<T>> last;
    ranks.agreed([&] {
        last.emplace(trees.receivers().points.count, shared.numbers, GlobalCandidate<T>{request.limit.distance});
    });
    GhostRequests<T> requests = request_nearest(ranks, context, shared, trees, request, *last);
    last.reset(); // frees them
    return {fetch_numbered_ghosts(ranks, context, shared, trees.sources.view(), requests.to, k, [] {}),
            std::move(requests.is_requesting)};
}

template <Coordinate T>
std::vector<T> kth_squares_over_ranks(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::int64_t k) {
    const Frame<T>& frame = shared.points.frame;
    KnnRequest<T> request = working_request(frame, k, {.exclude_self = true});
    PartTrees<T> trees;
    std::vector<T> squares;
    std::optional<LastNeighbors<T>> last;
    ranks.agreed([&] {
        trees = PartTrees<T>(context, shared.points, nullptr);
        last.emplace(shared.points.view.count(), shared.numbers, GlobalCandidate<T>{request.limit.distance});
    });
    const GhostRequests<T> requests = request_nearest(ranks, context, shared, trees, request, *last);
    ranks.agreed([&] {
        squares.resize(static_cast<std::size_t>(shared.points.view.count()));
        for (std::size_t row = 0; row < squares.size(); ++row) {
            squares[row] = last->of(static_cast<std::int64_t>(row)).distance;
        }
        last.reset();
    });
    GhostPoints<T> ghosts =
        fetch_numbered_ghosts(ranks, context, shared, trees.sources.view(), requests.to, request.k, [] {});
    ranks.agreed([&] {
        if (ghosts.count() == 0) {
            return;
        }
        PlaneTree<T> receivers;
        context.run([&] { receivers = subtree(context, trees.sources, requests.is_requesting); });
        trees = PartTrees<T>(); // frees them
        const HeldPoints rows = join_rows(shared, std::move(ghosts)).rows;
        const NormalizedPoints<T> points = shared.there->in_frame(rows.view, frame);
        const PlaneTree<T> sources = build_plane_tree<T>(context, points, {});
        request.exclude_self = false; // the point itself is the nearest, at a distance of 0
        ++request.k;
        LastSquares<T> sink(squares);
        context.stage("search pieces", [&] { search_tree(context, receivers, sources, request, sink); });
    });
    return squares;
}

template <Coordinate T>
NearGhosts<T> fetch_within(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& sources,
                           const TreeView<T>& receivers, const SquaredRadiusOf<T>& squared_radius_of) {
    GhostRequests<T> requests =
        request_ghosts(ranks, context, shared.points.frame, sources, receivers, unlimited, [&](std::int64_t leaf) {
            return largest_bound(receivers, leaf,
                                 [&](std::int32_t query) { return GlobalCandidate<T>{squared_radius_of(query)}; });
        });
    return {fetch_numbered_ghosts(ranks, context, shared, sources, requests.to, unlimited, [] {}),
            std::move(requests.is_requesting)};
}

template <Coordinate T>
void refuse_unresolved(Ranks& ranks, const SharedPoints<T>& shared, const PointsView* queries, const Radii& radii,
                       std::int64_t smallest) {
    const std::int64_t rows = ranks.sum((queries != nullptr ? *queries : shared.given).count());
    if (rows == 0 || shared.ownership.total() == 0 || are_all_at_zero(shared, queries)) {
        return;
    }
    const bool is_unresolved = smallest >= 0 && shared.points.frame.is_unresolved(radii[smallest]);
    if (!ranks.any(is_unresolved)) {
        return;
    }
    const LargestCoordinate largest = largest_of_all(ranks, shared);
    ranks.agreed([&] {
        if (is_unresolved) {
            refuse_unresolved_radius(radii, smallest, largest);
        }
    });
}

template NearGhosts<float> fetch_nearest(Ranks&, Context&, const SharedPoints<float>&, const PartTrees<float>&,
                                         std::int64_t, const KnnOptions&);
template std::vector<float> kth_squares_over_ranks(Ranks&, Context&, const SharedPoints<float>&, std::int64_t);
template NearGhosts<float> fetch_within(Ranks&, Context&, const SharedPoints<float>&, const TreeView<float>&,
                                        const TreeView<float>&, const SquaredRadiusOf<float>&);
template void refuse_unresolved(Ranks&, const SharedPoints<float>&, const PointsView*, const Radii&, std::int64_t);
template NearGhosts<double> fetch_nearest(Ranks&, Context&, const SharedPoints<double>&, const PartTrees<double>&,
                                          std::int64_t, const KnnOptions&);
template std::vector<double> kth_squares_over_ranks(Ranks&, Context&, const SharedPoints<double>&, std::int64_t);
template NearGhosts<double> fetch_within(Ranks&, Context&, const SharedPoints<double>&, const TreeView<double>&,
                                         const TreeView<double>&, const SquaredRadiusOf<double>&);
template void refuse_unresolved(Ranks&, const SharedPoints<double>&, const PointsView*, const Radii&, std::int64_t);

} // namespace kith::detail
