// Pair counts. NumPy arrays view them in the core's memory and keep it alive.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/pair_counts.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::python {

namespace {

std::optional<std::span<const double>> weights_of(const std::optional<InputArray>& weights, const char* what) {
    if (!weights) {
        return std::nullopt;
    }
    return numbers_of<const double>(*weights, Device{}, what, "float64");
}

/// Counts, weighted sums or None, mean separations or None, vanished weights, edges of both axes, the axis of the line of sight, the name of the
/// engine.
nb::object count_pairs(const Call& call, const std::optional<InputArray>& other, const InputArray& edges,
                       const std::string& binning, const InputArray& second_edges, int line_of_sight,
                       const std::optional<InputArray>& weights, const std::optional<InputArray>& other_weights,
                       bool separations) {
    constexpr std::int64_t steps = 64; // about, for each point
    const PointsOrTree points = call.points();
    const std::optional<PointsView> others = queries_of(other);
    const std::span<const double> first = numbers_of<const double>(edges, Device{}, "edges", "float64");
    const PairCountOptions bins{
        .binning = static_cast<PairBinning>(position_of(binning, "binning", pair_binning_names)),
        .second_edges = numbers_of<const double>(second_edges, Device{}, "second edges", "float64"),
        .line_of_sight = line_of_sight,
        .weights = weights_of(weights, "weights"),
        .other_weights = weights_of(other_weights, "other_weights"),
        .separations = separations};
    auto* const found = new PairCounts(answer(
        call, steps * (points.count() + (others ? others->count() : 0)), bins, [&](const PairCountOptions& options) {
            return others ? pair_counts(points, *others, first, options) : pair_counts(points, first, options);
        }));
    const nb::capsule owner = owner_of(found);
    const auto numbers_or_none = [&](bool are_there, const std::vector<double>& numbers) {
        return are_there ? array_of(std::span<const double>(numbers), owner) : nb::none();
    };
    return nb::make_tuple(
        array_of(std::span<const std::int64_t>(found->counts), owner),
        numbers_or_none(weights || other_weights, found->weighted), numbers_or_none(separations, found->separations),
        found->vanished_weights, array_of(std::span<const double>(found->edges), owner),
        array_of(std::span<const double>(found->second_edges), owner), found->line_of_sight, name_of(found->engine));
}

} // namespace

void bind_pairs(nb::module_& module) {
    module.def("count_pairs", count_pairs, nb::arg("call"), nb::arg("other").none(), nb::arg("edges"),
               nb::arg("binning"), nb::arg("second_edges"), nb::arg("line_of_sight"), nb::arg("weights").none(),
               nb::arg("other_weights").none(), nb::arg("separations"));
}

} // namespace kith::python
