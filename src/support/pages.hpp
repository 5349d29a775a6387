// Large memory in large pages, where the system has them: fewer faults when it is first touched, fewer misses of the
// translation buffer when it is reached at random.
#pragma once

#include <cstdint>

#include <sys/mman.h>

namespace kith::detail {

inline constexpr std::int64_t large_page = std::int64_t{1} << 21;

/// Asks for large pages behind memory that is not touched yet. But a wish.
inline void wish_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::int64_t bytes) {
#ifdef MADV_HUGEPAGE
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + (large_page - 1)) / large_page * large_page;
    const std::uintptr_t end = (begin + static_cast<std::uintptr_t>(bytes)) / large_page * large_page;
    if (first < end) {
        (void)madvise(static_cast<char*>(memory) + (first - begin), end - first, MADV_HUGEPAGE);
    }
#endif
}

/// Memory aligned to 64 bytes or more, to be freed with std::free; null if there is none. `bytes` is a multiple of 64.
inline void* allocate_pages(std::int64_t bytes) {
    if (bytes < 2 * large_page) {
        return std::aligned_alloc(64, static_cast<std::size_t>(bytes));
    }
    // Rounded up because std::aligned_alloc wants it; what is never touched takes no memory, so the last page, touched
    // in part, stays one of ordinary pages.
    const std::int64_t pages = (bytes + large_page - 1) / large_page;
    void* memory = std::aligned_alloc(large_page, static_cast<std::size_t>(pages * large_page));
    if (memory != nullptr) {
        wish_for_large_pages(memory, bytes);
    }
    return memory;
}

} // namespace kith::detail
