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

/// Copies each row to its query's place in input order.
template <Coordinate T>
class InputOrderRows final : public RowSink<T> {
public:
    explicit InputOrderRows(const NeighborRows& rows) : rows_(rows) {}

    [[nodiscard]] std::optional<RowMemory<T>> direct() const override {
        RowMemory<T> memory{static_cast<T*>(rows_.distances())};
        if (rows_.index_type() == IndexType::int32) {
            memory.indices = static_cast<std::int32_t*>(rows_.indices());
        } else {
            memory.wide_indices = static_cast<std::int64_t*>(rows_.indices());
        }
        return memory;
    }

    [[nodiscard]] DonatedMemory spare() const override {
        DonatedMemory memory;
        memory.add(rows_.distances(), rows_.distance_count() * static_cast<std::int64_t>(sizeof(T)));
        memory.add(rows_.indices(), rows_.index_count() * item_size(rows_.index_type()));
        return memory;
    }

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            const std::int64_t to = block.queries[row] * block.k;
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
