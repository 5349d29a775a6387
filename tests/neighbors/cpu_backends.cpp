// The CPU's ways to search for neighbors: every engine, in a kept tree and among points.
#include "neighbors/conformance.hpp"

#include <kith/kith.hpp>

namespace kith::test {

namespace {

KnnBackend backend_of(Engine engine) {
    return knn_backend("CPU, " + name_of(engine), [engine]<class T>(const KnnRequest<T>& request, Random& draw) {
        KnnOptions options = request.options;
        options.engine = engine;
        options.execution = cpu(std::vector<int>{0, 1, 2, 7}[static_cast<std::size_t>(draw.integer(4))]);
        const PointsView* queries = request.queries;
        const std::int64_t k = request.k;
        const KnnResult found = [&] {
            if (draw.integer(2) == 0) {
                const Tree tree(request.points, {.box = options.box, .execution = options.execution});
                options.box = {};
                return queries != nullptr ? knn(tree, *queries, k, options) : knn(tree, k, options);
            }
            return queries != nullptr ? knn(request.points, *queries, k, options) : knn(request.points, k, options);
        }();
        EXPECT_EQ(found.rows(), request.rows());
        EXPECT_EQ(found.k(), k);
        EXPECT_TRUE(engine == Engine::automatic || found.engine() == engine);
        return rows_of<T>(found);
    });
}

} // namespace

std::vector<KnnBackend> knn_backends() {
    return {backend_of(Engine::tree), backend_of(Engine::brute_force), backend_of(Engine::automatic)};
}

KnnEffort knn_effort() {
    return {};
}

} // namespace kith::test
