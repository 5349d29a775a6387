#include "support/context.hpp"

#include "support/fork_join.hpp"
#include "support/one_process.hpp"

#include <tbb/info.h>

#include <algorithm>
#include <new>
#include <string_view>

namespace kith::detail {

namespace {

int arena_size(const Execution& execution) {
    require_one_process(execution);
    if (execution.threads < 0 || execution.threads > max_threads) {
        throw error(ErrorKind::invalid_argument, of_value(execution.threads), "threads is ", execution.threads,
                    "; it must be from 1 to ", max_threads, ", or 0 for all");
    }
    if (execution.device.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, "this call runs on the CPU only; use kith::cpu()");
    }
    return execution.threads;
}

} // namespace

Context::Context(const Execution& execution)
    : execution_(execution), memory_tracker_(std::make_shared<MemoryTracker>()), arena_(arena_size(execution)) {
    if (execution.threads > tbb::info::default_concurrency()) {
        more_threads_.emplace(tbb::global_control::max_allowed_parallelism,
                              static_cast<std::size_t>(execution.threads));
    }
}

void Context::record_stage(const char* name, const std::function<void()>& body) {
    current_ = name;
    done_ = 0;
    total_ = 0;
    check(0);
    memory_tracker_->restart_peak();
    const auto start = Clock::now();
    run_in_arena(body);
    const std::chrono::duration<double> took = Clock::now() - start;
    stages_.push_back({name, took.count(), memory_tracker_->peak()});
}

void Context::run_in_arena(const std::function<void()>& body) {
    ForkJoin fork_join;
    const ForkSpan fork(fork_join);
    try {
        arena_->execute([&] {
            const TaskSpan task(fork_join);
            const DenormalGuard guard;
            body();
        });
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::out_of_memory, "failed to allocate working memory");
    }
}

void Context::count_off(std::int64_t steps) {
    const std::int64_t so_far = done_.fetch_add(steps, std::memory_order_relaxed) + steps;
    check(total_ > 0 ? std::min(1.0, static_cast<double>(so_far) / static_cast<double>(total_)) : 0.0);
}

void Context::check(double fraction) {
    if (!execution_.progress) {
        return;
    }
    const std::unique_lock lock(calling_, std::try_to_lock);
    const auto now = Clock::now();
    if (!lock.owns_lock() || (fraction > 0 && fraction < 1 && now - called_ < std::chrono::milliseconds(50))) {
        return;
    }
    called_ = now;
    if (!execution_.progress(current_, fraction)) {
        throw error(ErrorKind::canceled, "canceled during the stage '", std::string_view(current_), "'");
    }
}

} // namespace kith::detail
