// Vectors that are used as plain memory and kept from use to use.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::detail {

/// Grows a vector to at least so many elements, and a half more; contents are not kept meaningful.
template <class Element>
inline void reserve_room(std::vector<Element>& memory, std::int64_t size) {
    if (static_cast<std::int64_t>(memory.size()) < size) [[unlikely]] {
        memory.resize(static_cast<std::size_t>(size + size / 2));
    }
}

} // namespace kith::detail
