#include "cli/fof_report.hpp"

#include "cli/linking.hpp"
#include "cli/peculiar_velocities.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

namespace {

/// JSON has no infinity, so that is a text, which readers of numbers take, too.
Json json_of_length(double length) {
    return std::isinf(length) ? Json("inf") : Json(length);
}

void print_linking(const FofArguments& arguments, const FofRun& run) {
    if (arguments.sample) {
        print_line("sample", fmt::format("drawn at random, seed {}; lengths in mean separations are in those of this "
                                         "sample",
                                         arguments.seed));
    }
    std::string linking = linking_length_of(run);
    if (arguments.linking_length.is_relative()) {
        linking += " = " + describe_relative(fmt::format("{}", arguments.linking_length.value()), run.groups.volume,
                                             run.groups.volume_kind);
        linking += arguments.min_overdensity ? fmt::format("; overdensity {}", *arguments.min_overdensity) : "";
    }
    print_line("linking", linking);
    if (arguments.psi) {
        const bool is_relative = arguments.psi->is_relative();
        print_line(
            "", fmt::format("psi = {:.6g}{}, of {}; {}", psi_of(arguments, run),
                            is_relative ? fmt::format(" = {} dispersions", arguments.psi->value()) : "",
                            kind_of_velocities(run.overview().header.frame.has_value()),
                            run.groups.velocity_scale > 0
                                ? fmt::format("stored velocities are multiplied by {:.6g} to be compared with lengths",
                                              run.groups.velocity_scale)
                                : "velocities make no difference"));
    }
}

} // namespace

Json json_of(const FofArguments& arguments, const FofRun& run) {
    Json json;
    const bool relative = arguments.linking_length.is_relative();
    json["n"] = run.rows_in_all();
    json["linking_length"] = run.groups.linking_length;
    json["b"] = relative ? Json(arguments.linking_length.value()) : Json(nullptr);
    json["volume"] = relative ? Json(run.groups.volume) : Json(nullptr);
    json["volume_kind"] = name_of(run.groups.volume_kind);
    json["min_overdensity"] = arguments.min_overdensity ? Json(*arguments.min_overdensity) : Json(nullptr);
    json["sample"] = arguments.sample ? Json(run.rows_in_all()) : Json(nullptr);
    json["seed"] = arguments.sample ? Json(arguments.seed) : Json(nullptr);
    json["psi"] = arguments.psi ? json_of_length(psi_of(arguments, run)) : Json(nullptr);
    json["psi_sigma"] = arguments.psi && arguments.psi->is_relative() ? Json(arguments.psi->value()) : Json(nullptr);
    json["velocity_scale"] = arguments.psi ? Json(run.groups.velocity_scale) : Json(nullptr);
    json["min_members"] = arguments.min_members;
    json["groups"] = run.listed(arguments);
    json["groups_with_singles"] = run.groups.sizes.size();
    json["grouped"] = run.grouped(arguments);
    json["largest"] = largest_of(run.groups.sizes);
    json["engine"] = arguments.by_spanning_tree ? spanning_tree_engine : name_of(run.groups.engine);
    json["device"] = name_of(arguments.common.device);
    return json;
}

void print_groups(const FofArguments& arguments, const FofRun& run) {
    print_linking(arguments, run);
    if (!run.snapshot.masses && !run.snapshot.uniform_mass) {
        print_line("masses", "none given: every particle counts 1");
    }
    print_line("groups", fmt::format("{} of {} or more members ({} of the points); {} with singles",
                                     format_count(run.catalog.groups), format_count(arguments.min_members),
                                     format_count(run.grouped(arguments)), format_count(run.groups.sizes.size())));
    const std::vector<std::int64_t> largest = largest_of(run.groups.sizes);
    if (run.catalog.groups == 0 && !largest.empty()) {
        print_line("", fmt::format("the largest has {} member{}, so the catalog is empty; a smaller --min-members or "
                                   "a longer linking length would fill it",
                                   format_count(largest.front()), largest.front() == 1 ? "" : "s"));
    }
    if (!largest.empty()) {
        print_line("largest", fmt::format("{}", fmt::join(largest, ", ")));
    }
}

} // namespace kith::cli
