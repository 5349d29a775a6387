// The minimum spanning tree.
//
// Its edges are in host memory, also those from a GPU. NumPy arrays view them in the core's memory and keep it alive.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "phase_space.hpp"

#include <kith/spanning_tree.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <span>

namespace kith::python {

namespace {

/// Rows of two indices.
template <class Index, class Edge>
nb::object ends_of(std::span<const Edge> edges, const nb::capsule& owner) {
    static_assert(sizeof(Edge) == 2 * sizeof(Index));
    auto* const first = reinterpret_cast<Index*>(const_cast<Edge*>(edges.data()));
    return nb::cast(nb::ndarray<nb::numpy, Index>(first, {edges.size(), 2}, owner));
}

/// Edges, weights, heights, and the name of the engine.
nb::object span(const Call& call, const LengthArgument& length, const PhaseSpaceArgument& phase_space) {
    constexpr std::int64_t steps = 64; // about, for each point
    const PointsOrTree points = call.points();
    auto* const found = new SpanningTree(
        answer(call, steps * points.count(), SpanningTreeOptions{.phase_space = phase_space_at(phase_space, length)},
               [&](const SpanningTreeOptions& options) { return spanning_tree(points, options); }));
    const nb::capsule owner = owner_of(found);
    warn(call, found->unresolved);
    const nb::object ends = found->distribution ? ends_of<std::int64_t>(found->edges64(), owner)
                                                : ends_of<std::int32_t>(found->edges(), owner);
    const bool is_float64 = found->dtype() == DType::float64;
    return nb::make_tuple(
        ends, is_float64 ? array_of(found->weights<double>(), owner) : array_of(found->weights<float>(), owner),
        is_float64 ? array_of(found->heights<double>(), owner) : array_of(found->heights<float>(), owner),
        name_of(found->engine()));
}

} // namespace

void bind_mst(nb::module_& module) {
    module.def("span", span, nb::arg("call"), nb::arg("length"), nb::arg("phase_space").none());
}

} // namespace kith::python
