// Where finished rows go: into the rows of the caller's arrays, or to a visitor.
#pragma once

#include <kith/knn.hpp>

#include "neighbors/search.hpp"
#include "support/number_types.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kith::detail {

/// Copies each row to its query's place in input order, or in that of the search.
template <Coordinate T>
class StoredRows final : public RowSink<T> {
public:
    explicit StoredRows(const NeighborRows& rows, bool in_order_of_search = false)
        : rows_(rows), in_order_of_search_(in_order_of_search) {}

    [[nodiscard]] std::optional<DirectRows<T>> direct() const override {
        RowMemory<T> memory{static_cast<T*>(rows_.distances())};
        if (rows_.index_type() == IndexType::int32) {
            memory.indices = static_cast<std::int32_t*>(rows_.indices());
        } else {
            memory.wide_indices = static_cast<std::int64_t*>(rows_.indices());
        }
        return DirectRows<T>{memory, in_order_of_search_, rows_.query_indices().data()};
    }

    [[nodiscard]] DonatedMemory spare() const override {
        DonatedMemory memory;
        memory.add(rows_.distances(), rows_.distance_count() * static_cast<std::int64_t>(sizeof(T)));
        memory.add(rows_.indices(), rows_.index_count() * item_size(rows_.index_type()));
        return memory;
    }

    void take(const RowBlock<T>& block) override {
        direct()->name(block.first, block.rows, block.queries);
        for (std::int64_t row = 0; row < block.rows; ++row) {
            const std::int64_t to = (in_order_of_search_ ? block.first + row : block.queries[row]) * block.k;
            const std::int64_t from = row * block.k;
            if (rows_.distances() != nullptr) {
                std::copy_n(block.distances + from, block.k, static_cast<T*>(rows_.distances()) + to);
            }
            if (rows_.indices() == nullptr) {
                continue;
            }
            if (rows_.index_type() == IndexType::int32) {
                std::copy_n(block.indices + from, block.k, static_cast<std::int32_t*>(rows_.indices()) + to);
            } else {
                std::copy_n(block.indices + from, block.k, static_cast<std::int64_t*>(rows_.indices()) + to);
            }
        }
    }

private:
    NeighborRows rows_;
    bool in_order_of_search_;
};

/// Passes each block to the visitor.
template <Coordinate T>
class VisitorSink final : public RowSink<T> {
public:
    explicit VisitorSink(const NeighborVisitor& visitor) : visitor_(visitor) {}

    void take(const RowBlock<T>& block) override {
        NeighborBlock seen;
        seen.first = block.first;
        seen.query_indices = {block.queries, static_cast<std::size_t>(block.rows)};
        seen.k = block.k;
        seen.indices_data = block.indices;
        seen.dtype = dtype_of<T>;
        seen.distances_data = block.distances;
        isolated([&] { visitor_(seen); });
    }

private:
    const NeighborVisitor& visitor_;
};

} // namespace kith::detail
