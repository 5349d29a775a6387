// A real GPU's ways to find the spanning tree: of a kept tree and of points, in memory of the host and of the GPU.
#include "cuda/given.hpp"
#include "cuda/gpu.hpp"
#include "mst/conformance.hpp"

#include <kith/tree.hpp>

namespace kith::test {

namespace {

SpanningTreeBackend backend_of(const std::string& name, bool in_a_kept_tree) {
    return {name, [in_a_kept_tree](const SpanningTreeRequest& request, Random& draw) {
                SpanningTree found;
                with_type(request.points.dtype(), [&]<class T>(T) {
                    const Given<T> points(request.points, draw.integer(2) == 0);
                    if (in_a_kept_tree) {
                        const Tree tree(points.view(), {.box = request.box, .execution = cuda()});
                        found = spanning_tree(tree, {.execution = cuda()});
                    } else {
                        found = spanning_tree(points.view(), {.box = request.box, .execution = cuda()});
                    }
                });
                return found;
            }};
}

} // namespace

// None where there is no GPU: the tests beside the suite say so.
std::vector<SpanningTreeBackend> spanning_tree_backends() {
    return no_gpu().empty() ? std::vector{backend_of("GPU, kept tree", true), backend_of("GPU", false)}
                            : std::vector<SpanningTreeBackend>{};
}

SpanningTreeEffort spanning_tree_effort() {
    return {};
}

} // namespace kith::test
