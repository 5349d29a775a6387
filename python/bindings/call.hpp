// Runs a call of the core with Python's lock released, so that other Python threads go on, Ctrl-C stops it, and a
// progress function hears of it.
//
// A call that may take long runs on a thread of its own. The calling thread waits, looks for signals about every fiftieth
// of a second, and is the only one that ever calls into Python: no thread of the core waits for Python's lock. Starting
// a thread takes some tens of microseconds, so that a brief call runs on the calling thread.
#pragma once

#include <kith/execution.hpp>
#include <kith/neighbor_row.hpp>
#include <kith/spanning_tree.hpp>

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <string>

namespace kith::python {

namespace nb = nanobind;

/// Where and how a call runs.
struct CallOptions {
    Device device;
    int threads = 0;
    nb::object
        progress; ///< None, or a function of a stage's name and the fraction done; one that returns False cancels
};

/// From what Python says: None or a device's name ("cpu", "cuda", "cuda:1"), None or a number of threads.
[[nodiscard]] CallOptions call_options(nb::handle device, nb::handle threads, nb::object progress);

/// The engine of a name: "auto", "tree", ...
[[nodiscard]] Engine engine_of(const std::string& name);

/// Runs `work`, which must not touch Python. `size` is about how many numbers it makes: what is small is brief. Throws
/// what the work throws, or the exception that a signal's handler or the progress function raised.
void run(const CallOptions& options, std::int64_t size, const std::function<void(const Execution&)>& work);

/// A UserWarning where a search has unresolved rows, or a spanning tree unresolved edges.
void warn(const UnresolvedRows& rows);
void warn(const UnresolvedEdges& edges);

} // namespace kith::python
