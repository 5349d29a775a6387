// Sums over neighbors. NumPy arrays view the sums in the core's memory and keep it alive.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "radii.hpp"

#include <kith/error.hpp>
#include <kith/sum_neighbors.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::python {

namespace {

ScalarsView column_on_host(const InputArray& array, const std::string& what) {
    if (const Device memory = device_of(array); memory.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, what + " in the memory of GPU " + std::to_string(memory.index) +
                                                " cannot be summed; copy the column to the host's memory");
    }
    return scalars_of(array, what.c_str());
}

/// Numbers of the result, or None where there are none.
template <class T>
nb::object array_or_none(std::vector<T>& numbers, std::size_t columns, bool is_wanted, nb::handle owner) {
    if (!is_wanted) {
        return nb::none();
    }
    using Array = nb::ndarray<nb::numpy, T>;
    return columns == 0 ? nb::cast(Array(numbers.data(), {numbers.size()}, owner))
                        : nb::cast(Array(numbers.data(), {numbers.size() / columns, columns}, owner));
}

/// Density, reach, counts, gradient of the density, a tuple of sum, mean, variance, least, greatest and gradient for
/// each field, and the name of the engine; None where something was not asked for. By k, or if that is None by radii.
nb::object sum(const Call& call, const std::optional<InputArray>& queries, std::optional<std::int64_t> k, nb::handle r,
               const std::string& kernel, bool exclude_self, const std::optional<InputArray>& masses,
               const std::vector<InputArray>& fields, const std::vector<std::string>& field_names,
               const std::vector<std::string>& statistics, bool density_gradient) {
    const auto wants = [&](const char* name) {
        return std::find(statistics.begin(), statistics.end(), name) != statistics.end();
    };
    const PointsOrTree points = call.points();
    const std::optional<PointsView> view = queries_of(queries);
    InputArray radii;
    const Neighborhood neighborhood = k ? Neighborhood(Nearest{*k}) : Neighborhood(Within{radii_of(r, radii)});
    SumOptions wanted;
    wanted.kernel = static_cast<SmoothingKernel>(position_of(kernel, "kernel", smoothing_kernel_names));
    wanted.exclude_self = exclude_self;
    if (masses) {
        wanted.masses = column_on_host(*masses, "masses");
    }
    for (std::size_t field = 0; field < fields.size(); ++field) {
        wanted.fields.push_back(column_on_host(fields[field], field_names.at(field)));
    }
    wanted.field_names = field_names;
    wanted.statistics = {wants("sum"),   wants("mean"),     wants("variance"),
                         wants("least"), wants("greatest"), wants("gradient")};
    wanted.density_gradient = density_gradient;
    const std::int64_t rows = view ? view->count() : points.count();
    auto* const found =
        new NeighborSums(answer(call, rows * std::min(k.value_or(32), std::int64_t{1} << 20) + points.count(), wanted,
                                [&](const SumOptions& options) {
                                    return view ? sum_neighbors(points, *view, neighborhood, options)
                                                : sum_neighbors(points, neighborhood, options);
                                }));
    const nb::capsule owner = owner_of(found);
    warn(call, found->unresolved);
    warn(call, found->warning);
    const auto dimension = static_cast<std::size_t>(points.dimension());
    const FieldStatistics& asked = wanted.statistics;
    nb::list of_fields;
    for (FieldSums& field : found->fields) {
        of_fields.append(nb::make_tuple(
            array_or_none(field.sum, 0, asked.sum, owner), array_or_none(field.mean, 0, asked.mean, owner),
            array_or_none(field.variance, 0, asked.variance, owner), array_or_none(field.least, 0, asked.least, owner),
            array_or_none(field.greatest, 0, asked.greatest, owner),
            array_or_none(field.gradient, dimension, asked.gradient, owner)));
    }
    return nb::make_tuple(
        array_or_none(found->density, 0, true, owner), array_or_none(found->reach, 0, k.has_value(), owner),
        array_or_none(found->counts, 0, !k, owner),
        array_or_none(found->density_gradient, dimension, density_gradient, owner), of_fields, name_of(found->engine));
}

} // namespace

void bind_sums(nb::module_& module) {
    module.def("sum_neighbors", sum, nb::arg("call"), nb::arg("queries").none(), nb::arg("k").none(),
               nb::arg("r").none(), nb::arg("kernel"), nb::arg("exclude_self"), nb::arg("masses").none(),
               nb::arg("fields"), nb::arg("field_names"), nb::arg("statistics"), nb::arg("density_gradient"));
}

} // namespace kith::python
