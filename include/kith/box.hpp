// Periodic boxes: one period per axis; 0 leaves the axis open.
#pragma once

#include <kith/types.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>

namespace kith {

/// Period and origin of each axis, in the units of the points. A period of 0 leaves the axis open. Distances on a
/// periodic axis are to the nearest image. Points outside [origin, origin + period] are wrapped into it. The default
/// origin of an axis of period L is 0 if all points lie in [0, L], else -L/2 if they lie in [-L/2, L/2], else their
/// smallest coordinate if their extent is at most L, else 0.
class Box {
public:
    /// Open on every axis, in any dimension.
    Box() = default;

    /// The same period on every axis, in any dimension.
    static Box periodic(double period) {
        Box box;
        box.period_.fill(period);
        return box;
    }

    /// One period per axis, for points of that dimension only. Throws Error: invalid_argument unless there are 1 to
    /// max_dimension periods.
    static Box periodic(std::span<const double> periods) {
        Box box;
        box.axes_ = checked_axes(periods.size());
        for (std::size_t axis = 0; axis < periods.size() && axis < box.period_.size(); ++axis) {
            box.period_[axis] = periods[axis];
        }
        return box;
    }
    static Box periodic(std::initializer_list<double> periods) {
        return periodic(std::span<const double>(periods.begin(), periods.size()));
    }

    /// The same box with another origin (lower edge) on one axis. This and the next two throw Error: invalid_argument
    /// unless axis is in [0, max_dimension); this one also if the axis is open, or the box has fewer axes. A box
    /// without a number of axes is refused by calls whose points lack an axis with an origin, unless all max_dimension
    /// axes have one.
    [[nodiscard]] Box with_origin(int axis, double origin) const {
        Box box = *this;
        box.origin_[checked_origin(axis, origin)] = origin;
        return box;
    }
    [[nodiscard]] double period(int axis) const { return period_[checked(axis)]; }
    [[nodiscard]] std::optional<double> origin(int axis) const { return origin_[checked(axis)]; }

    /// Number of axes of the box; 0 fits any dimension.
    [[nodiscard]] int axes() const noexcept { return axes_; }
    [[nodiscard]] bool is_open() const noexcept { return period_ == std::array<double, max_dimension>{}; }
    friend bool operator==(const Box&, const Box&) = default;

private:
    static std::size_t checked(int axis);
    static int checked_axes(std::size_t periods);
    [[nodiscard]] std::size_t checked_origin(int axis, double origin) const;

    std::array<double, max_dimension> period_{};
    std::array<std::optional<double>, max_dimension> origin_{};
    int axes_ = 0;
};

} // namespace kith
