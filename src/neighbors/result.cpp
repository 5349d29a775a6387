// Owned results: memory for rows x k, refused with the bytes it would take if there is not that much.
#include <kith/error.hpp>
#include <kith/knn.hpp>

#include "neighbors/unresolved.hpp"
#include "support/memory_limit.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/result_memory.hpp"

#include <string>

namespace kith {

namespace {

/// Throws out_of_memory, with the bytes needed, if rows x k neighbors of so many bytes each are more than this
/// process may have.
void require_memory(std::int64_t rows, std::int64_t k, std::int64_t bytes_each) {
    std::int64_t bytes = 0;
    const bool countable =
        !__builtin_mul_overflow(rows, k, &bytes) && !__builtin_mul_overflow(bytes, bytes_each, &bytes);
    constexpr std::int64_t few_bytes = 1 << 26; // always there; the limit takes a while to find
    if (countable && bytes <= few_bytes) {
        return;
    }
    const detail::MemoryLimit limit = detail::memory_limit();
    if (!countable || bytes > limit.bytes) {
        throw detail::error(ErrorKind::out_of_memory, "the result of ", rows, " rows x ", k, " neighbors needs ",
                            countable ? detail::message(bytes) : std::string("more than 2^63"), " bytes and ",
                            limit.who_states_it, " ", limit.bytes, "; ask for fewer neighbors or use knn_visit");
    }
}

} // namespace

KnnResult::KnnResult(std::int64_t rows, std::int64_t k, IndexType index_type, DType dtype)
    : rows_(rows), k_(k), index_type_(index_type), dtype_(dtype) {
    if (rows < 0 || k < 1) {
        throw detail::error(ErrorKind::invalid_argument, "a result of ", rows, " rows x ", k,
                            " neighbors cannot be made; rows must be 0 or more, k "
                            "1 or more");
    }
    require_memory(rows, k, detail::item_size(index_type) + detail::item_size(dtype));
    const auto what = [&] {
        return detail::message(rows, " rows x ", k, " neighbors; ask for fewer or use knn_visit");
    };
    indices_ = detail::allocate_result(rows * k * detail::item_size(index_type), what);
    distances_ = detail::allocate_result(rows * k * detail::item_size(dtype), what);
}

std::string detail::cannot_tell_apart(const LargestCoordinate& largest, DType dtype) {
    const std::string of = largest.point < 0 ? "the largest coordinate or period, "
                                             : message("coordinate ", largest.axis, " of point ", largest.point, ", ");
    return message(name_of(dtype), " cannot tell apart beside ", of, shortest(largest.value));
}

std::string detail::remedy_for_unresolved(const LargestCoordinate& largest, DType dtype) {
    return message(largest.point < 0 ? "Give a period that fits the points"
                                     : "Remove that point if it is a placeholder",
                   dtype == DType::float32 ? ", or use float64" : "");
}

std::string UnresolvedRows::warning() const {
    if (rows == 0) {
        return {};
    }
    return detail::message(
        rows, rows == 1 ? " query has neighbors that " : " queries have neighbors that ",
        detail::cannot_tell_apart({farthest_point, axis, value}, dtype),
        "; their distances have lost digits or are zero, and their order means little. The first is query ",
        first_query, ". ", detail::remedy_for_unresolved({farthest_point, axis, value}, dtype));
}

void detail::require_distances(DType held, DType asked) {
    if (held != asked) {
        throw error(ErrorKind::invalid_argument, "the distances are ", name_of(held),
                    ", as the points were; ask for those");
    }
}

void detail::require_indices(IndexType held, IndexType asked) {
    if (held != asked) {
        throw Error(ErrorKind::invalid_argument,
                    held == IndexType::int64
                        ? "the indices are int64, as was asked for; use indices64()"
                        : "the indices are int32; use indices(), or set index_type to int64 in the "
                          "options");
    }
}

void detail::require_row(std::int64_t row, std::int64_t rows) {
    if (row < 0 || row >= rows) {
        throw error(ErrorKind::invalid_argument, of_value(row), "row ", row, " was asked for; the result has ", rows,
                    ", numbered from 0");
    }
}

std::span<const std::int32_t> KnnResult::indices() const {
    detail::require_indices(index_type_, IndexType::int32);
    return {static_cast<const std::int32_t*>(indices_.get()), static_cast<std::size_t>(rows_ * k_)};
}

std::span<const std::int64_t> KnnResult::indices64() const {
    detail::require_indices(index_type_, IndexType::int64);
    return {static_cast<const std::int64_t*>(indices_.get()), static_cast<std::size_t>(rows_ * k_)};
}

NeighborRow KnnResult::row(std::int64_t i) const {
    detail::require_row(i, rows_);
    if (device_.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::invalid_argument, "the rows are in the memory of a GPU; copy them to the host to read "
                                                 "them");
    }
    return {static_cast<const std::byte*>(indices_.get()) + i * k_ * detail::item_size(index_type_), index_type_,
            static_cast<const std::byte*>(distances_.get()) + i * k_ * detail::item_size(dtype_), dtype_, k_};
}

NeighborRows KnnResult::rows_view() noexcept {
    const auto count = static_cast<std::size_t>(rows_ * k_);
    const std::span named(static_cast<std::int32_t*>(query_indices_.get()), query_indices().size());
    const auto with_distances = [&]<class Index>(Index* indices) {
        if (dtype_ == DType::float32) {
            return NeighborRows(std::span(indices, count), std::span(static_cast<float*>(distances_.get()), count),
                                named);
        }
        return NeighborRows(std::span(indices, count), std::span(static_cast<double*>(distances_.get()), count), named);
    };
    return index_type_ == IndexType::int32 ? with_distances(static_cast<std::int32_t*>(indices_.get()))
                                           : with_distances(static_cast<std::int64_t*>(indices_.get()));
}

} // namespace kith
