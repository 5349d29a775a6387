// Clusters of dense points.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/dbscan.hpp>

#include <nanobind/stl/optional.h>

#include <optional>
#include <span>

namespace kith::python {

namespace {

/// The caller's memory for core flags: an array of bool that was made for it.
std::span<std::uint8_t> flags_of(const OutputArray& flags, const Device& device) {
    static_assert(sizeof(bool) == 1);
    const std::span<bool> given = numbers_of<bool>(flags, device, "core flags", "bool");
    return {reinterpret_cast<std::uint8_t*>(given.data()), given.size()};
}

void find_clusters(const Call& call, const OutputArray& labels, const std::optional<OutputArray>& is_core, double eps,
                   std::int64_t min_samples, bool star) {
    const PointsOrTree points = call.points();
    const std::span<std::int32_t> of_labels = labels_of(labels, call.device);
    const std::span<std::uint8_t> flags = is_core ? flags_of(*is_core, call.device) : std::span<std::uint8_t>();
    (void)answer(call, points.count(), DbscanOptions{.star = star}, [&](const DbscanOptions& options) {
        return dbscan_into(of_labels, flags, points, eps, min_samples, options);
    });
}

/// Over ranks, where labels and flags are the result's own.
nb::object find_clusters_over_ranks(const Call& call, double eps, std::int64_t min_samples, bool star) {
    auto* const found =
        new DbscanResult(answer(call, 0, DbscanOptions{.star = star}, [&](const DbscanOptions& options) {
            return dbscan(call.points(), eps, min_samples, options);
        }));
    const nb::capsule owner = owner_of(found);
    call.ranks->report("clusters", found->clusters);
    call.ranks->report("core_points", found->core_points);
    call.ranks->report("noise_points", found->noise_points);
    const auto* const flags = reinterpret_cast<const bool*>(found->is_core.data());
    return nb::make_tuple(array_of(found->labels64(), owner),
                          array_of(std::span<const bool>(flags, found->is_core.size()), owner));
}

} // namespace

void bind_dbscan(nb::module_& module) {
    module.def("find_clusters_over_ranks", find_clusters_over_ranks, nb::arg("call"), nb::arg("eps"),
               nb::arg("min_samples"), nb::arg("star"));
    module.def("find_clusters", find_clusters, nb::arg("call"), nb::arg("labels").noconvert(),
               nb::arg("is_core").none(), nb::arg("eps"), nb::arg("min_samples"), nb::arg("star"));
}

} // namespace kith::python
