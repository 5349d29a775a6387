// Numbers of Python's as C++ has them.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <string>

namespace kith::python {

namespace nb = nanobind;

/// Whether it is a list, a tuple, an array of at least one axis or the like.
inline bool is_sequence(nb::handle value) {
    return nb::hasattr(value, "__len__") && (!nb::hasattr(value, "ndim") || nb::cast<int>(value.attr("ndim")) > 0);
}

/// Whether it stands for a whole number, as NumPy's own do.
inline bool is_whole(nb::handle value) {
    return PyIndex_Check(value.ptr()) != 0;
}

/// A whole number, brought into [least, most] if it lies outside: what is beyond is the caller's to refuse. Throws
/// nb::type_error with this text for what is none.
inline int whole_number(nb::handle value, int least, int most, const char* text) {
    if (!is_whole(value)) {
        throw nb::type_error(text);
    }
    const Py_ssize_t number = PyNumber_AsSsize_t(value.ptr(), nullptr); // the nearest that there is, if it is too large
    return static_cast<int>(std::clamp<Py_ssize_t>(number, least, most));
}

} // namespace kith::python
