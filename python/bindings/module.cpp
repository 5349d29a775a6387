// kith._core: the C++ library as thinly as possible. Defaults, conversions and documentation are in the Python files.
#include "bindings.hpp"
#include "call.hpp"
#include "numbers.hpp"

#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/version.hpp>

#include <stdexcept>

namespace kith::python {

namespace {

/// Python's exception for each kind of error, with the core's text.
PyObject* exception_of(ErrorKind kind, PyObject* canceled) {
    switch (kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::invalid_points:
    case ErrorKind::too_large:
        return PyExc_ValueError;
    case ErrorKind::out_of_memory:
        return PyExc_MemoryError;
    case ErrorKind::file:
        return PyExc_OSError;
    case ErrorKind::unsupported:
        return PyExc_NotImplementedError;
    case ErrorKind::canceled:
        return canceled;
    case ErrorKind::device:
    case ErrorKind::other_rank:
        break;
    }
    return PyExc_RuntimeError;
}

void translate(const std::exception_ptr& thrown, void* canceled) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        PyErr_SetObject(exception_of(error.kind(), static_cast<PyObject*>(canceled)), text_of(error.what()).ptr());
    }
}

} // namespace

NB_MODULE(_core, module) {
    nb::set_leak_warnings(false); // who ends a program with a tree at hand has leaked nothing
    module.doc() = "The C++ library behind kith. Use the kith package.";
    module.attr("version") = KITH_VERSION;
    PyObject* canceled = PyErr_NewExceptionWithDoc("kith.Canceled", "A progress function asked a call to stop.",
                                                   PyExc_RuntimeError, nullptr);
    module.attr("Canceled") = nb::borrow(canceled); // its first reference is the translator's
    nb::register_exception_translator(translate, canceled);
    module.def("has_cuda", &has_cuda);
    module.def(
        "release_memory",
        [](nb::handle device) { release_memory(call_options(device, nb::none(), nb::none()).device); },
        nb::arg().none());
    bind_boxes(module);
    bind_call(module);
    bind_search(module);
    bind_radius(module);
    bind_sums(module);
    bind_mst(module);
    bind_groups(module);
    bind_group_order(module);
    bind_halos(module);
    bind_pairs(module);
    bind_dbscan(module);
    bind_hdbscan(module);
    bind_hierarchy(module);
    bind_kdtree(module);
    bind_z_order(module);
    bind_files(module);
}

} // namespace kith::python
