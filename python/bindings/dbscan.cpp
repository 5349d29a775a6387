// Clusters of dense points.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/dbscan.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

namespace kith::python {

namespace {

/// The caller's memory for core flags: an array of bool that was made for it.
std::span<std::uint8_t> flags_of(const OutputArray& flags, const Device& device) {
    static_assert(sizeof(bool) == 1);
    if (flags.dtype() != nb::dtype<bool>() || flags.ndim() != 1) {
        throw nb::type_error("core flags must be a one-dimensional array of bool");
    }
    require_dense(flags, "core flags");
    require_reach(flags, device, "the array of core flags");
    return {static_cast<std::uint8_t*>(flags.data_handle()), flags.size()};
}

void label(const OutputArray& labels, const std::optional<OutputArray>& is_core, const PointsOrTree& points, double eps,
           std::int64_t min_samples, DbscanOptions options, const CallOptions& call) {
    const std::span<std::int32_t> of_labels = labels_of(labels, call.device);
    const std::span<std::uint8_t> flags = is_core ? flags_of(*is_core, call.device) : std::span<std::uint8_t>();
    run(call, points.count(), [&](const Execution& execution) {
        options.execution = execution;
        (void)dbscan_into(of_labels, flags, points, eps, min_samples, options);
    });
}

} // namespace

void bind_dbscan(nb::module_& module) {
    module.def(
        "dbscan_points",
        [](const OutputArray& labels, const std::optional<OutputArray>& is_core, const InputArray& points, double eps,
           std::int64_t min_samples, bool star, nb::handle box, nb::handle device, nb::handle threads,
           nb::object progress, const std::string& engine) {
            label(labels, is_core, points_of(points, "points"), eps, min_samples,
                  {.box = box_of(box), .star = star, .engine = engine_of(engine)},
                  call_options(device, threads, std::move(progress)));
        },
        nb::arg("labels").noconvert(), nb::arg("is_core").none(), nb::arg("points"), nb::arg("eps"),
        nb::arg("min_samples"), nb::arg("star"), nb::arg("box").none(), nb::arg("device").none(),
        nb::arg("threads").none(), nb::arg("progress").none(), nb::arg("engine") = "auto");
    module.def(
        "dbscan_tree",
        [](const OutputArray& labels, const std::optional<OutputArray>& is_core, const Tree& tree, double eps,
           std::int64_t min_samples, bool star, nb::handle threads, nb::object progress, const std::string& engine) {
            CallOptions call = call_options(nb::none(), threads, std::move(progress));
            call.device = tree.device();
            label(labels, is_core, tree, eps, min_samples, {.star = star, .engine = engine_of(engine)}, call);
        },
        nb::arg("labels").noconvert(), nb::arg("is_core").none(), nb::arg("tree"), nb::arg("eps"),
        nb::arg("min_samples"), nb::arg("star"), nb::arg("threads").none(), nb::arg("progress").none(),
        nb::arg("engine") = "auto");
}

} // namespace kith::python
