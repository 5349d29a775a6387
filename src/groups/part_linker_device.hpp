// Links the points of a part on a GPU: the tree and the links are those of the groups of one process (link_device.hpp).
//
// To the host go the boxes of all nodes, and of each point its row and its component, 4 bytes each: no coordinates.
// Points are uploaded, and stay until the linker ends; scratch of a link is 12 bytes a point beside the marks of nodes.
#pragma once

#include "groups/group_numbering.hpp"
#include "groups/link_device.hpp"
#include "groups/part_linker.hpp"
#include "points/transfer.hpp"
#include "tree/build_device.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
class DevicePartLinker final : public PartLinker<T> {
public:
    DevicePartLinker(const Execution& execution, const NormalizedPoints<T>& points) : context_(execution) {
        if (points.view.count() == 0) {
            return;
        }
        tree_ = built(points);
        context_.stage("download", [&] {
            order_ = to_host(tree_.points.indices.data(), tree_.points.count);
            for (const OwnedDevicePlane<T>& plane : tree_.planes) {
                HostPlane& copy = planes_.emplace_back();
                copy.nodes = plane.nodes;
                copy.stride = plane.stride;
                copy.first_point = to_host(plane.first_point.data(), plane.nodes + 1);
                copy.first_child = to_host(plane.first_child.data(), plane.first_child.size());
                copy.smallest_index = to_host(plane.smallest_index.data(), plane.nodes);
                copy.lower_corners = to_host(plane.lower_corners.data(), plane.nodes * D);
                copy.upper_corners = to_host(plane.upper_corners.data(), plane.nodes * D);
            }
        });
    }

    [[nodiscard]] TreeView<T> tree() const override {
        TreeView<T> view;
        view.points = {nullptr, 0, static_cast<std::int32_t>(std::ssize(order_)), order_.data()};
        view.top = static_cast<int>(std::ssize(planes_)) - 1;
        for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
            view.planes[plane] = planes_[plane].view();
        }
        if (view.top >= 0) {
            view.period = tree_.points.frame.working_period;
        }
        return view;
    }

    void link(T squared_length, std::span<std::int32_t> component) override {
        if (!component.empty()) {
            context_.stage("link", [&] { find_components(tree_, squared_length, component); });
        }
    }

    [[nodiscard]] std::vector<std::int32_t> link_apart(const NormalizedPoints<T>& points, T squared_length) override {
        const DevicePlaneTree<T> tree = built(points);
        std::vector<std::int32_t> component(static_cast<std::size_t>(points.view.count()));
        context_.stage("link pieces", [&] { find_components(tree, squared_length, component); });
        return component;
    }

    [[nodiscard]] StageReports take_stages() override { return context_.take_stages(); }
    [[nodiscard]] std::int64_t bytes_to_host() const override { return bytes_to_host_; }

private:
    template <class Element>
    using HostArray = std::vector<Element>;
    using HostPlane = PlaneArrays<T, HostArray>;

    DevicePlaneTree<T> built(const NormalizedPoints<T>& points) {
        const PointsOnDevice there = points_on_device(context_, points.view);
        NormalizedPoints<T> uploaded = points;
        uploaded.view = there.view();
        return build_device_tree<T, D>(context_, uploaded, TreeShape{});
    }

    template <class Element>
    std::vector<Element> to_host(const Element* from, std::int64_t count) {
        bytes_to_host_ += count * static_cast<std::int64_t>(sizeof(Element));
        return context_.to_host(from, count);
    }

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
        bytes_to_host_ += static_cast<std::int64_t>(component.size_bytes());
    }

    DeviceContext context_;
    DevicePlaneTree<T> tree_;
    std::vector<std::int32_t> order_;
    std::vector<HostPlane> planes_;
    std::int64_t bytes_to_host_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
