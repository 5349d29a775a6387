// support/pages.hpp of the scaling model: large memory is touched at once, in a loop of its own.
//
// The system clears a page when it is first touched. In a library that runs many threads, all of them touch new memory;
// on one thread the first pieces of a scatter would touch all of it and seem long.
#pragma once

#include "../../../../src/support/pages.hpp"

#include "support/parallel.hpp"

namespace kith::detail {

/// As allocate_pages, which the name hides below.
inline void* allocate_touched_pages(std::int64_t bytes) {
    void* memory = allocate_pages(bytes);
    if (memory != nullptr && bytes >= 2 * large_page) {
        constexpr std::int64_t page = 4096;
        auto* const first = static_cast<volatile unsigned char*>(memory);
        parallel_for(0, bytes / page, large_page / page, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                first[i * page] = 0;
            }
        });
    }
    return memory;
}

} // namespace kith::detail

#define allocate_pages allocate_touched_pages
