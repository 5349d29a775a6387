// What can be said of a neighbor search without looking at its points.
#pragma once

#include <kith/error.hpp>
#include <kith/knn.hpp>

#include "support/message.hpp"
#include "support/number_types.hpp"

#include <cstdint>
#include <span>

namespace kith::detail {

/// Throws invalid_argument if separate queries are searched without themselves.
inline void require_no_self(bool exclude_self) {
    if (exclude_self) {
        throw Error(ErrorKind::invalid_argument, "exclude_self was asked for with separate queries, which have no self "
                                                 "among the sources; leave it off or search without queries");
    }
}

inline void check_request(std::int64_t k, const KnnOptions& options, bool separate_queries) {
    if (k < 1) {
        throw error(ErrorKind::invalid_argument, of_value(k), "k is ", k, "; ask for 1 neighbor or more");
    }
    if (!(options.max_distance >= 0)) {
        throw error(ErrorKind::invalid_argument, of_value(options.max_distance), "max_distance is ",
                    options.max_distance, "; it must be 0 or more, or infinity for no limit");
    }
    require_no_self(options.exclude_self && separate_queries);
}

inline void check_rows(const NeighborRows& rows, std::int64_t queries, std::int64_t k, DType dtype, bool z_order) {
    const auto check = [queries](const char* what, const void* memory, std::int64_t size, std::uintptr_t width,
                                 std::int64_t columns) {
        if (const auto past = reinterpret_cast<std::uintptr_t>(memory) % width; past != 0) {
            throw error(ErrorKind::invalid_argument, "the memory for ", what, " starts ", past,
                        " bytes past a multiple of ", width,
                        ", its element's size; give memory that is aligned for its type");
        }
        if (memory != nullptr && size / columns != queries) {
            throw error(ErrorKind::invalid_argument, "the memory for ", what, " holds ", size, " elements; ", queries,
                        " rows x ", columns, " neighbors are needed");
        }
        if (memory != nullptr && size % columns != 0) {
            throw error(ErrorKind::invalid_argument, "the memory for ", what, " holds ", size,
                        " elements, which is no multiple of k = ", columns);
        }
    };
    check("indices", rows.indices(), rows.index_count(), item_size(rows.index_type()), k);
    check("distances", rows.distances(), rows.distance_count(), item_size(rows.dtype()), k);
    const std::span<std::int32_t> named = rows.query_indices();
    check("indices of queries", named.data(), std::ssize(named), sizeof(std::int32_t), 1);
    if (named.data() != nullptr && !z_order) {
        throw Error(ErrorKind::invalid_argument, "there is memory for indices of queries, but rows are in input order; "
                                                 "set z_order in the options or leave it out");
    }
    if (rows.distances() != nullptr && rows.dtype() != dtype) {
        throw error(ErrorKind::invalid_argument, "the memory for distances is ", name_of(rows.dtype()),
                    " but the points are ", name_of(dtype), "; give memory of the points' type");
    }
}

} // namespace kith::detail
