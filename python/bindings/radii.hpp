// Radii as Python gives them.
#pragma once

#include "arrays.hpp"

#include <kith/error.hpp>
#include <kith/radius.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <string>

namespace kith::python {

/// One radius, or an array with one for each query, which `array` keeps alive.
inline Radii radii_of(nb::handle r, InputArray& array) {
    if (PyFloat_Check(r.ptr()) != 0) {
        return nb::cast<double>(r);
    }
    array = nb::cast<InputArray>(r);
    if (const Device device = device_of(array); device.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, "r is in the memory of GPU " + std::to_string(device.index) +
                                                ", but the host reads the radii; copy them to its memory");
    }
    const ScalarsView view = scalars_of(array, "r");
    const auto count = static_cast<std::size_t>(view.count());
    if (view.dtype() == DType::float32) {
        return std::span(static_cast<const float*>(view.data()), count);
    }
    return std::span(static_cast<const double*>(view.data()), count);
}

} // namespace kith::python
