// Sums over neighbors of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "neighbors/count_on_host.hpp"
#include "neighbors/device_entry.hpp"
#include "neighbors/query_tree.hpp"
#include "neighbors/radius_device.hpp"
#include "neighbors/sum_device.hpp"
#include "neighbors/sum_units.hpp"
#include "neighbors/visit_device.hpp"
#include "points/normalize_device.hpp"
#include "tree/build_device.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// A checked call on trees of the device, whose rows may be brought to sums several times.
template <Coordinate T, int D>
class SummedSearch {
public:
    SummedSearch(DeviceContext& context, const DevicePlaneTree<T>& sources, const DevicePlaneTree<T>& queries,
                 const DeviceSumCall& call)
        : context_(context), sources_(sources), queries_(queries), call_(call) {}

    void run(DeviceSums<T>& sums, CountOnHost<T>& count) {
        if (const Nearest* const nearest = std::get_if<Nearest>(&call_.neighborhood)) {
            const std::int64_t k = std::min(nearest->k, std::max<std::int64_t>(sources_.points.count, 1));
            sum_nearest(k, sums, count);
        } else {
            sum_within(sums, count);
        }
    }

private:
    void sum_nearest(std::int64_t k, DeviceSums<T>& sums, CountOnHost<T>& count) {
        const DeviceBuffer<SearchFrame<T>> frame =
            stored(context_, "search",
                   search_frame<T, D>(sources_.points.frame, {k, call_.options.exclude_self}, sources_.points.count));
        const DeviceRequest<T> request{k, call_.options.exclude_self, frame.data(), {}, -1};
        const NeighborVisitor visitor = [&](const NeighborBlock& block) { sums(block); };
        context_.stage("search", [&] {
            if (queries_.points.count > 0) {
                visit_on_device<T, D>(context_, queries_, sources_, request, visitor, count);
            }
        });
    }
    void sum_within(DeviceSums<T>& sums, CountOnHost<T>& count) {
        const RadiusOptions options{.exclude_self = call_.options.exclude_self};
        const RadiusVisitor visitor = [&](const RadiusBlock& block) { sums(block); };
        const DeviceRadiusCall within{
            std::get<Within>(call_.neighborhood).radii, call_.smallest_radius, options, nullptr, nullptr, &visitor};
        const RadiusWalkOfPlanes<T, D> walk(queries_, sources_);
        DeviceRadiusSearch<T, RadiusWalkOfPlanes<T, D>>(context_, walk, within).visit(visitor, count);
    }

    DeviceContext& context_;
    const DevicePlaneTree<T>& sources_;
    const DevicePlaneTree<T>& queries_;
    const DeviceSumCall& call_;
};

} // namespace

template <Coordinate T, int D>
void sum_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const TreeShape& shape, Context& host,
                   const PointsView* queries, const DeviceSumCall& call, NeighborSums& sums) {
    const DevicePlaneTree<T>& sources = tree.as<DevicePlaneTree<T>>();
    const Frame<T>& frame = sources.points.frame;
    const SumOptions& options = call.options;
    const auto given = [&] { return given_rows(context, sources); };
    std::optional<DevicePlaneTree<T>> query_tree;
    bool has_tiny = frame.has_tiny;
    if (queries != nullptr) {
        const PointsOnDevice there = points_on_device(context, *queries);
        const NormalizedPoints<T> normalized = normalize_queries_on_device<T, D>(context, there.view(), frame);
        has_tiny = has_tiny || normalized.has_tiny;
        query_tree.emplace(build_device_tree<T, D>(
            context, normalized, query_tree_shape(device_tree_shape(shape), sources.points.count, queries->count())));
    }
    const DevicePlaneTree<T>& receivers = query_tree ? *query_tree : sources;
    FixedUnits units;
    const Within* const within = std::get_if<Within>(&call.neighborhood);
    if (within != nullptr) {
        if (receivers.points.count > 0 && sources.points.count > 0) {
            require_resolved_radii(within->radii, call.smallest_radius, frame, queries == nullptr, [&] {
                const std::vector<T> points = given();
                return largest_coordinate(frame, Coordinates<T>(PointsView(points, D)), sources.points.count);
            });
        }
        host.run([&] { units = units_of(options, sources.points.count); });
    }
    DeviceSums<T> summed(context, host, frame, options, units, sums);
    if (within != nullptr) {
        summed.set_radii(within->radii);
    }
    const bool needs_field_gradients = !options.fields.empty() && options.statistics.gradient;
    if (options.density_gradient || needs_field_gradients) {
        summed.set_positions(sources.points, receivers.points);
    }
    SummedSearch<T, D> search(context, sources, receivers, call);
    CountOnHost<T> unresolved(context, frame, has_tiny, given, queries);
    search.run(summed, unresolved);
    if (needs_field_gradients) {
        CountOnHost<T> counted_already(context, frame, false, given, queries);
        summed.turn_to_field_gradients(sources.points.count);
        search.run(summed, counted_already);
    }
    summed.deliver();
    static_cast<SearchSummary&>(sums) = unresolved.summary();
}

template void sum_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&, const TreeShape&,
                                                         Context&, const PointsView*, const DeviceSumCall&,
                                                         NeighborSums&);

} // namespace kith::detail::inline KITH_GPU
