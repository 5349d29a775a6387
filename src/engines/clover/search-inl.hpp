// The neighbors of all points of a cell, found together.
//
// A cell's queries are searched as a leaf's are (neighbors/leaf-inl.hpp): within a radius that is expected to hold
// their k nearest, then within larger ones for those that found too few; the radius that some of the nearest cells
// guarantee ends that. Which cells the radius meets the graph tells: edges are followed in ascending order of weight
// until the triangle inequality excludes the next and all after it, and a cell is skipped if its box is out of reach.
// Where the horizon is not excluded, edges are not all, and the groups are asked instead, by their boxes. Separate
// queries are cells too; each of them uses the edges of the source cell whose hub is near its own.

#include "engines/clover/connect-inl.hpp"
#include "neighbors/leaf-inl.hpp"
#include "walk/near_ranges-inl.hpp"

#include "engines/clover/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(KITH_CLOVER_SEARCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CLOVER_SEARCH_INL_HPP
#undef KITH_CLOVER_SEARCH_INL_HPP
#else
#define KITH_CLOVER_SEARCH_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
class CellSearch {
public:
    CellSearch(const CellSearchJob<T>& job, CellSearchScratch<T>& scratch)
        : receivers_(*job.receivers), sources_(*job.sources), graph_(*job.graph), bound_(job.bound),
          request_(*job.search.request), self_search_(job.search.self_search), scratch_(scratch),
          dimension_(job.search.dimension), boxes_(walk_kernels<T>(dimension_, job.search.periodic)),
          kernels_(cell_kernels<T>(dimension_, job.search.periodic)), leaf_(job.search, scratch.search),
          ranges_(*job.search.sources, dimension_, boxes_, scratch.search.walk), needed_(request_.needed()) {}

    void search(std::int64_t group) {
        const Plane<T>& groups = sources_.groups();
        auto& list = scratch_.groups;
        list.size = groups.nodes;
        list.nodes.reserve(groups.nodes + padding);
        list.least.reserve(groups.nodes + padding);
        least_distances_to(boxes_, box_of(receivers_.groups(), group), groups.lower(0), groups.upper(0), groups.stride,
                           groups.nodes, list.least.data());
        for (std::int32_t i = 0; i < groups.nodes; ++i) {
            list.nodes[i] = i;
        }
        ranges_.start(list, 1);
        const std::int32_t last = receivers_.groups().first_child[group + 1];
        for (std::int32_t cell = receivers_.groups().first_child[group]; cell < last; ++cell) {
            search_cell(cell);
        }
        leaf_.publish();
    }

private:
    static constexpr std::int64_t padding = 2 * 64 / sizeof(T);
    static constexpr std::int32_t rows_at_once = 1024; ///< of a cell; one at one place may hold any number
    static constexpr T infinity = std::numeric_limits<T>::infinity();

    [[nodiscard]] AnyReceiver<T> box_of(const Plane<T>& plane, std::int64_t node) const {
        AnyReceiver<T> box{};
        for (int axis = 0; axis < dimension_; ++axis) {
            box.lower[axis] = plane.lower(axis)[node];
            box.upper[axis] = plane.upper(axis)[node];
            box.period[axis] = sources_.tree.points.frame.working_period[axis];
        }
        return box;
    }

    /// Squared distances between a box and that of a node.
    [[nodiscard]] Bounds<T> distances_to(const AnyReceiver<T>& box, const Plane<T>& plane, std::int64_t node) const {
        return box_distances(dimension_, box, plane.lower(0) + node, plane.upper(0) + node, plane.stride);
    }

    void search_cell(std::int32_t cell) {
        const AnyReceiver<T> box = box_of(receivers_.cells(), cell);
        constexpr std::int64_t all = std::numeric_limits<std::int32_t>::max();
        ranges_.limit_of_single_point(static_cast<std::int32_t>(std::min(needed_, all)));
        home_ = self_search_ ? cell : home_of(cell);
        radius_ = radius_of(cell);
        const T farthest = std::min(guaranteed(box), request_.limit.distance);
        const T first_reach = guess(cell, box);
        const std::int32_t last = receivers_.cells().first_point[cell + 1];
        for (std::int32_t first = receivers_.cells().first_point[cell]; first < last;) {
            const std::int32_t rows = std::min(rows_at_once, last - first);
            leaf_.begin(first, rows);
            search_rows(box, first_reach, farthest);
            first += rows;
        }
    }

    /// Finds the rows that the leaf's search has begun with, all in the box.
    void search_rows(AnyReceiver<T> box, T reach, T farthest) {
        constexpr int max_rounds = 5;
        scratch_.counts.queries += leaf_.pending_rows();
        for (int round = 0;; ++round) {
            reach = round < max_rounds ? std::min(reach, farthest) : farthest;
            list_cells(box, reach);
            const std::int64_t rows = leaf_.pending_rows();
            const bool done = leaf_.search(box, ranges_.data(), ranges_.size(), Candidate<T>{reach}, reach == farthest);
            count(rows);
            if (done) {
                break;
            }
            box = leaf_.pending_box(box.period);
            reach *= leaf_.growth();
        }
        scratch_.search.reach.learn(leaf_.finish());
    }

    void count(std::int64_t rows) {
        ScanCounts& counts = scratch_.counts;
        for (std::int64_t i = 0; i < ranges_.size(); ++i) {
            counts.points += ranges_.data()[i].last - ranges_.data()[i].first;
        }
        counts.points += rows * leaf_.block_size();
        counts.cells += ranges_.size();
    }

    /// A source cell with a hub near that of a cell of queries.
    [[nodiscard]] std::int32_t home_of(std::int32_t cell) {
        AnyReceiver<T> hub{};
        for (int axis = 0; axis < dimension_; ++axis) {
            hub.lower[axis] = hub.upper[axis] = receivers_.hub(cell, axis);
            hub.period[axis] = sources_.tree.points.frame.working_period[axis];
        }
        auto& least = scratch_.groups.greatest;
        const Plane<T>& groups = sources_.groups();
        least.reserve(groups.nodes + padding);
        least_distances_to(boxes_, hub, groups.lower(0), groups.upper(0), groups.stride, groups.nodes, least.data());
        const auto group = std::min_element(least.data(), least.data() + groups.nodes) - least.data();
        const std::int32_t first = groups.first_child[group];
        const std::int32_t count = groups.first_child[group + 1] - first;
        const T* hubs = sources_.hubs.data() + first;
        least.reserve(count + padding);
        least_distances_to(boxes_, hub, hubs, hubs, sources_.cells().stride, count, least.data());
        return first + static_cast<std::int32_t>(std::min_element(least.data(), least.data() + count) - least.data());
    }

    /// The greatest distance of a cell's queries from the hub whose edges they follow.
    [[nodiscard]] T radius_of(std::int32_t cell) const {
        T hub[max_dimension];
        for (int axis = 0; axis < dimension_; ++axis) {
            hub[axis] = sources_.hub(home_, axis);
        }
        const PointSet<T>& queries = receivers_.tree.points;
        const std::int32_t first = receivers_.cells().first_point[cell];
        return std::sqrt(kernels_
                             .distances_to_range(hub, queries.frame.working_period.data(), queries.axis(0) + first,
                                                 queries.stride, receivers_.cells().first_point[cell + 1] - first)
                             .greatest);
    }

    [[nodiscard]] T guess(std::int32_t cell, const AnyReceiver<T>& box) {
        T squared_diagonal = 0;
        for (int axis = 0; axis < dimension_; ++axis) {
            squared_diagonal += (box.upper[axis] - box.lower[axis]) * (box.upper[axis] - box.lower[axis]);
        }
        const Plane<T>& cells = receivers_.cells();
        const std::int32_t points = self_search_ ? cells.first_point[cell + 1] - cells.first_point[cell] : 0;
        return scratch_.search.reach.guess(squared_diagonal, points, dimension_);
    }

    /// A squared radius within which every query of the box finds enough; infinite if there are not so many points.
    [[nodiscard]] T guaranteed(const AnyReceiver<T>& box) {
        const Plane<T>& cells = sources_.cells();
        const std::int32_t* targets = graph_.target.data() + std::int64_t{home_} * graph_.edges;
        T greatest = 0;
        std::int64_t points = 0;
        for (std::int32_t i = 0; i < graph_.edges; ++i) {
            greatest = std::max(greatest, distances_to(box, cells, targets[i]).greatest);
            points += cells.first_point[targets[i] + 1] - cells.first_point[targets[i]];
            if (points >= needed_) {
                return greatest;
            }
        }
        return guaranteed_by_groups(box);
    }

    [[nodiscard]] T guaranteed_by_groups(const AnyReceiver<T>& box) {
        const Plane<T>& groups = sources_.groups();
        auto& guarantees = scratch_.guarantees;
        guarantees.clear();
        for (std::int64_t group = 0; group < groups.nodes; ++group) {
            guarantees.push_back(
                {distances_to(box, groups, group).greatest, groups.first_point[group + 1] - groups.first_point[group]});
        }
        std::sort(guarantees.begin(), guarantees.end());
        std::int64_t points = 0;
        for (const auto& [greatest, in_group] : guarantees) {
            points += in_group;
            if (points >= needed_) {
                return greatest;
            }
        }
        return infinity;
    }

    /// Lists the points of all cells that may hold one within a squared distance of a query in the box.
    void list_cells(const AnyReceiver<T>& box, T reach) {
        if (!bound_.is_beyond(graph_.horizon[home_], radius_, reach)) {
            (void)ranges_.list(box, reach, std::numeric_limits<std::int64_t>::max());
            return;
        }
        ranges_.clear();
        const std::int64_t first = std::int64_t{home_} * graph_.edges;
        for (std::int64_t i = first; i < first + graph_.edges; ++i) {
            if (bound_.is_beyond(graph_.weight[i], radius_, reach)) {
                break;
            }
            const std::int32_t target = graph_.target[i];
            if (!(distances_to(box, sources_.cells(), target).least > reach)) {
                (void)ranges_.add(target, target + 1);
            }
        }
    }

    const CellTree<T>& receivers_;
    const CellTree<T>& sources_;
    const CellGraph<T>& graph_;
    const TriangleBound<T>& bound_;
    const KnnRequest<T>& request_;
    const bool self_search_;
    CellSearchScratch<T>& scratch_;
    const int dimension_;
    const WalkKernels<T>& boxes_;
    const CellKernels<T>& kernels_;
    LeafSearch<T> leaf_;
    NearRanges<T> ranges_;
    const std::int64_t needed_; ///< one more if the point itself does not count
    std::int32_t home_ = 0;     ///< source cell whose edges are followed
    T radius_ = 0;              ///< of the queries around its hub
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
