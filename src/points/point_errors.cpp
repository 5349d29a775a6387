// Error messages for invalid points and views.
#include <kith/device_status.hpp>
#include <kith/error.hpp>
#include <kith/points.hpp>

#include "points/frame.hpp"
#include "support/message.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace kith {

namespace detail {

// Referred to by every file that includes kith (types.hpp); their names fit the standard library of this build.
extern const char KITH_DETAIL_CONTAINERS = 0;
extern const char KITH_DETAIL_STRINGS = 0;

} // namespace detail

namespace {

std::string not_finite(const DeviceStatus& status, const char* what) {
    const double x = status.value;
    return detail::message(what, ": point ", status.point, " has ",
                           std::isnan(x) ? "NaN" : (x > 0 ? "+infinity" : "-infinity"), " as coordinate ", status.axis,
                           "; remove such points or make their coordinates finite");
}

} // namespace

std::string detail::unresolved_length(const DeviceStatus& status) {
    return message(", so small that its square underflows relative to ",
                   status.point < 0 ? "the largest coordinate or period, "
                                    : message("coordinate ", status.axis, " of point ", status.point, ", "),
                   shortest(status.limit), "; ",
                   status.point < 0 ? "give a larger one"
                                    : "remove that point if it is a placeholder, give a larger length",
                   ", or use float64 if this is float32 (docs/semantics.md, Numbers)");
}

ErrorDetails detail::unresolved_details(const DeviceStatus& status) {
    ErrorDetails details{.value = status.value, .limit = status.limit};
    if (status.point >= 0) {
        details.point = status.point;
        details.axis = status.axis;
    }
    return details;
}

std::size_t Box::checked(int axis) {
    if (axis < 0 || axis >= max_dimension) {
        throw detail::error(ErrorKind::invalid_argument, {.axis = axis}, "axis ", axis,
                            " of a box was asked for; axes are 0 to ", max_dimension - 1);
    }
    return static_cast<std::size_t>(axis);
}

int Box::checked_axes(std::size_t periods) {
    if (periods < 1 || periods > max_dimension) {
        throw detail::error(ErrorKind::invalid_argument,
                            {.value = static_cast<double>(periods), .limit = max_dimension}, "a box of ", periods,
                            " periods was asked for; give one per axis of the points, 1 to ", max_dimension,
                            ", or no box for open space");
    }
    return static_cast<int>(periods);
}

std::size_t Box::checked_origin(int axis, double origin) const {
    const std::size_t index = checked(axis);
    const ErrorDetails details{.axis = axis, .value = origin};
    if (axes_ != 0 && axis >= axes_) {
        throw detail::error(ErrorKind::invalid_argument, details, "an origin on axis ", axis, " was given to a box of ",
                            axes_, " axes, 0 to ", axes_ - 1);
    }
    if (period_[index] == 0) {
        throw detail::error(ErrorKind::invalid_argument, details, "the origin ", origin, " was given for axis ", axis,
                            " of a box, which is open (period 0); leave that origin out, or give the axis a period");
    }
    return index;
}

void detail::refuse_flat_array(std::size_t scalars, int dimension) {
    throw error(ErrorKind::invalid_argument, "a flat array of ", scalars, " numbers cannot be cut into points of ",
                dimension, " coordinates; its length must be a multiple of the dimension");
}

void detail::refuse_axes(std::span<const std::size_t> lengths) {
    std::string all;
    for (const std::size_t length : lengths) {
        all += (all.empty() ? "" : ", ") + std::to_string(length);
    }
    throw error(ErrorKind::invalid_argument, "the arrays of the axes have ", all,
                " elements; give one coordinate of every point in each");
}

void check(const DeviceStatus& status) {
    const auto refuse = [&status](ErrorKind kind, const ErrorDetails& details, const auto&... parts) {
        ErrorDetails all = details;
        all.value = status.value;
        throw detail::error(kind, all, parts...);
    };
    const ErrorDetails coordinate{.point = status.point, .axis = status.axis};
    const ErrorDetails of_axis{.axis = status.axis, .limit = status.limit};
    switch (status.refusal) {
    case PointError::none:
        return;
    case PointError::points_not_finite:
        return refuse(ErrorKind::invalid_points, coordinate, not_finite(status, "points"));
    case PointError::queries_not_finite:
        return refuse(ErrorKind::invalid_points, coordinate, not_finite(status, "queries"));
    case PointError::velocities_not_finite:
        return refuse(ErrorKind::invalid_points, coordinate, not_finite(status, "velocities"));
    case PointError::points_too_wide:
        return refuse(ErrorKind::invalid_points, of_axis, "the points extend over ", status.value, " on axis ",
                      status.axis, ", more than twice the period ", status.limit,
                      "; give the period in the points' unit, or no box");
    case PointError::origin_too_far:
        return refuse(ErrorKind::invalid_argument, of_axis, "the box starts at ", status.value, " on axis ",
                      status.axis, ", where the points' type cannot express a period of ", status.limit,
                      "; use float64 or an origin nearer to zero");
    case PointError::queries_too_far:
        return refuse(ErrorKind::invalid_points, coordinate, "queries: point ", status.point, " has ", status.value,
                      " as coordinate ", status.axis,
                      ", so far from the points that its squared distances cannot be represented "
                      "(docs/semantics.md, Numbers); remove it, or use float64 if this is float32");
    case PointError::no_volume:
        throw Error(ErrorKind::invalid_argument,
                    "the volume for a relative linking length is zero: all points have the same coordinate on "
                    "an open axis; give an absolute linking length");
    case PointError::length_too_large:
        return refuse(ErrorKind::invalid_argument, {.limit = status.limit}, "the linking length comes to ",
                      status.value, ", more than ",
                      status.limit <= std::numeric_limits<float>::max() ? "float32" : "float64",
                      " points can be apart; give a smaller one");
    case PointError::length_unresolved:
        return refuse(ErrorKind::invalid_argument, detail::unresolved_details(status), "the linking length is ",
                      status.value, detail::unresolved_length(status));
    }
    throw detail::error(ErrorKind::invalid_argument, "the status is ", static_cast<int>(status.refusal),
                        ", which no call writes; check it when the stream has done the call's work");
}

} // namespace kith
