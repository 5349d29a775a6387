// The periodic box of a call: --box, or what the file states.
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/split_text.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace kith::cli {

BoxChoice parse_box(std::string_view text) {
    if (text == "auto") {
        return {};
    }
    if (text == "none") {
        return {BoxChoice::Kind::open, {}};
    }
    BoxChoice choice{BoxChoice::Kind::periods, {}};
    for (const std::string_view part : split_at(text, ',')) {
        double period = 0;
        if (!parse_all(part, period) || !std::isfinite(period) || period < 0) {
            throw UsageError(
                fmt::format("--box is '{}'; give auto, none, one period for all axes (--box 1), or one per "
                            "axis separated by commas (--box 1,1,2; 0 leaves an axis open)",
                            text));
        }
        choice.periods.push_back(period);
    }
    if (choice.periods.size() > static_cast<std::size_t>(max_dimension)) {
        throw UsageError(
            fmt::format("--box has {} periods; points have at most {} axes", choice.periods.size(), max_dimension));
    }
    return choice;
}

ResolvedBox resolve_box(const BoxChoice& choice, const io::SnapshotHeader& header) {
    if (choice.kind == BoxChoice::Kind::open) {
        return {{}, "--box none"};
    }
    if (choice.kind == BoxChoice::Kind::periods) {
        if (choice.periods.size() == 1) {
            return {Box::periodic(choice.periods.front()), "--box"};
        }
        if (static_cast<int>(choice.periods.size()) != header.dimension) {
            throw UsageError(fmt::format("--box has {} periods, but the points have {} axes; give one period for all "
                                         "axes, or {} separated by commas",
                                         choice.periods.size(), header.dimension, header.dimension));
        }
        return {Box::periodic(choice.periods), "--box"};
    }
    if (!header.invalid_box.empty()) {
        throw Error(ErrorKind::file, header.invalid_box + "; give the box with --box, or --box none for open space");
    }
    const bool known = header.box_size &&
                       std::any_of(header.box_size->begin(), header.box_size->end(), [](double l) { return l > 0; });
    if (!known) {
        return {{}, "the file states no period; if it is periodic, give --box"};
    }
    return {Box::periodic(std::span<const double>(header.box_size->data(), static_cast<std::size_t>(header.dimension))),
            "from the file"};
}

namespace {

/// Both boxes, if periods contradict those of the file. Digits that float32 would drop do not count, and a 0 on either
/// side is no period.
struct Contradiction {
    std::string given;
    std::string stated;
};

std::optional<Contradiction> contradiction(const Box& given, const io::SnapshotHeader& header) {
    constexpr double tolerance = 1e-6;
    if (!header.box_size || header.dimension > 3) {
        return std::nullopt;
    }
    const std::span stated(header.box_size->data(), static_cast<std::size_t>(header.dimension));
    for (int axis = 0; axis < header.dimension; ++axis) {
        const double ours = given.period(axis);
        const double files = stated[axis];
        if (ours > 0 && files > 0 && std::abs(ours - files) > tolerance * std::max(ours, files)) {
            return Contradiction{describe(given, header.dimension), describe(Box::periodic(stated), header.dimension)};
        }
    }
    return std::nullopt;
}

double extent_of(const io::RealArray& positions, int axis) {
    return std::visit(
        [&](const auto& values) {
            const auto step = static_cast<std::size_t>(positions.columns);
            auto low = values[axis];
            auto high = low;
            for (auto i = static_cast<std::size_t>(axis); i < values.size(); i += step) {
                low = std::min(low, values[i]);
                high = std::max(high, values[i]);
            }
            return static_cast<double>(high) - static_cast<double>(low);
        },
        positions.values);
}

std::string wrapped_points(const Box& given, const io::RealArray& positions) {
    constexpr double ordinary = 1.1; // periods that the particles of a box extend over when they are not wrapped
    for (int axis = 0; positions.rows() > 0 && axis < positions.columns; ++axis) {
        const double period = given.period(axis);
        const double extent = period > 0 ? extent_of(positions, axis) : 0;
        if (extent > ordinary * period) {
            return fmt::format("the points extend over {:.6g} on axis {}, but --box is {} there: those outside are "
                               "wrapped into it. Is --box in other units than the points (Mpc, Mpc/h)?",
                               extent, axis, period);
        }
    }
    return "";
}

} // namespace

void add_box_warnings(std::vector<std::string>& warnings, const BoxChoice& choice, const io::Snapshot& snapshot) {
    if (choice.kind != BoxChoice::Kind::periods) {
        return;
    }
    const Box given = resolve_box(choice, snapshot.header).box;
    std::string warning;
    if (const auto boxes = contradiction(given, snapshot.header)) {
        warning = fmt::format("--box is {}, but the file states a box of {}; --box is taken. Is it in other units than "
                              "the points (Mpc, Mpc/h)? Without --box the file's box is taken",
                              boxes->given, boxes->stated);
    } else {
        warning = wrapped_points(given, snapshot.positions);
    }
    if (!warning.empty()) {
        warnings.push_back(std::move(warning));
    }
}

void add_query_box_warning(std::vector<std::string>& warnings, const ResolvedBox& box, const std::string& path,
                           const io::SnapshotHeader& header) {
    if (const auto boxes = contradiction(box.box, header)) {
        warnings.push_back(
            fmt::format("the box is {} ({}), but '{}' states a box of {}; its points are wrapped into the "
                        "first one. Are both files in the same units (Mpc, Mpc/h)?",
                        boxes->given, box.origin, path, boxes->stated));
    } else if (box.box.is_open() && box.origin != "--box none" && header.box_size) {
        const std::span stated(header.box_size->data(), static_cast<std::size_t>(header.dimension));
        if (std::ranges::any_of(stated, [](double period) { return period > 0; })) {
            warnings.push_back(fmt::format("'{}' states a box of {}, which is not used, since the points of the first "
                                           "file have none; for distances in it give --box, for open space --box none",
                                           path, describe(Box::periodic(stated), header.dimension)));
        }
    }
}

std::string describe(const Box& box, int dimension, DType dtype) {
    if (box.is_open()) {
        return "open";
    }
    std::string text;
    for (int axis = 0; axis < dimension; ++axis) {
        text += axis == 0 ? "" : " x ";
        text += box.period(axis) == 0 ? "open" : format_length(box.period(axis), dtype);
    }
    return text;
}

std::string describe(const Box& box, const io::RealArray& points) {
    return describe(box, points.columns, points.dtype());
}

} // namespace kith::cli
