// A real GPU's ways to search within a radius: every engine, in a kept tree and among points, in memory of the host and of the GPU.
#include "cuda/given.hpp"
#include "cuda/gpu.hpp"
#include "neighbors/radius_conformance.hpp"
#include "support/engines.hpp"

#include <kith/radius.hpp>
#include <kith/tree.hpp>

#include <optional>

namespace kith::test {

namespace {

template <class T>
RadiusAnswers<T> answers_of(const RadiusRequest<T>& request, Engine engine, Random& draw) {
    RadiusOptions options = request.options;
    options.engine = engine;
    options.execution = cuda();
    RadiusOptions in_tree = options;
    in_tree.box = {};
    const Given<T> points(request.points, draw.integer(2) == 0);
    std::optional<Given<T>> queries;
    if (request.queries != nullptr) {
        queries.emplace(*request.queries, draw.integer(2) == 0);
    }
    const Tree tree(points.view(), {.box = options.box, .engine = engine, .execution = options.execution});
    const RadiusResult found = queries ? radius_search(points.view(), queries->view(), request.radii, options)
                                       : radius_search(points.view(), request.radii, options);
    EXPECT_TRUE(engine == Engine::automatic || found.engine == engine);
    RadiusAnswers<T> answers;
    answers.rows.offsets.assign(found.offsets().begin(), found.offsets().end());
    if (found.index_type() == IndexType::int32) {
        answers.rows.indices.assign(found.indices().begin(), found.indices().end());
    } else {
        answers.rows.indices.assign(found.indices64().begin(), found.indices64().end());
    }
    const auto distances = found.distances<T>();
    answers.rows.distances.assign(distances.begin(), distances.end());
    answers.rows.unresolved = oracle::Unresolved(found.unresolved);

    CollectedRows<T> visited(request.rows());
    const RadiusVisitor visitor = [&](const RadiusBlock& block) {
        EXPECT_EQ(block.device, options.execution.device);
        const auto on_host = [](const auto& span) { return copied_to_host(span.data(), span.size()); };
        visited.add(on_host(block.query_indices), on_host(block.offsets), on_host(block.indices()),
                    on_host(block.template distances<T>()));
    };
    const SearchSummary summary = queries ? radius_visit(visitor, tree, queries->view(), request.radii, in_tree)
                                          : radius_visit(visitor, tree, request.radii, in_tree);
    answers.visited = visited.rows();
    answers.visited.unresolved = oracle::Unresolved(summary.unresolved);
    answers.counts = queries ? radius_count(tree, queries->view(), request.radii, in_tree).counts
                             : radius_count(tree, request.radii, in_tree).counts;
    return answers;
}

} // namespace

// None where there is no GPU: the tests beside the suite say so.
std::vector<RadiusBackend> radius_backends() {
    std::vector<RadiusBackend> backends;
    for (const Engine engine : engines_of(detail::Task::radius, detail::Where::gpu)) {
        if (no_gpu().empty()) {
            backends.push_back(radius_backend("GPU, " + name_of(engine),
                                              [engine]<class T>(const RadiusRequest<T>& request, Random& draw) {
                                                  return answers_of<T>(request, engine, draw);
                                              }));
        }
    }
    return backends;
}

RadiusEffort radius_effort() {
    return {};
}

} // namespace kith::test
