#include "cli/fof_outputs.hpp"

#include "cli/interrupt.hpp"
#include "cli/linking.hpp"
#include "cli/map.hpp"
#include "cli/usage_error.hpp"

#include <kith/catalog_file.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

namespace {

/// "comoving Mpc/h", as far as the file states its unit and that has such a name; else "".
std::string unit_of_lengths(const io::SnapshotHeader& header) {
    const io::Scaling length = header.frame ? header.frame->length : io::Scaling{};
    if (!length.to_cgs || (length.h_power != 0 && length.h_power != -1) ||
        (length.a_power != 0 && length.a_power != 1)) {
        return "";
    }
    constexpr double parsec = 3.0856775814913673e18; // cm
    constexpr double tolerance = 0.005;              // codes round it
    for (const auto& [name, parsecs] : {std::pair("pc", 1.0), {"kpc", 1e3}, {"Mpc", 1e6}, {"Gpc", 1e9}}) {
        if (std::abs(*length.to_cgs / (parsecs * parsec) - 1) < tolerance) {
            const bool is_comoving = length.a_power == 1 && header.frame->scale_factor != 1;
            return fmt::format("{}{}{}", is_comoving ? "comoving " : "", name, length.h_power == 0 ? "" : "/h");
        }
    }
    return "";
}

MapMarks marks_of_groups(const FofArguments& arguments, const FofRun& run) {
    const Catalog& catalog = run.catalog;
    const std::int64_t groups = catalog.groups;
    MapMarks marks;
    std::int64_t shown = 0;
    for (std::int64_t group = 0; group < groups; ++group) {
        const double* const center = &catalog.center[group * catalog.dimension];
        if (arguments.slice && !run.shows(arguments, center[2])) {
            continue;
        }
        if (shown++ < max_circles) {
            marks.circles.push_back({{center[0], center[1]}, catalog.max_radius[group]});
        }
    }
    marks.subtitle =
        fmt::format("{}{} group{} of {} or more", arguments.slice ? fmt::format("{} of ", format_count(shown)) : "",
                    format_count(groups), groups == 1 ? "" : "s", format_count(arguments.min_members));
    if (shown > max_circles) {
        marks.subtitle += fmt::format(", the {} largest circled", max_circles);
    }
    return marks;
}

} // namespace

io::TableFormat table_format(const FofArguments& arguments) {
    return std::filesystem::path(arguments.table).extension() == ".csv" ? io::TableFormat::csv : io::TableFormat::ecsv;
}

io::Provenance provenance(const FofArguments& arguments, const FofRun& run, const Invocation& invocation) {
    std::map<std::string, std::string> parameters{{"linking_length", linking_length_of(run)},
                                                  {"min_members", fmt::format("{}", arguments.min_members)}};
    if (arguments.linking_length.is_relative()) {
        parameters["b"] = fmt::format("{}", arguments.linking_length.value());
        if (run.separation) {
            parameters["mean_separation"] = fmt::format("{}", *run.separation);
        } else {
            parameters["volume"] = fmt::format("{}", run.groups.volume);
            parameters["volume_kind"] = name_of(run.groups.volume_kind);
        }
    }
    if (arguments.secondary_types) {
        parameters["secondary_types"] = fmt::format("{}", fmt::join(arguments.secondary_types->types, ","));
    }
    if (arguments.min_overdensity) {
        parameters["min_overdensity"] = fmt::format("{}", *arguments.min_overdensity);
        if (arguments.omega_sim != 1) {
            parameters["omega_sim"] = fmt::format("{}", arguments.omega_sim);
        }
    }
    if (arguments.sample) {
        parameters["sample"] = fmt::format("{}", run.rows_in_all());
        parameters["seed"] = fmt::format("{}", arguments.seed);
    }
    if (arguments.psi) {
        compared_velocities(arguments, run).add_to(parameters);
    }
    return run.provenance(invocation, std::move(parameters));
}

void write_map(const FofArguments& arguments, const FofRun& run, MapMarks marks, const io::Provenance& made_by) {
    const std::string length = fmt::format("{:.4g}", run.groups.linking_length);
    MapSubject subject;
    subject.points = &run.map.value();
    subject.unit = unit_of_lengths(run.snapshot.header);
    subject.circles = std::move(marks.circles);
    const auto& files = run.snapshot.header.files;
    const std::filesystem::path named = files.size() == 1 ? files.front() : std::filesystem::path(arguments.snapshot);
    subject.title = named.filename().string();
    subject.subtitle = std::move(marks.subtitle);
    subject.caption = fmt::format("{} points", format_count(run.rows_in_all()));
    if (arguments.slice) {
        subject.caption = fmt::format("{} of {}, z from {:.6g} to {:.6g}", format_count(run.in_slice), subject.caption,
                                      arguments.slice->lower, arguments.slice->upper);
    }
    subject.caption += fmt::format(", linking length {}", length);
    if (arguments.linking_length.is_relative()) {
        subject.caption += fmt::format(" (b = {:.6g})", arguments.linking_length.value());
    }
    if (arguments.psi) {
        subject.caption += fmt::format(", psi = {:.4g}", compared_velocities(arguments, run).psi());
    }
    std::vector<std::pair<std::string, std::string>> notes = {
        {"Software", made_by.program}, {"Command", made_by.command}, {"Source", made_by.input}};
    notes.insert(notes.end(), made_by.parameters.begin(), made_by.parameters.end());
    draw_map(subject).write_png(run.outputs.staged(arguments.map), notes);
}

void require_types_for_sorting(const FofArguments& arguments) {
    if (arguments.sorted_snapshot.empty()) {
        return;
    }
    const io::SnapshotHeader header = io::read_header(arguments.snapshot, arguments.columns);
    if (!header.has_types) {
        throw UsageError(
            fmt::format("--sorted-snapshot is '{}', but '{}' is an array or a table without particle types, "
                        "and no snapshot to sort; leave --sorted-snapshot out (the catalog lists the rows "
                        "of each group in /Members/Index)",
                        arguments.sorted_snapshot, arguments.snapshot));
    }
    const std::string extension = std::filesystem::path(arguments.sorted_snapshot).extension().string();
    if ((extension == ".std" || extension == ".tipsy") && !header.format.starts_with("Tipsy (")) {
        throw UsageError(fmt::format("--sorted-snapshot is '{}', a name of binary Tipsy, but '{}' is {}; give a name "
                                     "that ends in .hdf5",
                                     arguments.sorted_snapshot, arguments.snapshot, header.format));
    }
}

void plan_outputs(OutputFiles& outputs, const FofArguments& arguments) {
    const std::string extension = std::filesystem::path(arguments.output).extension().string();
    if (extension == ".csv" || extension == ".ecsv") {
        throw UsageError(fmt::format("-o is '{0}', but the catalog is HDF5: a name that ends in .hdf5 or .h5. To write "
                                     "the groups as a table, too, add --table {0}",
                                     arguments.output));
    }
    outputs.plan("-o", arguments.output, {".hdf5", ".h5"});
    outputs.plan("--table", arguments.table, {".csv", ".ecsv"});
    outputs.plan("--labels", arguments.labels, {".npy"});
    outputs.plan("--grp", arguments.grp);
    outputs.plan("--gtp", arguments.gtp);
    outputs.plan("--map", arguments.map, {".png"});
    outputs.plan("--sorted-snapshot", arguments.sorted_snapshot, {".hdf5", ".h5", ".std", ".tipsy"});
}

void require_slice(const FofArguments& arguments, FofRun& run) {
    run.agreed([&] { require_axis_of(arguments.slice, run.positions().columns); });
    if (arguments.slice) {
        run.agreed([&] { require_resolved(arguments.slice, run.box.box.period(2)); });
        run.in_slice = sum_over(run.ranks(), count_in(*arguments.slice, run.points(), run.box.box.period(2)));
        run.agreed([&] { require_any_in(*arguments.slice, run.in_slice, run.overview().positions.view()); });
    }
}

void project_points(const FofArguments& arguments, FofRun& run) {
    if (!arguments.map.empty()) {
        run.bar.announce("drawing the map");
        const Particles particles = particles_of(run.snapshot);
        run.clock.time("map", [&] {
            std::optional<SlicedParticles> slice;
            run.agreed([&] {
                if (arguments.slice) {
                    slice.emplace(particles, *arguments.slice, run.box.box.period(2));
                }
            });
            const PointsView points = slice ? slice->positions() : particles.positions;
            run.map = project_map(points, slice ? slice->masses() : particles.masses, run.box.box, run.ranks());
        });
    }
}

std::vector<RankArray> arrays_of_outputs(const FofArguments& arguments, const FofRun& run) {
    std::vector<RankArray> arrays;
    const IndexArray& members = run.catalog.member_array;
    const auto add_members = [&]<class T>(const std::vector<T>& column, const std::vector<T>& gathered) {
        arrays.push_back(run.ranks() != nullptr
                             ? array_of(std::as_bytes(std::span(gathered)))
                             : array_of(members.size(), [&](std::int64_t i) { return column[members[i]]; }));
    };
    add_members(run.snapshot.file_rows, run.member_rows);
    if (run.has_ids) {
        add_members(run.snapshot.ids, run.member_ids);
    }
    const FileRows rows = file_rows_of(run.ranks(), run.snapshot);
    for (const std::string& file : {arguments.labels, arguments.grp}) {
        if (!file.empty()) {
            arrays.push_back(labels_by_row(run.groups.label_array, run.listed(arguments), rows));
        }
    }
    return arrays;
}

void write_outputs(const FofArguments& arguments, FofRun& run, const Invocation& invocation, RankFunnel& funnel) {
    const OutputFiles& outputs = run.outputs;
    const io::Provenance made_by = provenance(arguments, run, invocation);
    if (!arguments.map.empty()) {
        run.clock.time("map", [&] { write_map(arguments, run, marks_of_groups(arguments, run), made_by); });
        stop_if_interrupted();
    }
    run.bar.announce("writing");
    run.clock.time("write", [&] {
        const io::CatalogFileOptions beside{std::filesystem::path(arguments.sorted_snapshot).filename().string()};
        const io::BlockSource next = funnel.blocks();
        io::stream_catalog_hdf5(outputs.staged(arguments.output), run.catalog, {run.has_ids, next}, run.snapshot,
                                made_by, beside);
        if (!arguments.table.empty()) {
            io::write_catalog_table(outputs.staged(arguments.table), table_format(arguments), run.catalog, run.snapshot,
                                    made_by);
        }
        const io::NumberSource labels{rows_of_file(run.snapshot), next};
        if (!arguments.labels.empty()) {
            io::stream_labels_npy(outputs.staged(arguments.labels), labels);
        }
        if (!arguments.grp.empty()) {
            io::stream_grp(outputs.staged(arguments.grp), labels);
        }
        if (!arguments.gtp.empty()) {
            io::write_gtp(outputs.staged(arguments.gtp), run.catalog, run.snapshot.header.time.value_or(0));
        }
    });
}

void write_sorted(const FofArguments& arguments, FofRun& run, const io::Provenance& made_by, const Progress& progress) {
    if (arguments.sorted_snapshot.empty()) {
        return;
    }
    const std::vector<std::string> left_out = run.clock.time("write", [&] {
        RankTeam* const ranks = run.ranks();
        return io::write_sorted_snapshot(run.outputs.staged(arguments.sorted_snapshot),
                                         ranks != nullptr ? run.part : run.catalog, run.snapshot, made_by, progress,
                                         ranks != nullptr ? &ranks->communicator() : nullptr);
    });
    run.warnings.insert(run.warnings.end(), left_out.begin(), left_out.end());
}

} // namespace kith::cli
