// The CPU's ways to find groups: every engine, in a kept index and among points.
#include "groups/conformance.hpp"

#include <kith/kith.hpp>

namespace kith::test {

namespace {

FofBackend backend_of(Engine engine) {
    return {"CPU, " + name_of(engine), [engine](const FofRequest& request, Random& draw) {
                FofOptions options{.engine = engine};
                options.execution = cpu(std::vector<int>{1, 2, 7}[static_cast<std::size_t>(draw.integer(3))]);
                const FofResult found = [&] {
                    if (draw.integer(2) == 0) {
                        return fof(Tree(request.points, {.box = request.box, .engine = engine}), request.length,
                                   options);
                    }
                    options.box = request.box;
                    return fof(request.points, request.length, options);
                }();
                EXPECT_TRUE(engine == Engine::automatic || found.engine == engine);
                return answer_of(found);
            }};
}

FofResult cut_of_spanning_tree(const FofRequest& request, Random& draw) {
    const Execution execution = cpu(static_cast<int>(1 + draw.integer(3)));
    const SpanningTree tree = draw.integer(2) == 0
                                  ? spanning_tree(Tree(request.points, {.box = request.box}), {.execution = execution})
                                  : spanning_tree(request.points, {.box = request.box, .execution = execution});
    return fof(tree, request.length, execution);
}

} // namespace

std::vector<FofBackend> fof_backends() {
    std::vector<FofBackend> backends;
    for (const Engine engine : fof_engines()) {
        backends.push_back(backend_of(engine));
    }
    backends.push_back(
        {"CPU, spanning tree",
         [](const FofRequest& request, Random& draw) { return answer_of(cut_of_spanning_tree(request, draw)); }, 3});
    return backends;
}

FofEffort fof_effort() {
    return {};
}

} // namespace kith::test
