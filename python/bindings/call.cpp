#include "call.hpp"

#include "bindings.hpp"
#include "numbers.hpp"
#include "unlocked.hpp"

#include <kith/error.hpp>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace kith::python {

namespace {

Device device_named(std::string_view name) {
    constexpr std::string_view gpu = "cuda";
    if (name == "cpu") {
        return {};
    }
    if (name == gpu) {
        return {DeviceKind::cuda, 0};
    }
    if (name.starts_with("cuda:")) {
        const std::string_view number = name.substr(gpu.size() + 1);
        int index = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
        if (error == std::errc() && end == number.data() + number.size() && index >= 0) {
            return {DeviceKind::cuda, index};
        }
    }
    throw Error(ErrorKind::invalid_argument,
                "device is '" + std::string(name) + "'; it must be 'cpu', 'cuda', or one of several GPUs: 'cuda:1'");
}

/// Messages from the working thread to the waiting one, and cancellation in return.
class Watch {
public:
    /// The core's progress function; any thread of the core's calls it.
    bool post(std::string_view stage, double fraction) {
        const std::lock_guard lock(mutex_);
        stage_ = stage;
        fraction_ = fraction;
        is_new_ = true;
        return !canceled_.load(std::memory_order_relaxed);
    }
    void cancel() noexcept { canceled_.store(true, std::memory_order_relaxed); }

    /// Has the waiting thread run something that needs Python, and waits for it.
    void ask(const std::function<void()>& body) {
        std::unique_lock lock(mutex_);
        asked_ = &body;
        changed_.notify_one();
        answered_.wait(lock, [&] { return asked_ == nullptr; });
        if (thrown_) {
            std::rethrow_exception(std::exchange(thrown_, nullptr));
        }
    }
    /// Runs what the working thread asks for, if it does.
    void serve(Unlocked& unlocked) {
        const std::function<void()>* const body = [&] {
            const std::lock_guard lock(mutex_);
            return asked_;
        }();
        if (body == nullptr) {
            return;
        }
        std::exception_ptr thrown = unlocked.locked(*body);
        const std::lock_guard lock(mutex_);
        thrown_ = std::move(thrown);
        asked_ = nullptr;
        answered_.notify_one();
    }

    void finish(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        error_ = std::move(error);
        is_finished_ = true;
        changed_.notify_one();
    }
    /// Completes the last stage, even if it reported no progress.
    void complete() {
        is_new_ = is_new_ || (!stage_.empty() && fraction_ < 1);
        fraction_ = 1;
    }
    /// Waits 20 ms at most, or until the working thread asks for something; returns whether the work is done.
    [[nodiscard]] bool wait() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::milliseconds(20), [&] { return is_finished_ || asked_ != nullptr; });
        return is_finished_;
    }
    /// After the work is done: its exception, if any.
    [[nodiscard]] std::exception_ptr error() const { return error_; }
    /// The newest progress; returns whether it was posted since the last poll.
    [[nodiscard]] bool poll(std::string& stage, double& fraction) {
        const std::lock_guard lock(mutex_);
        stage = stage_;
        fraction = fraction_;
        return std::exchange(is_new_, false);
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable answered_;
    const std::function<void()>* asked_ = nullptr;
    std::exception_ptr thrown_; ///< by what was asked for
    std::exception_ptr error_;
    bool is_finished_ = false;
    std::string stage_;
    double fraction_ = 0;
    bool is_new_ = false;
    std::atomic<bool> canceled_{false};
};

/// Python's or NumPy's False; other return values of a progress function, 0 and None included, are ignored.
bool is_false(const nb::object& answer) {
    if (nb::isinstance<nb::bool_>(answer)) {
        return answer.is(nb::handle(Py_False));
    }
    const nb::handle type = answer.type();
    return nb::hasattr(type, "__module__") && nb::str(type.attr("__module__")).equal(nb::str("numpy")) &&
           std::string_view(nb::str(type.attr("__name__")).c_str()).starts_with("bool") && !nb::bool_(answer);
}

/// Orders the call after PyTorch's pending work on points and results.
void wait_for_pytorch(const Device& device) {
    if (device.kind != DeviceKind::cuda) {
        return;
    }
    if (nb::cast<nb::dict>(nb::module_::import_("sys").attr("modules")).contains("torch")) {
        nb::module_::import_("kith._arrays").attr("wait_for_pytorch")(device.index);
    }
}

/// Runs signal handlers and the progress function; throws their exceptions.
void poll_signals(Watch& watch, const nb::object& progress) {
    if (PyErr_CheckSignals() != 0) {
        throw nb::python_error();
    }
    std::string stage;
    double fraction = 0;
    if (!progress.is_none() && watch.poll(stage, fraction)) {
        if (is_false(progress(stage, fraction))) {
            watch.cancel();
        }
    }
}

} // namespace

CallOptions call_options(nb::handle device, nb::handle threads, nb::object progress, nb::object ranks) {
    CallOptions options;
    if (nb::isinstance<nb::str>(device)) {
        options.device = device_named(nb::cast<nb::str>(device).c_str());
    } else if (nb::isinstance<Device>(device)) {
        options.device = nb::cast<Device>(device);
    } else if (!device.is_none()) {
        throw nb::type_error("device must be None, 'cpu', 'cuda', or one of several GPUs: 'cuda:1'");
    }
    if (!threads.is_none()) {
        options.threads = whole_number(threads, -1, max_threads + 1, "threads must be None or a whole number");
        if (options.threads < 0 || options.threads > max_threads) {
            throw Error(ErrorKind::invalid_argument, "threads is " + std::string(nb::str(threads).c_str()) +
                                                         "; it must be from 1 to " + std::to_string(max_threads) +
                                                         ", or None or 0 for all");
        }
    }
    options.progress = std::move(progress);
    if (!ranks.is_none()) {
        options.ranks.emplace(std::move(ranks));
    }
    return options;
}

std::size_t position_of(const std::string& name, const char* what, std::span<const std::string_view> names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) {
        return static_cast<std::size_t>(found - names.begin());
    }
    std::string list;
    for (const std::string_view each : names) {
        list += (list.empty() ? "'" : ", '") + std::string(each) + "'";
    }
    throw Error(ErrorKind::invalid_argument, std::string(what) + " is '" + name + "'; it must be one of " + list);
}

Call::Call(const nb::object& source, nb::handle box_or_periods, nb::handle device_or_none, nb::handle thread_count,
           nb::object progress_or_none, const std::string& engine_name, nb::object ranks_or_none)
    : CallOptions(call_options(device_or_none, thread_count, std::move(progress_or_none), std::move(ranks_or_none))),
      box(box_of(box_or_periods)), engine(static_cast<Engine>(position_of(engine_name, "engine", engine_names))) {
    if (nb::isinstance<Tree>(source)) {
        tree_ = nb::cast<const Tree&>(source);
    } else if (nb::try_cast(source, array_)) {
        view_ = points_of(array_, "points");
    } else {
        throw nb::next_overload();
    }
    if (device_or_none.is_none()) {
        device = memory();
    }
}

void Call::require_host(const char* task) const {
    python::require_host(memory(), tree_ ? "the tree is" : "points is", task);
}

std::optional<PointsView> queries_of(const std::optional<InputArray>& queries) {
    return queries ? std::optional(points_of(*queries, "queries")) : std::nullopt;
}

void bind_call(nb::module_& module) {
    nb::class_<Call>(module, "Call")
        .def(nb::init<const nb::object&, nb::handle, nb::handle, nb::handle, nb::object, const std::string&,
                      nb::object>(),
             nb::arg("source"), nb::arg("box").none(), nb::arg("device").none(), nb::arg("threads").none(),
             nb::arg("progress").none(), nb::arg("engine") = "auto", nb::arg("ranks") = nb::none());
}

void run(const CallOptions& options, std::int64_t size, const std::function<void(const Execution&)>& work) {
    constexpr std::int64_t brief = 20'000; // mostly a millisecond or so; less than a second whatever the points
    Execution execution;
    execution.device = options.device;
    execution.threads = options.threads;
    wait_for_pytorch(options.device);
    if (size < brief && options.progress.is_none() && !options.ranks) {
        const Unlocked unlocked;
        work(execution);
        return;
    }
    Watch watch;
    execution.progress = [&watch](std::string_view stage, double fraction) { return watch.post(stage, fraction); };
    std::unique_ptr<Communicator> communicator;
    if (options.ranks) {
        communicator = options.ranks->communicator([&watch](const std::function<void()>& body) { watch.ask(body); });
        execution = over(*communicator, std::move(execution), options.ranks->options());
    }
    std::exception_ptr raised;
    {
        Unlocked unlocked;
        std::promise<void> may_begin; // after all that one process may fail at alone, such as the start of a thread
        std::jthread worker([&, begins = may_begin.get_future()]() mutable {
            std::exception_ptr error;
            try {
                begins.get();
                work(execution);
            } catch (...) {
                error = std::current_exception();
            }
            watch.finish(std::move(error));
        });
        const auto enter = [&] { options.ranks->enter(); };
        if (std::exception_ptr refused = options.ranks ? unlocked.locked(enter) : nullptr) {
            may_begin.set_exception(std::move(refused));
        } else {
            may_begin.set_value();
        }
        while (!watch.wait()) {
            watch.serve(unlocked);
            if (raised) {
                continue; // until the work stops
            }
            raised = unlocked.locked([&] { poll_signals(watch, options.progress); });
            if (raised) {
                watch.cancel();
            }
        }
        if (!raised) {
            raised = watch.error();
        }
        if (!raised) {
            watch.complete();
            raised = unlocked.locked([&] { poll_signals(watch, options.progress); });
        }
    }
    if (options.ranks && !watch.error()) {
        options.ranks->leave();
    }
    if (raised) {
        std::rethrow_exception(raised);
    }
}

void warn(const Call& call, std::string_view text) {
    if (!text.empty() && (!call.ranks || call.ranks->is_first())) {
        nb::module_::import_("kith._warnings").attr("warn")(std::string(text));
    }
}

void warn(const Call& call, const UnresolvedRows& rows) {
    warn(call, rows.warning());
}

void warn(const Call& call, const UnresolvedEdges& edges) {
    warn(call, edges.warning());
}

} // namespace kith::python
