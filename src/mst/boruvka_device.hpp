// The minimum spanning tree in the plane tree of a GPU: what runs after what. The method is boruvka.hpp's; a point that
// the rows do not serve is searched for by a warp of its own (forest_kernel.hpp).
//
// The host waits once a round, for two counts. Scratch, in bytes: 45 a point and 4 numbers; while points are searched
// for, 5 a point and 4 a node of the tree more.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/device_value.hpp"
#include "cuda/device_wide.hpp"
#include "mst/device_forest.hpp"
#include "mst/forest_kernel.hpp"
#include "neighbors/search_device.hpp"
#include "tree/device_attributes.hpp"
#include "tree/device_planes.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
class DeviceBoruvka {
public:
    /// Of a tree of two points or more.
    DeviceBoruvka(DeviceContext& context, const DevicePlaneTree<T>& tree, const DeviceEdges<T>& edges)
        : context_(context), tree_(tree), count_(tree.points.count), edges_(edges),
          rows_(context.buffer<std::int32_t>(count_ * row_length)), next_(context.buffer<std::uint8_t>(count_)),
          distance_(context.buffer<T>(count_)), component_(context.buffer<std::int32_t>(count_)),
          bound_(context.buffer<Bits>(count_)), unseen_(context.buffer<Bits>(count_)),
          best_(context.buffer<std::int32_t>(count_)), position_of_(context.buffer<std::int32_t>(count_)),
          counts_(context.buffer<RoundCounts>(1)), forest_{tree.points.view(),
                                                           tree.points.frame.working_period,
                                                           rows_.data(),
                                                           next_.data(),
                                                           distance_.data(),
                                                           component_.data(),
                                                           LoweredNumbers<T>(bound_.data()),
                                                           LoweredNumbers<T>(unseen_.data()),
                                                           best_.data()} {}

    /// The rows of all points, and every point a component.
    void find_rows() {
        const DeviceBuffer<SearchFrame<T>> frame =
            stored(context_, "search", search_frame<T, D>(tree_.points.frame, {row_length, true, true}, count_));
        DeviceSearch<T, D>(context_, tree_, tree_)
            .run({row_length, true, frame.data(), {nullptr, rows_.data(), nullptr}, 0}, all_leaves(tree_));
        each_point("positions of points", FindPositions{forest_.points.indices, position_of_.data()});
        each_point("starting the forest", StartForest<T, D>{forest_, position_of_.data()});
    }

    /// Rounds until one component is left.
    void connect() {
        for (bool is_first = true;; is_first = false) {
            each_point("reading rows", ReadRows<T, D>{forest_});
            each_point("offering edges", OfferEdges<T>{forest_, nullptr, nullptr});
            context_.fill(counts_.data(), 0, sizeof(RoundCounts));
            launch_threads(context_, "bounds by rows", bound_by_rows_kernel<T>, count_, {forest_, counts_.data()});
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
            each_point("linking components", LinkComponents<T>{forest_, edges_, !needs_search});
            each_point("roots of points", Flatten<T>{forest_});
            if (is_first) {
                each_point("duplicates", MarkDuplicates<T, D>{forest_});
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
        for_each_index(context_, "bounds by order", count_ - 1, BoundByOrder<T, D>{forest_});
        const DeviceBuffer<std::int32_t> searched = context_.buffer<std::int32_t>(count_);
        const DeviceBuffer<std::int32_t> searches = context_.buffer<std::int32_t>(1);
        {
            const DeviceBuffer<std::uint8_t> is_searched = context_.buffer<std::uint8_t>(count_);
            each_point("points to search for", FlagSearched<T>{forest_, is_searched.data()});
            select_flagged(context_, is_searched.data(), count_, searched.data(), searches.data());
        }
        const auto components = node_attributes<std::int32_t>(
            context_, tree, ComponentOfPoint{next_.data(), component_.data()}, JoinComponents{});
        const ForestSearchJob<T> job{
            forest_, tree, components.planes, position_of_.data(), {searched.data(), searches.data()}};
        launch(context_, "search for edges",
               tree_.points.frame.periodic ? search_forest_kernel<T, D, true> : search_forest_kernel<T, D, false>,
               blocks_for_queries(context_, count_), search_warps * warp_size, job);
        each_point("offering edges", OfferEdges<T>{forest_, searched.data(), searches.data()});
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
    DeviceBuffer<RoundCounts> counts_;
    DeviceForest<T> forest_;
};

} // namespace kith::detail::inline KITH_GPU
