// Tells the thread sanitizer what oneTBB guarantees: what came before the start of tasks happens before them, and they
// happen before what comes after their end. The distributions' libtbb is not instrumented, so the sanitizer cannot see
// it by itself. In every other build all of this is nothing.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>

#include <cstdint>
#endif

namespace kith::detail {

/// One place where work forks into tasks and joins again.
class ForkJoin {
public:
#if defined(__SANITIZE_THREAD__)
    void before_tasks() noexcept {
        __tsan_release(&started_);
    }
    void task_begins() noexcept {
        __tsan_acquire(&started_);
    }
    void task_ends() noexcept {
        __tsan_release(&ended_);
    }
    /// oneTBB counts the tasks that are left in words on the stack of the thread that waits for them. The last change
    /// of these is seen by libtbb alone, so memory that is used again at once would seem to race with it: every word
    /// near here is taken as seen.
    __attribute__((noinline)) void after_tasks() noexcept {
        __tsan_acquire(&ended_);
        constexpr std::intptr_t reach = 2048;
        char* const here = static_cast<char*>(__builtin_frame_address(0));
        for (std::intptr_t offset = -reach; offset < reach; offset += 4) {
            __tsan_acquire(here + offset);
        }
    }

private:
    char started_ = 0;
    char ended_ = 0;
#else
    void before_tasks() noexcept {}
    void task_begins() noexcept {}
    void task_ends() noexcept {}
    void after_tasks() noexcept {}
#endif
};

/// Lives as long as one task.
class TaskSpan {
public:
    explicit TaskSpan(ForkJoin& fork_join) noexcept : fork_join_(fork_join) { fork_join_.task_begins(); }
    TaskSpan(const TaskSpan&) = delete;
    TaskSpan& operator=(const TaskSpan&) = delete;
    ~TaskSpan() { fork_join_.task_ends(); }

private:
    ForkJoin& fork_join_;
};

/// Lives as long as the tasks may run, in the thread that starts them and waits for them.
class ForkSpan {
public:
    explicit ForkSpan(ForkJoin& fork_join) noexcept : fork_join_(fork_join) { fork_join_.before_tasks(); }
    ForkSpan(const ForkSpan&) = delete;
    ForkSpan& operator=(const ForkSpan&) = delete;
    ~ForkSpan() { fork_join_.after_tasks(); }

private:
    ForkJoin& fork_join_;
};

} // namespace kith::detail
