// A real GPU's ways to count pairs: of points and in a kept tree, in memory of the host and of the GPU.
#include "cuda/given.hpp"
#include "cuda/gpu.hpp"
#include "pairs/conformance.hpp"

#include <kith/tree.hpp>

namespace kith::test {

namespace {

PairBackend backend_of(bool in_a_kept_tree) {
    return {in_a_kept_tree ? "GPU, kept tree" : "GPU", [in_a_kept_tree](const PairRequest& request, Random& draw) {
                PairCounts found;
                with_type(request.points.dtype(), [&]<class T>(T) {
                    const Given<T> points(request.points, draw.integer(2) == 0);
                    std::optional<Given<T>> others;
                    std::optional<PointsView> others_view;
                    if (request.others) {
                        others_view = others.emplace(*request.others, draw.integer(2) == 0).view();
                    }
                    PairCountOptions options = options_for(request);
                    options.execution = cuda();
                    if (in_a_kept_tree) {
                        options.box = {};
                        const Tree tree(points.view(), {.box = request.box, .execution = cuda()});
                        found = counts_of(tree, others_view, request, options);
                    } else {
                        found = counts_of(points.view(), others_view, request, options);
                    }
                });
                return found;
            }};
}

} // namespace

// None where there is no GPU: the tests beside the suite say so.
std::vector<PairBackend> pair_backends() {
    return no_gpu().empty() ? std::vector<PairBackend>{backend_of(true), backend_of(false)}
                            : std::vector<PairBackend>{};
}

PairEffort pair_effort() {
    return {};
}

} // namespace kith::test
