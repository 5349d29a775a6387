#include "distributed/rebalance.hpp"

#include "distributed/differences.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::detail {

void require_rows(std::int64_t rows) {
    if (rows > std::numeric_limits<std::int32_t>::max()) {
        throw error(ErrorKind::too_large, "rebalancing brings ", rows,
                    " points or queries to this rank, more than 2147483647; use "
                    "more ranks, or leave rebalancing off");
    }
}

WeighedKeys weighed_keys(std::vector<KeyNumber> keys, const PointWeights& weights) {
    if (weights.are_alike()) {
        std::ranges::sort(keys);
        return {std::move(keys), {}};
    }
    const double units = std::ldexp(1.0, 52) / weights.total(); // what weights of all ranks add up to; at least 1 each
    std::vector<KeyNumber> ascending;
    std::vector<std::int64_t> in_units;
    for (const std::int64_t row : order_of<KeyNumber>(keys)) {
        ascending.push_back(keys[row]);
        in_units.push_back(std::max(std::llround(weights[row] * units), 1LL));
    }
    return {std::move(ascending), in_units};
}

template <Coordinate T>
CurveDivision<T>::CurveDivision(Ranks& ranks, Context& context, const SharedPoints<T>& shared,
                                const PointWeights& weights, double imbalance)
    : frame_(shared.points.frame), lower_(shared.lower), upper_(shared.upper) {
    WeighedKeys ascending;
    ranks.agreed([&] {
        const Coordinates<T> points(shared.given);
        context.run([&] {
            std::vector<KeyNumber> keys(shared.given.count());
            parallel_each(std::ssize(keys), 1 << 12,
                          [&](std::int64_t row) { keys[row] = key(points, row, shared.ownership.first() + row); });
            ascending = weighed_keys(std::move(keys), weights);
        });
    });
    cuts_ = cut_keys(ranks, ascending, imbalance);
}

template <Coordinate T>
std::vector<std::int32_t> CurveDivision<T>::ranks_of(const PointsView& points, std::int64_t first) const {
    const Coordinates<T> x(points);
    std::vector<std::int32_t> ranks(points.count());
    parallel_each(points.count(), 1 << 12,
                  [&](std::int64_t row) { ranks[row] = part_of(cuts_, key(x, row, first + row)); });
    return ranks;
}

template <Coordinate T>
KeyNumber CurveDivision<T>::key(const Coordinates<T>& points, std::int64_t row, std::int64_t global_index) const {
    const int bits = 63 / frame_.dimension;
    std::uint64_t position = 0;
    for (int axis = 0; axis < frame_.dimension; ++axis) {
        const bool wraps = frame_.period[axis] > 0;
        const auto lower = static_cast<double>(wraps ? frame_.origin[axis] : lower_[axis]);
        const double length = wraps ? static_cast<double>(frame_.period[axis])
                                    : static_cast<double>(upper_[axis]) - static_cast<double>(lower_[axis]);
        const double x = static_cast<double>(frame_.wrap(points(row, axis), axis));
        const double share = length > 0 ? std::clamp(x / length - lower / length, 0.0, 1.0) : 0.0;
        const auto cell = static_cast<std::uint64_t>(share * static_cast<double>((std::uint64_t{1} << bits) - 1));
        for (int bit = 0; bit < bits; ++bit) {
            position |= ((cell >> bit) & 1U) << (bit * frame_.dimension + frame_.dimension - 1 - axis);
        }
    }
    return number_of(position, ordered(global_index));
}

template <Coordinate T>
void MovedPoints<T>::count_migrated(std::int64_t bytes_each) const {
    for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
        const bool leaves = static_cast<int>(rank) != ranks_.rank();
        ranks_.count_migrated(leaves ? std::ssize(sent_[rank]) * bytes_each : 0);
    }
}

template <Coordinate T>
void MovedPoints<T>::move(const Ownership& owners, std::span<const std::int32_t> to, const PointsView& points,
                          std::span<const std::int64_t> ids) {
    const bool has_ids = ranks_.any(!ids.empty());
    std::vector<RankMessage> messages;
    ranks_.agreed([&] {
        const Coordinates<T> x(points);
        for (std::int64_t row = 0; row < points.count(); ++row) {
            sent_[to[row]].push_back(row);
        }
        count_migrated(dimension_ * static_cast<std::int64_t>(sizeof(T)));
        messages = messages_to(sent_, [&](MessageWriter& writer, const std::vector<std::int64_t>& rows) {
            double weight = 0;
            for (const std::int64_t row : rows) {
                weight += weights_[row];
            }
            writer.put_value(weight);
            writer.put_value(std::ssize(rows));
            DifferenceWriter differences(writer);
            for (const std::int64_t row : rows) {
                differences.put(row);
            }
            for (const std::int64_t row : rows) {
                for (int axis = 0; axis < dimension_; ++axis) {
                    writer.put_value(x(row, axis));
                }
            }
            for (std::size_t i = 0; has_ids && i < rows.size(); ++i) {
                writer.put_value(ids[rows[i]]);
            }
        });
    });
    std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
    ranks_.agreed([&] {
        for (RankMessage& message : received) { // by rank and row, so by global index
            MessageReader reader(message.bytes);
            weight_ += reader.take<double>();
            const auto count = reader.take<std::int64_t>();
            take_differences(reader, count, owners.first_of(message.rank), global_indices_);
            reader.take(count * dimension_, rows_);
            if (has_ids) {
                reader.take(count, ids_);
            }
            senders_.push_back({message.rank, std::ssize(global_indices_) - count, count});
            message.bytes = std::vector<std::byte>(); // frees them
            require_rows(std::ssize(global_indices_));
        }
    });
}

template <Coordinate T>
SharedPoints<T> MovedPoints<T>::shared(Context& context, const SharedPoints<T>& before) const {
    SharedPoints<T> points;
    ranks_.agreed([&] { context.run([&] { points.points = normalized(before.points.frame, view()); }); });
    points.given = view();
    points.ownership = Ownership(ranks_, view().count());
    points.lower = before.lower;
    points.upper = before.upper;
    points.there = before.there;
    return points;
}

template <Coordinate T>
std::vector<float> MovedPoints<T>::work(double seconds) const {
    const std::vector<double> of_weight = ranks_.gather(weight_ > 0 ? seconds / weight_ : 0);
    std::vector<float> work;
    ranks_.agreed([&] {
        std::size_t count = 0;
        for (const std::vector<std::int64_t>& rows : sent_) {
            count += rows.size();
        }
        work.resize(count);
        for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
            for (const std::int64_t row : sent_[rank]) {
                work[row] = static_cast<float>(of_weight[rank] * weights_[row]);
            }
        }
    });
    return work;
}

namespace {

/// Collective. The same, in memory of the host.
template <Coordinate T>
SharedPoints<T> on_host(Ranks& ranks, const SharedPoints<T>& shared) {
    SharedPoints<T> copied = shared;
    ranks.agreed([&] {
        HeldPoints given = shared.there->on_host(shared.given);
        copied.memory = std::move(given.memory);
        copied.given = given.view;
    });
    return copied;
}

} // namespace

template <Coordinate T>
Rebalanced<T>::Rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& before,
                          std::span<const std::int64_t> given_ids, const RankOptions& options)
    : given(on_host(ranks, before)), weights(ranks, options.weights, before.given.count()),
      division(ranks, context, given, weights, options.imbalance),
      moved(
          ranks, context, [&](std::int64_t first) { return division.ranks_of(given.given, first); }, given.given,
          given_ids, weights),
      points(moved.shared(context, before)) {
    ranks.agreed([&] {
        ids.emplace(moved.ids());
        ids->number(points);
    });
}

double seconds_of(const StageReports& stages) {
    double sum = 0;
    for (const StageReport& stage : stages) {
        sum += stage.seconds;
    }
    return sum;
}

template class CurveDivision<float>;
template class CurveDivision<double>;
template class MovedPoints<float>;
template class MovedPoints<double>;
template struct Rebalanced<float>;
template struct Rebalanced<double>;

} // namespace kith::detail
