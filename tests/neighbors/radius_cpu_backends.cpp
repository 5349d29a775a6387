// The CPU's ways to search within a radius: every engine, in a kept index and among points.
#include "neighbors/radius_conformance.hpp"
#include "support/engines.hpp"

#include <kith/kith.hpp>

namespace kith::test {

namespace {

RadiusBackend backend_of(Engine engine) {
    return radius_backend("CPU, " + name_of(engine), [engine]<class T>(const RadiusRequest<T>& request, Random& draw) {
        RadiusOptions options = request.options;
        options.engine = engine;
        options.execution = cpu(std::vector<int>{1, 2, 7}[static_cast<std::size_t>(draw.integer(3))]);
        const TreeShape shape{.leaf_size = std::vector<int>{1, 5, 40}[static_cast<std::size_t>(draw.integer(3))],
                              .top_size = std::vector<int>{1, 256}[static_cast<std::size_t>(draw.integer(2))]};
        const Tree tree(request.points, index_options(engine, options.box, shape));
        RadiusOptions in_tree = options;
        in_tree.box = {};
        const auto rows_of = [&](const RadiusResult& found) {
            oracle::RaggedRows<T> rows = rows_of_result<T>(found);
            rows.unresolved = oracle::Unresolved(found.unresolved);
            EXPECT_TRUE(engine == Engine::automatic || found.engine == engine);
            return rows;
        };
        CollectedRows<T> visited(request.rows());
        const RadiusVisitor visitor = [&](const RadiusBlock& block) {
            EXPECT_EQ(block.device, Device{});
            visited.add(block.query_indices, block.offsets, block.indices(), block.distances<T>());
        };
        RadiusAnswers<T> answers;
        SearchSummary summary;
        if (request.queries != nullptr) {
            answers.rows = rows_of(radius_search(tree, *request.queries, request.radii, in_tree));
            summary = radius_visit(visitor, tree, *request.queries, request.radii, in_tree);
            answers.counts = draw.integer(2) == 0
                                 ? radius_count(request.points, *request.queries, request.radii, options).counts
                                 : radius_count(tree, *request.queries, request.radii, in_tree).counts;
        } else {
            answers.rows = rows_of(radius_search(request.points, request.radii, options));
            summary = radius_visit(visitor, tree, request.radii, in_tree);
            answers.counts = radius_count(tree, request.radii, in_tree).counts;
        }
        EXPECT_TRUE(engine == Engine::automatic || summary.engine == engine);
        answers.visited = visited.rows();
        answers.visited.unresolved = oracle::Unresolved(summary.unresolved);
        return answers;
    });
}

} // namespace

std::vector<RadiusBackend> radius_backends() {
    std::vector<RadiusBackend> backends;
    for (const Engine engine : radius_engines()) {
        backends.push_back(backend_of(engine));
    }
    return backends;
}

RadiusEffort radius_effort() {
    return {};
}

} // namespace kith::test
