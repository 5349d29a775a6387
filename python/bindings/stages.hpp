// What the stages of a call took, as Python sees it.
#pragma once

#include <kith/progress.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace kith::python {

namespace nb = nanobind;

/// A list of (name, seconds, peak_bytes, pieces).
inline nb::list stages_of(const StageReports& reports) {
    nb::list stages;
    for (const StageReport& report : reports) {
        stages.append(nb::make_tuple(report.name, report.seconds, report.peak_bytes, report.pieces));
    }
    return stages;
}

} // namespace kith::python
