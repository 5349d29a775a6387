// The emulated GPU's ways to search within a radius: in a kept tree, and in a k-d tree that is built for each call; points
// in memory of the host and of the device.
#include "emulation/given_points.hpp"
#include "emulation/tested_dimensions.hpp"
#include "engines/kdtree/device_entry.hpp"
#include "neighbors/device_entry.hpp"
#include "neighbors/radius_conformance.hpp"
#include "tree/device_entry.hpp"

#include <optional>
#include <utility>

namespace kith::test {

namespace {

using detail::DeviceContext;

template <class T, int D>
RadiusAnswers<T> answers_of(const RadiusRequest<T>& request, Random& draw, Engine engine) {
    DeviceContext context(cuda(1));
    const GivenPoints<T> points(context, request.points, draw.integer(2) == 0);
    std::optional<GivenPoints<T>> queries;
    if (request.queries != nullptr) {
        queries.emplace(context, *request.queries, draw.integer(2) == 0);
    }
    const TreeShape shape = drawn_shape(draw);
    const bool is_kd = engine == Engine::kdtree && points.view().count() > 0;
    const Box& box = request.options.box;
    const auto tree = is_kd ? detail::build_kd_tree_on_device<T, D>(context, points.view(), box)
                            : detail::build_tree_on_device<T, D>(context, points.view(), box, shape);
    std::int64_t smallest = -1;
    const Radii& radii = request.radii;
    for (std::int64_t i = 0; i < (radii.is_uniform() ? 1 : radii.count()); ++i) {
        smallest = radii[i] > 0 && (smallest < 0 || radii[i] < radii[smallest]) ? i : smallest;
    }
    const auto search = [&](const detail::DeviceRadiusCall& call) {
        const PointsView* const around = queries ? &queries->view() : nullptr;
        return oracle::Unresolved((is_kd ? detail::search_kd_radius_on_device<T, D>(context, tree, around, call)
                                         : detail::search_radius_on_device<T, D>(context, tree, shape, around, call))
                                      .unresolved);
    };
    RadiusAnswers<T> answers;
    search({radii, smallest, request.options, &answers.counts});

    RadiusResult found;
    const RadiusResultAccess access(found);
    access.index_type = request.options.index_type;
    access.dtype = dtype_of<T>;
    answers.rows.unresolved = search({radii, smallest, request.options, nullptr, &access});
    answers.rows.offsets.assign(found.offsets().begin(), found.offsets().end());
    if (found.index_type() == IndexType::int32) {
        answers.rows.indices.assign(found.indices().begin(), found.indices().end());
    } else {
        answers.rows.indices.assign(found.indices64().begin(), found.indices64().end());
    }
    answers.rows.distances.assign(found.distances<T>().begin(), found.distances<T>().end());

    CollectedRows<T> visited(request.rows());
    const RadiusVisitor visitor = [&](const RadiusBlock& block) {
        EXPECT_EQ(block.device, (Device{DeviceKind::cuda, 1}));
        const auto on_host = [&](const auto& span) {
            return context.to_host(span.data(), static_cast<std::int64_t>(span.size()));
        };
        visited.add(on_host(block.query_indices), on_host(block.offsets), on_host(block.indices()),
                    on_host(block.template distances<T>()));
    };
    const oracle::Unresolved unresolved = search({radii, smallest, request.options, nullptr, nullptr, &visitor});
    answers.visited = visited.rows();
    answers.visited.unresolved = unresolved;
    return answers;
}

template <Engine engine>
constexpr auto searched_by = []<class T>(const RadiusRequest<T>& request, Random& draw) {
    RadiusAnswers<T> answers;
    with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
        answers = answers_of<T, D>(request, draw, engine);
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return answers;
};

} // namespace

std::vector<RadiusBackend> radius_backends() {
    return {radius_backend("emulated GPU, kept tree", searched_by<Engine::tree>),
            radius_backend("emulated GPU, k-d tree", searched_by<Engine::kdtree>)};
}

RadiusEffort radius_effort() {
    return {.searches = 2, .self_points = 48, .points = 150, .queries = 33};
}

} // namespace kith::test
