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

constexpr const char* call_name = "DBSCAN runs";

/// The caller's memory for an answer: a NumPy array that was made for it.
template <class T>
std::span<T> memory_of(const OutputArray& array) {
    if (array.dtype() != nb::dtype<T>() || array.ndim() != 1) {
        throw nb::type_error("labels and core flags must be one-dimensional arrays of int32 and uint8");
    }
    require_dense(array, "labels and core flags");
    require_reach(array, {}, "the array of labels");
    return {static_cast<T*>(array.data_handle()), array.size()};
}

void label(const OutputArray& labels, const std::optional<OutputArray>& is_core, const PointsOrTree& points, double eps,
           std::int64_t min_samples, DbscanOptions options, const CallOptions& call) {
    const std::span<std::int32_t> of_labels = memory_of<std::int32_t>(labels);
    const std::span<std::uint8_t> flags = is_core ? memory_of<std::uint8_t>(*is_core) : std::span<std::uint8_t>();
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
           std::int64_t min_samples, bool star, nb::handle box, nb::handle threads, nb::object progress,
           const std::string& engine) {
            label(labels, is_core, host_points(points, "points", call_name), eps, min_samples,
                  {.box = box_of(box), .star = star, .engine = engine_of(engine)},
                  call_options(nb::none(), threads, std::move(progress)));
        },
        nb::arg("labels").noconvert(), nb::arg("is_core").none(), nb::arg("points"), nb::arg("eps"),
        nb::arg("min_samples"), nb::arg("star"), nb::arg("box").none(), nb::arg("threads").none(),
        nb::arg("progress").none(), nb::arg("engine") = "auto");
    module.def(
        "dbscan_tree",
        [](const OutputArray& labels, const std::optional<OutputArray>& is_core, const Tree& tree, double eps,
           std::int64_t min_samples, bool star, nb::handle threads, nb::object progress, const std::string& engine) {
            require_host(tree.device(), "the tree is", call_name);
            label(labels, is_core, tree, eps, min_samples, {.star = star, .engine = engine_of(engine)},
                  call_options(nb::none(), threads, std::move(progress)));
        },
        nb::arg("labels").noconvert(), nb::arg("is_core").none(), nb::arg("tree"), nb::arg("eps"),
        nb::arg("min_samples"), nb::arg("star"), nb::arg("threads").none(), nb::arg("progress").none(),
        nb::arg("engine") = "auto");
}

} // namespace kith::python
