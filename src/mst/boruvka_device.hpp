// The minimum spanning tree in the plane tree of a GPU: what runs after what. The method is boruvka.hpp's; a point that
// the rows do not serve is searched for by a warp of its own (forest_kernel.hpp).
//
// The host waits once a round, for two counts. Scratch, in bytes: 45 a point and 4 numbers, with core distances 9, and
// up to 1 GiB for rows of the search; while points are searched for, 5 a point and 4 a node of the tree more, with core
// distances a number a node.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/device_value.hpp"
#include "cuda/device_wide.hpp"
#include "mst/device_forest.hpp"
#include "mst/forest_kernel.hpp"
#include "mst/reachability_kernel.hpp"
#include "neighbors/search_device.hpp"
#include "neighbors/visit_device.hpp"
#include "tree/device_attributes.hpp"
#include "tree/device_planes.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D, class Weight = DistanceWeight<T>>
class DeviceBoruvka {
public:
    /// Of a tree of two points or more.
    DeviceBoruvka(DeviceContext& context, const DevicePlaneTree<T>& tree, const DeviceEdges<T>& edges,
                  const Weight& weight = {})
        : context_(context), tree_(tree), count_(tree.points.count), edges_(edges),
          rows_(context.buffer<std::int32_t>(count_ * row_length)), next_(context.buffer<std::uint8_t>(count_)),
          distance_(context.buffer<T>(count_)), component_(context.buffer<std::int32_t>(count_)),
          bound_(context.buffer<Bits>(count_)), unseen_(context.buffer<Bits>(count_)),
          best_(context.buffer<std::int32_t>(count_)), position_of_(context.buffer<std::int32_t>(count_)),
          length_(context.buffer<T>(Weight::is_distance ? 0 : count_)),
          counts_(context.buffer<RoundCounts>(1)), forest_{tree.points.view(),
                                                           tree.points.frame.working_period,
                                                           rows_.data(),
                                                           next_.data(),
                                                           distance_.data(),
                                                           component_.data(),
                                                           LoweredNumbers<T>(bound_.data()),
                                                           LoweredNumbers<T>(unseen_.data()),
                                                           best_.data(),
                                                           length_.data(),
                                                           weight} {}

    /// The rows of all points, and every point a component.
    void find_rows() requires(Weight::is_distance) {
        const DeviceBuffer<SearchFrame<T>> frame =
            stored(context_, "search", search_frame<T, D>(tree_.points.frame, {row_length, true, true}, count_));
        DeviceSearch<T, D>(context_, tree_, tree_)
            .run({row_length, true, frame.data(), {nullptr, rows_.data(), nullptr}, 0}, all_leaves(tree_));
        each_point("positions of points", FindPositions{forest_.points.indices, position_of_.data()});
        each_point("starting the forest", StartForest<T, D>{forest_, position_of_.data()});
    }

    /// The same by weights: a search for as many others as make a core point gives the core distances, too.
    void find_rows(std::int64_t min_samples, const CoreMemory<T>& cores) requires(!Weight::is_distance) {
        const std::int64_t others = std::max<std::int64_t>(row_length, min_samples - 1);
        SearchFrame<T> wanted = search_frame<T, D>(tree_.points.frame, {others, true, true}, count_);
        wanted.report.power = PowerOfTwo<T>(0); // working units
        const DeviceBuffer<SearchFrame<T>> frame = stored(context_, "search", wanted);
        each_point("positions of points", FindPositions{forest_.points.indices, position_of_.data()});
        search_in_blocks<T, D>(context_, tree_, tree_, {others, true, frame.data(), {}, 0}, max_bytes_of_block,
                               [&](const LeafRange& block, const DeviceRowMemory<T>& rows) {
                                   for_each_index(context_, "core distances", block.end_point - block.first_point,
                                                  TakeRows<T>{forest_, position_of_.data(), cores, rows.indices,
                                                              rows.distances, others, min_samples, block.first_point});
                               });
        each_point("weighing rows", WeighRows<T, D>{forest_});
    }

    /// Rounds until one component is left.
    void connect() {
        for (bool is_first = true;; is_first = false) {
            each_point("reading rows", ReadRows<T, D, Weight>{forest_});
            each_point("offering edges", OfferEdges<T, Weight>{forest_, nullptr, nullptr});
            context_.fill(counts_.data(), 0, sizeof(RoundCounts));
            launch_threads(context_, "bounds by rows", bound_by_rows_kernel<T, Weight>, count_,
                           {forest_, counts_.data()});
            const auto [components, certain] = context_.to_host(counts_.data());
            if (components == 1) {
                return;
            }
            context_.done(static_cast<double>(count_ - components) / static_cast<double>(count_));
            constexpr std::int64_t too_few = 8; // a part of all components that makes no round
            const bool needs_search = certain < components && certain * too_few < components;
            if (needs_search) {
                search();
            }
            each_point("linking components", LinkComponents<T, Weight>{forest_, edges_, !needs_search});
            each_point("roots of points", Flatten<T, Weight>{forest_});
            if (is_first) {
                each_point("duplicates", MarkDuplicates<T, D, Weight>{forest_});
            }
        }
    }

private:
    using Bits = typename LoweredNumbers<T>::Bits;

    template <class Function>
    void each_point(const char* name, const Function& function) {
        for_each_index(context_, name, count_, function);
    }

    /// Finds the least edge of every component.
    void search() {
        const TreeView<T> tree = tree_.view();
        for_each_index(context_, "bounds by order", count_ - 1, BoundByOrder<T, D, Weight>{forest_});
        const DeviceBuffer<std::int32_t> searched = context_.buffer<std::int32_t>(count_);
        const DeviceBuffer<std::int32_t> searches = context_.buffer<std::int32_t>(1);
        {
            const DeviceBuffer<std::uint8_t> is_searched = context_.buffer<std::uint8_t>(count_);
            each_point("points to search for", FlagSearched<T, Weight>{forest_, is_searched.data()});
            select_flagged(context_, is_searched.data(), count_, searched.data(), searches.data());
        }
        const auto components = node_attributes<std::int32_t>(
            context_, tree, ComponentOfPoint{next_.data(), component_.data()}, JoinComponents{});
        if constexpr (!Weight::is_distance) {
            if (cores_.memory.data() == nullptr) {
                cores_ = node_attributes<T>(context_, tree, CoreOfPoint<T>{forest_.weigh.core}, LesserCore<T>{});
            }
        }
        const ForestSearchJob<T, Weight> job{
            forest_, tree, components.planes, cores_.planes, position_of_.data(), {searched.data(), searches.data()}};
        launch(context_, "search for edges",
               tree_.points.frame.periodic ? search_forest_kernel<T, D, true, Weight>
                                           : search_forest_kernel<T, D, false, Weight>,
               blocks_for_queries(context_, count_), search_warps * warp_size, job);
        each_point("offering edges", OfferEdges<T, Weight>{forest_, searched.data(), searches.data()});
    }

    DeviceContext& context_;
    const DevicePlaneTree<T>& tree_;
    std::int64_t count_;
    DeviceEdges<T> edges_;
    DeviceBuffer<std::int32_t> rows_;
    DeviceBuffer<std::uint8_t> next_;
    DeviceBuffer<T> distance_;
    DeviceBuffer<std::int32_t> component_;
    DeviceBuffer<Bits> bound_;
    DeviceBuffer<Bits> unseen_;
    DeviceBuffer<std::int32_t> best_;
    DeviceBuffer<std::int32_t> position_of_;
    DeviceBuffer<T> length_;
    DeviceBuffer<RoundCounts> counts_;
    DeviceForest<T, Weight> forest_;
    DeviceAttributes<T> cores_; ///< of nodes, once they are searched
};

} // namespace kith::detail::inline KITH_GPU
