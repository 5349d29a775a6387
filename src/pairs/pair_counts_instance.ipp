// Pair counts of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by CMake's
// kith_add_device_instances().
#include "neighbors/query_tree.hpp"
#include "pairs/device_entry.hpp"
#include "pairs/pairs_device.hpp"
#include "pairs/weight_unit.hpp"
#include "points/normalize_device.hpp"
#include "points/transfer.hpp"
#include "support/context.hpp"
#include "tree/build_device.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Weights of a set as whole numbers, on the device.
template <Coordinate T>
DevicePairWeights weights_on_device(DeviceContext& context, Context& host, std::span<const double> weights,
                                    const DevicePlaneTree<T>& tree, int& exponent, std::int64_t& vanished) {
    std::vector<std::uint32_t> whole =
        with_allocation_errors("the weights of the points", [&] { return std::vector<std::uint32_t>(weights.size()); });
    host.run([&] {
        const WeightUnit unit(weights);
        unit.round(
            std::ssize(weights), [&](std::int64_t i) { return weights[i]; }, whole.data());
        exponent += unit.exponent();
        vanished += unit.vanished(weights);
    });
    return DevicePairWeights(context, whole, tree.view());
}

} // namespace

template <Coordinate T, int D>
void count_pairs_on_device(DeviceContext& context, const DeviceTreeHandle& handle, const TreeShape& shape,
                           Context& host, const DevicePairCall& call, PairCounts& result) {
    const DevicePlaneTree<T>& tree = handle.as<DevicePlaneTree<T>>();
    const Frame<T>& frame = tree.points.frame;
    const PairCountOptions& options = call.options;
    std::optional<DevicePlaneTree<T>> other_tree;
    if (call.other != nullptr) {
        const PointsOnDevice there = points_on_device(context, *call.other);
        const NormalizedPoints<T> normalized = normalize_queries_on_device<T, D>(context, there.view(), frame);
        other_tree.emplace(build_device_tree<T, D>(
            context, normalized, query_tree_shape(device_tree_shape(shape), tree.points.count, call.other->count())));
    }
    const bool has_pairs = tree.points.count > 0 && (!other_tree || other_tree->points.count > 0);
    if (has_pairs && (other_tree || frame.largest > 0)) {
        require_resolved_edges(call.edges, options, frame, [&] {
            const std::vector<T> points = given_rows(context, tree);
            return largest_coordinate(frame, Coordinates<T>(PointsView(points, D)), tree.points.count);
        });
    }
    describe(frame, call.edges, options, result);
    const PairLimits<T> limits = pair_limits(call.edges, options, frame);
    const bool weighted = options.weights || options.other_weights;
    PairSums sums(limits, weighted);
    int exponent = 0;
    if (has_pairs) {
        context.stage("count", [&] {
            DevicePairWeights weights;
            DevicePairWeights other_weights;
            if (options.weights) {
                weights =
                    weights_on_device<T>(context, host, *options.weights, tree, exponent, result.vanished_weights);
            }
            if (options.other_weights) {
                other_weights = weights_on_device<T>(context, host, *options.other_weights, *other_tree, exponent,
                                                     result.vanished_weights);
            }
            const WeightedDeviceTree<T> first{&tree, &weights};
            const WeightedDeviceTree<T> second =
                other_tree ? WeightedDeviceTree<T>{&*other_tree, &other_weights} : first;
            sums = count_pairs<T, D>(context, first, second, weighted, limits);
        });
        exponent *= other_tree ? 1 : 2;
    }
    enter(sums, exponent, result);
}

template void count_pairs_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                 const TreeShape&, Context&, const DevicePairCall&,
                                                                 PairCounts&);

} // namespace kith::detail::inline KITH_GPU
