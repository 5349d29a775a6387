// Bytes of one number in a result.
#pragma once

#include <kith/types.hpp>

#include <cstdint>

namespace kith::detail {

constexpr std::int64_t item_size(IndexType type) noexcept {
    return type == IndexType::int32 ? 4 : 8;
}

constexpr std::int64_t item_size(DType type) noexcept {
    return type == DType::float32 ? 4 : 8;
}

} // namespace kith::detail
