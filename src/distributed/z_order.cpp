#include "distributed/z_order.hpp"

#include "distributed/rebalance.hpp"
#include "order/keys.hpp"
#include "order/order.hpp"
#include "points/point_set.hpp"
#include "support/allocation_errors.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

/// Positions along the curve within the cell of all ranks' points.
template <Coordinate T>
class CurveKeys {
public:
    explicit CurveKeys(const SharedPoints<T>& shared)
        : dimension_(shared.points.frame.dimension), bits_(126 / dimension_), encoder_(encoder_of(shared)) {}

    [[nodiscard]] KeyNumber operator()(const PointReader<T>& points, std::int64_t row) const {
        std::array<std::uint64_t, max_dimension> of_axis{};
        for (int axis = 0; axis < dimension_; ++axis) {
            of_axis[axis] = encoder_.axis_bits(points(row, axis)) >> (AxisEncoder::bits - bits_);
        }
        KeyNumber key = 0;
        for (int bit = bits_ - 1; bit >= 0; --bit) {
            for (int axis = 0; axis < dimension_; ++axis) {
                key = key << 1 | ((of_axis[axis] >> bit) & 1U);
            }
        }
        return key;
    }

private:
    using AxisEncoder = KeyEncoder<T, 1, 63>;

    static AxisEncoder encoder_of(const SharedPoints<T>& shared) {
        const Frame<T>& frame = shared.points.frame;
        std::array<T, max_dimension> least{}; // zeros on the axes that there are not: these differ in no bit
        std::array<T, max_dimension> greatest{};
        for (int axis = 0; axis < frame.dimension; ++axis) {
            const bool fills_period = frame.outside > 0 && frame.period[axis] > 0;
            least[axis] = frame.load(fills_period ? frame.origin[axis] : shared.lower[axis], axis);
            greatest[axis] = frame.load(fills_period ? frame.last_inside(axis) : shared.upper[axis], axis);
        }
        const int sign_exponent = sign_exponent_of<T, max_dimension>(least, greatest);
        const Split top = split_of<T, max_dimension>(least, greatest, sign_exponent);
        return {top.exponent == coincident ? 0 : top.exponent, sign_exponent};
    }

    int dimension_;
    int bits_; ///< of each axis
    AxisEncoder encoder_;
};

/// The rank of each point.
template <Coordinate T>
std::vector<std::int32_t> divide(Ranks& ranks, Context& context, const SharedPoints<T>& shared,
                                 const PointWeights& weights, double imbalance) {
    const std::int64_t count = shared.given.count();
    std::vector<KeyNumber> keys;
    WeighedKeys ascending;
    ranks.agreed([&] {
        context.stage("keys", [&] {
            const CurveKeys<T> key_of(shared);
            const PointReader<T> points(shared.points);
            keys.resize(count);
            parallel_each(count, 1 << 12, [&](std::int64_t row) { keys[row] = key_of(points, row); });
            ascending = weighed_keys(keys, weights);
        });
    });
    const std::vector<KeyNumber> cuts = cut_keys(ranks, ascending, imbalance);
    std::vector<std::int32_t> rank_of(keys.size());
    ranks.agreed([&] {
        context.run(
            [&] { parallel_each(count, 1 << 14, [&](std::int64_t row) { rank_of[row] = part_of(cuts, keys[row]); }); });
    });
    return rank_of;
}

} // namespace

template <Coordinate T>
ZOrder z_order_over_ranks(Ranks& ranks, Context& context, const ZOrderOverRanks& call) {
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    const SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, call.options.box);
    ZOrder result;
    result.box = resolved_box(shared.points.frame);
    result.wrapped_points = shared.points.frame.outside;

    const PointWeights weights(ranks, call.of_ranks.weights, call.points.count());
    std::vector<std::int32_t> rank_of = divide(ranks, context, shared, weights, call.of_ranks.imbalance);
    const MovedPoints<T> moved(
        ranks, context, [&](std::int64_t) { return std::move(rank_of); }, call.points, ids.given(), weights);
    SharedPoints<T> here = moved.shared(context, shared);
    ranks.agreed([&] {
        const GivenIds ids_here(moved.ids());
        ids_here.sort(here);
        std::vector<std::int64_t>& order = result.index_array.vector<std::int64_t>();
        with_allocation_errors("the order", [&] { order.resize(moved.ids().size()); });
        if (order.empty()) {
            return;
        }
        const PlaneTree<T> tree = build_plane_tree<T>(context, here.points, {});
        context.run([&] {
            parallel_each(std::ssize(order), 1 << 14,
                          [&](std::int64_t i) { order[i] = here.numbers[tree.points.indices[i]]; });
        });
    });
    result.stages = context.take_stages();
    return result;
}

template ZOrder z_order_over_ranks<float>(Ranks&, Context&, const ZOrderOverRanks&);
template ZOrder z_order_over_ranks<double>(Ranks&, Context&, const ZOrderOverRanks&);

} // namespace kith::detail
