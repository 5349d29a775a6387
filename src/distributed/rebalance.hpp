// Redistribution of points, so that each rank has about the same work and points near each other.
//
// The z-order of all points is cut into parts of equal weight (point_weights.hpp, key_cuts.hpp); the global index breaks
// ties between coincident points. A moved point keeps its number
// (point_numbers.hpp), so the answers do not change. Answers return to the rank that passed the point, and so does its
// work: the seconds of the rank that worked on it, divided among its points by weight. Passed as the next call's
// weights, they rescale each rank's part to its measured time and preserve the relative weights within it. Separate
// queries move to the rank with the points near them, so their number per rank is not balanced. Cost: every coordinate
// is sent once. Source: the jz-tree paper, section II-A, which cuts the same curve by a sample.
#pragma once

#include "distributed/given_ids.hpp"
#include "distributed/key_cuts.hpp"
#include "distributed/point_weights.hpp"
#include "distributed/shared_frame.hpp"
#include "points/coordinates.hpp"
#include "support/context.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

/// Where the z-order of points is cut.
template <Coordinate T>
class CurveDivision {
public:
    /// Collective. Of the points of all ranks.
    CurveDivision(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PointWeights& weights);
    /// The rank of a point or query with finite coordinates.
    [[nodiscard]] int rank_of(const Coordinates<T>& points, std::int64_t row, std::int64_t global_index) const;

private:
    /// A position on the z-order, with 63 / d bits an axis, then the global index.
    [[nodiscard]] KeyNumber key(const Coordinates<T>& points, std::int64_t row, std::int64_t global_index) const;

    const Frame<T>& frame_;
    std::array<T, max_dimension> lower_;
    std::array<T, max_dimension> upper_;
    std::vector<KeyNumber> cuts_;
};

/// Throws too_large if a rank receives more points or queries than its rows can number.
void require_rows(std::int64_t rows);

/// Points or queries moved to this rank, and the way back.
template <Coordinate T>
class MovedPoints {
public:
    /// Collective. `ids` are those of the points, or empty.
    MovedPoints(Ranks& ranks, Context& context, const CurveDivision<T>& division, const PointsView& points,
                std::span<const std::int64_t> ids, const PointWeights& weights);

    [[nodiscard]] PointsView view() const { return {rows_, dimension_}; }
    [[nodiscard]] std::span<const std::int64_t> global_indices() const { return global_indices_; }
    /// The given ids, or else global indices.
    [[nodiscard]] std::span<const std::int64_t> ids() const { return ids_.empty() ? global_indices_ : ids_; }

    /// Collective. In the frame of `before`.
    [[nodiscard]] SharedPoints<T> shared(Context& context, const SharedPoints<T>& before) const;

    /// Collective. Returns `width` values per point to the rank that passed it.
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

    /// Collective. The work of each point that this rank passed; `seconds` is the time of this rank's own work.
    [[nodiscard]] std::vector<float> work(double seconds) const;

private:
    Ranks& ranks_;
    int dimension_;
    const PointWeights& weights_;
    double weight_ = 0;                           ///< of the points moved to this rank
    std::vector<std::vector<std::int64_t>> sent_; ///< rows, by rank
    std::vector<T> rows_;
    std::vector<std::int64_t> global_indices_;
    std::vector<std::int64_t> ids_;
    std::vector<std::pair<int, std::int64_t>> senders_; ///< ranks and numbers of points
};

/// Collective. Points moved to this rank, ready for work.
template <Coordinate T>
struct Rebalanced {
    PointWeights weights;
    CurveDivision<T> division;
    MovedPoints<T> moved;
    SharedPoints<T> points; ///< by ascending number
    std::optional<GivenIds> ids;

    /// `points` are those to be moved, `ids` their ids or none.
    Rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& before, std::span<const std::int64_t> given_ids,
               const ScalarsView& given_weights);
};

double seconds_of(const StageReports& stages);

} // namespace kith::detail
