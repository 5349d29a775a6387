// The vectors of owned results.
#pragma once

#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/fill_vector.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// Zeros, to be written by a call whose threads may touch new memory together. Throws out_of_memory; `what` says for
/// what.
template <class T>
std::vector<T> zeros(const Execution& execution, std::int64_t size, const char* what) {
    std::vector<T> numbers;
    const auto fill = [&] { with_allocation_errors(what, [&] { fill_vector(numbers, size); }); };
    const bool is_large = size > large_page / static_cast<std::int64_t>(sizeof(T));
    if (is_large && execution.device.kind == DeviceKind::cpu) {
        Context(execution).run(fill);
    } else {
        fill();
    }
    return numbers;
}

} // namespace kith::detail
