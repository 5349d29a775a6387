// A real GPU's ways to find groups: every engine, points and labels in memory of the host and of the GPU.
#include "cuda/gpu.hpp"
#include "groups/conformance.hpp"
#include "support/engines.hpp"

#include <kith/fof.hpp>

namespace kith::test {

namespace {

FofBackend backend_of(Engine engine) {
    return {"GPU, " + name_of(engine), [engine](const FofRequest& request, Random& draw) {
                const FofOptions options{.box = request.box, .engine = engine, .execution = cuda()};
                if (draw.integer(2) == 0) {
                    return answer_of(fof(request.points, request.length, options));
                }
                FofAnswer answer;
                with_type(request.points.dtype(), [&]<class T>(T) {
                    const T* data = static_cast<const T*>(request.points.axis(0));
                    const int dimension = request.points.dimension();
                    const OnGpu<T> points(std::vector<T>(data, data + request.points.count() * dimension));
                    const OnGpu<std::int32_t> labels(static_cast<std::size_t>(request.points.count()));
                    const FofSummary found = fof_into(labels.span(), points.points(dimension), request.length, options);
                    answer = {{labels.on_host(), {found.sizes.begin(), found.sizes.end()}},
                              found.groups,
                              found.linking_length,
                              found.volume,
                              found.volume_kind};
                });
                return answer;
            }};
}

} // namespace

// None where there is no GPU: the tests beside the suite say so.
std::vector<FofBackend> fof_backends() {
    std::vector<FofBackend> backends;
    for (const Engine engine : engines_of(detail::Task::groups, detail::Where::gpu)) {
        if (no_gpu().empty()) {
            backends.push_back(backend_of(engine));
        }
    }
    return backends;
}

FofEffort fof_effort() {
    return {};
}

} // namespace kith::test
