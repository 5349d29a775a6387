#include "distributed/ghost_requests.hpp"

#include "distributed/differences.hpp"
#include "distributed/top_planes.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

namespace kith::detail {

namespace {

/// Lowers the bound of a box to the distance within which the nodes that it reaches, and this rank's own, hold that
/// many points (jz-tree paper, section III).
template <Coordinate T>
void tighten(const TopPlanes<T>& tops, const Frame<T>& frame, std::int64_t wanted, const Corners<T>& box,
             const std::vector<std::pair<int, std::int64_t>>& reached, GlobalCandidate<T>& bound) {
    std::vector<std::pair<T, std::int64_t>> guarantees; // greatest distance, points
    const auto offer = [&](std::int64_t i) {
        const auto& node = tops.nodes[i];
        const T greatest = BoxDistances<T>(frame, box, node.box).greatest;
        if (greatest < bound.distance) {
            guarantees.emplace_back(greatest, node.points);
        }
    };
    for (const auto& [rank, i] : reached) {
        offer(i);
    }
    for (std::int64_t i = tops.first(tops.own_rank); i < tops.first(tops.own_rank + 1); ++i) {
        offer(i);
    }
    std::ranges::sort(guarantees);
    std::int64_t points = 0;
    for (const auto& [greatest, count] : guarantees) {
        points += count;
        if (points >= wanted) {
            bound = {greatest};
            return;
        }
    }
}

/// Leaves are culled against ranks in groups of 64 and of 4096, by joint bounding box.
inline constexpr std::int64_t leaves_of_a_run = 64;
inline constexpr std::int64_t runs_together = 64;

/// Those of the ranks that may have points for one of these requests.
template <Coordinate T>
std::vector<int> ranks_near(const Frame<T>& frame, std::span<const GhostRequest<T>> requests, const TopPlanes<T>& tops,
                            const std::vector<int>& ranks) {
    const Corners<T> box =
        joined_box<T>(requests.begin(), requests.end(),
                      [](const GhostRequest<T>& request) -> const Corners<T>& { return request.box; });
    T farthest = -1;
    for (const GhostRequest<T>& request : requests) {
        farthest = std::max(farthest, request.bound.distance);
    }
    std::vector<int> near;
    std::ranges::copy_if(ranks, std::back_inserter(near),
                         [&](int rank) { return BoxDistances<T>(frame, box, tops.of_ranks[rank]).least <= farthest; });
    return near;
}

} // namespace

template <Coordinate T>
GhostRequests<T> requests_near(Context& context, const Frame<T>& frame, const TreeView<T>& receivers,
                               const TopPlanes<T>& tops, std::int64_t wanted, const LeafBounds<T>& bound_of,
                               const RequestsFrom& requests_from) {
    using Lists = std::vector<std::vector<GhostRequest<T>>>;
    GhostRequests<T> requests{Lists(static_cast<std::size_t>(tops.ranks)),
                              Buffer<std::uint8_t>(context.memory_tracker(), receivers.points.count)};
    std::memset(requests.is_requesting.data(), 0, receivers.points.count);
    if (receivers.top < 0) {
        return requests;
    }
    const PlaneView<T>& leaves = receivers.planes[0];
    std::vector<int> requested; // ranks with points
    for (int rank = 0; rank < tops.ranks; ++rank) {
        if (rank != tops.own_rank && tops.first(rank) != tops.first(rank + 1) &&
            (!requests_from || requests_from(rank))) {
            requested.push_back(rank);
        }
    }
    PerThread<Lists> found([&] { return std::make_unique<Lists>(static_cast<std::size_t>(tops.ranks)); });
    parallel_for(0, leaves.nodes, leaves_of_a_run, [&](std::int64_t begin, std::int64_t end) {
        Lists& lists = found.local();
        std::vector<GhostRequest<T>> run; // of neighboring leaves
        std::vector<int> near_runs;       // ranks that may have points for some runs, and for one
        std::vector<int> near_run;
        std::vector<std::pair<int, std::int64_t>> reached; // nodes of others, with their ranks
        for (std::int64_t leaf = begin; leaf < end; ++leaf) {
            const std::int64_t in_runs = (leaf - begin) % (leaves_of_a_run * runs_together);
            if (in_runs == 0) {
                run.clear();
                for (std::int64_t i = leaf; i < std::min(end, leaf + leaves_of_a_run * runs_together); ++i) {
                    run.push_back({corners_of(leaves, i, frame.dimension), bound_of(i)});
                }
                near_runs = ranks_near<T>(frame, run, tops, requested);
            }
            if (in_runs % leaves_of_a_run == 0) {
                const std::int64_t in_this = std::min(std::ssize(run) - in_runs, leaves_of_a_run);
                near_run =
                    ranks_near<T>(frame, {run.data() + in_runs, static_cast<std::size_t>(in_this)}, tops, near_runs);
            }
            GhostRequest<T>& request = run[in_runs];
            const auto is_near = [&](const Corners<T>& box) {
                return BoxDistances<T>(frame, request.box, box).least <= request.bound.distance;
            };
            reached.clear();
            for (const int rank : near_run) {
                if (!is_near(tops.of_ranks[rank])) {
                    continue;
                }
                for (std::int64_t i = tops.first(rank); i < tops.first(rank + 1); ++i) {
                    if (is_near(tops.nodes[i].box)) {
                        reached.emplace_back(rank, i);
                    }
                }
            }
            if (reached.empty()) {
                continue;
            }
            if (wanted != unlimited) {
                tighten(tops, frame, wanted, request.box, reached, request.bound);
            }
            int last = -1;
            for (const auto& [rank, i] : reached) {
                if (rank == last || !is_near(tops.nodes[i].box)) {
                    continue;
                }
                last = rank;
                auto& list = lists[rank];
                if (!list.empty() && request.is_single_point() && list.back().box == request.box) {
                    list.back().bound = std::max(list.back().bound, request.bound); // a run of coincident points
                } else {
                    list.push_back(request);
                }
                std::memset(requests.is_requesting.data() + leaves.first_point[leaf], 1, leaves.points_in(leaf));
            }
        }
    });
    for (Lists& lists : found.values()) {
        for (std::size_t rank = 0; rank < lists.size(); ++rank) {
            requests.to[rank].insert(requests.to[rank].end(), lists[rank].begin(), lists[rank].end());
        }
    }
    return requests;
}

template <Coordinate T>
GhostRequests<T> request_ghosts(Ranks& ranks, Context& context, const Frame<T>& frame, const TreeView<T>& sources,
                                const TreeView<T>& receivers, std::int64_t wanted, const LeafBounds<T>& bound_of,
                                const RequestsFrom& requests_from) {
    const TopPlanes<T> tops(ranks, sources, frame.dimension);
    GhostRequests<T> requests;
    ranks.agreed([&] {
        context.stage(
            "ask", [&] { requests = requests_near(context, frame, receivers, tops, wanted, bound_of, requests_from); });
    });
    return requests;
}

template <Coordinate T>
std::vector<RankMessage> messages_of(const std::vector<std::vector<GhostRequest<T>>>& to, int dimension) {
    return messages_to(to, [&](MessageWriter& writer, const std::vector<GhostRequest<T>>& requests) {
        writer.put_value(std::ssize(requests));
        for (const GhostRequest<T>& request : requests) {
            put_corners(writer, request.box, dimension);
            writer.put_value(request.bound.distance);
        }
        DifferenceWriter indices(writer);
        for (const GhostRequest<T>& request : requests) {
            indices.put(request.bound.index);
        }
    });
}

template <Coordinate T>
std::vector<GhostRequest<T>> requests_of(const RankMessage& message, int dimension) {
    MessageReader reader(message.bytes);
    std::vector<GhostRequest<T>> requests(reader.take<std::int64_t>());
    for (GhostRequest<T>& request : requests) {
        request.box = take_corners<T>(reader, dimension);
        request.bound.distance = reader.take<T>();
    }
    std::vector<std::int64_t> indices;
    take_differences(reader, std::ssize(requests), 0, indices);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        requests[i].bound.index = indices[i];
    }
    return requests;
}

template GhostRequests<float> requests_near(Context&, const Frame<float>&, const TreeView<float>&,
                                            const TopPlanes<float>&, std::int64_t, const LeafBounds<float>&,
                                            const RequestsFrom&);
template GhostRequests<float> request_ghosts(Ranks&, Context&, const Frame<float>&, const TreeView<float>&,
                                             const TreeView<float>&, std::int64_t, const LeafBounds<float>&,
                                             const RequestsFrom&);
template std::vector<RankMessage> messages_of(const std::vector<std::vector<GhostRequest<float>>>&, int);
template std::vector<GhostRequest<float>> requests_of(const RankMessage&, int);
template GhostRequests<double> requests_near(Context&, const Frame<double>&, const TreeView<double>&,
                                             const TopPlanes<double>&, std::int64_t, const LeafBounds<double>&,
                                             const RequestsFrom&);
template GhostRequests<double> request_ghosts(Ranks&, Context&, const Frame<double>&, const TreeView<double>&,
                                              const TreeView<double>&, std::int64_t, const LeafBounds<double>&,
                                              const RequestsFrom&);
template std::vector<RankMessage> messages_of(const std::vector<std::vector<GhostRequest<double>>>&, int);
template std::vector<GhostRequest<double>> requests_of(const RankMessage&, int);

} // namespace kith::detail
