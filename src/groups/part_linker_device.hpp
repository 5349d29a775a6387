// Links the points of a part on a GPU: the tree and the links are those of the groups of one process (link_device.hpp).
//
// To the host go the boxes of all nodes, and of each point its row and its component, 4 bytes each: no coordinates.
// Points are uploaded if they are the host's, and stay until the linker ends; scratch of a link is 12 bytes a point
// beside the marks of nodes. The core points of DBSCAN are a part of the points, in a tree that is there already.
#pragma once

#include "groups/group_numbering.hpp"
#include "groups/link_device.hpp"
#include "groups/part_linker.hpp"
#include "tree/build_device.hpp"
#include "tree/nodes_on_host.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// A tree of points on a GPU, and its nodes on the host.
template <Coordinate T, int D>
struct TreeOnBoth {
    DevicePlaneTree<T> tree;
    NodesOnHost<T, D> nodes;
};

/// Of points of the host or of the GPU.
template <Coordinate T, int D>
std::shared_ptr<const TreeOnBoth<T, D>> uploaded_tree(DeviceContext& context, const NormalizedPoints<T>& points) {
    auto both = std::make_shared<TreeOnBoth<T, D>>();
    both->tree = build_uploaded_tree<T, D>(context, points, TreeShape{});
    if (both->tree.points.count > 0) {
        context.stage("download", [&] { both->nodes = NodesOnHost<T, D>(context, both->tree); });
    }
    return both;
}

template <Coordinate T, int D>
class DevicePartLinker final : public PartLinker<T> {
public:
    DevicePartLinker(const Execution& execution, const NormalizedPoints<T>& points)
        : context_(std::make_shared<DeviceContext>(execution)), part_(uploaded_tree<T, D>(*context_, points)) {}
    /// Of points that are on the GPU.
    DevicePartLinker(std::shared_ptr<DeviceContext> context, std::shared_ptr<const TreeOnBoth<T, D>> part)
        : context_(std::move(context)), part_(std::move(part)) {}

    [[nodiscard]] TreeView<T> tree() const override { return part_->nodes.view(); }

    void link(T squared_length, std::span<std::int32_t> component) override {
        if (part_->tree.points.count == 0) {
            std::ranges::fill(component, -1);
            return;
        }
        context_->stage("link", [&] { find_components(part_->tree, squared_length, component); });
    }

    [[nodiscard]] std::vector<std::int32_t> link_apart(const NormalizedPoints<T>& points, T squared_length) override {
        const DevicePlaneTree<T> tree = build_uploaded_tree<T, D>(*context_, points, TreeShape{});
        std::vector<std::int32_t> component(static_cast<std::size_t>(points.view.count()));
        context_->stage("link pieces", [&] { find_components(tree, squared_length, component); });
        return component;
    }

    [[nodiscard]] StageReports take_stages() override { return context_->take_stages(); }
    [[nodiscard]] std::int64_t bytes_to_host() const override { return part_->nodes.bytes() + bytes_of_components_; }

private:
    /// Within a stage. There are points, and at least as many rows.
    void find_components(const DevicePlaneTree<T>& tree, T squared_length, std::span<std::int32_t> component) {
        const PointSetView<T> points = tree.points.view();
        const std::int64_t rows = std::ssize(component);
        const DeviceBuffer<std::int32_t> parents = context_->buffer<std::int32_t>(points.count);
        const DeviceBuffer<std::int32_t> smallest = context_->buffer<std::int32_t>(points.count);
        const DeviceBuffer<std::int32_t> by_row = context_->buffer<std::int32_t>(rows); // first: sizes
        const DeviceUnionFind groups(parents.data());
        {
            const Frame<T>& in_frame = tree.points.frame;
            const DeviceBuffer<LinkFrame<T>> frame =
                stored(*context_, "linking length", LinkFrame<T>{in_frame.working_period, squared_length, false});
            link_tree<T, D>(*context_, tree.view(), in_frame.periodic, frame.data(), groups);
        }
        count_members(*context_, {points.count, groups, points.indices, by_row.data(), smallest.data()});
        if (points.count < rows) {
            context_->fill(by_row.data(), 255, rows * 4); // all bytes of -1
        }
        for_each_index(*context_, "writing components", points.count,
                       WriteLabels{groups, points.indices, smallest.data(), by_row.data()});
        context_->copy(component.data(), by_row.data(), rows * 4);
        context_->wait();
        bytes_of_components_ += rows * 4;
    }

    std::shared_ptr<DeviceContext> context_;
    std::shared_ptr<const TreeOnBoth<T, D>> part_;
    std::int64_t bytes_of_components_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
