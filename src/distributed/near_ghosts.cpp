#include "distributed/near_ghosts.hpp"

#include "neighbors/knn.hpp"
#include "neighbors/radius_checks.hpp"
#include "neighbors/sinks.hpp"

#include <cstddef>
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

} // namespace

template <Coordinate T>
GhostPoints<T> fetch_nearest(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PartTrees<T>& trees,
                             std::int64_t k, const KnnOptions& options) {
    const Frame<T>& frame = shared.points.frame;
    const KnnRequest<T> request = working_request(frame, k, options);
    const std::int64_t rows = trees.receivers().points.count;
    std::optional<LastNeighbors<T>> last;
    ranks.agreed([&] {
        last.emplace(rows, shared.numbers, GlobalCandidate<T>{request.limit.distance});
        context.stage("bound", [&] {
            if (shared.points.view.count() > 0 && rows > 0) {
                search_tree(context, trees.receivers(), trees.sources, request, *last);
            }
        });
    });
    const TreeView<T> sources = trees.sources.view();
    const TreeView<T> receivers = trees.receivers().view();
    const GhostRequests<T> requests =
        request_ghosts(ranks, context, frame, sources, receivers, request.needed(), [&](std::int64_t leaf) {
            return largest_bound(receivers, leaf, [&](std::int32_t query) { return last->of(query); });
        });
    return fetch_numbered_ghosts(ranks, context, shared, sources, requests.to, k, [] {});
}

template <Coordinate T>
GhostPoints<T> fetch_within(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& sources,
                            const TreeView<T>& receivers, const SquaredRadiusOf<T>& squared_radius_of) {
    const GhostRequests<T> requests =
        request_ghosts(ranks, context, shared.points.frame, sources, receivers, unlimited, [&](std::int64_t leaf) {
            return largest_bound(receivers, leaf,
                                 [&](std::int32_t query) { return GlobalCandidate<T>{squared_radius_of(query)}; });
        });
    return fetch_numbered_ghosts(ranks, context, shared, sources, requests.to, unlimited, [] {});
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

template GhostPoints<float> fetch_nearest(Ranks&, Context&, const SharedPoints<float>&, const PartTrees<float>&,
                                          std::int64_t, const KnnOptions&);
template GhostPoints<float> fetch_within(Ranks&, Context&, const SharedPoints<float>&, const TreeView<float>&,
                                         const TreeView<float>&, const SquaredRadiusOf<float>&);
template void refuse_unresolved(Ranks&, const SharedPoints<float>&, const PointsView*, const Radii&, std::int64_t);
template GhostPoints<double> fetch_nearest(Ranks&, Context&, const SharedPoints<double>&, const PartTrees<double>&,
                                           std::int64_t, const KnnOptions&);
template GhostPoints<double> fetch_within(Ranks&, Context&, const SharedPoints<double>&, const TreeView<double>&,
                                          const TreeView<double>&, const SquaredRadiusOf<double>&);
template void refuse_unresolved(Ranks&, const SharedPoints<double>&, const PointsView*, const Radii&, std::int64_t);

} // namespace kith::detail
