#include "engines/clover/host_cells.hpp"

#include "engines/clover/knn.hpp"

namespace kith::detail {

namespace {

template <Coordinate T>
struct Owned {
    CellTree<T> cells;
    CellGraph<T> graph;
};

} // namespace

template <Coordinate T>
HostCells<T> make_host_cells(const PointsView& points, const Box& box, int threads) {
    const auto owned = std::make_shared<Owned<T>>();
    HostCells<T> made;
    Context context(cpu(threads));
    context.run([&] {
        const NormalizedPoints<T> normalized = normalize_sources<T>(points, box);
        made.has_tiny = normalized.has_tiny;
        owned->cells = make_cells<T>(context, {nullptr, &normalized});
        owned->graph = connect_cells(context, owned->cells);
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

template HostCells<float> make_host_cells(const PointsView&, const Box&, int);
template HostCells<double> make_host_cells(const PointsView&, const Box&, int);

} // namespace kith::detail
