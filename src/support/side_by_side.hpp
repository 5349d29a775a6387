// Two things at once, where there are threads for it.
#pragma once

#include "support/parallel.hpp"

#include <cstdint>

namespace kith::detail {

/// Calls first() and second(), each once. One thread calls them in this order, and so does any if it is not `worth` it.
template <class First, class Second>
void side_by_side(const First& first, const Second& second, bool worth = true) {
    parallel_for(0, 2, worth ? 1 : 2, [&](std::int64_t begin, std::int64_t end) {
        if (begin == 0) {
            first();
        }
        if (end == 2) {
            second();
        }
    });
}

} // namespace kith::detail
