// The CPU's way to sum over neighbors: by an engine and with threads that are drawn.
#include "neighbors/sum_conformance.hpp"

#include <variant>

namespace kith::test {

namespace {

NeighborSums by_some_engine(const SumRequest& request, Random& draw) {
    const bool by_count = std::holds_alternative<Nearest>(request.neighborhood);
    const std::vector<Engine> engines = by_count ? knn_engines() : radius_engines();
    SumOptions options = request.options;
    options.engine = engines[static_cast<std::size_t>(draw.integer(std::ssize(engines)))];
    options.execution = cpu(static_cast<int>(1 + draw.integer(3)));
    return sums_of(request.points, request.queries, request.neighborhood, options);
}

} // namespace

std::vector<SumBackend> sum_backends() {
    return {{"CPU", by_some_engine}};
}

SumEffort sum_effort() {
    return {};
}

} // namespace kith::test
