// Searches the points of a part on a GPU: trees and rows are those of the searches of one process (search_device.hpp,
// radius_device.hpp).
//
// Points are uploaded if they are the host's, and stay until the searcher ends. To the host go the boxes of all nodes
// and the row of each position, of separate queries those of the leaves, and the rows, block by block: no coordinates.
// A search among other points uploads them if they are the host's, and goes through a tree of the selected receivers,
// which a GPU takes from that of all.
#pragma once

#include "neighbors/part_searcher.hpp"
#include "neighbors/query_tree.hpp"
#include "neighbors/radius_device.hpp"
#include "neighbors/search_device.hpp"
#include "neighbors/visit_device.hpp"
#include "tree/build_device.hpp"
#include "tree/nodes_on_host.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
class DevicePartSearcher final : public GpuPartSearcher<T> {
public:
    DevicePartSearcher(const Execution& execution, const NormalizedPoints<T>& points,
                       const NormalizedPoints<T>* queries)
        : context_(execution), sources_(build_uploaded_tree<T, D>(context_, points, TreeShape{})) {
        if (queries != nullptr) {
            const TreeShape shape =
                query_tree_shape(device_tree_shape(TreeShape{}), points.view.count(), queries->view.count());
            queries_ = build_uploaded_tree<T, D>(context_, *queries, shape);
        }
        context_.stage("download", [&] {
            nodes_ = NodesOnHost<T, D>(context_, sources_);
            if (queries_) {
                leaves_ = NodesOnHost<T, D>(context_, *queries_, true);
            }
        });
    }

    [[nodiscard]] TreeView<T> sources() const override { return nodes_.view(); }
    [[nodiscard]] TreeView<T> receivers() const override { return queries_ ? leaves_.view() : nodes_.view(); }

    void search(const char* stage, const KnnRequest<T>& request, RowSink<T>& sink) override {
        context_.stage(stage, [&] { search(receiving(), sources_, request, sink); });
    }

    void select(const Buffer<std::uint8_t>& is_selected) override {
        std::vector<std::int32_t> positions;
        for (std::int64_t i = 0; i < is_selected.size(); ++i) {
            if (is_selected[i] != 0) {
                positions.push_back(static_cast<std::int32_t>(i));
            }
        }
        if (positions.empty()) {
            return;
        }
        context_.stage("ask", [&] {
            const DeviceBuffer<std::int32_t> there = context_.template buffer<std::int32_t>(std::ssize(positions));
            context_.copy(there.data(), positions.data(), std::ssize(positions) * 4);
            selected_ = build_subtree<T, D>(context_, receiving(), there.data(), std::ssize(positions), TreeShape{});
            context_.wait(); // for the positions
        });
    }

    void search_others(const NormalizedPoints<T>& points, const KnnRequest<T>& request, RowSink<T>& sink) override {
        const DevicePlaneTree<T> others = build_uploaded_tree<T, D>(context_, points, TreeShape{});
        context_.stage("search pieces", [&] { search(selected_, others, request, sink); });
    }

    void take_sources(const NormalizedPoints<T>& points) override {
        joined_ = build_uploaded_tree<T, D>(context_, points, TreeShape{});
    }

    [[nodiscard]] std::vector<std::int64_t> count_within(const Radii& radii) override {
        std::vector<std::int64_t> counts;
        const RadiusOptions options;
        within({radii, -1, options, &counts});
        bytes_of_rows_ += std::ssize(counts) * 8;
        return counts;
    }

    void find_within(const Radii& radii, const RadiusOptions& options, const RadiusResultAccess& rows) override {
        within({radii, -1, options, nullptr, &rows});
        bytes_of_rows_ += std::ssize(rows.offsets) * 8 +
                          rows.size() * (item_size(rows.index_type) + static_cast<std::int64_t>(sizeof(T)));
    }

    [[nodiscard]] StageReports take_stages() override { return context_.take_stages(); }
    [[nodiscard]] std::int64_t bytes_to_host() const override {
        return nodes_.bytes() + leaves_.bytes() + bytes_of_rows_;
    }

private:
    /// Of rows on their way to the host.
    static constexpr std::int64_t max_bytes = std::int64_t{1} << 26;

    [[nodiscard]] const DevicePlaneTree<T>& receiving() const { return queries_ ? *queries_ : sources_; }

    /// Within a stage.
    void search(const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources, const KnnRequest<T>& request,
                RowSink<T>& sink) {
        const Frame<T>& in = sources.points.frame;
        const SearchFrame<T> wanted{in.working_period,
                                    {request.limit.distance, std::numeric_limits<std::int32_t>::max()},
                                    request.report,
                                    even_reach<T, D>(in, sources.points.count, request.needed()),
                                    false};
        const DeviceBuffer<SearchFrame<T>> frame = stored(context_, "search", wanted);
        const DeviceRequest<T> there{request.k, request.exclude_self, frame.data(), {}};
        search_in_blocks<T, D>(context_, queries, sources, there, max_bytes,
                               [&](const LeafRange& block, const DeviceRowMemory<T>& rows) {
                                   take(queries, block, rows, request.k, sink);
                               });
    }

    void take(const DevicePlaneTree<T>& queries, const LeafRange& block, const DeviceRowMemory<T>& rows, std::int64_t k,
              RowSink<T>& sink) {
        const std::int64_t count = block.end_point - block.first_point;
        const auto names = context_.to_host(queries.points.indices.data() + block.first_point, count);
        const auto indices = context_.to_host(rows.indices, count * k);
        const auto distances = context_.to_host(rows.distances, count * k);
        bytes_of_rows_ += count * (4 + k * static_cast<std::int64_t>(4 + sizeof(T)));
        sink.take({block.first_point, count, names.data(), k, indices.data(), distances.data()});
    }

    /// Of the receivers among the sources that were taken. Unresolved rows are the caller's to count.
    void within(const DeviceRadiusCall& call) {
        CountOnHost<T> uncounted(
            context_, joined_.points.frame, false, [] { return std::vector<T>(); }, nullptr);
        (void)search_radius<T>(context_, RadiusWalkOfPlanes<T, D>(receiving(), joined_), call, uncounted);
    }

    DeviceContext context_;
    DevicePlaneTree<T> sources_;
    std::optional<DevicePlaneTree<T>> queries_; ///< none in a self-search
    DevicePlaneTree<T> selected_;               ///< receivers
    DevicePlaneTree<T> joined_;                 ///< sources that were taken
    NodesOnHost<T, D> nodes_;                   ///< of the sources
    NodesOnHost<T, D> leaves_;                  ///< of separate queries
    std::int64_t bytes_of_rows_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
