#include "support/per_thread.hpp"

#include <tbb/enumerable_thread_specific.h>

namespace kith::detail {

struct ThreadAddresses::OfThreads {
    tbb::enumerable_thread_specific<void*> addresses{nullptr};
};

ThreadAddresses::ThreadAddresses() : of_threads_(std::make_unique<OfThreads>()) {}

ThreadAddresses::~ThreadAddresses() = default;

void*& ThreadAddresses::local() {
    return of_threads_->addresses.local();
}

std::vector<void*> ThreadAddresses::all() const {
    return {of_threads_->addresses.begin(), of_threads_->addresses.end()};
}

void ThreadAddresses::clear() {
    of_threads_->addresses.clear();
}

} // namespace kith::detail
