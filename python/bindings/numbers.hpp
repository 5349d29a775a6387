// Numbers and texts of Python's as C++ has them, and the reverse.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace kith::python {

namespace nb = nanobind;

/// A text of the core's or of a file's, which need not be UTF-8: what is not is shown as \\xff.
inline nb::object text_of(std::string_view text) {
    return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

/// Whether it is text, whose digits would pass for numbers.
inline bool is_text(nb::handle value) {
    return nb::isinstance<nb::str>(value) || nb::isinstance<nb::bytes>(value) || nb::isinstance<nb::bytearray>(value);
}

/// Whether it is a list, a tuple, an array of at least one axis or the like: no text, no table, no set.
inline bool is_sequence(nb::handle value) {
    return PySequence_Check(value.ptr()) != 0 && !is_text(value) &&
           (!nb::hasattr(value, "ndim") || nb::cast<int>(value.attr("ndim")) > 0);
}

/// Replaces a pending TypeError or ValueError of Python by nb::type_error with this text; throws other errors unchanged.
[[noreturn]] inline void throw_type_error(const char* text) {
    if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_TypeError) == 0 &&
        PyErr_ExceptionMatches(PyExc_ValueError) == 0) {
        throw nb::python_error();
    }
    PyErr_Clear();
    throw nb::type_error(text);
}

/// A number as float64, infinite if it is too large. Throws nb::type_error with this text for what is none.
inline double number_of(nb::handle value, const char* text) {
    if (is_text(value)) {
        throw nb::type_error(text);
    }
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) {
            throw_type_error(text);
        }
        PyErr_Clear();
        return std::numeric_limits<double>::infinity();
    }
    return number;
}

/// A float that is whole, as a Python int; nothing for what is none.
inline nb::object whole_float(nb::handle value) {
    if (!nb::hasattr(value, "is_integer") || !nb::cast<bool>(nb::bool_(value.attr("is_integer")()))) {
        return {};
    }
    return nb::steal(PyNumber_Long(value.ptr()));
}

/// A whole number, 4 or 4.0, brought into [least, most] if it lies outside: what is beyond is the caller's to refuse.
/// Throws nb::type_error with this text for what is none.
inline int whole_number(nb::handle value, int least, int most, const char* text) {
    if (PyBool_Check(value.ptr()) != 0) {
        throw nb::type_error(text);
    }
    nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid() && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
        PyErr_Clear();
        number = whole_float(value);
    }
    if (!number.is_valid()) {
        throw_type_error(text);
    }
    int overflow = 0;
    const long long exact = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    return overflow > 0 ? most : overflow < 0 ? least : static_cast<int>(std::clamp<long long>(exact, least, most));
}

} // namespace kith::python
