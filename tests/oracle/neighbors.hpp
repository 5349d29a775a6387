// k nearest neighbors by sorting: every source is ranked by (squared distance, index) for every query, and the answer
// is the front of the ranking. The contract is docs/semantics.md, "Distance" and "Order of neighbors, ties".
//
// Cost: queries * sources * log(sources), once; answers for any k and any options are then read off the ranking.
#pragma once

#include "oracle/working_copy.hpp"

#include <kith/knn.hpp>
#include <kith/radius.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace kith::oracle {

/// How many rows report unresolved neighbors, and the first of their queries.
struct Unresolved {
    std::int64_t rows = 0;
    std::int64_t first = -1;

    Unresolved() = default;
    explicit Unresolved(const UnresolvedRows& found)
        : rows(found.rows), first(found.rows > 0 ? found.first_query : -1) {}
    void add(std::int64_t query) {
        first = rows == 0 ? query : first;
        ++rows;
    }
    friend bool operator==(const Unresolved&, const Unresolved&) = default;
};

template <class T>
struct Rows {
    std::vector<std::int64_t> indices;
    std::vector<T> distances;
    std::optional<Unresolved> unresolved = {}; ///< of calls that count them
};

/// Rows of different lengths, one after the other.
template <class T>
struct RaggedRows {
    std::vector<std::int64_t> offsets = {0}; ///< rows + 1
    std::vector<std::int64_t> indices;
    std::vector<T> distances;
    Unresolved unresolved = {};

    friend bool operator==(const RaggedRows&, const RaggedRows&) = default;
};

template <class T>
class Neighbors {
public:
    /// A self-search. `longest` limits the ranking where it is known that no longer row is asked for.
    explicit Neighbors(WorkingCopy<T> sources, std::int64_t longest = std::numeric_limits<std::int64_t>::max());
    /// Separate queries, as given.
    Neighbors(WorkingCopy<T> sources, std::span<const T> queries,
              std::int64_t longest = std::numeric_limits<std::int64_t>::max());

    [[nodiscard]] std::int64_t row_count() const { return static_cast<std::int64_t>(ranking_.size()); }
    [[nodiscard]] Rows<T> rows(std::int64_t k, const KnnOptions& options = {}) const;
    /// Of the sources of another label than the query's. The ranking must be a whole one.
    [[nodiscard]] Rows<T> rows_of_other_labels(std::int64_t k, std::span<const std::int32_t> labels,
                                               std::span<const std::int32_t> labels_of_queries,
                                               const KnnOptions& options = {}) const;

    /// All sources within a radius of each query, one radius per query. The ranking must be a whole one.
    [[nodiscard]] RaggedRows<T> within(const std::vector<double>& radii, bool exclude_self, bool squared,
                                       RowOrder order) const;

    /// One row: for data too large to rank every query.
    static Rows<T> row(const WorkingCopy<T>& sources, std::int64_t query, std::int64_t k,
                       const KnnOptions& options = {});

private:
    struct Ranked {
        T squared;
        std::int64_t index;
        bool is_unresolved;
        friend bool operator<(const Ranked& a, const Ranked& b) {
            return a.squared < b.squared || (a.squared == b.squared && a.index < b.index);
        }
    };
    static std::vector<Ranked> ranked(const WorkingCopy<T>& sources, const T* query, const T* given,
                                      std::int64_t longest);
    static void read_off(const WorkingCopy<T>& sources, const std::vector<Ranked>& ranking, std::int64_t query,
                         std::int64_t k, const KnnOptions& options, Rows<T>& rows);

    WorkingCopy<T> sources_;
    std::vector<std::vector<Ranked>> ranking_;
};

extern template class Neighbors<float>;
extern template class Neighbors<double>;

} // namespace kith::oracle
