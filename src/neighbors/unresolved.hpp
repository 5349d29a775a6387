// Counting rows with unresolved neighbors: apart from their query, but so little, beside the largest coordinate or
// period, that the square of the distance has lost digits or is zero.
//
// Only where coordinates are tiny (points/frame.hpp) is there anything to count; then finished rows are gone over once
// more. Whether two points are apart is decided by the coordinates as given, wrapped, since scaling may have made
// different ones equal.
#pragma once

#include <kith/neighbor_row.hpp>

#include "neighbors/search.hpp"
#include "points/as_given.hpp"
#include "points/coordinates.hpp"
#include "points/frame.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace kith::detail {

/// Parts of the warnings: what cannot be told apart beside what, and what to do about it.
[[nodiscard]] std::string cannot_tell_apart(const LargestCoordinate& largest, DType dtype);
[[nodiscard]] std::string remedy_for_unresolved(const LargestCoordinate& largest, DType dtype);

/// Rows of one call. Rows may be counted concurrently.
template <Coordinate T>
class UnresolvedCounter {
public:
    /// Both in memory of the host, as given; for a self-search the queries are the sources.
    UnresolvedCounter(const Frame<T>& frame, const PointsView& sources, const PointsView& queries)
        : frame_(frame), count_(sources.count()), sources_(sources), queries_(queries) {}

    /// Takes a row of indices, ended by its size or by -1. By distance, what follows a resolved neighbor is resolved.
    template <class Index>
    void take(std::int64_t query, const Index* row, std::int64_t size, bool by_distance = true) {
        take_numbered(query, query, row, size, by_distance);
    }
    /// The same for a query that the caller numbers otherwise.
    template <class Index>
    void take_numbered(std::int64_t number, std::int64_t query, const Index* row, std::int64_t size,
                       bool by_distance = true) {
        for (std::int64_t i = 0; i < size && row[i] >= 0; ++i) {
            if (!is_resolved(query, row[i])) {
                if (are_apart(query, row[i])) {
                    add(number);
                    return;
                }
            } else if (by_distance) {
                return;
            }
        }
    }

    [[nodiscard]] UnresolvedRows rows() const {
        UnresolvedRows rows;
        rows.rows = rows_;
        if (rows.rows > 0) {
            const LargestCoordinate largest = largest_coordinate(frame_, sources_, count_);
            rows.first_query = first_query_;
            rows.farthest_point = largest.point;
            rows.axis = largest.axis;
            rows.value = largest.value;
            rows.dtype = dtype_of<T>;
        }
        return rows;
    }

private:
    void add(std::int64_t query) {
        rows_.fetch_add(1, std::memory_order_relaxed);
        std::int64_t first = first_query_.load(std::memory_order_relaxed);
        while (query < first && !first_query_.compare_exchange_weak(first, query, std::memory_order_relaxed)) {
        }
    }

    [[nodiscard]] bool is_resolved(std::int64_t query, std::int64_t source) const {
        using Limits = std::numeric_limits<T>;
        const T enough = std::ldexp(T(1), (Limits::min_exponent - 1) / 2); // its square is the smallest normal number
        T squared = 0;
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            T t = std::abs(frame_.load(queries_(query, axis), axis) - frame_.load(sources_(source, axis), axis));
            t = std::min(t, frame_.working_period[axis] - t);
            if (t >= enough) {
                return true;
            }
            squared = std::fma(t, t, squared);
        }
        return squared >= Limits::min();
    }

    /// As given, before scaling may have made them equal.
    [[nodiscard]] bool are_apart(std::int64_t query, std::int64_t source) const {
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            const T t = std::abs(frame_.wrap(queries_(query, axis), axis) - frame_.wrap(sources_(source, axis), axis));
            if (t != 0 && t != frame_.period[axis]) {
                return true;
            }
        }
        return false;
    }

    const Frame<T>& frame_;
    std::int64_t count_;
    Coordinates<T> sources_;
    Coordinates<T> queries_;
    std::atomic<std::int64_t> rows_ = 0;
    std::atomic<std::int64_t> first_query_ = std::numeric_limits<std::int64_t>::max();
};

/// Counts rows on their way to a sink.
template <Coordinate T>
class CountedRows final : public RowSink<T> {
public:
    CountedRows(RowSink<T>& rows, UnresolvedCounter<T>& counter) : rows_(rows), counter_(counter) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            counter_.take(block.queries[row], block.indices + row * block.k, block.k);
        }
        rows_.take(block);
    }
    [[nodiscard]] DonatedMemory spare() const override { return rows_.spare(); }

private:
    RowSink<T>& rows_;
    UnresolvedCounter<T>& counter_;
};

} // namespace kith::detail
