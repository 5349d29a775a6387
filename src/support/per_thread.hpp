// One value per thread, made on first use: scratch of loops, and parts of their results.
//
// oneTBB keeps the addresses of the values: its machinery, 12 kB for each type, is compiled once, for addresses.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace kith::detail {

/// An address per thread, null at first.
class ThreadAddresses {
public:
    ThreadAddresses();
    ThreadAddresses(const ThreadAddresses&) = delete;
    ThreadAddresses& operator=(const ThreadAddresses&) = delete;
    ~ThreadAddresses();

    /// The calling thread's.
    [[nodiscard]] void*& local();
    /// Those of all threads that have asked for theirs, some of them perhaps still null.
    [[nodiscard]] std::vector<void*> all() const;
    void clear();

private:
    struct OfThreads;
    std::unique_ptr<OfThreads> of_threads_;
};

template <class Value>
class PerThread {
public:
    PerThread() = default;
    /// Values are made so.
    explicit PerThread(std::function<std::unique_ptr<Value>()> make) : make_(std::move(make)) {}
    PerThread(const PerThread&) = delete;
    PerThread& operator=(const PerThread&) = delete;
    ~PerThread() { destroy(); }

    /// The calling thread's.
    [[nodiscard]] Value& local() {
        void*& address = addresses_.local();
        if (address == nullptr) {
            address = make_ ? make_().release() : new Value();
        }
        return *static_cast<Value*>(address);
    }
    /// Those of all threads that made one.
    [[nodiscard]] std::vector<std::reference_wrapper<Value>> values() const {
        std::vector<std::reference_wrapper<Value>> values;
        for (void* const address : addresses_.all()) {
            if (address != nullptr) {
                values.push_back(*static_cast<Value*>(address));
            }
        }
        return values;
    }
    void clear() {
        destroy();
        addresses_.clear();
    }

private:
    void destroy() {
        for (void* const address : addresses_.all()) {
            delete static_cast<Value*>(address);
        }
    }

    std::function<std::unique_ptr<Value>()> make_;
    ThreadAddresses addresses_;
};

} // namespace kith::detail
