// A real GPU's ways to sum over neighbors: of points and in a kept tree, in memory of the host and of the GPU.
#include "cuda/given.hpp"
#include "cuda/gpu.hpp"
#include "neighbors/sum_conformance.hpp"

#include <kith/tree.hpp>

namespace kith::test {

namespace {

SumBackend backend_of(bool in_a_kept_tree) {
    return {in_a_kept_tree ? "GPU, kept tree" : "GPU", [in_a_kept_tree](const SumRequest& request, Random& draw) {
                NeighborSums found;
                with_type(request.points.dtype(), [&]<class T>(T) {
                    const Given<T> points(request.points, draw.integer(2) == 0);
                    std::optional<Given<T>> queries;
                    std::optional<PointsView> queries_view;
                    if (request.queries) {
                        queries_view = queries.emplace(*request.queries, draw.integer(2) == 0).view();
                    }
                    SumOptions options = request.options;
                    options.execution = cuda();
                    if (in_a_kept_tree) {
                        const Tree tree(points.view(), {.box = options.box, .execution = cuda()});
                        options.box = {};
                        found = sums_of(tree, queries_view, request.neighborhood, options);
                    } else {
                        found = sums_of(points.view(), queries_view, request.neighborhood, options);
                    }
                });
                return found;
            }};
}

} // namespace

// None where there is no GPU: the tests beside the suite say so.
std::vector<SumBackend> sum_backends() {
    return no_gpu().empty() ? std::vector<SumBackend>{backend_of(true), backend_of(false)} : std::vector<SumBackend>{};
}

SumEffort sum_effort() {
    return {};
}

} // namespace kith::test
