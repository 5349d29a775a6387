// The emulated GPU's ways to find groups: in a kept tree, among points by every engine, and stream-ordered; points
// and labels in memory of the host and of the device.
#include "calls/device_calls.hpp"
#include "cuda/device_context.hpp"
#include "emulation/async_groups.hpp"
#include "emulation/given_points.hpp"
#include "emulation/kept_tree.hpp"
#include "emulation/tested_dimensions.hpp"
#include "groups/conformance.hpp"
#include "support/engines.hpp"
#include "tree/device_entry.hpp"

#include <optional>

namespace kith::test {

namespace {

using detail::DeviceContext;

/// Labels on either side, and what label(context, points, labels, summary) finds.
template <class Label>
FofAnswer waited_for(const FofRequest& request, Random& draw, const Label& label) {
    FofAnswer found;
    with_type(request.points.dtype(), [&]<class T>(T) {
        with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            DeviceContext context(cuda(1));
            const GivenPoints<T> points(context, request.points, draw.integer(2) == 0);
            std::vector<std::int32_t> on_host(static_cast<std::size_t>(request.points.count()), -7);
            std::optional<ThereOn<std::int32_t>> on_device;
            if (draw.integer(2) == 0) {
                on_device.emplace(context, request.points.count());
            }
            FofSummary summary;
            label.template operator()<T, D>(context, points.view(), on_device ? on_device->span() : std::span(on_host),
                                            summary);
            found = {{on_device ? on_device->on_host() : on_host, {summary.sizes.begin(), summary.sizes.end()}},
                     summary.groups,
                     summary.linking_length,
                     summary.volume,
                     summary.volume_kind};
        });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return found;
}

FofAnswer in_a_kept_tree(const FofRequest& request, Random& draw) {
    return waited_for(request, draw,
                      [&]<class T, int D>(DeviceContext& context, const PointsView& points,
                                          std::span<std::int32_t> labels, FofSummary& summary) {
                          const auto tree =
                              detail::build_tree_on_device<T, D>(context, points, request.box, drawn_shape(draw));
                          detail::label_tree_on_device<T, D>(context, tree, request.length, labels, summary);
                      });
}

FofBackend among_points_by(Engine engine, std::int64_t one_in) {
    const auto find = [engine](const FofRequest& request, Random& draw) {
        return waited_for(request, draw,
                          [&]<class, int>(DeviceContext& /*context*/, const PointsView& points,
                                          std::span<std::int32_t> labels, FofSummary& summary) {
                              summary.engine = engine;
                              detail::on_gpu().fof(points, request.length, {.box = request.box, .execution = cuda(1)},
                                                   labels, summary);
                          });
    };
    return {"emulated GPU, " + name_of(engine), find, one_in};
}

/// In a kept tree, or else among points.
FofBackend stream_ordered_by(Engine engine, bool keeps, std::int64_t one_in) {
    const auto find = [engine, keeps](const FofRequest& request, Random& draw) {
        FofAnswer answer;
        with_type(request.points.dtype(), [&]<class T>(T) {
            DeviceContext context(cuda(1));
            const GivenPoints<T> points(context, request.points, true);
            std::optional<Tree> tree;
            if (keeps) {
                tree.emplace(
                    tree_there(points.view(), {.box = request.box, .shape = drawn_shape(draw), .execution = cuda(1)}));
            }
            AsyncGroups found(tree ? PointsOrTree(*tree) : PointsOrTree(points.view()), request.length,
                              tree ? Box() : request.box, engine);
            found.run();
            EXPECT_EQ(found.status().refusal, PointError::none);
            const DeviceFofSummary summary = found.summary();
            answer = {
                {found.labels(), {}}, summary.groups, summary.linking_length, summary.volume, summary.volume_kind};
            answer.groups.sizes.assign(static_cast<std::size_t>(summary.groups), 0);
            for (const std::int32_t label : answer.groups.labels) {
                ++answer.groups.sizes[static_cast<std::size_t>(label)];
            }
        });
        EXPECT_EQ(emulation::held_on_device(), 0);
        return answer;
    };
    return {"emulated GPU, stream-ordered, " + name_of(engine) + (keeps ? " that is kept" : ""), find, one_in};
}

} // namespace

std::vector<FofBackend> fof_backends() {
    std::vector<FofBackend> backends{{"emulated GPU, kept tree", in_a_kept_tree}};
    for (const Engine engine : named_engines_of(detail::Task::groups, detail::Where::gpu)) {
        backends.push_back(among_points_by(engine, engine == Engine::brute_force ? 3 : 8));
    }
    for (const Engine engine : named_engines_of(detail::Task::groups, detail::Where::stream)) {
        backends.push_back(stream_ordered_by(engine, false, engine == Engine::tree ? 1 : 4));
    }
    backends.push_back(stream_ordered_by(Engine::tree, true, 2));
    return backends;
}

// More than two tiles of all_links_kernel.hpp, in sets of 300. Most sets meet every backend in one type or the other.
FofEffort fof_effort() {
    return {.lengths = 2, .points = 300};
}

} // namespace kith::test
