#include "cli/fof_report.hpp"

#include "cli/linking.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

namespace {

void print_linking(const FofArguments& arguments, const FofRun& run) {
    if (arguments.sample) {
        print_line("sample", fmt::format("drawn at random, seed {}; lengths in mean separations are in those of this "
                                         "sample",
                                         arguments.seed));
    }
    std::string linking = linking_length_of(run);
    if (arguments.linking_length.is_relative()) {
        linking += " = " + (run.separation ? fmt::format("{} of {:.8g}, the mean separation in the universe",
                                                         arguments.linking_length.value(), *run.separation)
                                           : describe_relative(fmt::format("{}", arguments.linking_length.value()),
                                                               run.groups.volume, run.groups.volume_kind));
        linking += arguments.min_overdensity ? fmt::format("; overdensity {}", *arguments.min_overdensity) : "";
        linking += arguments.omega_sim != 1 ? fmt::format(", omega_sim {}", arguments.omega_sim) : "";
    }
    print_line("linking", linking);
    if (arguments.psi) {
        print_line("", compared_velocities(arguments, run).text());
    }
}

} // namespace

Json json_of(const FofArguments& arguments, const FofRun& run) {
    Json json;
    const bool relative = arguments.linking_length.is_relative();
    json["n"] = run.rows_in_all();
    json["linking_length"] = run.groups.linking_length;
    json["b"] = relative ? Json(arguments.linking_length.value()) : Json(nullptr);
    json["volume"] = relative && !run.separation ? Json(run.groups.volume) : Json(nullptr);
    json["mean_separation"] = run.separation ? Json(*run.separation) : Json(nullptr);
    json["volume_kind"] = name_of(run.groups.volume_kind);
    json["min_overdensity"] = arguments.min_overdensity ? Json(*arguments.min_overdensity) : Json(nullptr);
    json["omega_sim"] = arguments.min_overdensity ? Json(arguments.omega_sim) : Json(nullptr);
    json["sample"] = arguments.sample ? Json(run.rows_in_all()) : Json(nullptr);
    json["seed"] = arguments.sample ? Json(arguments.seed) : Json(nullptr);
    for (const char* const name : {"psi", "psi_sigma", "velocity_scale"}) {
        json[name] = nullptr;
    }
    if (arguments.psi) {
        compared_velocities(arguments, run).add_to(json);
    }
    json["min_members"] = arguments.min_members;
    json["groups"] = run.listed(arguments);
    json["groups_with_singles"] = run.is_secondary.empty() ? Json(run.groups.sizes.size()) : Json(nullptr);
    json["grouped"] = run.grouped(arguments);
    json["largest"] = largest_of(run.groups.sizes);
    json["in_slice"] = arguments.slice ? Json(run.in_slice) : Json(nullptr);
    json["engine"] = arguments.by_spanning_tree ? spanning_tree_engine : name_of(run.groups.engine);
    json["device"] = name_of(arguments.common.device);
    return json;
}

void print_groups(const FofArguments& arguments, const FofRun& run) {
    print_linking(arguments, run);
    if (!run.snapshot.masses && !run.snapshot.uniform_mass) {
        print_line("masses", "none given: every particle counts 1");
    }
    const bool has_singles = run.is_secondary.empty(); // secondaries join groups that are listed, and no smaller ones
    print_line("groups",
               fmt::format("{} of {} or more members ({} of the points){}", format_count(run.catalog.groups),
                           format_count(arguments.min_members), format_count(run.grouped(arguments)),
                           has_singles ? fmt::format("; {} with singles", format_count(run.groups.sizes.size())) : ""));
    const std::vector<std::int64_t> largest = largest_of(run.groups.sizes);
    if (run.catalog.groups == 0 && !largest.empty()) {
        print_line("", fmt::format("the largest has {} member{}, so the catalog is empty; a smaller --min-members or "
                                   "a longer linking length would fill it",
                                   format_count(largest.front()), largest.front() == 1 ? "" : "s"));
    }
    if (run.catalog.groups == 0 && !has_singles && run.rows_in_all() > 0) {
        print_line("",
                   fmt::format("no group has {} linked members, so the catalog is empty; a smaller --min-members or "
                               "a longer linking length would fill it",
                               format_count(arguments.min_members)));
    }
    if (!largest.empty()) {
        print_line("largest", fmt::format("{}", fmt::join(largest, ", ")));
    }
}

} // namespace kith::cli
