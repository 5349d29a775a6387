// Groups and their catalog.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/catalog.hpp>
#include <kith/error.hpp>
#include <kith/fof.hpp>

#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>

namespace kith::python {

namespace {

std::span<std::int32_t> labels_of(const OutputArray& labels, const Device& device) {
    if (labels.dtype() != nb::dtype<std::int32_t>() || labels.ndim() != 1) {
        throw nb::type_error("labels must be a one-dimensional array of int32");
    }
    require_dense(labels, "labels");
    require_reach(labels, device, "the array of labels");
    return {static_cast<std::int32_t*>(labels.data_handle()), labels.size()};
}

LinkingLength length_of(double length, bool is_relative) {
    return is_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length);
}

FofSummary label_tree(const OutputArray& labels, const Tree& tree, double length, bool is_relative, nb::handle threads,
                      nb::object progress) {
    CallOptions options = call_options(nb::none(), threads, std::move(progress));
    options.device = tree.device();
    const std::span<std::int32_t> where = labels_of(labels, options.device);
    FofSummary summary;
    run(options, tree.size(), [&](const Execution& execution) {
        summary = fof_into(where, tree, length_of(length, is_relative), {}, execution);
    });
    return summary;
}

FofSummary label_points(const OutputArray& labels, const InputArray& points, double length, bool is_relative,
                        nb::handle box, nb::handle device, nb::handle threads, nb::object progress) {
    const PointsView view = points_of(points, "points");
    const Box space = box_of(box);
    const CallOptions options = call_options(device, threads, std::move(progress));
    const std::span<std::int32_t> where = labels_of(labels, options.device);
    FofSummary summary;
    run(options, view.count(), [&](const Execution& execution) {
        summary = fof_into(where, view, length_of(length, is_relative), space, {}, execution);
    });
    return summary;
}

Catalog describe_groups(const OutputArray& labels, const FofSummary& summary, const InputArray& positions,
                        const std::optional<InputArray>& velocities, const std::optional<InputArray>& masses,
                        double uniform_mass, const std::optional<InputArray>& types, nb::handle box,
                        std::int64_t min_members, nb::handle device, nb::handle threads, nb::object progress) {
    const CallOptions call = call_options(device, threads, std::move(progress));
    Particles particles;
    particles.positions = points_of(positions, "points");
    const std::span<const std::int32_t> where = labels_of(labels, call.device);
    particles.uniform_mass = uniform_mass;
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
    CatalogOptions options;
    options.min_members = min_members;
    const Box space = box_of(box);
    Catalog found;
    run(call, particles.positions.count(),
        [&](const Execution& execution) { found = catalog(where, summary, particles, space, options, execution); });
    return found;
}

/// A member of the catalog as an array that views it.
template <class T>
auto column(const std::vector<T> Catalog::*member, int Catalog::*columns = nullptr, std::size_t most = 0) {
    return [=](nb::object self) -> nb::object {
        const Catalog& catalog = nb::cast<const Catalog&>(self);
        const std::vector<T>& values = catalog.*member;
        const auto width = columns != nullptr ? static_cast<std::size_t>(catalog.*columns) : most;
        return numpy_view(values, width, self);
    };
}

} // namespace

void bind_groups(nb::module_& module) {
    nb::class_<FofSummary>(module, "Groups")
        .def_ro("linking_length", &FofSummary::linking_length)
        .def_prop_ro("sizes",
                     [](nb::object self) { return numpy_view(nb::cast<const FofSummary&>(self).sizes, 0, self); });

    using C = Catalog;
    const auto wide = static_cast<std::size_t>(max_types);
    nb::class_<C>(module, "Catalog")
        .def_ro("groups", &C::groups)
        .def_ro("dimension", &C::dimension)
        .def_ro("min_members", &C::min_members)
        .def_prop_ro("members", column(&C::members))
        .def_prop_ro("offset", column(&C::offset))
        .def_prop_ro("count", column(&C::count))
        .def_prop_ro("count_by_type", column(&C::count_by_type, nullptr, wide))
        .def_prop_ro("mass", column(&C::mass))
        .def_prop_ro("mass_by_type", column(&C::mass_by_type, nullptr, wide))
        .def_prop_ro("center", column(&C::center, &C::dimension))
        .def_prop_ro("velocity", column(&C::velocity, &C::dimension))
        .def_prop_ro("rms_radius", column(&C::rms_radius))
        .def_prop_ro("velocity_dispersion", column(&C::velocity_dispersion))
        .def_prop_ro("max_radius", column(&C::max_radius))
        .def_prop_ro("lower", column(&C::lower, &C::dimension))
        .def_prop_ro("upper", column(&C::upper, &C::dimension))
        .def_prop_ro("is_ambiguous", column(&C::is_ambiguous));

    module.def("label_tree", label_tree, nb::arg("labels").noconvert(), nb::arg("tree"), nb::arg("length"),
               nb::arg("is_relative"), nb::arg("threads").none(), nb::arg("progress").none());
    module.def("label_points", label_points, nb::arg("labels").noconvert(), nb::arg("points"), nb::arg("length"),
               nb::arg("is_relative"), nb::arg("box").none(), nb::arg("device").none(), nb::arg("threads").none(),
               nb::arg("progress").none());
    module.def("describe_groups", describe_groups, nb::arg("labels").noconvert(), nb::arg("groups"), nb::arg("points"),
               nb::arg("velocities").none(), nb::arg("masses").none(), nb::arg("uniform_mass"), nb::arg("types").none(),
               nb::arg("box").none(), nb::arg("min_members"), nb::arg("device").none(), nb::arg("threads").none(),
               nb::arg("progress").none());
}

} // namespace kith::python
