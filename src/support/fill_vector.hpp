// Vectors of equal values, their pages touched by all threads.
//
// Otherwise the one thread that fills a vector waits for the system at every page: half a second for 80 million members
// of a catalog where it was measured, six times as long as so.
#pragma once

#include "support/pages.hpp"
#include "support/parallel.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// Touches memory that was taken and holds nothing yet, page by page.
inline void touch(void* memory, std::int64_t bytes) {
    constexpr std::int64_t page = 4096;
    wish_for_large_pages(memory, bytes);
    auto* const first = static_cast<volatile unsigned char*>(memory);
    parallel_each(bytes / page, large_page / page, [&](std::int64_t i) { first[i * page] = 0; });
}

/// The value `size` times in an empty vector. Nothing fails if there is room for them.
template <class T>
void fill_vector(std::vector<T>& empty, std::int64_t size, T value = 0) {
    const std::int64_t bytes = size * static_cast<std::int64_t>(sizeof(T));
    empty.reserve(size);
    if (bytes > large_page) {
        touch(empty.data(), bytes);
    }
    empty.resize(size, value);
}

} // namespace kith::detail
