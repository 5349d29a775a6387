// The parts of a RadiusResult, for those who fill one.
#pragma once

#include <kith/radius.hpp>

#include "neighbors/radius_checks.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/result_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kith {

struct RadiusResultAccess {
    std::vector<std::int64_t>& offsets;
    std::shared_ptr<void>& indices;
    std::shared_ptr<void>& distances;
    IndexType& index_type;
    DType& dtype;

    explicit RadiusResultAccess(RadiusResult& result)
        : offsets(result.offsets_), indices(result.indices_), distances(result.distances_),
          index_type(result.index_type_), dtype(result.dtype_) {}

    [[nodiscard]] std::int64_t size() const { return offsets.back(); } ///< neighbors of all rows

    /// Memory for the neighbors, one block. Throws out_of_memory if they are more than the options or the machine
    /// allow.
    void allocate(std::int64_t max_bytes) const {
        const std::int64_t index_bytes = detail::item_size(index_type);
        const std::int64_t distance_bytes = detail::item_size(dtype);
        detail::require_neighbors_fit(size(), index_bytes + distance_bytes, max_bytes);
        const std::int64_t distances_at = (size() * index_bytes + 63) / 64 * 64;
        indices = detail::allocate_result(distances_at + size() * distance_bytes,
                                          [&] { return detail::message(size(), " neighbors"); });
        distances = std::shared_ptr<void>(indices, static_cast<std::byte*>(indices.get()) + distances_at);
    }
};

} // namespace kith
