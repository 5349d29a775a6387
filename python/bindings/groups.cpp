// Groups and their catalog.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "columns.hpp"
#include "phase_space.hpp"

#include <kith/device_catalog.hpp>
#include <kith/error.hpp>
#include <kith/fof.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

FofOptions options_of(const PhaseSpaceArgument& phase_space) {
    return {.phase_space = phase_space_of(phase_space)};
}

FofSummary find_groups(const Call& call, const OutputArray& labels, const LengthArgument& length,
                       const PhaseSpaceArgument& phase_space) {
    const PointsOrTree points = call.points();
    const std::span<std::int32_t> where = labels_of(labels, call.device);
    return answer(call, points.count(), options_of(phase_space),
                  [&](const FofOptions& options) { return fof_into(where, points, length_of(length), options); });
}

/// Of points, not of a tree, and of marks of the secondary ones.
FofSummary find_groups_with_secondaries(const Call& call, const OutputArray& labels, const LengthArgument& length,
                                        const InputArray& is_secondary, std::int64_t min_primaries) {
    const PointsView points = call.points().points();
    const std::span<std::int32_t> where = labels_of(labels, call.device);
    const FofResult found = answer(call, points.count(), FofOptions{}, [&](const FofOptions& options) {
        return fof_with_secondaries(points, types_of(is_secondary), length_of(length), min_primaries, options);
    });
    std::copy(found.labels().begin(), found.labels().end(), where.begin());
    return found;
}

/// Over ranks, where the labels are the result's own.
FofResult find_groups_over_ranks(const Call& call, const LengthArgument& length,
                                 const PhaseSpaceArgument& phase_space) {
    FofResult found = answer(call, 0, options_of(phase_space),
                             [&](const FofOptions& options) { return fof(call.points(), length_of(length), options); });
    call.ranks->report("groups", found.groups);
    call.ranks->report("linking_length", found.linking_length);
    call.ranks->report("psi", found.velocity_length);
    return found;
}

/// Of points, not of a tree. Labels over ranks are those of the groups. A DeviceCatalog if it is to stay on the GPU.
nb::object describe_groups(const Call& call, const std::optional<OutputArray>& labels, nb::handle groups,
                           const std::optional<InputArray>& velocities, const std::optional<InputArray>& masses,
                           double uniform_mass, const std::optional<InputArray>& types, std::int64_t min_members,
                           bool stays) {
    Particles particles{.positions = call.points().points(), .uniform_mass = uniform_mass};
    const auto& summary = nb::cast<const FofSummary&>(groups);
    const auto* const labeled = labels ? nullptr : &nb::cast<const FofResult&>(groups);
    const auto where = labels ? labels_of(*labels, call.device) : std::span<std::int32_t>();
    if (velocities) {
        particles.velocities = points_of(*velocities, "velocities");
    }
    if (masses) {
        require_reach(*masses, call.device, "the array of masses");
        particles.masses = scalars_of(*masses, "masses");
    }
    if (types) {
        require_reach(*types, call.device, "the array of types");
        particles.types = types_of(*types);
    }
    const auto described = [&](const auto& describe) {
        return nb::cast(
            answer(call, particles.positions.count(), CatalogOptions{.min_members = min_members}, describe));
    };
    if (stays) {
        return described(
            [&](const CatalogOptions& options) { return device_catalog(where, summary, particles, options); });
    }
    return described([&](const CatalogOptions& options) {
        return labels ? catalog(where, summary, particles, options) : catalog(*labeled, particles, options);
    });
}

/// A column of a catalog in memory of a GPU, for DLPack.
nb::object column_of(nb::handle self, const std::string& name) {
    const auto& catalog = nb::cast<const DeviceCatalog&>(self);
    nb::object found;
    const Catalog none;
    for_each_field(none, [&]<class T>(const CatalogColumn& column, const std::vector<T>&) {
        if (column.field == name) {
            const auto* const numbers =
                static_cast<const T*>(catalog.memory().columns[&column - catalog_columns.data()]);
            const std::int64_t size = column.size(catalog.groups, catalog.dimension, catalog.memory().has_velocities);
            const std::int64_t width = column.shape == ColumnShape::scalar ? 0 : column.width(catalog.dimension);
            found = device_view(std::span(numbers, static_cast<std::size_t>(size)), static_cast<std::size_t>(width),
                                catalog.device(), self);
        }
    });
    return found;
}

nb::object members_of(const Catalog& catalog, nb::handle self) {
    return catalog.member_array.visit([&](const auto members) { return numpy_view(members, 0, self); });
}

/// The state of a pickled catalog: its numbers, and arrays that view it, without the cost of its stages.
nb::dict state_of(nb::handle self) {
    const auto& catalog = nb::cast<const Catalog&>(self);
    nb::dict state;
    state["groups"] = catalog.groups;
    state["dimension"] = catalog.dimension;
    state["min_members"] = catalog.min_members;
    state["members"] = members_of(catalog, self);
    for_each_field(catalog, [&](const CatalogColumn& column, const auto& values) {
        state[column.field.data()] = numpy_view(values, 0, self);
    });
    return state;
}

void restore(Catalog& uninitialized, const nb::dict& state) {
    Catalog& catalog = *new (&uninitialized) Catalog();
    catalog.groups = nb::cast<std::int64_t>(state["groups"]);
    catalog.dimension = nb::cast<int>(state["dimension"]);
    catalog.min_members = nb::cast<std::int64_t>(state["min_members"]);
    if (nb::cast<nb::ndarray<nb::ro>>(state["members"]).dtype() == nb::dtype<std::int64_t>()) {
        catalog.member_array = copied<std::int64_t>(state["members"]);
    } else {
        catalog.member_array = copied<std::int32_t>(state["members"]);
    }
    for_each_field(catalog, [&]<class T>(const CatalogColumn& column, std::vector<T>& values) {
        values = copied<T>(state[column.field.data()]);
    });
}

} // namespace

void bind_groups(nb::module_& module) {
    nb::class_<FofSummary>(module, "Groups")
        .def_ro("linking_length", &FofSummary::linking_length)
        .def_ro("velocity_length", &FofSummary::velocity_length)
        .def_ro("volume", &FofSummary::volume)
        .def_prop_ro("volume_kind", [](const FofSummary& summary) { return name_of(summary.volume_kind); })
        .def_prop_ro("box", [](const FofSummary& summary) { return summary.box; })
        .def_prop_ro("engine", [](const FofSummary& summary) { return name_of(summary.engine); })
        .def("of_at_least", &FofSummary::groups_of_at_least, nb::arg("min_members"));
    nb::class_<FofResult, FofSummary>(module, "LabeledGroups").def_prop_ro("labels", [](nb::object self) {
        return array_of(nb::cast<const FofResult&>(self).labels64(), self);
    });

    nb::class_<Catalog> catalog_class(module, "Catalog");
    catalog_class.def_ro("groups", &Catalog::groups)
        .def_ro("dimension", &Catalog::dimension)
        .def_ro("min_members", &Catalog::min_members)
        .def_prop_ro("members", [](nb::object self) { return members_of(nb::cast<const Catalog&>(self), self); })
        .def_ro("first_member", &Catalog::first_member)
        .def_prop_ro("place",
                     [](const Catalog& catalog) { // among the groups of all ranks
                         const auto& place = catalog.distribution;
                         return std::pair(place ? place->first : 0, place ? place->total : catalog.groups);
                     })
        .def("__getstate__", state_of)
        .def("__setstate__", restore);
    for (const CatalogColumn& column : catalog_columns) {
        if (!column.field.empty()) {
            catalog_class.def_prop_ro(column.field.data(), [&column](nb::handle self) {
                const auto& catalog = nb::cast<const Catalog&>(self);
                return column_view(column, catalog, column.width(catalog.dimension), self);
            });
        }
    }
    module.attr("catalog_columns") = table_of_columns<Catalog>();

    nb::class_<DeviceCatalog>(module, "DeviceCatalog")
        .def_prop_ro("groups", [](const DeviceCatalog& catalog) { return catalog.groups; })
        .def_prop_ro("min_members", [](const DeviceCatalog& catalog) { return catalog.min_members; })
        .def_prop_ro("members",
                     [](nb::handle self) {
                         const auto& catalog = nb::cast<const DeviceCatalog&>(self);
                         return device_view(catalog.members(), 0, catalog.device(), self);
                     })
        .def("column", column_of, nb::arg("name"))
        .def(
            "to_host", [](const DeviceCatalog& catalog) { return catalog.to_host(); },
            nb::call_guard<nb::gil_scoped_release>());

    module.def("find_groups", find_groups, nb::arg("call"), nb::arg("labels").noconvert(), nb::arg("length"),
               nb::arg("phase_space").none());
    module.def("find_groups_with_secondaries", find_groups_with_secondaries, nb::arg("call"),
               nb::arg("labels").noconvert(), nb::arg("length"), nb::arg("is_secondary"), nb::arg("min_primaries"));
    module.def(
        "b_of_overdensity",
        [](double overdensity, int dimension, double omega_sim) {
            return LinkingLength::overdensity(overdensity, dimension, omega_sim).value();
        },
        nb::arg("overdensity"), nb::arg("dimension"), nb::arg("omega_sim"));
    module.def("find_groups_over_ranks", find_groups_over_ranks, nb::arg("call"), nb::arg("length"),
               nb::arg("phase_space").none());
    module.def("describe_groups", describe_groups, nb::arg("call"), nb::arg("labels").none().noconvert(),
               nb::arg("groups"), nb::arg("velocities").none(), nb::arg("masses").none(), nb::arg("uniform_mass"),
               nb::arg("types").none(), nb::arg("min_members"), nb::arg("stays") = false);
}

} // namespace kith::python
