#include "cli/halo_outputs.hpp"

#include "cli/fof_outputs.hpp"
#include "cli/interrupt.hpp"

#include <kith/halo_file.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <numeric>

namespace kith::cli {

namespace {

/// Circles of 200c, or of the first of the spheres; without any, of half the bound mass.
MapMarks marks_of_halos(const HaloArguments& arguments, const HaloRun& run) {
    const Halos& halos = run.halos;
    const std::vector<Overdensity>& spheres = halos.options.overdensities;
    const auto of_circles = std::find(spheres.begin(), spheres.end(), overdensities::critical_200);
    const std::int64_t sphere = of_circles == spheres.end() ? 0 : of_circles - spheres.begin();
    std::vector<std::int64_t> by_count(halos.halos);
    std::iota(by_count.begin(), by_count.end(), std::int64_t{0});
    std::stable_sort(by_count.begin(), by_count.end(),
                     [&](std::int64_t a, std::int64_t b) { return halos.count[a] > halos.count[b]; });
    std::erase_if(by_count, [&](std::int64_t halo) { return !run.shows(arguments, halos.center[3 * halo + 2]); });
    const std::int64_t shown = std::ssize(by_count);
    by_count.resize(std::min(shown, max_circles));
    MapMarks marks;
    for (const std::int64_t halo : by_count) {
        marks.circles.push_back({{halos.center[3 * halo], halos.center[3 * halo + 1]},
                                 spheres.empty() ? halos.half_mass_radius[halo]
                                                 : halos.sphere_radius[halo * std::ssize(spheres) + sphere]});
    }
    marks.subtitle = fmt::format("{}{} halo{} of {} or more{}, {} circled at {}",
                                 arguments.slice ? fmt::format("{} of ", format_count(shown)) : "",
                                 format_count(halos.halos), halos.halos == 1 ? "" : "s",
                                 format_count(arguments.min_members), halos.options.unbind ? " bound" : "",
                                 shown > max_circles ? fmt::format("the {} largest", max_circles) : "all",
                                 spheres.empty() ? "the half-mass radius" : "R" + io::short_name(spheres[sphere]));
    return marks;
}

} // namespace

std::string kernel_name(SofteningKernel kernel) {
    return kernel == SofteningKernel::spline ? "spline" : "plummer";
}

io::Provenance provenance_of(const HaloArguments& arguments, const HaloRun& run, const Invocation& invocation) {
    io::Provenance made_by = provenance(arguments, run, invocation);
    const HaloOptions& options = run.halos.options;
    auto& parameters = made_by.parameters;
    parameters["unbind"] = options.unbind ? "yes" : "no";
    parameters["overdensities"] = fmt::format("{}", fmt::join(names_of(options.overdensities), ","));
    parameters["crossing"] = options.outermost ? "outermost" : "first";
    parameters["spheres_of"] = options.bound_only ? "bound members" : "all particles";
    parameters["softening"] = fmt::format("{}", options.softening->length);
    parameters["softening_kernel"] = kernel_name(options.softening->kernel);
    parameters["least_radius"] = fmt::format("{}", options.least_radius.value_or(0));
    for (const auto& [name, number] : run.gravity.numbers()) {
        if (number) {
            parameters[name] = fmt::format("{}", *number);
        }
    }
    return made_by;
}

void plan_files(const HaloArguments& arguments, OutputFiles& outputs) {
    outputs.plan("-o", arguments.output, {".hdf5", ".h5"});
    outputs.plan("--table", arguments.table, {".csv", ".ecsv"});
    outputs.plan("--map", arguments.map, {".png"});
    outputs.plan("--sorted-snapshot", arguments.sorted_snapshot, {".hdf5", ".h5", ".std", ".tipsy"});
}

void write_files(const HaloArguments& arguments, HaloRun& run, const io::Provenance& made_by, RankFunnel& funnel) {
    if (!arguments.map.empty()) {
        run.clock.time("map", [&] { write_map(arguments, run, marks_of_halos(arguments, run), made_by); });
        stop_if_interrupted();
    }
    run.bar.announce("writing");
    run.clock.time("write", [&] {
        const std::string beside = std::filesystem::path(arguments.sorted_snapshot).filename().string();
        const io::HaloFileOptions options{beside, run.gravity.is_known};
        io::stream_halos_hdf5(run.outputs.staged(arguments.output), run.halos, run.catalog,
                              {run.has_ids, funnel.blocks()}, run.described(), made_by, options);
        if (!arguments.table.empty()) {
            io::write_halos_table(run.outputs.staged(arguments.table), table_format(arguments), run.halos, run.catalog,
                                  run.described(), made_by, options);
        }
    });
}

} // namespace kith::cli
