// A real GPU's ways to find the clusters of HDBSCAN*: of a kept tree and of points, in memory of the host and of the GPU.
#include "cuda/given.hpp"
#include "cuda/gpu.hpp"
#include "mst/density_conformance.hpp"

#include <kith/tree.hpp>

namespace kith::test {

namespace {

HdbscanResult of_points(const DensityTreeRequest& request, Random& draw, bool in_a_kept_tree) {
    HdbscanResult found;
    with_type(request.points.dtype(), [&]<class T>(T) {
        const Given<T> points(request.points, draw.integer(2) == 0);
        HdbscanOptions options{.min_samples = request.min_samples, .execution = cuda()};
        if (in_a_kept_tree) {
            found = hdbscan(Tree(points.view(), {.box = request.box, .execution = cuda()}), 5, options);
        } else {
            options.box = request.box;
            found = hdbscan(points.view(), 5, options);
        }
    });
    return found;
}

} // namespace

// None without a GPU, which other tests report.
std::vector<DensityTreeBackend> density_tree_backends() {
    if (!no_gpu().empty()) {
        return {};
    }
    std::vector<DensityTreeBackend> backends;
    for (const bool in_a_kept_tree : {false, true}) {
        backends.push_back({in_a_kept_tree ? "GPU, kept tree" : "GPU",
                            [in_a_kept_tree](const DensityTreeRequest& request, Random& draw) {
                                return of_points(request, draw, in_a_kept_tree);
                            }});
    }
    return backends;
}

DensityTreeEffort density_tree_effort() {
    return {};
}

} // namespace kith::test
