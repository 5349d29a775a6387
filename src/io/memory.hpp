// Memory for what a file holds: a failure names the bytes.
#pragma once

#include "support/message.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace kith::io {

/// rows x columns zeros. Throws Error(out_of_memory) with the bytes that were asked for.
template <class T>
std::vector<T> allocate(std::int64_t rows, std::int64_t columns, std::string_view what) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(T));
    if (columns != 0 && rows > most / columns) {
        throw detail::error(ErrorKind::too_large, what, ": ", rows, " x ", columns,
                            " values are more than memory addresses can count");
    }
    try {
        return std::vector<T>(rows * columns);
    } catch (const std::exception&) { // bad_alloc, or length_error beyond max_size()
        throw detail::error(ErrorKind::out_of_memory, "failed to allocate ",
                            rows * columns * static_cast<std::int64_t>(sizeof(T)), " bytes for ", what);
    }
}

/// The same as an array of `dtype`.
inline RealArray allocate_reals(DType dtype, std::int64_t rows, int columns, std::string_view what) {
    RealArray array;
    array.columns = columns;
    if (dtype == DType::float32) {
        array.values = allocate<float>(rows, columns, what);
    } else {
        array.values = allocate<double>(rows, columns, what);
    }
    return array;
}

} // namespace kith::io
