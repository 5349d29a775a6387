// The steps of DBSCAN among the points of a part on the CPU, by those of one process (dbscan.hpp).
//
// Of the trees of all points, of the core points and of the others at most two are kept: that of all serves as that of
// the others unless most points are core points.
#pragma once

#include "groups/dbscan.hpp"
#include "groups/part_clusters.hpp"
#include "groups/part_linker_cpu.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"
#include "tree/subtree.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

template <Coordinate T>
class HostPartClusters final : public PartClusters<T> {
public:
    HostPartClusters(Context& context, const NormalizedPoints<T>& points) : context_(context) {
        if (points.view.count() > 0) {
            others_ = build_plane_tree<T>(context, points, {});
        }
    }

    [[nodiscard]] TreeView<T> tree() const override { return others_.view(); }

    void flag_core_points(const CoreDensity<T>& density, std::span<std::uint8_t> is_core) override {
        if (others_.points.count > 0) {
            flag(others_, density, is_core);
        }
    }

    [[nodiscard]] std::vector<std::uint8_t> flag_apart(const NormalizedPoints<T>& points,
                                                       const CoreDensity<T>& density) override {
        const PlaneTree<T> tree = build_plane_tree<T>(context_, points, {});
        std::vector<std::uint8_t> is_core(static_cast<std::size_t>(tree.points.count));
        flag(tree, density, is_core);
        return is_core;
    }

    void take_core_points(std::span<const std::uint8_t> is_core) override {
        is_core_ = is_core;
        const std::int64_t core_points = std::ranges::count(is_core, std::uint8_t{1});
        if (core_points == std::ssize(is_core)) {
            core_ = std::exchange(others_, PlaneTree<T>());
            return;
        }
        core_ = part(1);
        if (core_points > std::ssize(is_core) / 2) { // else the tree of all is little more than that of the others
            others_ = part(0);
        }
    }

    [[nodiscard]] PartLinker<T>& core_points() override { return linker_; }

    void find_lowest(T squared_length, const Buffer<std::int32_t>& of_core_points, std::int64_t clusters,
                     std::span<std::int32_t> cluster_of_row) override {
        context_.stage("border", [&] { find_lowest(core_, squared_length, of_core_points, clusters, cluster_of_row); });
    }

    void find_lowest_apart(const NormalizedPoints<T>& core_points, T squared_length,
                           std::span<const std::int32_t> of_core_points, std::int64_t clusters,
                           std::span<std::int32_t> cluster_of_row) override {
        const PlaneTree<T> tree = build_plane_tree<T>(context_, core_points, {});
        context_.stage("border", [&] {
            Buffer<std::int32_t> by_position(context_.memory_tracker(), tree.points.count);
            parallel_each(tree.points.count, 1 << 14,
                          [&](std::int64_t i) { by_position[i] = of_core_points[tree.points.indices[i]]; });
            find_lowest(tree, squared_length, by_position, clusters, cluster_of_row);
        });
    }

private:
    /// By row of the tree's points.
    void flag(const PlaneTree<T>& tree, const CoreDensity<T>& density, std::span<std::uint8_t> is_core) {
        const ClusterRequest<T> request{density.squared_length, density.min_samples, false, {}, is_core};
        DbscanSummary here;
        context_.stage("core", [&] {
            (void)core_flags(context_, tree.points, request, here, [&](std::uint8_t* flags) {
                find_core_points(context_, tree.view(), tree.points.frame, request, flags);
            });
        });
    }

    /// The tree of the points with this flag, of all.
    PlaneTree<T> part(std::uint8_t flag) {
        PlaneTree<T> found;
        context_.run([&] {
            Buffer<std::uint8_t> is_wanted(context_.memory_tracker(), others_.points.count);
            for (std::int64_t i = 0; i < others_.points.count; ++i) {
                is_wanted[i] = is_core_[others_.points.indices[i]] == flag ? 1 : 0;
            }
            found = subtree(context_, others_, is_wanted);
        });
        return found;
    }

    /// Within a stage.
    void find_lowest(const PlaneTree<T>& core, T squared_length, const Buffer<std::int32_t>& of_core_points,
                     std::int64_t clusters, std::span<std::int32_t> cluster_of_row) {
        Buffer<std::uint8_t> is_core(context_.memory_tracker(), others_.points.count);
        parallel_each(others_.points.count, 1 << 14,
                      [&](std::int64_t i) { is_core[i] = is_core_[others_.points.indices[i]]; });
        const ClusterRequest<T> request{squared_length, 0, false, cluster_of_row, {}};
        DbscanSummary here;
        here.sizes.resize(static_cast<std::size_t>(clusters));
        label_border_points(context_, others_.view(), is_core, core.view(), of_core_points, others_.points.frame,
                            request, here);
    }

    Context& context_;
    PlaneTree<T> core_;   ///< without planes if there are no core points
    PlaneTree<T> others_; ///< all other points of this rank, and perhaps its core points
    HostPartLinker<T> linker_{context_, core_};
    std::span<const std::uint8_t> is_core_;
};

} // namespace kith::detail
