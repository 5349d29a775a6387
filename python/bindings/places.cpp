// Boxes and devices.
#include "arrays.hpp"
#include "bindings.hpp"

#include <kith/error.hpp>

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

namespace kith::python {

namespace {

/// One entry for each axis, or for all if the box fits any dimension.
int entries_of(const Box& box) {
    return box.axes() == 0 ? 1 : box.axes();
}

bool is_sequence(nb::handle value) {
    return nb::hasattr(value, "__len__") && (!nb::hasattr(value, "ndim") || nb::cast<int>(value.attr("ndim")) > 0);
}

/// The box with one origin for all axes, or one for each; None leaves an axis without.
Box with_origins(Box box, nb::handle origin) {
    std::vector<nb::object> origins;
    if (is_sequence(origin)) {
        for (const nb::handle item : nb::iter(origin)) {
            origins.push_back(nb::borrow(item));
        }
    } else {
        const int axes = box.axes() == 0 ? max_dimension : box.axes();
        origins.assign(static_cast<std::size_t>(axes), nb::borrow(origin));
    }
    const auto count = static_cast<int>(origins.size());
    if (count > max_dimension || (box.axes() != 0 && box.axes() != count)) {
        throw Error(ErrorKind::invalid_argument, "the box has " + std::to_string(entries_of(box)) + " periods but " +
                                                     std::to_string(count) + " origins; give one per axis");
    }
    for (int axis = 0; axis < count; ++axis) {
        const nb::object& each = origins[static_cast<std::size_t>(axis)];
        if (!each.is_none()) {
            box = box.with_origin(axis, nb::cast<double>(nb::float_(each)));
        }
    }
    return box;
}

nb::tuple periods_of(const Box& box) {
    nb::list periods;
    for (int axis = 0; axis < entries_of(box); ++axis) {
        periods.append(box.period(axis));
    }
    return nb::tuple(periods);
}

nb::tuple origins_of(const Box& box) {
    nb::list origins;
    for (int axis = 0; axis < entries_of(box); ++axis) {
        const auto origin = box.origin(axis);
        origins.append(origin ? nb::cast(*origin) : nb::none());
    }
    return nb::tuple(origins);
}

std::string name_of(const Device& device) {
    return device.kind == DeviceKind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

} // namespace

void bind_places(nb::module_& module) {
    nb::class_<Box>(module, "Box")
        .def(
            "__init__",
            [](Box* self, nb::handle period, nb::handle origin) {
                const Box box = box_of(period);
                new (self) Box(origin.is_none() ? box : with_origins(box, origin));
            },
            nb::arg("period").none(), nb::arg("origin").none() = nb::none())
        .def_prop_ro("period", periods_of)
        .def_prop_ro("origin", origins_of)
        .def_prop_ro("is_open", &Box::is_open)
        .def("__repr__", [](const Box& box) {
            return nb::str("kith.Box({}, origin={})").format(periods_of(box), origins_of(box));
        });
    nb::class_<Device>(module, "Device").def("__str__", name_of);
    module.def(
        "describe",
        [](const InputArray& array) {
            const PointsView view = points_of(array, "points");
            return nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.data()), view.count(), view.dimension(),
                                  view.point_stride(), view.axis_stride(), view.device());
        },
        nb::arg("points"));
    module.def("device_of", device_of, nb::arg("array"));
}

} // namespace kith::python
