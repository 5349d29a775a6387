// Memory for owned results: fresh pages, shared by whoever holds the result.
#pragma once

#include <kith/error.hpp>

#include "support/message.hpp"
#include "support/pages.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace kith::detail {

/// Uninitialized. Throws out_of_memory; what() completes "failed to allocate 8 bytes for ...".
template <class What>
std::shared_ptr<void> allocate_result(std::int64_t bytes, const What& what) {
    void* memory = allocate_pages((bytes + 127) / 64 * 64);
    if (memory == nullptr) {
        throw error(ErrorKind::out_of_memory, "failed to allocate ", bytes, " bytes for ", what());
    }
    return {memory, [](void* held) { std::free(held); }};
}

} // namespace kith::detail
