// The CPU's ways to find the spanning tree: every engine, of points and of kept indices, with planes of several shapes.
#include "mst/conformance.hpp"
#include "support/engines.hpp"

#include <kith/tree.hpp>

#include <initializer_list>

namespace kith::test {

namespace {

int drawn(Random& draw, std::initializer_list<int> values) {
    return values.begin()[draw.integer(static_cast<std::int64_t>(values.size()))];
}

SpanningTreeBackend of_points_by(Engine engine) {
    return {name_of(engine), [engine](const SpanningTreeRequest& request, Random& draw) {
                const int threads = drawn(draw, {1, 2, 7});
                return spanning_tree(request.points, {.box = request.box, .engine = engine, .execution = cpu(threads)});
            }};
}

SpanningTreeBackend of_a_kept_index_by(Engine engine) {
    return {"kept index, " + name_of(engine), [engine](const SpanningTreeRequest& request, Random& draw) {
                const TreeShape shape{.leaf_size = drawn(draw, {1, 5, 40}), .top_size = drawn(draw, {1, 256})};
                const Tree tree(request.points, index_options(engine, request.box, shape));
                return spanning_tree(tree, {.engine = engine, .execution = cpu(drawn(draw, {1, 2, 7}))});
            }};
}

} // namespace

std::vector<SpanningTreeBackend> spanning_tree_backends() {
    std::vector<SpanningTreeBackend> backends;
    for (const Engine engine : engines_of(detail::Task::spanning_tree)) {
        backends.push_back(of_points_by(engine));
        backends.push_back(of_a_kept_index_by(engine));
    }
    return backends;
}

SpanningTreeEffort spanning_tree_effort() {
    return {};
}

} // namespace kith::test
