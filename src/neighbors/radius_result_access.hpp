// The parts of a RadiusResult, for those who fill one.
#pragma once

#include <kith/radius.hpp>

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
};

} // namespace kith
