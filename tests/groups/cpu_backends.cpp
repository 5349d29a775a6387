// The CPU's ways to find groups: every engine, in a kept tree and among points.
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
                        return fof(Tree(request.points, {.box = request.box}), request.length, options);
                    }
                    options.box = request.box;
                    return fof(request.points, request.length, options);
                }();
                EXPECT_TRUE(engine == Engine::automatic || found.engine == engine);
                return answer_of(found);
            }};
}

} // namespace

std::vector<FofBackend> fof_backends() {
    return {backend_of(Engine::tree), backend_of(Engine::brute_force), backend_of(Engine::automatic)};
}

std::int64_t fof_lengths() {
    return 1 << 20;
}

} // namespace kith::test
