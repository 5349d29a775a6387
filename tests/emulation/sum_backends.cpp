// The emulated GPU's way to sum over neighbors: in kept trees of two shapes, of points in memory of the host or of the
// device.
#include "emulation/given_points.hpp"
#include "emulation/tested_dimensions.hpp"
#include "neighbors/device_entry.hpp"
#include "neighbors/mass_scale.hpp"
#include "neighbors/sum_conformance.hpp"
#include "support/context.hpp"
#include "tree/device_entry.hpp"

#include <algorithm>
#include <variant>

namespace kith::test {

namespace {

using detail::DeviceContext;

/// Memory for all results that are asked for.
NeighborSums with_memory(const SumRequest& request) {
    const SumOptions& options = request.options;
    const auto rows = static_cast<std::size_t>(request.queries ? request.queries->count() : request.points.count());
    const auto vectors = rows * static_cast<std::size_t>(request.points.dimension());
    NeighborSums sums;
    sums.density.resize(rows);
    std::holds_alternative<Nearest>(request.neighborhood) ? sums.reach.resize(rows) : sums.counts.resize(rows);
    sums.density_gradient.resize(options.density_gradient ? vectors : 0);
    for (std::size_t field = 0; field < options.fields.size(); ++field) {
        const std::vector<double> column(rows);
        sums.fields.push_back(
            {column, column, column, column, column, std::vector<double>(options.statistics.gradient ? vectors : 0)});
    }
    return sums;
}

/// The query with the smallest radius above 0, or -1.
std::int64_t smallest_of(const Neighborhood& neighborhood) {
    const Within* const within = std::get_if<Within>(&neighborhood);
    std::int64_t smallest = -1;
    for (std::int64_t i = 0; within != nullptr && i < (within->radii.is_uniform() ? 1 : within->radii.count()); ++i) {
        const bool is_smaller = smallest < 0 || within->radii[i] < within->radii[smallest];
        smallest = within->radii[i] > 0 && is_smaller ? i : smallest;
    }
    return smallest;
}

NeighborSums in_a_kept_tree(const SumRequest& request, Random& draw) {
    NeighborSums sums = with_memory(request);
    with_type(request.points.dtype(), [&]<class T>(T) {
        with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            DeviceContext context(cuda(1));
            detail::Context host(cpu(1));
            const GivenPoints<T> points(context, request.points, draw.integer(2) == 0);
            std::optional<GivenPoints<T>> queries;
            if (request.queries) {
                queries.emplace(context, *request.queries, draw.integer(2) == 0);
            }
            const TreeShape shape = drawn_shape(draw);
            const detail::ScaledMasses masses(request.options, request.points.count(),
                                              detail::SumRange(request.options).excess());
            const auto tree = detail::build_tree_on_device<T, D>(context, points.view(), request.options.box, shape);
            detail::sum_on_device<T, D>(context, tree, shape, host, queries ? &queries->view() : nullptr,
                                        {request.neighborhood, smallest_of(request.neighborhood), masses.options()},
                                        sums);
            masses.restore(sums);
        });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return sums;
}

} // namespace

std::vector<SumBackend> sum_backends() {
    return {{"emulated GPU, kept tree", in_a_kept_tree}};
}

SumEffort sum_effort() {
    return {.one_in = 4, .points = 200};
}

} // namespace kith::test
