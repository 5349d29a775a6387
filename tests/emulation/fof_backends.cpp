// The emulated GPU's ways to find groups: in a kept tree, by brute force, and stream-ordered; points and labels in
// memory of the host and of the device.
#include "cuda/device_context.hpp"
#include "emulation/async_groups.hpp"
#include "emulation/given_points.hpp"
#include "emulation/tested_dimensions.hpp"
#include "engines/brute_force/device_entry.hpp"
#include "groups/conformance.hpp"
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

FofAnswer by_brute_force(const FofRequest& request, Random& draw) {
    return waited_for(request, draw,
                      [&]<class T, int D>(DeviceContext& context, const PointsView& points,
                                          std::span<std::int32_t> labels, FofSummary& summary) {
                          detail::label_all_pairs_on_device<T, D>(context, points, request.box, request.length, labels,
                                                                  summary);
                      });
}

FofBackend stream_ordered_by(Engine engine, std::int64_t one_in) {
    const auto find = [engine](const FofRequest& request, Random&) {
        FofAnswer answer;
        with_type(request.points.dtype(), [&]<class T>(T) {
            DeviceContext context(cuda(1));
            const GivenPoints<T> points(context, request.points, true);
            AsyncGroups found(points.view(), request.length, request.box, engine);
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
    return {"emulated GPU, stream-ordered, " + name_of(engine), find, one_in};
}

} // namespace

std::vector<FofBackend> fof_backends() {
    return {{"emulated GPU, kept tree", in_a_kept_tree},
            {"emulated GPU, brute force", by_brute_force, 3},
            stream_ordered_by(Engine::tree, 1),
            stream_ordered_by(Engine::brute_force, 4)};
}

std::int64_t fof_lengths() {
    return 2;
}

} // namespace kith::test
