// The steps of DBSCAN among the points of a part on a GPU, by those of one process (dbscan_device.hpp).
//
// Points are uploaded, and stay until this ends, as does the tree of the core points. To the host go the boxes of the
// nodes of both and the row of each position, a flag and a component per point, and the cluster of each point, once of
// its own part and once of other points: no coordinates.
#pragma once

#include "groups/dbscan_device.hpp"
#include "groups/part_clusters.hpp"
#include "groups/part_linker_device.hpp"
#include "tree/build_device.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
class DevicePartClusters final : public PartClusters<T> {
public:
    DevicePartClusters(const Execution& execution, const NormalizedPoints<T>& points)
        : context_(std::make_shared<DeviceContext>(execution)), all_(uploaded_tree<T, D>(*context_, points)) {}

    [[nodiscard]] TreeView<T> tree() const override { return all_->nodes.view(); }

    void flag_core_points(const CoreDensity<T>& density, std::span<std::uint8_t> is_core) override {
        if (!is_core.empty()) {
            flag(all_->tree, density, is_core);
        }
    }

    [[nodiscard]] std::vector<std::uint8_t> flag_apart(const NormalizedPoints<T>& points,
                                                       const CoreDensity<T>& density) override {
        std::vector<std::uint8_t> is_core(static_cast<std::size_t>(points.view.count()));
        flag(build_uploaded_tree<T, D>(*context_, points, TreeShape{}), density, is_core);
        return is_core;
    }

    void take_core_points(std::span<const std::uint8_t> is_core) override {
        std::vector<std::int32_t> positions;
        const TreeView<T> all = tree();
        for (std::int32_t i = 0; i < all.points.count; ++i) {
            if (is_core[all.points.indices[i]] != 0) {
                positions.push_back(i);
            }
        }
        core_ = all_;
        if (std::ssize(positions) < all.points.count) {
            auto part = std::make_shared<TreeOnBoth<T, D>>();
            if (!positions.empty()) {
                context_->stage("link", [&] {
                    const DeviceBuffer<std::int32_t> there = context_->buffer<std::int32_t>(std::ssize(positions));
                    context_->copy(there.data(), positions.data(), std::ssize(positions) * 4);
                    part->tree =
                        build_subtree<T, D>(*context_, all_->tree, there.data(), std::ssize(positions), TreeShape{});
                    part->nodes = NodesOnHost<T, D>(*context_, part->tree);
                });
            }
            core_ = part;
        }
        linker_.emplace(context_, core_);
    }

    [[nodiscard]] PartLinker<T>& core_points() override { return *linker_; }

    void find_lowest(T squared_length, const Buffer<std::int32_t>& of_core_points, std::int64_t clusters,
                     std::span<std::int32_t> cluster_of_row) override {
        find_lowest(core_->tree, squared_length, clusters, cluster_of_row, [&](std::int32_t* by_position) {
            context_->copy(by_position, of_core_points.data(), of_core_points.size() * 4);
        });
    }

    void find_lowest_apart(const NormalizedPoints<T>& core_points, T squared_length,
                           std::span<const std::int32_t> of_core_points, std::int64_t clusters,
                           std::span<std::int32_t> cluster_of_row) override {
        const DevicePlaneTree<T> tree = build_uploaded_tree<T, D>(*context_, core_points, TreeShape{});
        DeviceBuffer<std::int32_t> by_row; // until the search has ended
        find_lowest(tree, squared_length, clusters, cluster_of_row, [&](std::int32_t* by_position) {
            by_row = context_->buffer<std::int32_t>(std::ssize(of_core_points));
            context_->copy(by_row.data(), of_core_points.data(), std::ssize(of_core_points) * 4);
            for_each_index(*context_, "clusters of core points", std::ssize(of_core_points),
                           Take<std::int32_t>{by_row.data(), by_position, by_position});
        });
    }

    [[nodiscard]] StageReports take_stages() override { return context_->take_stages(); }
    [[nodiscard]] std::int64_t bytes_to_host() const override {
        return bytes_to_host_ + (linker_ ? linker_->bytes_to_host() : 0) + (core_ == all_ ? 0 : all_->nodes.bytes());
    }

private:
    void flag(const DevicePlaneTree<T>& tree, const CoreDensity<T>& density, std::span<std::uint8_t> is_core) {
        context_->stage("core", [&] {
            const DeviceBuffer<std::uint8_t> by_position = context_->buffer<std::uint8_t>(tree.points.count);
            const DeviceBuffer<std::uint8_t> by_row = context_->buffer<std::uint8_t>(tree.points.count);
            detail::flag_core_points<T, D>(*context_, tree, density.squared_length, density.min_samples,
                                           by_position.data());
            for_each_index(*context_, "writing flags", tree.points.count,
                           Put<std::uint8_t>{by_position.data(), tree.points.indices.data(), by_row.data()});
            copy_to_host(is_core.data(), by_row.data(), std::ssize(is_core));
        });
    }

    /// put_clusters(positions) writes the clusters of core points in place of their indices.
    template <class PutClusters>
    void find_lowest(const DevicePlaneTree<T>& core, T squared_length, std::int64_t clusters,
                     std::span<std::int32_t> cluster_of_row, const PutClusters& put_clusters) {
        context_->stage("border", [&] {
            const std::int64_t bytes = std::ssize(cluster_of_row) * 4;
            const DeviceBuffer<std::int32_t> labels = context_->buffer<std::int32_t>(std::ssize(cluster_of_row));
            const DeviceBuffer<std::int32_t> sizes = context_->buffer<std::int32_t>(clusters);
            context_->copy(labels.data(), cluster_of_row.data(), bytes);
            context_->fill(sizes.data(), 0, clusters * 4);
            put_clusters(core.points.indices.data());
            find_lowest_clusters<T, D>(*context_, all_->tree, core, squared_length, labels.data(), sizes.data());
            copy_to_host(cluster_of_row.data(), labels.data(), bytes);
        });
    }

    void copy_to_host(void* to, const void* from, std::int64_t bytes) {
        context_->copy(to, from, bytes);
        context_->wait();
        bytes_to_host_ += bytes;
    }

    std::shared_ptr<DeviceContext> context_;
    std::shared_ptr<const TreeOnBoth<T, D>> all_;
    std::shared_ptr<const TreeOnBoth<T, D>> core_; ///< that of all, if all are core points
    std::optional<DevicePartLinker<T, D>> linker_;
    std::int64_t bytes_to_host_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
