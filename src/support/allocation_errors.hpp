// Errors of the standard containers as errors of kith.
#pragma once

#include <kith/error.hpp>

#include <new>
#include <stdexcept>
#include <string>

namespace kith::detail {

/// Calls function(). Throws out_of_memory if a container within fails to allocate.
template <class Function>
decltype(auto) with_allocation_errors(const char* what, const Function& function) {
    const auto refuse = [what]() {
        return Error(ErrorKind::out_of_memory, std::string("failed to allocate memory for ") + what);
    };
    try {
        return function();
    } catch (const std::bad_alloc&) {
        throw refuse();
    } catch (const std::length_error&) {
        throw refuse();
    }
}

} // namespace kith::detail
