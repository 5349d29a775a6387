// The arguments that all calls share, and running a call with the GIL released: other Python threads continue, Ctrl-C
// cancels the call, and a progress function receives its progress.
//
// A long call runs on a thread of its own. The calling thread waits, polls signals about fifty times a second, and
// alone calls into Python: no thread of the core waits for the GIL. Starting a thread takes some tens of
// microseconds, so brief calls run on the calling thread.
#pragma once

#include "arrays.hpp"
#include "ranks.hpp"

#include <kith/execution.hpp>
#include <kith/neighbor_row.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/tree.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kith::python {

namespace nb = nanobind;

/// Where and how a call runs.
struct CallOptions {
    Device device;
    int threads = 0;
    nb::object
        progress; ///< None, or a function of a stage's name and the fraction done; one that returns False cancels
    std::optional<CallRanks> ranks = {}; ///< or else this process makes the call alone
};

/// From Python's values: None or a device's name ("cpu", "cuda", "cuda:1"), None or a number of threads, None or the
/// processes that make the call together (ranks.hpp).
[[nodiscard]] CallOptions call_options(nb::handle device, nb::handle threads, nb::object progress,
                                       nb::object ranks = nb::none());

/// The arguments that all calls share, bound as Call: points or a tree, which it keeps alive; box, device, threads,
/// progress, engine, and None or the processes that make the call together (ranks.hpp).
class Call : public CallOptions {
public:
    /// Without a device, the call runs where its points are. Throws nb::next_overload for a source of another type.
    Call(const nb::object& source, nb::handle box_or_periods, nb::handle device_or_none, nb::handle thread_count,
         nb::object progress_or_none, const std::string& engine_name, nb::object ranks_or_none);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    [[nodiscard]] PointsOrTree points() const { return tree_ ? PointsOrTree(*tree_) : PointsOrTree(view_); }
    /// Null: a tree.
    [[nodiscard]] const InputArray* array() const noexcept { return tree_ ? nullptr : &array_; }
    /// Throws unsupported for a source in the memory of a GPU, for a task ("the hierarchy is found") on the CPU only.
    void require_host(const char* task) const;

    Box box;
    Engine engine = Engine::automatic;

private:
    [[nodiscard]] Device memory() const { return tree_ ? tree_->device() : view_.device(); }

    std::optional<Tree> tree_;
    InputArray array_;
    PointsView view_;
};

[[nodiscard]] std::optional<PointsView> queries_of(const std::optional<InputArray>& queries);

/// The position of a name in a list of them. Throws invalid_argument for another one, as the value of `what`.
[[nodiscard]] std::size_t position_of(const std::string& name, const char* what,
                                      std::span<const std::string_view> names);

/// Runs `work`, which must not use Python, over the ranks of the call if it has any. `size` estimates the numbers in
/// the result: small calls are brief. Throws the exception of the work, of a signal handler or of the progress function.
void run(const CallOptions& options, std::int64_t size, const std::function<void(const Execution&)>& work);

/// Runs function(execution), and returns its result, whose distribution it reports to the ranks.
template <class Function>
[[nodiscard]] auto answer(const CallOptions& call, std::int64_t size, const Function& function) {
    std::optional<decltype(function(Execution()))> result;
    run(call, size, [&](const Execution& execution) { result.emplace(function(execution)); });
    if constexpr (requires { result->distribution->first; }) {
        if (result->distribution) {
            call.ranks->report(result->stages, *result->distribution);
        }
    }
    return std::move(*result);
}

/// The same for function(options), with the box, engine and execution of the call in the options.
template <class Options, class Function>
[[nodiscard]] auto answer(const Call& call, std::int64_t size, Options options, const Function& function) {
    if constexpr (requires { options.box; }) {
        options.box = call.box;
    }
    if constexpr (requires { options.engine; }) {
        options.engine = call.engine;
    }
    return answer(call, size, [&](const Execution& execution) {
        options.execution = execution;
        return function(options);
    });
}

/// Issues a UserWarning if a search has unresolved rows, or a spanning tree unresolved edges; over ranks on the first.
void warn(const Call& call, const UnresolvedRows& rows);
void warn(const Call& call, const UnresolvedEdges& edges);
/// The same for a text that is not empty.
void warn(const Call& call, std::string_view text);

} // namespace kith::python
