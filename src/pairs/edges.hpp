// Edges of bins: what is refused, and what they are as limits of squares.
#pragma once

#include <kith/error.hpp>
#include <kith/pair_counts.hpp>

#include "pairs/pair_job.hpp"
#include "pairs/separations.hpp"
#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "support/message.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace kith::detail {

/// Throws invalid_argument unless these are two or more numbers, 0 or more, that do not descend. `what` names them.
inline void check_edges(std::span<const double> edges, const char* what, double largest) {
    if (edges.size() < 2) {
        throw error(ErrorKind::invalid_argument, what, " holds ", edges.size(),
                    edges.size() == 1 ? " number" : " numbers", "; bins need two edges or more");
    }
    for (std::size_t k = 0; k < edges.size(); ++k) {
        if (!(edges[k] >= 0) || edges[k] > largest) {
            throw error(ErrorKind::invalid_argument, of_value(edges[k]), what, "[", k, "] is ", edges[k],
                        "; it must be 0 or more, ",
                        std::isinf(largest) ? std::string("or infinity") : message("and ", largest, " at most"));
        }
        if (k > 0 && edges[k] < edges[k - 1]) {
            throw error(ErrorKind::invalid_argument, of_value(edges[k]), what, "[", k, "] is ", edges[k],
                        ", less than the one before, ", edges[k - 1], "; edges must not descend");
        }
    }
}

/// Of pairs, of points of this dimension, without their coordinates.
inline void check_bins(std::span<const double> edges, const PairCountOptions& options, int dimension) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (static_cast<std::size_t>(options.binning) >= pair_binning_names.size()) {
        throw error(ErrorKind::invalid_argument,
                    "binning is no value of PairBinning: ", static_cast<int>(options.binning));
    }
    check_edges(edges, "edges", infinity);
    if (options.binning == PairBinning::separation) {
        if (!options.second_edges.empty()) {
            throw Error(ErrorKind::invalid_argument,
                        "second_edges are those of pi or mu, but pairs are binned by r; leave "
                        "them out, or choose the binning rp_pi or s_mu");
        }
        if (options.line_of_sight != -1) {
            throw Error(ErrorKind::invalid_argument,
                        "line_of_sight is for pairs that are binned by (rp, pi) or (s, mu), not "
                        "by r; leave it out");
        }
        return;
    }
    options.binning == PairBinning::rp_pi ? check_edges(options.second_edges, "pi_edges", infinity)
                                          : check_edges(options.second_edges, "mu_edges", 1);
    if (options.line_of_sight < -1 || options.line_of_sight >= dimension) {
        throw error(ErrorKind::invalid_argument, of_value(options.line_of_sight), "line_of_sight is ",
                    options.line_of_sight, "; it must be an axis, 0 to ", dimension - 1, ", or -1 for the last one");
    }
}

/// Throws invalid_argument for mean separations in bins that have no end in the type of the points.
inline void check_separations(std::span<const double> edges, const PairCountOptions& options, DType dtype) {
    const double last = edges.back();
    const bool is_rounded = dtype == DType::float32 && std::isinf(static_cast<float>(last));
    if (options.separations && (std::isinf(last) || is_rounded)) {
        throw error(ErrorKind::invalid_argument, of_value(last), "edges[", edges.size() - 1, "] is ", last,
                    std::isinf(last) ? "" : ", infinite in float32",
                    "; mean separations need a finite last edge: give a length that no distance exceeds, or leave "
                    "separations out");
    }
}

/// Throws if the square of a length above 0 underflows relative to largest().
template <Coordinate T, class Largest>
void require_resolved_edges(std::span<const double> edges, const char* what, const Frame<T>& frame,
                            const Largest& largest) {
    for (std::size_t k = 0; k < edges.size(); ++k) {
        if (frame.is_unresolved(edges[k])) {
            const DeviceStatus status = unresolved_beside(largest(), edges[k]);
            throw error(ErrorKind::invalid_argument, unresolved_details(status), what, "[", k, "] is ", edges[k],
                        unresolved_length(status));
        }
    }
}

/// The same of all edges that are lengths.
template <Coordinate T, class Largest>
void require_resolved_edges(std::span<const double> edges, const PairCountOptions& options, const Frame<T>& frame,
                            const Largest& largest) {
    require_resolved_edges(edges, "edges", frame, largest);
    if (options.binning == PairBinning::rp_pi) {
        require_resolved_edges(options.second_edges, "pi_edges", frame, largest);
    }
}

/// Checked edges as limits in working units.
template <Coordinate T>
PairLimits<T> pair_limits(std::span<const double> edges, const PairCountOptions& options, const Frame<T>& frame) {
    PairLimits<T> limits;
    limits.binning = options.binning;
    const int line_of_sight = options.line_of_sight >= 0 ? options.line_of_sight : frame.dimension - 1;
    int others = 0;
    for (int axis = 0; axis < frame.dimension; ++axis) {
        if (axis != line_of_sight) {
            limits.axes[others++] = axis;
        }
    }
    limits.axes[frame.dimension - 1] = line_of_sight;
    for (const double edge : edges) {
        limits.first.push_back(frame.squared_radius(edge));
    }
    for (const double edge : options.second_edges) {
        const T rounded = static_cast<T>(edge);
        limits.second.push_back(options.binning == PairBinning::s_mu ? rounded * rounded : frame.squared_radius(edge));
    }
    if (options.separations) {
        limits.separation_scale = separation_scale(static_cast<T>(edges.back()), frame.exponent);
    }
    limits.first_count = std::ssize(limits.first);
    limits.second_count = std::ssize(limits.second);
    limits.first.resize(limits.first.size() + PairLimits<T>::padding, std::numeric_limits<T>::quiet_NaN());
    limits.second.resize(limits.second.size() + PairLimits<T>::padding, std::numeric_limits<T>::quiet_NaN());
    return limits;
}

/// Edges rounded to T.
template <Coordinate T>
std::vector<double> rounded_edges(std::span<const double> edges) {
    std::vector<double> rounded;
    for (const double edge : edges) {
        rounded.push_back(static_cast<double>(static_cast<T>(edge)));
    }
    return rounded;
}

/// From slots to bins of both axes: the first bin of an axis whose lowest edge is 0 also holds what is at 0.
template <class Sum>
std::vector<Sum> bins_of(const std::vector<Sum>& slots, std::span<const double> edges, std::span<const double> second) {
    const std::size_t second_slots = std::max<std::size_t>(1, second.size());
    const std::size_t columns = second.empty() ? 1 : second.size() - 1;
    std::vector<Sum> bins((edges.size() - 1) * columns);
    for (std::size_t row = edges[0] == 0 ? 0 : 1; row < edges.size(); ++row) {
        for (std::size_t column = second.empty() || second[0] == 0 ? 0 : 1; column < second_slots; ++column) {
            const std::size_t bin_row = row > 0 ? row - 1 : 0;
            const std::size_t bin_column = column > 0 ? column - 1 : 0;
            bins[bin_row * columns + bin_column] += slots[row * second_slots + column];
        }
    }
    return bins;
}

} // namespace kith::detail
