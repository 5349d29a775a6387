// Access to owned rows of different lengths.
#include <kith/error.hpp>
#include <kith/knn.hpp>
#include <kith/radius.hpp>

namespace kith {

std::span<const std::int32_t> RadiusResult::indices() const {
    if (index_type_ != IndexType::int32) {
        throw Error(ErrorKind::invalid_argument, "the indices are int64, as was asked for; use indices64()");
    }
    return {static_cast<const std::int32_t*>(indices_.get()), static_cast<std::size_t>(size())};
}

std::span<const std::int64_t> RadiusResult::indices64() const {
    if (index_type_ != IndexType::int64) {
        throw Error(ErrorKind::invalid_argument,
                    "the indices are int32; use indices(), or ask for RadiusOptions::index_type int64");
    }
    return {static_cast<const std::int64_t*>(indices_.get()), static_cast<std::size_t>(size())};
}

const void* RadiusResult::distances_as(DType dtype) const {
    detail::require_distances(dtype_, dtype);
    return distances_.get();
}

} // namespace kith
