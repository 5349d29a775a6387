// Links the points of a part on a GPU: the tree and the links are those of the groups of one process (link_device.hpp).
//
// To the host go the boxes of all nodes, and of each point its row and its component, 4 bytes each: no coordinates.
// Points are uploaded, and stay until the linker ends; scratch of a link is 12 bytes a point beside the marks of nodes.
#pragma once

#include "groups/group_numbering.hpp"
#include "groups/link_device.hpp"
#include "groups/part_linker.hpp"
#include "tree/build_device.hpp"
#include "tree/nodes_on_host.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
class DevicePartLinker final : public PartLinker<T> {
public:
    DevicePartLinker(const Execution& execution, const NormalizedPoints<T>& points) : context_(execution) {
        tree_ = build_uploaded_tree<T, D>(context_, points, TreeShape{});
        if (tree_.points.count > 0) {
            context_.stage("download", [&] { nodes_ = NodesOnHost<T, D>(context_, tree_); });
        }
    }

    [[nodiscard]] TreeView<T> tree() const override { return nodes_.view(); }

    void link(T squared_length, std::span<std::int32_t> component) override {
        if (!component.empty()) {
            context_.stage("link", [&] { find_components(tree_, squared_length, component); });
        }
    }

    [[nodiscard]] std::vector<std::int32_t> link_apart(const NormalizedPoints<T>& points, T squared_length) override {
        const DevicePlaneTree<T> tree = build_uploaded_tree<T, D>(context_, points, TreeShape{});
        std::vector<std::int32_t> component(static_cast<std::size_t>(points.view.count()));
        context_.stage("link pieces", [&] { find_components(tree, squared_length, component); });
        return component;
    }

    [[nodiscard]] StageReports take_stages() override { return context_.take_stages(); }
    [[nodiscard]] std::int64_t bytes_to_host() const override { return nodes_.bytes() + bytes_of_components_; }

private:
    /// Within a stage. There are as many rows as points.
    void find_components(const DevicePlaneTree<T>& tree, T squared_length, std::span<std::int32_t> component) {
        const PointSetView<T> points = tree.points.view();
        const DeviceBuffer<std::int32_t> parents = context_.template buffer<std::int32_t>(points.count);
        const DeviceBuffer<std::int32_t> smallest = context_.template buffer<std::int32_t>(points.count);
        const DeviceBuffer<std::int32_t> by_row = context_.template buffer<std::int32_t>(points.count); // first: sizes
        const DeviceUnionFind groups(parents.data());
        {
            const Frame<T>& in_frame = tree.points.frame;
            const DeviceBuffer<LinkFrame<T>> frame =
                stored(context_, "linking length", LinkFrame<T>{in_frame.working_period, squared_length, false});
            link_tree<T, D>(context_, tree.view(), in_frame.periodic, frame.data(), groups);
        }
        count_members(context_, {points.count, groups, points.indices, by_row.data(), smallest.data()});
        for_each_index(context_, "writing components", points.count,
                       WriteLabels{groups, points.indices, smallest.data(), by_row.data()});
        context_.copy(component.data(), by_row.data(), static_cast<std::int64_t>(component.size_bytes()));
        context_.wait();
        bytes_of_components_ += static_cast<std::int64_t>(component.size_bytes());
    }

    DeviceContext context_;
    DevicePlaneTree<T> tree_;
    NodesOnHost<T, D> nodes_;
    std::int64_t bytes_of_components_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
