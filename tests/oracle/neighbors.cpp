// See neighbors.hpp.
#include "oracle/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kith::oracle {

template <class T>
std::vector<typename Neighbors<T>::Ranked> Neighbors<T>::ranked(const WorkingCopy<T>& sources, const T* query,
                                                                const T* given, std::int64_t longest) {
    std::vector<Ranked> ranking;
    for (std::int64_t i = 0; i < sources.count(); ++i) {
        const T squared = squared_distance(sources, query, sources.point(i));
        ranking.push_back(
            {squared, i, is_unresolved(sources, given, sources.given.data() + i * sources.dimension, squared)});
    }
    const auto kept = static_cast<std::ptrdiff_t>(std::min<std::int64_t>(longest, sources.count()));
    std::partial_sort(ranking.begin(), ranking.begin() + kept, ranking.end());
    ranking.resize(static_cast<std::size_t>(kept));
    return ranking;
}

// One more than `longest` is ranked because exclude_self may drop one.
template <class T>
Neighbors<T>::Neighbors(WorkingCopy<T> sources, std::int64_t longest) : sources_(std::move(sources)) {
    for (std::int64_t i = 0; i < sources_.count(); ++i) {
        ranking_.push_back(ranked(sources_, sources_.point(i), sources_.given.data() + i * sources_.dimension,
                                  std::min(longest, sources_.count()) + 1));
    }
}

template <class T>
Neighbors<T>::Neighbors(WorkingCopy<T> sources, std::span<const T> queries, std::int64_t longest)
    : sources_(std::move(sources)) {
    const std::vector<T> given = wrapped_queries(sources_, queries);
    const std::vector<T> normalized = normalized_queries(sources_, queries);
    for (std::size_t i = 0; i < normalized.size(); i += static_cast<std::size_t>(sources_.dimension)) {
        ranking_.push_back(ranked(sources_, normalized.data() + i, given.data() + i, longest));
    }
}

template <class T>
void Neighbors<T>::read_off(const WorkingCopy<T>& sources, const std::vector<Ranked>& ranking, std::int64_t query,
                            std::int64_t k, const KnnOptions& options, Rows<T>& rows) {
    const T limit = squared_radius(sources, options.max_distance);
    std::int64_t found = 0;
    bool has_unresolved = false;
    for (const Ranked& source : ranking) {
        const bool is_self = options.exclude_self && source.index == query;
        if (found == k || is_self || source.squared > limit) {
            continue;
        }
        rows.indices.push_back(source.index);
        rows.distances.push_back(options.squared ? std::ldexp(source.squared, -2 * sources.exponent)
                                                 : std::ldexp(std::sqrt(source.squared), -sources.exponent));
        has_unresolved = has_unresolved || source.is_unresolved;
        ++found;
    }
    if (has_unresolved) {
        rows.unresolved->add(query);
    }
    for (; found < k; ++found) {
        rows.indices.push_back(-1);
        rows.distances.push_back(std::numeric_limits<T>::infinity());
    }
}

template <class T>
Rows<T> Neighbors<T>::rows(std::int64_t k, const KnnOptions& options) const {
    Rows<T> result{{}, {}, Unresolved()};
    for (std::int64_t i = 0; i < row_count(); ++i) {
        read_off(sources_, ranking_[static_cast<std::size_t>(i)], i, k, options, result);
    }
    return result;
}

template <class T>
Rows<T> Neighbors<T>::rows_of_other_labels(std::int64_t k, std::span<const std::int32_t> labels,
                                           std::span<const std::int32_t> labels_of_queries,
                                           const KnnOptions& options) const {
    Rows<T> result{{}, {}, Unresolved()};
    for (std::int64_t i = 0; i < row_count(); ++i) {
        std::vector<Ranked> row = ranking_[static_cast<std::size_t>(i)];
        std::erase_if(row, [&](const Ranked& source) {
            return labels[static_cast<std::size_t>(source.index)] == labels_of_queries[static_cast<std::size_t>(i)];
        });
        read_off(sources_, row, i, k, options, result);
    }
    return result;
}

template <class T>
RaggedRows<T> Neighbors<T>::within(const std::vector<double>& radii, bool exclude_self, bool squared,
                                   RowOrder order) const {
    RaggedRows<T> result;
    for (std::int64_t query = 0; query < row_count(); ++query) {
        std::vector<Ranked> row = ranking_[static_cast<std::size_t>(query)];
        const T limit = squared_radius(sources_, radii[static_cast<std::size_t>(query)]);
        std::erase_if(row, [&](const Ranked& source) {
            return source.squared > limit || (exclude_self && source.index == query);
        });
        if (order == RowOrder::index) {
            std::sort(row.begin(), row.end(), [](const Ranked& a, const Ranked& b) { return a.index < b.index; });
        }
        if (std::any_of(row.begin(), row.end(), [](const Ranked& source) { return source.is_unresolved; })) {
            result.unresolved.add(query);
        }
        for (const Ranked& source : row) {
            result.indices.push_back(source.index);
            result.distances.push_back(squared ? std::ldexp(source.squared, -2 * sources_.exponent)
                                               : std::ldexp(std::sqrt(source.squared), -sources_.exponent));
        }
        result.offsets.push_back(static_cast<std::int64_t>(result.indices.size()));
    }
    return result;
}

template <class T>
Rows<T> Neighbors<T>::row(const WorkingCopy<T>& sources, std::int64_t query, std::int64_t k,
                          const KnnOptions& options) {
    Rows<T> result{{}, {}, Unresolved()};
    const std::int64_t first = query * sources.dimension;
    read_off(sources, ranked(sources, sources.points.data() + first, sources.given.data() + first, k + 1), query, k,
             options, result);
    return result;
}

template class Neighbors<float>;
template class Neighbors<double>;

} // namespace kith::oracle
