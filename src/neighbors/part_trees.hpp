// The trees that a rank searches on its CPU before it asks others: of its points and of its separate queries.
#pragma once

#include "neighbors/query_tree.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <optional>

namespace kith::detail {

/// Without planes where there are no points.
template <Coordinate T>
struct PartTrees {
    PlaneTree<T> sources;
    std::optional<PlaneTree<T>> queries; ///< none in a self-search

    PartTrees() = default;
    /// Runs stages of the context. Null queries mean a self-search.
    PartTrees(Context& context, const NormalizedPoints<T>& points, const NormalizedPoints<T>* separate_queries) {
        const std::int64_t count = points.view.count();
        if (count > 0) {
            sources = build_plane_tree<T>(context, points, {});
        }
        if (separate_queries != nullptr) {
            queries.emplace();
            if (const std::int64_t rows = separate_queries->view.count(); rows > 0) {
                queries = build_plane_tree<T>(context, *separate_queries, query_tree_shape({}, count, rows));
            }
        }
    }
    [[nodiscard]] const PlaneTree<T>& receivers() const { return queries ? *queries : sources; }
};

} // namespace kith::detail
