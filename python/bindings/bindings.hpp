// The parts of kith._core, a file each.
#pragma once

#include <nanobind/nanobind.h>

namespace kith::python {

namespace nb = nanobind;

void bind_places(nb::module_& module); ///< boxes and devices
void bind_search(nb::module_& module); ///< trees and neighbours
void bind_groups(nb::module_& module); ///< groups and their catalogue
void bind_files(nb::module_& module);  ///< snapshots and catalogues in files

} // namespace kith::python
