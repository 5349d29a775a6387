// The processes that make a call together, through an object of Python's (kith/mpi.py): kith needs no MPI for it, and
// whatever mpi4py was built with is what is used.
#pragma once

#include "arrays.hpp"

#include <kith/communicator.hpp>
#include <kith/distributed.hpp>
#include <kith/progress.hpp>

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>

namespace kith::python {

namespace nb = nanobind;

/// Runs something with Python's lock, on the thread that called from Python.
using RunInPython = std::function<void(const std::function<void()>&)>;

class CallRanks {
public:
    /// Reads the options of ranks from Python's object. Keeps their arrays.
    explicit CallRanks(nb::object team);

    [[nodiscard]] bool is_first() const;
    [[nodiscard]] const RankOptions& options() const noexcept { return options_; }

    /// The work of all processes begins; raises the error of one that cannot begin on all of them.
    void enter() const { team_.attr("enter")(); }
    /// The work of all processes has succeeded.
    void leave() const { team_.attr("leave")(); }

    /// For the thread that works, without Python's lock.
    [[nodiscard]] std::unique_ptr<Communicator> communicator(RunInPython run_in_python) const;

    /// Adds what a result cost, and which part of the answer it is, to the report of the call.
    void report(const StageReports& stages, const Distribution& distribution) const;
    /// Adds one number to it.
    template <class Number>
    void report(const char* name, Number number) const {
        team_.attr("report")[name] = number;
    }

private:
    nb::object team_;
    nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> ids_;
    InputArray weights_;
    RankOptions options_;
};

} // namespace kith::python
