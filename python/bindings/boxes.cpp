// Boxes and devices.
#include "arrays.hpp"
#include "bindings.hpp"
#include "numbers.hpp"

#include <kith/error.hpp>

#include <nanobind/stl/string.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace kith::python {

namespace {

/// A box with one origin for all periodic axes, or one for each axis; None leaves an axis without. Origins for each axis
/// make the box one of as many axes.
Box with_origins(Box box, nb::handle origin) {
    constexpr auto what = "origin must be None, one number for all axes, or a sequence with a number or None for each";
    if (!is_sequence(origin)) {
        const double edge = number_of(origin, what);
        const int axes = box.axes() == 0 ? max_dimension : box.axes();
        for (int axis = 0; axis < axes && axis < max_dimension; ++axis) {
            if (box.is_open() || box.period(axis) != 0) { // an open box is refused
                box = box.with_origin(axis, edge);
            }
        }
        return box;
    }
    const auto count = static_cast<int>(nb::len(origin));
    if (count == 0 || count > max_dimension || (box.axes() != 0 && box.axes() != count)) {
        throw Error(ErrorKind::invalid_argument, "the box has " + std::to_string(box.axes() == 0 ? 1 : box.axes()) +
                                                     " periods but " + std::to_string(count) +
                                                     " origins; give one per axis");
    }
    if (box.axes() == 0) {
        const std::vector<double> periods(static_cast<std::size_t>(count), box.period(0));
        box = Box::periodic(std::span<const double>(periods));
    }
    int axis = 0;
    for (const nb::handle each : nb::iter(origin)) {
        if (!each.is_none()) {
            box = box.with_origin(axis, number_of(each, what));
        }
        ++axis;
    }
    return box;
}

/// A number of the box for each axis, or one for all if it fits any dimension.
template <class Number>
nb::object of_axes(const Box& box, const Number& number) {
    if (box.axes() == 0) {
        return number(0);
    }
    nb::list numbers;
    for (int axis = 0; axis < box.axes() && axis < max_dimension; ++axis) {
        numbers.append(number(axis));
    }
    return nb::tuple(numbers);
}

nb::object periods_of(const Box& box) {
    return of_axes(box, [&](int axis) { return nb::cast(box.period(axis)); });
}

nb::object origins_of(const Box& box) {
    return of_axes(box, [&](int axis) {
        const auto origin = box.origin(axis);
        return origin ? nb::cast(*origin) : nb::none();
    });
}

/// Throws for numbers that no box can have; the core checks that the box fits the points.
const Box& checked(const Box& box) {
    for (int axis = 0; axis < (box.axes() == 0 ? 1 : box.axes()); ++axis) {
        const auto origin = box.origin(axis);
        if (!(box.period(axis) >= 0) || !std::isfinite(box.period(axis)) || (origin && !std::isfinite(*origin))) {
            throw Error(ErrorKind::invalid_argument,
                        "the box has period " + std::string(nb::str(nb::float_(box.period(axis))).c_str()) +
                            (origin ? " and origin " + std::string(nb::str(nb::float_(*origin)).c_str()) : "") +
                            " on axis " + std::to_string(axis) +
                            "; periods must be positive, or 0 for an open axis, and origins finite");
        }
    }
    return box;
}

std::string name_of(const Device& device) {
    return device.kind == DeviceKind::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

} // namespace

void bind_boxes(nb::module_& module) {
    nb::class_<Box>(module, "Box")
        .def(
            "__init__",
            [](Box* self, nb::handle period, nb::handle origin) {
                for (const nb::handle each : {period, origin}) {
                    if (!each.is_none() && !nb::isinstance<Box>(each)) {
                        nb::module_::import_("kith._units").attr("plain")(each, "box");
                    }
                }
                const Box box = box_of(period);
                new (self) Box(checked(origin.is_none() ? box : with_origins(box, origin)));
            },
            nb::arg("period").none() = nb::none(), nb::arg("origin").none() = nb::none(),
            "Periods and origins, in the units of the points: one for all axes, or one for each.\n\n"
            "A period of 0 leaves an axis open; its origin is None. Without an origin, the lower edge is\n"
            "found from the points.")
        .def_prop_ro("period", periods_of, nb::for_getter(nb::sig("def period(self, /) -> float | tuple[float, ...]")))
        .def_prop_ro("origin", origins_of,
                     nb::for_getter(nb::sig("def origin(self, /) -> float | None | tuple[float | None, ...]")))
        .def_prop_ro("is_open", &Box::is_open)
        .def(
            "__eq__",
            [](const Box& box, nb::handle other) {
                return nb::isinstance<Box>(other) && periods_of(box).equal(periods_of(nb::cast<const Box&>(other))) &&
                       origins_of(box).equal(origins_of(nb::cast<const Box&>(other)));
            },
            nb::arg("other").none())
        .def("__hash__", [](const Box& box) { return nb::hash(nb::make_tuple(periods_of(box), origins_of(box))); })
        .def("__reduce__",
             [](nb::object self) {
                 const Box& box = nb::cast<const Box&>(self);
                 return nb::make_tuple(self.type(), nb::make_tuple(periods_of(box), origins_of(box)));
             })
        .def("__repr__", [](const Box& box) {
            return nb::str("kith.Box({}, origin={})").format(periods_of(box), origins_of(box));
        });
    nb::class_<Device>(module, "Device").def("__str__", name_of);
    module.def(
        "describe",
        [](const InputArray& array) {
            const PointsView view = points_of(array, "points");
            return nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.axis(0)), view.count(), view.dimension(),
                                  view.stride(), view.device());
        },
        nb::arg("points"));
    module.def(
        "device_of", [](const InputArray& array) { return device_of(array); }, nb::arg("array"));
}

} // namespace kith::python
