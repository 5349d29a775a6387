// The minimum spanning tree.
//
// Its edges are in memory of the host, also where a GPU found them, and stay in the memory that the core gave them: NumPy
// arrays view it and keep it alive.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "phase_space.hpp"

#include <kith/spanning_tree.hpp>

#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

namespace kith::python {

namespace {

/// Edges, weights, heights, and the name of the engine.
nb::object span(const PointsOrTree& points, SpanningTreeOptions options, const CallOptions& call) {
    constexpr std::int64_t steps = 64; // about, for each point
    std::optional<SpanningTree> result;
    run(call, steps * points.count(), [&](const Execution& execution) {
        options.execution = execution;
        result.emplace(spanning_tree(points, options));
    });
    warn(result->unresolved);
    auto* const found = new SpanningTree(std::move(*result));
    const nb::capsule owner = owner_of(found);
    static_assert(sizeof(SpanningEdge) == 2 * sizeof(std::int32_t));
    auto* const ends = const_cast<SpanningEdge*>(found->edges().data());
    const bool is_float64 = found->dtype() == DType::float64;
    return nb::make_tuple(
        nb::cast(nb::ndarray<nb::numpy, std::int32_t>(ends, {found->edges().size(), 2}, owner)),
        is_float64 ? array_of(found->weights<double>(), owner) : array_of(found->weights<float>(), owner),
        is_float64 ? array_of(found->heights<double>(), owner) : array_of(found->heights<float>(), owner),
        name_of(found->engine()));
}

} // namespace

void bind_mst(nb::module_& module) {
    module.def(
        "mst_tree",
        [](const Tree& tree, nb::handle threads, nb::object progress, const std::string& engine) {
            CallOptions call = call_options(nb::none(), threads, std::move(progress));
            call.device = tree.device();
            return span(tree, {.engine = engine_of(engine)}, call);
        },
        nb::arg("tree"), nb::arg("threads").none(), nb::arg("progress").none(), nb::arg("engine") = "auto");
    module.def(
        "mst_points",
        [](const InputArray& points, nb::handle box, double length, bool is_relative,
           const std::optional<InputArray>& velocities, double psi, bool psi_is_relative,
           const std::optional<InputArray>& masses, nb::handle device, nb::handle threads, nb::object progress,
           const std::string& engine) {
            return span(points_of(points, "points"),
                        {.box = box_of(box),
                         .engine = engine_of(engine),
                         .phase_space = phase_space_at(velocities, psi, psi_is_relative, masses, length, is_relative)},
                        call_options(device, threads, std::move(progress)));
        },
        nb::arg("points"), nb::arg("box").none(), nb::arg("length"), nb::arg("is_relative"),
        nb::arg("velocities").none(), nb::arg("psi"), nb::arg("psi_is_relative"), nb::arg("masses").none(),
        nb::arg("device").none(), nb::arg("threads").none(), nb::arg("progress").none(), nb::arg("engine") = "auto");
}

} // namespace kith::python
