// What is read of the points of one part of a set, such as those of a rank, wherever they are: this class reads the
// host's, part_points_device.hpp those of a GPU, too. The algorithms of distributed/ do not know which.
//
// Of points of a GPU the host gets bounds, squared distances from boxes, and, where points do not travel between GPUs,
// the rows that other parts need. All points come to it only where coordinates are tiny or points are refused, since
// the host then tells them apart and names them, and where points are redistributed.
#pragma once

#include <kith/device_status.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>

#include "points/frame.hpp"
#include "points/phase_space.hpp"
#include "support/context.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

/// Points, and their memory unless it is the caller's.
struct HeldPoints {
    std::shared_ptr<const void> memory;
    PointsView view;
};

/// Row-major points of the host, which these are moved to.
template <Coordinate T>
HeldPoints held(std::vector<T> rows, int dimension) {
    const auto memory = std::make_shared<const std::vector<T>>(std::move(rows));
    return {memory, PointsView(*memory, dimension)};
}

inline bool is_on_host(const PointsView& points) {
    return points.device().kind == DeviceKind::cpu;
}

/// Points that are yet to be written, row-major.
template <Coordinate T>
struct UnwrittenPoints {
    T* rows = nullptr;
    HeldPoints held;
};

/// A box that reaches the points within a squared distance of it, and those at just this distance if their row is below
/// `end_row`.
template <Coordinate T>
struct ReachingBox {
    std::array<T, 2 * max_dimension> corners; ///< working coordinates: lower corner, then upper corner
    T squared;
    std::int32_t end_row;
};

/// Lists of rows, and for each list the boxes that may reach points of it.
template <Coordinate T>
struct ReachedLists {
    std::vector<ReachingBox<T>> boxes;
    std::vector<std::int32_t> rows; ///< list after list
    std::vector<std::int32_t> list_of_row;
    std::vector<std::int32_t> box_numbers;     ///< list after list
    std::vector<std::int64_t> first_number{0}; ///< where those of each list start, and how many there are
};

template <Coordinate T>
class PartPoints {
public:
    /// The context outlives this.
    explicit PartPoints(Context& context) : context_(context) {}
    PartPoints(const PartPoints&) = delete;
    PartPoints& operator=(const PartPoints&) = delete;
    virtual ~PartPoints() = default;

    /// Throws the refusal at the first point that is not finite.
    [[nodiscard]] virtual PointBounds<T> bounds(const PointsView& points, PointError refusal);
    /// Points that came from elsewhere, ready for work.
    [[nodiscard]] NormalizedPoints<T> in_frame(const PointsView& points, const Frame<T>& frame) {
        return normalize_queries(points, frame, bounds(points, PointError::points_not_finite));
    }
    /// Queries, which are checked.
    [[nodiscard]] virtual NormalizedPoints<T> queries(const PointsView& given, const Frame<T>& frame);
    /// The number of points outside a periodic axis.
    [[nodiscard]] virtual std::int64_t outside(const NormalizedPoints<T>& points);

    /// Points or velocities in memory of the host: these, or a copy.
    [[nodiscard]] virtual HeldPoints on_host(const PointsView& points);
    /// Some rows on the host, as given, row-major.
    [[nodiscard]] virtual std::vector<T> rows(const PointsView& points, std::span<const std::int32_t> which);
    /// Rows of the points, and of others, as given: which[i] is a row of the points, or -1 - row of the others.
    /// Row-major, in memory of the GPU if the points or the others are there. Work on them is complete.
    [[nodiscard]] virtual HeldPoints joined(const PointsView& points, std::span<const std::int32_t> which,
                                            const PointsView& others);

    /// Whether this works on a GPU, wherever the points are.
    [[nodiscard]] virtual bool is_on_gpu() const { return false; }
    /// Some rows for messages, as given, row-major, where the points are. Work on them is complete.
    [[nodiscard]] virtual HeldPoints rows_to_send(const PointsView& points, std::span<const std::int32_t> which);
    /// Memory for rows that messages bring, on the GPU if this works on one.
    [[nodiscard]] virtual UnwrittenPoints<T> rows_to_receive(std::int64_t count, int dimension);
    /// Copies bytes between memory of GPUs and of the host, and waits.
    virtual void copy(void* to, const void* from, std::int64_t bytes);
    /// The least squared distance of each listed row from a box that reaches it; infinity where none does. Only of
    /// points of a GPU: the host measures its own where it walks.
    [[nodiscard]] virtual std::vector<T> least_squares(const NormalizedPoints<T>& points, const ReachedLists<T>& lists);

    /// Velocities that are all finite, of as many dimensions as the points.
    [[nodiscard]] virtual FiniteVelocities velocities(const PointsView& view);
    /// As many positions and velocities as points of phase space, row-major: velocities in the units of positions. In
    /// memory of the positions' device.
    [[nodiscard]] virtual HeldPoints in_phase_space(const PointsView& positions, const PointsView& velocities,
                                                    double scale);

    /// What stages of a GPU took, so far; none of the host's, which are the context's.
    [[nodiscard]] virtual StageReports take_stages() { return {}; }
    /// Copied from a GPU so far.
    [[nodiscard]] virtual std::int64_t bytes_to_host() const { return 0; }

private:
    Context& context_;
};

/// Makes what reads points of this dimension on the GPU of a rank. The context is the host's, and outlives it.
template <Coordinate T>
using MakePartPoints = std::function<std::shared_ptr<PartPoints<T>>(Context& host, int dimension)>;

} // namespace kith::detail
