// Points that are moved so that each rank has about as much work, and points that are near each other.
//
// The z-order is cut where a sample of the points of all ranks says (sorted_keys.hpp), by weight (point_weights.hpp);
// points at one place are told apart by their global index. A moved point keeps its number (point_numbers.hpp), so that
// the answers stay what they were; they are sent back to where the points came from. So is what points cost: the
// seconds of the rank that worked on them, divided among its points by weight. As weights of the next call they correct
// the weights of this one for the part of each rank, and keep what earlier calls, cut elsewhere, found out within it.
// Separate queries go where the points near them are, which leaves as many on a rank as there are in its part of space.
// Cost: every coordinate is sent once. Source: sample sort on a space-filling curve, as in the jz-tree paper, section
// II-A.
#pragma once

#include "distributed/differences.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/point_weights.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/sorted_keys.hpp"
#include "points/coordinates.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

/// A position on the z-order, with 63 / d bits an axis.
struct CurveKey {
    std::uint64_t position;
    std::int64_t global_index;

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm at <=>
    friend auto operator<=>(const CurveKey&, const CurveKey&) = default;
};

/// Where the z-order of points is cut.
template <Coordinate T>
class CurveDivision {
public:
    /// Collective. Of the points of all ranks.
    CurveDivision(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PointWeights& weights)
        : frame_(shared.points.frame), lower_(shared.lower), upper_(shared.upper) {
        std::vector<CurveKey> keys;
        std::vector<std::int64_t> order;
        ranks.agreed([&] {
            keys.resize(shared.given.count());
            const Coordinates<T> points(shared.given);
            context.run([&] {
                parallel_each(std::ssize(keys), 1 << 12,
                              [&](std::int64_t row) { keys[row] = key(points, row, shared.ownership.first() + row); });
            });
            order = order_of<CurveKey>(keys);
        });
        splitters_ = split_keys(ranks, keys, order, [&](std::int64_t row) { return weights[row]; });
    }
    /// The rank that gets a point, or a query, whose coordinates are finite.
    [[nodiscard]] int rank_of(const Coordinates<T>& points, std::int64_t row, std::int64_t global_index) const {
        return bucket_of(splitters_, key(points, row, global_index));
    }

private:
    [[nodiscard]] CurveKey key(const Coordinates<T>& points, std::int64_t row, std::int64_t global_index) const {
        const int bits = 63 / frame_.dimension;
        CurveKey key{0, global_index};
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            const bool wraps = frame_.period[axis] > 0;
            const auto lower = static_cast<double>(wraps ? frame_.origin[axis] : lower_[axis]);
            const double length = wraps ? static_cast<double>(frame_.period[axis])
                                        : static_cast<double>(upper_[axis]) - static_cast<double>(lower_[axis]);
            const double x = static_cast<double>(frame_.wrap(points(row, axis), axis));
            const double share = length > 0 ? std::clamp(x / length - lower / length, 0.0, 1.0) : 0.0;
            const auto cell = static_cast<std::uint64_t>(share * static_cast<double>((std::uint64_t{1} << bits) - 1));
            for (int bit = 0; bit < bits; ++bit) {
                key.position |= ((cell >> bit) & 1U) << (bit * frame_.dimension + frame_.dimension - 1 - axis);
            }
        }
        return key;
    }

    const Frame<T>& frame_;
    std::array<T, max_dimension> lower_;
    std::array<T, max_dimension> upper_;
    std::vector<CurveKey> splitters_;
};

/// Throws too_large if more points or queries have come to a rank than its rows can number.
inline void require_rows(std::int64_t rows) {
    if (rows > std::numeric_limits<std::int32_t>::max()) {
        throw error(ErrorKind::too_large, "rebalancing brings ", rows,
                    " points or queries to this rank, more than 2147483647; use "
                    "more ranks, or leave rebalancing off");
    }
}

/// Points, or queries, that have come to this rank, and the way back.
template <Coordinate T>
class MovedPoints {
public:
    /// Collective. `ids` are those of the points, or empty.
    MovedPoints(Ranks& ranks, Context& context, const CurveDivision<T>& division, const PointsView& points,
                std::span<const std::int64_t> ids, const PointWeights& weights)
        : ranks_(ranks), dimension_(points.dimension()), weights_(weights),
          sent_(static_cast<std::size_t>(ranks.size())) {
        const Ownership owners(ranks, points.count());
        const bool has_ids = ranks.any(!ids.empty());
        std::vector<RankMessage> messages;
        ranks.agreed([&] {
            const Coordinates<T> x(points);
            std::vector<std::int32_t> to(points.count());
            context.run([&] {
                parallel_each(points.count(), 1 << 12,
                              [&](std::int64_t row) { to[row] = division.rank_of(x, row, owners.first() + row); });
            });
            for (std::int64_t row = 0; row < points.count(); ++row) {
                sent_[to[row]].push_back(row);
            }
            messages = messages_to(sent_, [&](MessageWriter& writer, const std::vector<std::int64_t>& rows) {
                double weight = 0;
                for (const std::int64_t row : rows) {
                    weight += weights[row];
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
        std::vector<RankMessage> received = ranks.exchange(std::move(messages));
        ranks.agreed([&] {
            for (RankMessage& message : received) { // by rank and row, so by global index
                MessageReader reader(message.bytes);
                weight_ += reader.take<double>();
                const auto count = reader.take<std::int64_t>();
                take_differences(reader, count, owners.first_of(message.rank), global_indices_);
                reader.take(count * dimension_, rows_);
                if (has_ids) {
                    reader.take(count, ids_);
                }
                senders_.emplace_back(message.rank, count);
                message.bytes = std::vector<std::byte>(); // frees them
                require_rows(std::ssize(global_indices_));
            }
        });
    }

    [[nodiscard]] PointsView view() const { return {rows_, dimension_}; }
    [[nodiscard]] std::span<const std::int64_t> global_indices() const { return global_indices_; }
    /// Those that were given, or else global indices.
    [[nodiscard]] std::span<const std::int64_t> ids() const { return ids_.empty() ? global_indices_ : ids_; }

    /// Collective. In the frame that they had where they came from.
    [[nodiscard]] SharedPoints<T> shared(Context& context, const SharedPoints<T>& before) const {
        SharedPoints<T> points;
        ranks_.agreed([&] { context.run([&] { points.points = normalized(before.points.frame, view()); }); });
        points.given = view();
        points.ownership = Ownership(ranks_, view().count());
        points.lower = before.lower;
        points.upper = before.upper;
        return points;
    }

    /// Collective. Sends `width` values of each point back to where it came from.
    template <class Value>
    void bring_back(std::span<const Value> values, std::int64_t width, std::span<Value> to) const {
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            std::int64_t first = 0;
            for (const auto& [rank, count] : senders_) {
                MessageWriter(messages.emplace_back(RankMessage{rank, {}}).bytes)
                    .put(values.subspan(first * width, count * width));
                first += count;
            }
        });
        std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            for (RankMessage& message : received) {
                const std::vector<Value> of_rank = values_of<Value>(message);
                message.bytes = std::vector<std::byte>();
                const std::vector<std::int64_t>& rows = sent_[message.rank];
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    std::copy_n(of_rank.begin() + static_cast<std::int64_t>(i) * width, width,
                                to.begin() + rows[i] * width);
                }
            }
        });
    }

    /// Collective. What each point that this rank passed cost, if this rank worked so long on those that came to it.
    [[nodiscard]] std::vector<float> work(double seconds) const {
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

private:
    Ranks& ranks_;
    int dimension_;
    const PointWeights& weights_;
    double weight_ = 0;                           ///< of the points that came
    std::vector<std::vector<std::int64_t>> sent_; ///< rows, by rank
    std::vector<T> rows_;
    std::vector<std::int64_t> global_indices_;
    std::vector<std::int64_t> ids_;
    std::vector<std::pair<int, std::int64_t>> senders_; ///< ranks and numbers of points
};

/// Collective. Points that have come to this rank, ready for work.
template <Coordinate T>
struct Rebalanced {
    PointWeights weights;
    CurveDivision<T> division;
    MovedPoints<T> moved;
    SharedPoints<T> points; ///< by ascending number
    std::optional<GivenIds> ids;

    /// `points` are those to be moved, `ids` their ids or none.
    Rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& before, std::span<const std::int64_t> given_ids,
               const ScalarsView& given_weights)
        : weights(ranks, given_weights, before.given.count()), division(ranks, context, before, weights),
          moved(ranks, context, division, before.given, given_ids, weights), points(moved.shared(context, before)) {
        ranks.agreed([&] {
            ids.emplace(moved.ids());
            ids->sort(points);
        });
    }
};

inline double seconds_of(const StageReports& stages) {
    double sum = 0;
    for (const StageReport& stage : stages) {
        sum += stage.seconds;
    }
    return sum;
}

} // namespace kith::detail
