#include "engines/clover/host_cells.hpp"

#include "engines/clover/flat.hpp"
#include "engines/clover/knn.hpp"

#include <algorithm>
#include <utility>

namespace kith::detail {

namespace {

template <Coordinate T>
struct Owned {
    CellTree<T> cells;
    CellGraph<T> graph;
};

/// Cells of the flat form, without gaps between them, as those of one group.
template <Coordinate T>
CellTree<T> one_group(Context& context, FlatCells<T>& flat) {
    const int dimension = flat.points.dimension();
    const std::int64_t count = flat.cells();
    Plane<T> cells = make_plane<T>(context, dimension, count, flat.points.count, false);
    Plane<T> group = make_plane<T>(context, dimension, 1, flat.points.count, true);
    CellTree<T> tree;
    tree.hubs = Buffer<T>(context.memory_tracker(), dimension * cells.stride);
    std::copy(flat.first.begin(), flat.first.end(), cells.first_point.data());
    group.first_point[0] = 0;
    group.first_child[0] = 0;
    group.first_child[1] = static_cast<std::int32_t>(count);
    for (int axis = 0; axis < dimension; ++axis) {
        T* const lower = cells.lower_corners.data() + axis * cells.stride;
        T* const upper = cells.upper_corners.data() + axis * cells.stride;
        for (std::int64_t cell = 0; cell < count; ++cell) {
            lower[cell] = flat.lower[cell * dimension + axis];
            upper[cell] = flat.upper[cell * dimension + axis];
            tree.hubs[axis * cells.stride + cell] = flat.hubs[cell * dimension + axis];
        }
        group.lower_corners[axis * group.stride] = *std::min_element(lower, lower + count);
        group.upper_corners[axis * group.stride] = *std::max_element(upper, upper + count);
    }
    tree.tree.points = std::move(flat.points);
    tree.tree.planes.push_back(std::move(cells));
    tree.tree.planes.push_back(std::move(group));
    return tree;
}

} // namespace

template <Coordinate T>
HostCells<T> make_host_cells(const PointsView& points, const Box& box, const Execution& execution,
                             std::int64_t flat_hubs) {
    const auto owned = std::make_shared<Owned<T>>();
    FlatCells<T> flat;
    HostCells<T> made;
    Context context(cpu(execution.threads, execution.progress));
    context.stage("cells", [&] {
        const NormalizedPoints<T> normalized = normalize_sources<T>(points, box);
        made.has_tiny = normalized.has_tiny;
        if (flat_hubs > 0) {
            flat = make_flat_cells<T>(context, {nullptr, &normalized}, {.hubs = flat_hubs, .alignment = 1});
        } else {
            owned->cells = make_cells<T>(context, {nullptr, &normalized});
        }
    });
    context.stage("graph", [&] {
        if (flat_hubs > 0) {
            connect_flat_cells(context, flat);
            owned->graph = {
                static_cast<std::int32_t>(flat.cells()), std::move(flat.target), std::move(flat.weight), {}};
            owned->cells = one_group(context, flat);
        } else {
            owned->graph = connect_cells(context, owned->cells);
        }
    });
    const TreeView<T> tree = owned->cells.tree.view();
    made.frame = owned->cells.tree.points.frame;
    made.points = tree.points;
    made.cells = tree.planes[0];
    made.groups = tree.planes[1];
    made.hubs = owned->cells.hubs.data();
    made.edges = owned->graph.edges;
    made.target = owned->graph.target.data();
    made.weight = owned->graph.weight.data();
    made.horizon = owned->graph.horizon.data();
    made.owner = owned;
    return made;
}

template HostCells<float> make_host_cells(const PointsView&, const Box&, const Execution&, std::int64_t);
template HostCells<double> make_host_cells(const PointsView&, const Box&, const Execution&, std::int64_t);

} // namespace kith::detail
