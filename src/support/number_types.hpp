// Sizes and names of the types of numbers.
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

constexpr const char* name_of(DType type) noexcept {
    return type == DType::float32 ? "float32" : "float64";
}

} // namespace kith::detail
