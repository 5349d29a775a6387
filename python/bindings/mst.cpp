// The minimum spanning tree.
//
// Its edges are in host memory, also those from a GPU. NumPy arrays view them in the core's memory and keep it alive.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "edges.hpp"
#include "phase_space.hpp"

#include <kith/spanning_tree.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>

namespace kith::python {

namespace {

/// Edges, weights, heights, and the name of the engine.
nb::object span(const Call& call, const LengthArgument& length, const PhaseSpaceArgument& phase_space) {
    constexpr std::int64_t steps = 64; // about, for each point
    const PointsOrTree points = call.points();
    auto* const found = new SpanningTree(
        answer(call, steps * points.count(), SpanningTreeOptions{.phase_space = phase_space_at(phase_space, length)},
               [&](const SpanningTreeOptions& options) { return spanning_tree(points, options); }));
    const nb::capsule owner = owner_of(found);
    warn(call, found->unresolved);
    const nb::object ends = found->distribution ? ends_view<std::int64_t>(found->edges64(), owner)
                                                : ends_view<std::int32_t>(found->edges(), owner);
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
