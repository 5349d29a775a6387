// The CPU's ways to find clusters: every engine, in kept indices, with planes of many shapes, and among points.
#include "groups/dbscan_conformance.hpp"
#include "support/engines.hpp"

#include <kith/tree.hpp>

namespace kith::test {

namespace {

DbscanBackend backend_of(Engine engine) {
    return {"CPU, " + name_of(engine), [engine](const DbscanRequest& request, Random& draw) {
                const auto one_of = [&](const std::vector<int>& values) {
                    return values[static_cast<std::size_t>(draw.integer(std::ssize(values)))];
                };
                DbscanOptions options = request.options;
                options.engine = engine;
                options.execution = cpu(one_of({1, 2, 7}));
                const TreeShape shape{
                    .leaf_size = one_of({1, 5, 40, 100}), .coarsening = one_of({2, 8}), .top_size = one_of({1, 256})};
                const DbscanResult found = [&] {
                    if (draw.integer(2) == 0) {
                        return dbscan(request.points, request.eps, request.min_samples, options);
                    }
                    const Tree tree(request.points, index_options(engine, options.box, shape));
                    options.box = {};
                    return dbscan(tree, request.eps, request.min_samples, options);
                }();
                EXPECT_TRUE(engine == Engine::automatic || found.engine == engine);
                return found;
            }};
}

} // namespace

std::vector<DbscanBackend> dbscan_backends() {
    std::vector<DbscanBackend> backends;
    for (const Engine engine : engines_of(detail::Task::clusters)) {
        backends.push_back(backend_of(engine));
    }
    return backends;
}

} // namespace kith::test
