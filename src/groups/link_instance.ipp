// Friends-of-friends of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "groups/device_entry.hpp"
#include "groups/link_async.hpp"
#include "groups/link_device.hpp"
#include "groups/part_linker_device.hpp"
#include "groups/velocity_length.hpp"
#include "tree/build_device.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
void label_tree_on_device(DeviceContext& context, const DeviceTreeHandle& handle, LinkingLength length,
                          std::span<std::int32_t> labels, FofSummary& result) {
    const DevicePlaneTree<T>& tree = handle.as<DevicePlaneTree<T>>();
    resolve_on_device(tree.points.frame, tree.points.count, length, result, [&] { return given_rows(context, tree); });
    label_tree_on_device<T, D>(context, handle, labels, result);
}

template <Coordinate T, int D>
void label_tree_on_device(DeviceContext& context, const DeviceTreeHandle& handle, std::span<std::int32_t> labels,
                          FofSummary& result) {
    const DevicePlaneTree<T>& tree = handle.as<DevicePlaneTree<T>>();
    const Frame<T>& frame = tree.points.frame;
    label_on_device(context, labels, result, [&](std::int32_t* there) {
        return label_groups(context, tree.points.view(), frame.working_period,
                            frame.squared_radius(result.linking_length), there,
                            [&](const DeviceUnionFind& groups, const LinkFrame<T>* in_frame) {
                                link_tree<T, D>(context, tree.view(), frame.periodic, in_frame, groups);
                            });
    });
}

template <Coordinate T, int D>
DevicePhaseSpace<T> enter_phase_space_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                                const PhaseSpaceAt& at, Engine engine,
                                                const DispersionOf& dispersion_of, ResolvedLengths& lengths) {
    const PointsView& given = at.phase_space.velocities;
    std::optional<PointsOnDevice> there;
    std::optional<PointsOnDevice> velocities;
    context.stage("upload", [&] {
        there.emplace(context, points);
        velocities.emplace(context, given);
    });
    const NormalizedPoints<T> positions = normalize_sources_on_device<T, D>(context, there->view(), box);
    const PhaseSpacePoints<T> in_space = resolve_phase_space(
        positions, box, at, lengths,
        [&] { return largest_on_host(positions.frame, points.count(), [&] { return host_rows<T>(context, points); }); },
        [&] { return finite_velocities_on_device<D>(context, velocities->view()); },
        [&](FiniteVelocities all) {
            const bool is_there = given.device().kind == DeviceKind::cuda;
            const HostCopy copy = is_there ? HostCopy(context, given) : HostCopy();
            all.view = is_there ? copy.view() : given;
            return dispersion_of(all);
        });
    auto tree = std::make_shared<DevicePlaneTree<T>>();
    if (engine == Engine::tree) {
        *tree = build_device_tree<T, D>(context, in_space, TreeShape{});
    } else {
        context.stage("order", [&] { tree->points = gather_on_device<T, D>(context, in_space); });
    }
    DevicePhaseSpace<T> result{positions.frame, {}};
    result.tree.index = std::move(tree);
    return result;
}

template <Coordinate T, int D>
std::unique_ptr<PartLinker<T>> part_linker_on_device(const Execution& execution, const NormalizedPoints<T>& points) {
    return std::make_unique<DevicePartLinker<T, D>>(execution, points);
}

#if 2 * KITH_DIMENSION <= 8
template DevicePhaseSpace<KITH_SCALAR> enter_phase_space_on_device<KITH_SCALAR, KITH_DIMENSION>(
    DeviceContext&, const PointsView&, const Box&, const PhaseSpaceAt&, Engine, const DispersionOf&, ResolvedLengths&);
#endif
template void label_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                std::span<std::int32_t>, FofSummary&);
template void label_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&, LinkingLength,
                                                                std::span<std::int32_t>, FofSummary&);
template std::unique_ptr<PartLinker<KITH_SCALAR>>
part_linker_on_device<KITH_SCALAR, KITH_DIMENSION>(const Execution&, const NormalizedPoints<KITH_SCALAR>&);
template void label_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceFofAsync&);

} // namespace kith::detail::inline KITH_GPU
