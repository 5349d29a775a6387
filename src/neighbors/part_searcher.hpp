// Searches the points of one part of a set, such as those of a rank: on the host (part_searcher_cpu.hpp) or on a GPU
// (part_searcher_device.hpp). distributed/knn and distributed/radius, which complete the rows with points of other
// parts, do not know which.
//
// Receivers are separate queries, or the points themselves. The host always has the boxes of the nodes and the row of
// each position, since they tell which points of other parts are near. Coordinates stay where points are searched.
#pragma once

#include <kith/progress.hpp>
#include <kith/radius.hpp>

#include "neighbors/radius_result_access.hpp"
#include "neighbors/search.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace kith::detail {

template <Coordinate T>
class PartSearcher {
public:
    PartSearcher() = default;
    PartSearcher(const PartSearcher&) = delete;
    PartSearcher& operator=(const PartSearcher&) = delete;
    virtual ~PartSearcher() = default;

    /// The tree of the part, in memory of the host; coordinates of its points are null if they are on a GPU. Without
    /// planes if there are no points.
    [[nodiscard]] virtual TreeView<T> sources() const = 0;
    /// The same of the receivers, perhaps with the plane of the leaves only.
    [[nodiscard]] virtual TreeView<T> receivers() const = 0;

    /// Passes the rows of all receivers to the sink, in a stage of this name. There are points of both kinds.
    virtual void search(const char* stage, const KnnRequest<T>& request, RowSink<T>& sink) = 0;
    /// Keeps the receivers whose flag, by position, is 1 for search_others(). There are receivers.
    virtual void select(const Buffer<std::uint8_t>& is_selected) = 0;
    /// Passes the rows of the selected receivers, at least one, among other points, wherever they are, to the sink.
    virtual void search_others(const NormalizedPoints<T>& points, const KnnRequest<T>& request, RowSink<T>& sink) = 0;

    /// What stages of a GPU took, so far; none of the host's, which are the context's.
    [[nodiscard]] virtual StageReports take_stages() { return {}; }
    /// Copied from a GPU so far.
    [[nodiscard]] virtual std::int64_t bytes_to_host() const { return 0; }
};

/// On a GPU, which searches within radii, too; on the host the search of one process does.
template <Coordinate T>
class GpuPartSearcher : public PartSearcher<T> {
public:
    /// Takes other sources for searches within radii, wherever they are.
    virtual void take_sources(const NormalizedPoints<T>& points) = 0;
    /// The number of these within the radius of each receiver.
    [[nodiscard]] virtual std::vector<std::int64_t> count_within(const Radii& radii) = 0;
    /// Fills rows of these, in the order of the receivers, and of the options within a row. The receivers themselves
    /// are not excluded.
    virtual void find_within(const Radii& radii, const RadiusOptions& options, const RadiusResultAccess& rows) = 0;
};

/// Makes a searcher, on the GPU of a rank, of points that may be the GPU's and outlive it. Null queries: a self-search.
template <Coordinate T>
using MakePartSearcher = std::function<std::unique_ptr<GpuPartSearcher<T>>(const NormalizedPoints<T>& points,
                                                                           const NormalizedPoints<T>* queries)>;

} // namespace kith::detail
