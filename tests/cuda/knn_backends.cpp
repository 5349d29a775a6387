// A real GPU's ways to search for neighbors: every engine, points and queries in memory of the host and of the GPU.
#include "cuda/given.hpp"
#include "cuda/gpu.hpp"
#include "neighbors/conformance.hpp"
#include "support/engines.hpp"

#include <kith/knn.hpp>

#include <optional>

namespace kith::test {

namespace {

template <class T>
oracle::Rows<T> rows_on_host(const KnnResult& result) {
    if (result.device().kind == DeviceKind::cpu) {
        return rows_of<T>(result);
    }
    const auto with = [&](const auto& indices) {
        const auto copy = copied_to_host(indices.data(), indices.size());
        const auto distances = result.template distances<T>();
        return oracle::Rows<T>{{copy.begin(), copy.end()}, copied_to_host(distances.data(), distances.size())};
    };
    return result.index_type() == IndexType::int32 ? with(result.indices()) : with(result.indices64());
}

KnnBackend backend_of(Engine engine) {
    return knn_backend("GPU, " + name_of(engine), [engine]<class T>(const KnnRequest<T>& request, Random& draw) {
        KnnOptions options = request.options;
        options.engine = engine;
        options.execution = cuda();
        const Given<T> points(request.points, draw.integer(2) == 0);
        std::optional<Given<T>> queries;
        if (request.queries != nullptr) {
            queries.emplace(*request.queries, draw.integer(2) == 0);
        }
        const KnnResult found =
            queries ? knn(points.view(), queries->view(), request.k, options) : knn(points.view(), request.k, options);
        EXPECT_TRUE(engine == Engine::automatic || found.engine == engine);
        EXPECT_EQ(found.device(), (queries ? queries->view() : points.view()).device());
        return rows_on_host<T>(found);
    });
}

} // namespace

// None where there is no GPU: the tests beside the suite say so.
std::vector<KnnBackend> knn_backends() {
    std::vector<KnnBackend> backends;
    for (const Engine engine : engines_of(detail::Task::neighbors, detail::Where::gpu)) {
        if (no_gpu().empty()) {
            backends.push_back(backend_of(engine));
        }
    }
    return backends;
}

KnnEffort knn_effort() {
    return {};
}

} // namespace kith::test
