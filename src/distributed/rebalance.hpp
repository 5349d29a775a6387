// Redistribution of points, so that each rank has about the same work and points near each other.
//
// The z-order of all points is cut into parts of equal weight (point_weights.hpp, key_cuts.hpp); the global index
// breaks ties between coincident points. A moved point keeps its number
// (point_numbers.hpp), so the answers do not change. Answers return to the rank that passed the point, and so does its
// work: the seconds of the rank that worked on it, divided among its points by weight. Passed as the next call's
// weights, they rescale each rank's part to its measured time and preserve the relative weights within it. Separate
// queries move to the rank with the points near them, so their number per rank is not balanced. Points of a GPU come to
// the host first. Cost: every coordinate is sent once. Source: the jz-tree paper, section II-A, which cuts the same
// curve by a sample.
#pragma once

#include <kith/distributed.hpp>

#include "distributed/given_ids.hpp"
#include "distributed/key_cuts.hpp"
#include "distributed/point_weights.hpp"
#include "distributed/shared_frame.hpp"
#include "points/coordinates.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace kith::detail {

/// Where the z-order of points is cut.
template <Coordinate T>
class CurveDivision {
public:
    /// Collective. Of the points of all ranks, whose parts differ by `imbalance` of their mean.
    CurveDivision(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PointWeights& weights,
                  double imbalance);
    /// The rank of each point or query, which have finite coordinates and global indices from `first` on.
    [[nodiscard]] std::vector<std::int32_t> ranks_of(const PointsView& points, std::int64_t first) const;

private:
    /// A position on the z-order, with 63 / d bits an axis, then the global index.
    [[nodiscard]] KeyNumber key(const Coordinates<T>& points, std::int64_t row, std::int64_t global_index) const;

    const Frame<T>& frame_;
    std::array<T, max_dimension> lower_;
    std::array<T, max_dimension> upper_;
    std::vector<KeyNumber> cuts_;
};

/// Keys of points in their order, with the weights of the points. Runs inside a stage.
WeighedKeys weighed_keys(std::vector<KeyNumber> keys, const PointWeights& weights);

/// Throws too_large if a rank receives more points or queries than its rows can number.
void require_rows(std::int64_t rows);

/// A column of points that were moved to this rank.
class MovedColumn {
public:
    template <Coordinate Value>
    explicit MovedColumn(std::vector<Value> values) : values_(std::move(values)) {}
    [[nodiscard]] ScalarsView view() const {
        return std::visit([](const auto& values) { return ScalarsView(values); }, values_);
    }

private:
    std::variant<std::vector<float>, std::vector<double>> values_;
};

/// Points or queries moved to this rank, and the way back.
template <Coordinate T>
class MovedPoints {
public:
    /// Collective. rank_of_each(first), called inside a stage, is the rank that each point goes to; `first` is the
    /// global index of the first one. `ids` are those of the points, or empty.
    template <class RankOfEach>
    MovedPoints(Ranks& ranks, Context& context, const RankOfEach& rank_of_each, const PointsView& points,
                std::span<const std::int64_t> ids, const PointWeights& weights)
        : ranks_(ranks), dimension_(points.dimension()), weights_(weights),
          sent_(static_cast<std::size_t>(ranks.size())) {
        const Ownership owners(ranks, points.count());
        std::vector<std::int32_t> to;
        ranks.agreed([&] { context.run([&] { to = rank_of_each(owners.first()); }); });
        move(owners, to, points, ids);
    }

    [[nodiscard]] PointsView view() const { return {rows_, dimension_}; }
    [[nodiscard]] std::span<const std::int64_t> global_indices() const { return global_indices_; }
    /// The given ids, or else global indices.
    [[nodiscard]] std::span<const std::int64_t> ids() const { return ids_.empty() ? global_indices_ : ids_; }

    /// Collective. In the frame of `before`.
    [[nodiscard]] SharedPoints<T> shared(Context& context, const SharedPoints<T>& before) const;

    /// The rank that passed a point.
    [[nodiscard]] int passer_of(std::int64_t row) const {
        return std::prev(std::ranges::upper_bound(senders_, row, {}, &Sender::first))->rank;
    }

    /// Collective. Returns `width` values per point to the rank that passed it.
    template <class Value>
    void bring_back(std::span<const Value> values, std::int64_t width, std::span<Value> to) const {
        const auto start = [width](std::int64_t row) { return row * width; };
        return_rows(values, start, to, start);
    }
    /// Collective. The same for rows of values of different lengths, which start there; rows + 1 numbers.
    template <class Value>
    void bring_back(std::span<const Value> values, std::span<const std::int64_t> starts, std::span<Value> to,
                    std::span<const std::int64_t> starts_there) const {
        return_rows(
            values, [&](std::int64_t row) { return starts[row]; }, to,
            [&](std::int64_t row) { return starts_there[row]; });
    }

    /// Collective. Returns `width` bytes each for some of the points, `bytes` in the order of `rows`, to the ranks that
    /// passed them: take(rows there, bytes) for what each rank sends.
    template <class Take>
    void bring_back_some(std::span<const std::int32_t> rows, std::span<const std::byte> bytes, std::int64_t width,
                         const Take& take) const {
        struct Returned {
            std::vector<std::int64_t> sent_as; ///< of the points that the rank has sent
            std::vector<std::byte> bytes;
        };
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            std::vector<Returned> to_ranks(sent_.size());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto next = std::prev(std::ranges::upper_bound(senders_, rows[i], {}, &Sender::first));
                Returned& returned = to_ranks[next->rank];
                returned.sent_as.push_back(rows[i] - next->first);
                const auto row = bytes.subspan(i * width, width);
                returned.bytes.insert(returned.bytes.end(), row.begin(), row.end());
            }
            for (std::size_t rank = 0; rank < to_ranks.size(); ++rank) {
                if (const Returned& returned = to_ranks[rank]; !returned.sent_as.empty()) {
                    MessageWriter writer(messages.emplace_back(RankMessage{static_cast<int>(rank), {}}).bytes);
                    writer.put_value(std::ssize(returned.sent_as));
                    writer.put(std::span(returned.sent_as));
                    writer.put(std::span(returned.bytes));
                }
            }
        });
        const std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            for (const RankMessage& message : received) {
                MessageReader reader(message.bytes);
                std::vector<std::int64_t> sent_as;
                const auto count = reader.take<std::int64_t>();
                reader.take(count, sent_as);
                std::vector<std::int32_t> there;
                for (const std::int64_t i : sent_as) {
                    there.push_back(static_cast<std::int32_t>(sent_[message.rank][i]));
                }
                take(std::span(there), std::span(message.bytes).last(count * width));
            }
        });
    }

    /// Collective. `width` values for each moved point: value_of(row, 0), value_of(row, 1), ... of the rank that passed
    /// it.
    template <class Value, class ValueOf>
    [[nodiscard]] std::vector<Value> carry(int width, const ValueOf& value_of) const {
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            messages = messages_to(sent_, [&](MessageWriter& writer, const std::vector<std::int64_t>& rows) {
                for (const std::int64_t row : rows) {
                    for (int i = 0; i < width; ++i) {
                        writer.put_value(Value(value_of(row, i)));
                    }
                }
            });
            count_migrated(width * static_cast<std::int64_t>(sizeof(Value)));
        });
        const std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        std::vector<Value> values;
        ranks_.agreed([&] {
            for (const RankMessage& message : received) {
                const std::vector<Value> of_rank = values_of<Value>(message);
                values.insert(values.end(), of_rank.begin(), of_rank.end());
            }
        });
        return values;
    }
    /// The same for a column, in its precision.
    [[nodiscard]] MovedColumn carry(const ScalarsView& column) const {
        return with_dtype(column.dtype(), [&]<Coordinate Value>(Value) {
            return MovedColumn(carry<Value>(1, [&](std::int64_t row, int) { return column[row]; }));
        });
    }

    /// Collective. The work of each point that this rank passed; `seconds` is the time of this rank's own work.
    [[nodiscard]] std::vector<float> work(double seconds) const;

private:
    /// Counts what is sent with each point that goes to another rank.
    void count_migrated(std::int64_t bytes_each) const;
    void move(const Ownership& owners, std::span<const std::int32_t> to, const PointsView& points,
              std::span<const std::int64_t> ids);

    template <class Value, class Start, class StartThere>
    void return_rows(std::span<const Value> values, const Start& start, std::span<Value> to,
                     const StartThere& start_there) const {
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            for (const Sender& sender : senders_) {
                const std::int64_t begin = start(sender.first);
                const std::int64_t end = start(sender.first + sender.count);
                MessageWriter(messages.emplace_back(RankMessage{sender.rank, {}}).bytes)
                    .put(values.subspan(begin, end - begin));
            }
        });
        std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            for (RankMessage& message : received) {
                const std::vector<Value> of_rank = values_of<Value>(message);
                message.bytes = std::vector<std::byte>();
                auto from = of_rank.begin();
                for (const std::int64_t row : sent_[message.rank]) {
                    const std::int64_t length = start_there(row + 1) - start_there(row);
                    std::copy_n(from, length, to.begin() + start_there(row));
                    from += length;
                }
            }
        });
    }

    Ranks& ranks_;
    int dimension_;
    const PointWeights& weights_;
    double weight_ = 0;                           ///< of the points moved to this rank
    std::vector<std::vector<std::int64_t>> sent_; ///< rows, by rank
    std::vector<T> rows_;
    std::vector<std::int64_t> global_indices_;
    std::vector<std::int64_t> ids_;
    struct Sender {
        int rank;
        std::int64_t first; ///< of its points here
        std::int64_t count;
    };
    std::vector<Sender> senders_;
};

/// Collective. Points moved to this rank, ready for work.
template <Coordinate T>
struct Rebalanced {
    SharedPoints<T> given; ///< in memory of the host
    PointWeights weights;
    CurveDivision<T> division;
    MovedPoints<T> moved;
    SharedPoints<T> points; ///< with their numbers, in the order in which they arrived: by global index
    std::optional<GivenIds> ids;

    /// `before` are the points to be moved, `given_ids` their ids or none.
    Rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& before, std::span<const std::int64_t> given_ids,
               const RankOptions& options);
};

/// Collective. The points of a search moved to this rank, and its separate queries to where the points near them are.
template <Coordinate T>
class RebalancedSearch {
public:
    /// `queries` are null in a self-search.
    RebalancedSearch(Ranks& ranks, Context& context, const SharedPoints<T>& before,
                     std::span<const std::int64_t> given_ids, const PointsView* queries, const RankOptions& options)
        : sources(ranks, context, before, given_ids, options) {
        if (queries != nullptr) {
            HeldPoints given;
            ranks.agreed([&] { given = before.there->on_host(*queries); });
            queries_.emplace(
                ranks, context, [&](std::int64_t first) { return sources.division.ranks_of(given.view, first); },
                given.view, std::span<const std::int64_t>(), alike_);
            view_ = queries_->view();
        }
    }

    /// Moved queries, or the points themselves in a self-search.
    [[nodiscard]] const MovedPoints<T>& receivers() const { return queries_ ? *queries_ : sources.moved; }
    /// The moved queries; null in a self-search.
    [[nodiscard]] const PointsView* queries() const { return queries_ ? &view_ : nullptr; }

    Rebalanced<T> sources;

private:
    PointWeights alike_;
    std::optional<MovedPoints<T>> queries_;
    PointsView view_;
};

double seconds_of(const StageReports& stages);

} // namespace kith::detail
