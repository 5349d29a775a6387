// The CPU's ways to search for neighbors: every engine, in a kept index and among points.
#include "neighbors/conformance.hpp"

#include <kith/kith.hpp>

#include <algorithm>

namespace kith::test {

namespace {

/// Rows of k neighbors without the row's own point, or without the last where that is not among them.
template <class T>
oracle::Rows<T> without_self(const oracle::Rows<T>& rows, std::int64_t k) {
    oracle::Rows<T> others;
    for (std::size_t first = 0; first < rows.indices.size(); first += static_cast<std::size_t>(k)) {
        const std::size_t last = first + static_cast<std::size_t>(k) - 1;
        const auto row = static_cast<std::int64_t>(first) / k;
        std::size_t left_out = first;
        while (left_out < last && rows.indices[left_out] != row) {
            ++left_out;
        }
        for (std::size_t i = first; i <= last; ++i) {
            if (i != left_out) {
                others.indices.push_back(rows.indices[i]);
                others.distances.push_back(rows.distances[i]);
            }
        }
    }
    return others;
}

CloverOptions drawn_clover(Random& draw) {
    CloverOptions options{.seed = static_cast<std::uint64_t>(draw.integer(1000))};
    if (draw.integer(2) == 0) {
        options.form = CloverForm::flat;
        options.hubs = 1 + draw.integer(60);
        options.hub_selection = draw.integer(2) == 0 ? HubSelection::random : HubSelection::kmeans_plus_plus;
    }
    return options;
}

/// Half of the searches are enough for engines other than the tree: over the suite each meets every set and option.
KnnBackend backend_of(Engine engine) {
    return knn_backend(
        "CPU, " + name_of(engine),
        [engine]<class T>(const KnnRequest<T>& request, Random& draw) {
            KnnOptions options = request.options;
            options.engine = engine;
            options.execution = cpu(std::vector<int>{0, 1, 2, 7}[static_cast<std::size_t>(draw.integer(4))]);
            options.z_order = (engine == Engine::automatic || engine == Engine::tree) && draw.integer(4) == 0;
            const PointsView* queries = request.queries;
            const std::int64_t k = request.k;
            const KnnResult found = [&] {
                if (draw.integer(2) == 0) {
                    const Tree tree(request.points,
                                    {.box = options.box,
                                     .engine = engine,
                                     .clover = engine == Engine::clover ? drawn_clover(draw) : CloverOptions{},
                                     .execution = options.execution});
                    EXPECT_EQ(tree.engine(), engine == Engine::automatic ? Engine::tree : engine);
                    options.box = {};
                    return queries != nullptr ? knn(tree, *queries, k, options) : knn(tree, k, options);
                }
                return queries != nullptr ? knn(request.points, *queries, k, options) : knn(request.points, k, options);
            }();
            EXPECT_EQ(found.rows(), request.rows());
            EXPECT_EQ(found.k(), k);
            EXPECT_TRUE(engine == Engine::automatic || found.engine == engine);
            return rows_of<T>(found);
        },
        engine == Engine::tree ? 1 : 2);
}

/// Separate queries of a kept tree, some of them a call, down to one; self-searches as the points' own queries.
KnnBackend few_queries_backend() {
    return knn_backend("CPU, few queries a call", []<class T>(const KnnRequest<T>& request, Random& draw) {
        const Tree tree(request.points, {.box = request.options.box});
        const PointsView& queries = request.queries != nullptr ? *request.queries : request.points;
        const std::int64_t most = std::vector<int>{1, 3, 40}[static_cast<std::size_t>(draw.integer(3))];
        KnnOptions options = request.options;
        const bool leaves_out = options.exclude_self;
        options.exclude_self = false;
        options.box = {};
        options.execution = cpu(1);
        const std::int64_t k = request.k + (leaves_out ? 1 : 0);
        oracle::Rows<T> all;
        oracle::Unresolved unresolved;
        for (std::int64_t first = 0; first < queries.count(); first += most) {
            const std::int64_t rows = std::min(most, queries.count() - first);
            const oracle::Rows<T> found = rows_of<T>(knn(tree, queries.subview(first, rows), k, options));
            if (found.unresolved->rows > 0) {
                unresolved.first = unresolved.rows == 0 ? first + found.unresolved->first : unresolved.first;
                unresolved.rows += found.unresolved->rows;
            }
            all.indices.insert(all.indices.end(), found.indices.begin(), found.indices.end());
            all.distances.insert(all.distances.end(), found.distances.begin(), found.distances.end());
        }
        if (leaves_out) {
            return without_self(all, k);
        }
        all.unresolved = unresolved;
        return all;
    });
}

} // namespace

std::vector<KnnBackend> knn_backends() {
    std::vector<KnnBackend> backends{few_queries_backend()};
    for (const Engine engine : knn_engines()) {
        backends.push_back(backend_of(engine));
    }
    return backends;
}

KnnEffort knn_effort() {
    return {.every_k = !small_tests};
}

} // namespace kith::test
