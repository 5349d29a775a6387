// A real GPU's ways to find the spanning tree: by every engine, of a kept tree and of points, in memory of the host and of the GPU.
#include "cuda/given.hpp"
#include "cuda/gpu.hpp"
#include "mst/conformance.hpp"
#include "support/engines.hpp"

#include <kith/tree.hpp>

namespace kith::test {

namespace {

SpanningTreeBackend backend_of(Engine engine, bool in_a_kept_tree) {
    return {(in_a_kept_tree ? "GPU, kept tree, " : "GPU, ") + name_of(engine),
            [engine, in_a_kept_tree](const SpanningTreeRequest& request, Random& draw) {
                SpanningTree found;
                with_type(request.points.dtype(), [&]<class T>(T) {
                    const Given<T> points(request.points, draw.integer(2) == 0);
                    if (in_a_kept_tree) {
                        const Tree tree(points.view(), {.box = request.box, .execution = cuda()});
                        found = spanning_tree(tree, {.engine = engine, .execution = cuda()});
                    } else {
                        found =
                            spanning_tree(points.view(), {.box = request.box, .engine = engine, .execution = cuda()});
                    }
                });
                return found;
            }};
}

} // namespace

// None where there is no GPU: the tests beside the suite say so.
std::vector<SpanningTreeBackend> spanning_tree_backends() {
    std::vector<SpanningTreeBackend> backends;
    for (const Engine engine : engines_of(detail::Task::spanning_tree, detail::Where::gpu)) {
        if (no_gpu().empty()) {
            backends.push_back(backend_of(engine, true));
            backends.push_back(backend_of(engine, false));
        }
    }
    return backends;
}

SpanningTreeEffort spanning_tree_effort() {
    return {};
}

} // namespace kith::test
