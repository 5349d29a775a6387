// The tree of a device for one type and dimension, behind device_index.hpp.
#pragma once

#include "cuda/device_index.hpp"

#include "cuda/result_memory.hpp"
#include "engines/brute_force/search_device.hpp"
#include "fof/link_async.hpp"
#include "fof/link_device.hpp"
#include "fof/linking_length.hpp"
#include "knn/device_rows.hpp"
#include "knn/pieces_device.hpp"
#include "knn/search_async.hpp"
#include "knn/search_device.hpp"
#include "knn/visit_device.hpp"
#include "points/place_device.hpp"
#include "points/transfer.hpp"
#include "tree/build_device.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace kith::detail::inline KITH_GPU {

/// Points where kernels can read them; runs the stage "upload" if they must be brought there.
template <Coordinate T>
PointsOnDevice<T> points_on_device(DeviceContext& context, const PointsView& points) {
    if (points.device().kind == DeviceKind::cuda || points.count() == 0) {
        return {context, points};
    }
    std::optional<PointsOnDevice<T>> uploaded;
    context.stage("upload", [&] { uploaded.emplace(context, points); });
    return std::move(*uploaded);
}

template <Coordinate T>
DeviceRequest<T> device_request(const Frame<T>& frame, const DeviceKnnCall& call) {
    return request_in<T>(frame, wanted_by(call), {});
}

/// Leaves for a warp each.
inline TreeOptions device_tree_options(TreeOptions options) {
    options.leaf_size = std::min(options.leaf_size, most_rows_of_leaf);
    options.top_size = std::min(options.top_size, warp_size);
    return options;
}

/// Runs the stage "link" with link(labels on the device), which returns the groups, and brings the answer to where it was
/// asked for.
template <Coordinate T, class Link>
void label_on_device(DeviceContext& context, const Frame<T>& frame, std::int64_t count, LinkingLength length,
                     std::span<std::int32_t> labels, FofSummary& result, const Link& link) {
    resolve_length(length, frame, count, result);
    const ResultMemory memory(context, labels.data(), static_cast<std::int64_t>(labels.size_bytes()));
    context.stage("link", [&] {
        const DeviceGroups groups = link(static_cast<std::int32_t*>(memory.on_device()));
        result.groups = groups.groups + groups.singles;
        result.sizes = context.to_host(groups.sizes.data(), groups.groups);
    });
    if (memory.must_be_copied()) {
        context.stage("download", [&] {
            memory.copy(context);
            context.wait();
        });
    }
}

template <Coordinate T, int D>
class DeviceIndexOf final : public DeviceIndex {
public:
    DeviceIndexOf(DeviceContext& context, const PointsView& points, const Box& box, const TreeOptions& options)
        : options_(device_tree_options(options)) {
        const PointsOnDevice<T> there = points_on_device<T>(context, points);
        tree_ = build_device_tree<T, D>(context, place_sources_on_device<T, D>(context, there.view(), box), options_);
    }

    [[nodiscard]] Box box() const override { return resolved_box(tree_.points.frame); }
    [[nodiscard]] std::int64_t size() const override { return tree_.points.count; }
    [[nodiscard]] int dimension() const override { return D; }
    [[nodiscard]] std::span<const std::int32_t> order() const override {
        return {tree_.points.indices.data(), static_cast<std::size_t>(tree_.points.count)};
    }
    [[nodiscard]] int plane_count() const override { return static_cast<int>(tree_.planes.size()); }
    [[nodiscard]] std::span<const std::int32_t> plane(int index) const override {
        const OwnedDevicePlane<T>& plane = tree_.planes[static_cast<std::size_t>(index)];
        return {plane.first_point.data(), static_cast<std::size_t>(plane.nodes + 1)};
    }

    void search(DeviceContext& context, const PointsView* queries, const DeviceKnnCall& call) const override {
        if (queries == nullptr) {
            search_for(context, tree_, call);
            return;
        }
        const PointsOnDevice<T> there = points_on_device<T>(context, *queries);
        const PlacedPoints<T> placed = place_queries_on_device<T, D>(context, there.view(), tree_.points.frame);
        search_for(context, build_device_tree<T, D>(context, placed, options_of_queries(queries->count())), call);
    }

    void label(DeviceContext& context, LinkingLength length, std::span<std::int32_t> labels,
               FofSummary& result) const override {
        const Frame<T>& frame = tree_.points.frame;
        label_on_device(context, frame, tree_.points.count, length, labels, result, [&](std::int32_t* there) {
            return label_groups<T, D>(context, tree_.view(), frame.periodic, squared_length(frame, result), there);
        });
    }

private:
    /// Leaves of queries about as large in space as those of the sources.
    [[nodiscard]] TreeOptions options_of_queries(std::int64_t queries) const {
        TreeOptions options = options_;
        const double share =
            static_cast<double>(queries) / static_cast<double>(std::max<std::int64_t>(1, tree_.points.count));
        options.leaf_size = static_cast<int>(std::clamp(share * options.leaf_size, 1.0, double(options.leaf_size)));
        return options;
    }

    void search_for(DeviceContext& context, const DevicePlaneTree<T>& queries, const DeviceKnnCall& call) const {
        DeviceRequest<T> request = device_request(tree_.points.frame, call);
        if (call.visitor != nullptr) {
            context.stage("search", [&] {
                if (queries.points.count > 0) {
                    visit_on_device<T, D>(context, queries, tree_, request, *call.visitor);
                }
            });
            return;
        }
        const RowsOnDevice<T> rows(context, *call.rows);
        request.rows = rows.memory();
        context.stage("search", [&] { DeviceSearch<T, D>(context, queries, tree_).run(request, all_leaves(queries)); });
        rows.deliver(context);
    }

    TreeOptions options_;
    DevicePlaneTree<T> tree_;
};

template <Coordinate T, int D>
std::unique_ptr<DeviceIndex> build_device_index(DeviceContext& context, const PointsView& points, const Box& box,
                                                const TreeOptions& options) {
    return std::make_unique<DeviceIndexOf<T, D>>(context, points, box, options);
}

template <Coordinate T, int D>
void search_all_pairs_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                const PointsView* queries, const DeviceKnnCall& call) {
    const PointsOnDevice<T> there = points_on_device<T>(context, points);
    const PlacedPoints<T> placed = place_sources_on_device<T, D>(context, there.view(), box);
    std::optional<PointsOnDevice<T>> queries_there;
    std::optional<PlacedPoints<T>> placed_queries;
    if (queries != nullptr) {
        queries_there.emplace(points_on_device<T>(context, *queries));
        placed_queries = place_queries_on_device<T, D>(context, queries_there->view(), placed.frame);
    }
    DeviceRequest<T> request = device_request(placed.frame, call);
    const RowsOnDevice<T> rows(context, *call.rows);
    request.rows = rows.memory();
    context.stage("search", [&] {
        const DevicePointSet<T> sources = gather_on_device<T, D>(context, placed);
        if (placed_queries) {
            run_all_pairs<T, D>(context, gather_on_device<T, D>(context, *placed_queries), sources, request);
        } else {
            run_all_pairs<T, D>(context, sources, sources, request);
        }
    });
    rows.deliver(context);
}

template <Coordinate T, int D>
void search_by_tree_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                              const PointsView* queries, const DeviceKnnCall& call) {
    if (!needs_pieces<T, D>(context, points, queries, *call.rows)) {
        DeviceIndexOf<T, D>(context, points, box, TreeOptions{}).search(context, queries, call);
        return;
    }
    const PlacedPoints<T> placed = points.device().kind == DeviceKind::cuda
                                       ? place_sources_on_device<T, D>(context, points, box)
                                       : place_sources<T>(points, box);
    std::optional<PlacedPoints<T>> placed_queries;
    if (queries != nullptr) {
        placed_queries = queries->device().kind == DeviceKind::cuda
                             ? place_queries_on_device<T, D>(context, *queries, placed.frame)
                             : place_queries<T>(*queries, placed.frame);
    }
    context.stage("search", [&] {
        SearchInPieces<T, D>(context, placed, placed_queries ? &*placed_queries : nullptr,
                             device_request(placed.frame, call), device_tree_options(TreeOptions{}))
            .run(*call.rows);
    });
}

template <Coordinate T, int D>
void label_all_pairs_on_device(DeviceContext& context, const PointsView& points, const Box& box, LinkingLength length,
                               std::span<std::int32_t> labels, FofSummary& result) {
    const PointsOnDevice<T> there = points_on_device<T>(context, points);
    const PlacedPoints<T> placed = place_sources_on_device<T, D>(context, there.view(), box);
    const Frame<T>& frame = placed.frame;
    label_on_device(context, frame, points.count(), length, labels, result, [&](std::int32_t* to) {
        const DevicePointSet<T> gathered = gather_on_device<T, D>(context, placed);
        return label_groups_all_pairs<T, D>(context, gathered.view(), frame.working_period, frame.periodic,
                                            squared_length(frame, result), to);
    });
}

} // namespace kith::detail::inline KITH_GPU
