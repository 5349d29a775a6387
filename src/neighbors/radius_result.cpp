// Access to owned rows of different lengths.
#include <kith/radius.hpp>

#include "support/number_types.hpp"

#include <cstddef>

namespace kith {

std::span<const std::int32_t> RadiusResult::indices() const {
    detail::require_indices(index_type_, IndexType::int32);
    return {static_cast<const std::int32_t*>(indices_.get()), static_cast<std::size_t>(size())};
}

std::span<const std::int64_t> RadiusResult::indices64() const {
    detail::require_indices(index_type_, IndexType::int64);
    return {static_cast<const std::int64_t*>(indices_.get()), static_cast<std::size_t>(size())};
}

NeighborRow RadiusResult::row(std::int64_t i) const {
    detail::require_row(i, rows());
    const std::int64_t first = offsets_[i];
    return {static_cast<const std::byte*>(indices_.get()) + first * detail::item_size(index_type_), index_type_,
            static_cast<const std::byte*>(distances_.get()) + first * detail::item_size(dtype_), dtype_,
            offsets_[i + 1] - first};
}

const void* RadiusResult::distances_as(DType dtype) const {
    detail::require_distances(dtype_, dtype);
    return distances_.get();
}

} // namespace kith
