// A real GPU's ways to find clusters: every engine, in a kept tree and among points, points and answers in memory of the host and of the
// GPU.
#include "cuda/given.hpp"
#include "cuda/gpu.hpp"
#include "groups/dbscan_conformance.hpp"
#include "support/engines.hpp"

#include <kith/tree.hpp>

#include <optional>

namespace kith::test {

namespace {

template <class T>
DbscanResult clusters_of(const DbscanRequest& request, Engine engine, Random& draw) {
    DbscanOptions options = request.options;
    options.engine = engine;
    options.execution = cuda();
    const Given<T> points(request.points, draw.integer(2) == 0);
    std::optional<Tree> tree;
    if (draw.integer(2) == 0) {
        tree.emplace(points.view(), TreeOptions{.box = options.box, .execution = options.execution});
        options.box = {};
    }
    const PointsOrTree sources = tree ? PointsOrTree(*tree) : PointsOrTree(points.view());
    if (draw.integer(2) == 0) {
        return dbscan(sources, request.eps, request.min_samples, options);
    }
    const auto count = static_cast<std::size_t>(request.points.count());
    const OnGpu<std::int32_t> labels(count);
    const OnGpu<std::uint8_t> is_core(count);
    DbscanResult found;
    static_cast<DbscanSummary&>(found) =
        dbscan_into(labels.span(), is_core.span(), sources, request.eps, request.min_samples, options);
    found.label_array = labels.on_host();
    found.is_core = is_core.on_host();
    return found;
}

} // namespace

// None where there is no GPU: the tests beside the suite say so.
std::vector<DbscanBackend> dbscan_backends() {
    std::vector<DbscanBackend> backends;
    for (const Engine engine : engines_of(detail::Task::clusters, detail::Where::gpu)) {
        if (no_gpu().empty()) {
            backends.push_back({"GPU, " + name_of(engine), [engine](const DbscanRequest& request, Random& draw) {
                                    DbscanResult found;
                                    with_type(request.points.dtype(),
                                              [&]<class T>(T) { found = clusters_of<T>(request, engine, draw); });
                                    EXPECT_TRUE(engine == Engine::automatic || found.engine == engine);
                                    return found;
                                }});
        }
    }
    return backends;
}

} // namespace kith::test
