// Python's lock (the GIL) is free while one of these lives, and taken again at its end.
//
// When the interpreter ends while a daemon thread is inside a call, the thread's next attempt to take the lock does not
// return: before 3.14 Python ends the thread there (pthread_exit), and glibc unwinds its stack like an exception that
// none may stop. Destructors and nanobind's functions are noexcept, so that would end the process with an abort. Here
// the thread sleeps instead until the process has ended, as 3.14 lets it. Code of the caller's that runs while arguments are
// looked at (an __index__, a __dlpack__) is not inside of this.
#pragma once

#include <nanobind/nanobind.h>

#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

#include <chrono>
#include <exception>
#include <thread>

namespace kith::python {

class Unlocked {
public:
    Unlocked() : state_(PyEval_SaveThread()) {}
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;
    ~Unlocked() {
        or_sleep([this] { PyEval_RestoreThread(state_); });
    }

    /// Calls something with the lock taken; returns what it throws.
    template <class Body>
    [[nodiscard]] std::exception_ptr locked(const Body& body) {
        std::exception_ptr thrown;
        or_sleep([&] {
            PyEval_RestoreThread(state_);
            try {
                body();
            } catch (const std::exception&) { // whatever is thrown here, but not the end of the thread
                thrown = std::current_exception();
            }
            state_ = PyEval_SaveThread();
        });
        return thrown;
    }

private:
    template <class Body>
    static void or_sleep(const Body& body) {
#if defined(__GLIBCXX__)
        try {
            body();
        } catch (const abi::__forced_unwind&) {
            for (;;) {
                std::this_thread::sleep_for(std::chrono::hours(1));
            }
        }
#else
        body();
#endif
    }

    PyThreadState* state_;
};

} // namespace kith::python
