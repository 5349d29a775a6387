// Counts what code accesses that is compiled with -fsanitize=thread: the compiler calls a function before each access,
// and counted_accesses.cpp, compiled without the flag, has these functions in place of the sanitizer's own library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::bench {

struct Accesses {
    std::int64_t all = 0;
    std::array<std::int64_t, 2> loads{}; ///< from the memory that was named
};

/// From now on, and separately the loads from two lists of memory.
void count_accesses(const std::array<std::vector<std::span<const std::byte>>, 2>& memory);
/// Since then; counts no more.
Accesses counted_accesses();

} // namespace kith::bench
