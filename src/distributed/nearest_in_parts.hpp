// Rows of k nearest neighbors among own points and ghost points, block by block, without memory for all of them.
//
// The receivers of a block (search_parts.hpp) that have ghost points within reach are searched in the tree of the ghost
// points; these rows are kept. The block is then searched among the own points, and each row is merged with the kept
// one, by squared distance and number, before any root is taken.
#pragma once

#include <kith/knn.hpp>

#include "distributed/receivers.hpp"
#include "distributed/search_parts.hpp"
#include "neighbors/knn.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace kith::detail {

/// Rows among ghost points, in the order of the search, with squared distances in working units.
template <Coordinate T>
class KeptRows final : public RowSink<T> {
public:
    KeptRows(std::int64_t rows, std::int64_t k)
        : k_(k), indices_(static_cast<std::size_t>(rows * k)), squares_(indices_.size()) {}

    void take(const RowBlock<T>& block) override {
        std::copy_n(block.indices, block.rows * k_, indices_.begin() + block.first * k_);
        std::copy_n(block.distances, block.rows * k_, squares_.begin() + block.first * k_);
    }
    [[nodiscard]] const std::int32_t* indices(std::int64_t row) const { return indices_.data() + row * k_; }
    [[nodiscard]] const T* squares(std::int64_t row) const { return squares_.data() + row * k_; }

private:
    std::int64_t k_;
    std::vector<std::int32_t> indices_;
    std::vector<T> squares_;
};

template <Coordinate T>
class NearestInParts {
public:
    /// Refers to all of these.
    NearestInParts(Context& context, const SearchParts<T>& parts, std::int64_t k, const KnnOptions& options)
        : context_(context), parts_(parts), k_(k), options_(options), report_(parts.frame(), options.squared) {}

    /// Passes the rows of all receivers to the sink, as search() does.
    void search_all(RowSink<T>& sink) const {
        constexpr std::int64_t least_rows = 256;
        const std::int64_t rows = parts_.most_kept(std::int64_t{1} << 18) / kept_k();
        parts_.for_each_block(std::max(rows, least_rows),
                              [&](std::int64_t begin, std::int64_t end) { search(begin, end, sink); });
    }

    /// Passes the rows of the receivers at these positions, one or more, to the sink: by position in their tree, with
    /// rows of the parts as indices, and distances as reported. Stages "search pieces" and "search".
    void search(std::int64_t begin, std::int64_t end, RowSink<T>& sink) const {
        std::optional<ReceiverBlock<T>> block;
        std::vector<std::int32_t> kept_row;
        std::optional<KeptRows<T>> kept;
        context_.stage("search pieces", [&] {
            block.emplace(context_, parts_, begin, end);
            kept_row.assign(static_cast<std::size_t>(end - begin), -1);
            search_ghosts(*block, kept_row, kept);
        });
        context_.stage("search", [&] {
            MergedRows rows(*this, begin, kept_row, kept ? &*kept : nullptr, sink);
            search_own(block->tree(), rows);
        });
    }

private:
    /// Merges rows among own points, as they come, with those that are kept, and leaves out the receiver itself if it
    /// does not count.
    class MergedRows final : public RowSink<T> {
    public:
        MergedRows(const NearestInParts& search, std::int64_t begin, const std::vector<std::int32_t>& kept_row,
                   const KeptRows<T>* kept, RowSink<T>& sink)
            : search_(search), begin_(begin), kept_row_(kept_row), kept_(kept), sink_(sink) {}

        void take(const RowBlock<T>& block) override {
            const std::int64_t k = search_.k_;
            std::vector<std::int32_t> indices(static_cast<std::size_t>(block.rows * k));
            std::vector<T> distances(indices.size());
            for (std::int64_t row = 0; row < block.rows; ++row) {
                merge(block, row, kept_row_[block.first + row], indices.data() + row * k, distances.data() + row * k);
            }
            sink_.take({begin_ + block.first, block.rows, block.queries, k, indices.data(), distances.data()});
        }

    private:
        void merge(const RowBlock<T>& block, std::int64_t row, std::int32_t kept_row, std::int32_t* indices,
                   T* distances) const {
            const std::int64_t k = search_.k_;
            const std::int64_t kept_k = search_.kept_k();
            const bool has_kept = kept_row >= 0;
            const std::int32_t* const others = has_kept ? kept_->indices(kept_row) : nullptr;
            const T* const squares_of_others = has_kept ? kept_->squares(kept_row) : nullptr;
            const std::int32_t* const own = block.indices + row * block.k;
            const T* const squares = block.distances + row * block.k;
            if (!has_kept && block.k == k) { // then the row is as it was found
                std::copy_n(own, k, indices);
                for (std::int64_t i = 0; i < k; ++i) { // infinity times a scale that underflows is NaN
                    distances[i] = own[i] < 0 ? std::numeric_limits<T>::infinity() : search_.reported(squares[i]);
                }
                return;
            }
            const auto own_points = static_cast<std::int32_t>(search_.parts_.own_points());
            std::int64_t i = 0; // of the own row
            std::int64_t j = 0;
            for (std::int64_t to = 0; to < k; ++to) {
                if (search_.options_.exclude_self && i < block.k && own[i] == block.queries[row]) {
                    ++i;
                }
                const bool has_own = i < block.k && own[i] >= 0;
                const bool has_other = has_kept && j < kept_k && others[j] >= 0;
                if (!has_own && !has_other) {
                    std::fill(indices + to, indices + k, -1);
                    std::fill(distances + to, distances + k, std::numeric_limits<T>::infinity());
                    return;
                }
                const std::int32_t other = has_other ? own_points + others[j] : -1;
                const bool takes_other = has_other && (!has_own || search_.candidate(other, squares_of_others[j]) <
                                                                       search_.candidate(own[i], squares[i]));
                indices[to] = takes_other ? other : own[i];
                distances[to] = search_.reported(takes_other ? squares_of_others[j] : squares[i]);
                ++(takes_other ? j : i);
            }
        }

        const NearestInParts& search_;
        std::int64_t begin_;
        const std::vector<std::int32_t>& kept_row_;
        const KeptRows<T>* kept_; ///< null: none
        RowSink<T>& sink_;
    };

    /// Neighbors of a kept row: there may be fewer ghost points than k.
    [[nodiscard]] std::int64_t kept_k() const { return std::clamp<std::int64_t>(parts_.ghosts.points.count(), 1, k_); }
    [[nodiscard]] GlobalCandidate<T> candidate(std::int32_t row, T squared) const {
        return {squared, parts_.number(row)};
    }
    [[nodiscard]] T reported(T squared) const { return report_.power(report_.squared ? squared : std::sqrt(squared)); }
    /// Of rows with squared distances in working units; no receiver is excluded.
    [[nodiscard]] KnnRequest<T> request(std::int64_t k) const {
        KnnOptions options = options_;
        options.exclude_self = false;
        return working_request(parts_.frame(), k, options);
    }

    /// Rows of the receivers of a block that have ghost points within reach. `kept_row`: by position in the block, the
    /// kept row of that receiver.
    void search_ghosts(const ReceiverBlock<T>& block, std::vector<std::int32_t>& kept_row,
                       std::optional<KeptRows<T>>& kept) const {
        const PlaneTree<T> near = block.near();
        if (near.points.count == 0) {
            return;
        }
        std::int32_t row = 0;
        for (std::size_t i = 0; i < kept_row.size(); ++i) {
            if (block.is_near(static_cast<std::int64_t>(i))) {
                kept_row[i] = row++;
            }
        }
        search_tree(context_, near, parts_.tree_of_ghosts, request(kept_k()),
                    kept.emplace(near.points.count, kept_k()));
    }

    void search_own(const PlaneTree<T>& block, MergedRows& rows) const {
        if (parts_.own.sources.points.count > 0) {
            search_tree(context_, block, parts_.own.sources, request(k_ + (options_.exclude_self ? 1 : 0)), rows);
            return;
        }
        parallel_for(0, block.points.count, 1 + 16384 / k_, [&](std::int64_t begin, std::int64_t end) {
            const std::vector<std::int32_t> missing(static_cast<std::size_t>(end - begin), -1);
            const std::vector<T> infinite(missing.size(), std::numeric_limits<T>::infinity());
            rows.take({begin, end - begin, block.points.indices.data() + begin, 1, missing.data(), infinite.data()});
        });
    }

    Context& context_;
    const SearchParts<T>& parts_;
    std::int64_t k_;
    KnnOptions options_;
    ReportScale<T> report_;
};

} // namespace kith::detail
