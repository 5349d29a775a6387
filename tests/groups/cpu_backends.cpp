// The CPU's ways to find groups: every engine, in a kept tree and among points.
#include "groups/conformance.hpp"

#include <kith/kith.hpp>

namespace kith::test {

namespace {

FofBackend backend_of(Engine engine) {
    return {"CPU, " + name_of(engine), [engine](const FofRequest& request, Random& draw) {
                const Execution execution = cpu(std::vector<int>{1, 2, 7}[static_cast<std::size_t>(draw.integer(3))]);
                const FofResult found =
                    draw.integer(2) == 0
                        ? fof(Tree(request.points, request.box), request.length, {.engine = engine}, execution)
                        : fof(request.points, request.length, request.box, {.engine = engine}, execution);
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
