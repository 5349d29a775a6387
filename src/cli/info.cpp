// kith info: what a file holds, without computing anything.
#include "cli/commands.hpp"
#include "cli/info_catalog.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/peculiar_velocities.hpp"
#include "cli/progress_bar.hpp"
#include "cli/report.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace kith::cli {

namespace {

/// Smallest and largest finite value of a column.
struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    std::int64_t not_finite = 0;

    void include(double value) {
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        } else {
            ++not_finite;
        }
    }
    [[nodiscard]] bool empty() const { return low > high; }
    [[nodiscard]] Json json() const { return empty() ? Json(nullptr) : Json{low, high}; }
    [[nodiscard]] std::string text(DType dtype) const {
        return empty() ? "no finite value" : format_length(low, dtype) + " to " + format_length(high, dtype);
    }
};

std::vector<Range> ranges_of(const io::RealArray& array) {
    std::vector<Range> ranges(array.columns);
    std::visit(
        [&](const auto& values) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                ranges[i % ranges.size()].include(static_cast<double>(values[i]));
            }
        },
        array.values);
    return ranges;
}

/// Peculiar velocities. Their dispersion is that of --psi-sigma, of all types and to the digits that are shown.
struct Velocities {
    std::vector<Range> components;
    double dispersion = 0;          ///< sqrt(sum m |v - mean v|^2 / sum m)
    std::optional<double> unit;     ///< in cm/s
    bool is_known_peculiar = false; ///< else as stored

    [[nodiscard]] Json json() const {
        Json extents = Json::array();
        for (const Range& range : components) {
            extents.push_back(range.json());
        }
        return {{"extents", extents},
                {"dispersion", std::isfinite(dispersion) ? Json(dispersion) : Json(nullptr)},
                {"unit_in_cm_per_s", unit ? Json(*unit) : Json(nullptr)},
                {"peculiar", is_known_peculiar}};
    }
    [[nodiscard]] std::string description() const {
        return fmt::format("dispersion {:.6g}; {}, {}", dispersion, kind_of_velocities(is_known_peculiar),
                           unit ? fmt::format("in units of {:g} km/s", *unit / 1e5) : "in the file's unit");
    }
};

Velocities velocities_of(const io::Snapshot& snapshot, bool weighted) {
    const double factor = peculiar_factor(snapshot.header);
    Velocities velocities{std::vector<Range>(snapshot.velocities->columns), 0,
                          snapshot.header.frame ? snapshot.header.frame->velocity.to_cgs : std::nullopt,
                          snapshot.header.frame.has_value()};
    std::visit(
        [&](const auto& values) {
            const std::size_t axes = velocities.components.size();
            const auto mass_of = [&](std::size_t row) {
                return weighted ? std::visit([row](const auto& m) { return static_cast<double>(m[row]); },
                                             snapshot.masses->values)
                                : 1.0;
            };
            double mass = 0;
            double squares = 0; // about the mean so far (Welford 1962)
            std::vector<double> mean(axes);
            for (std::size_t row = 0; row < values.size() / axes; ++row) {
                const double weight = mass_of(row);
                mass += weight;
                for (std::size_t axis = 0; axis < axes; ++axis) {
                    const double value = factor * static_cast<double>(values[row * axes + axis]);
                    velocities.components[axis].include(value);
                    const double before = value - mean[axis];
                    mean[axis] += mass > 0 ? before * (weight / mass) : 0;
                    squares += weight * before * (value - mean[axis]);
                }
            }
            velocities.dispersion = std::sqrt(squares / mass);
        },
        snapshot.velocities->values);
    return velocities;
}

struct Contents {
    io::SnapshotHeader header;
    std::int64_t points = 0;
    std::vector<Range> extents;
    DType mass_dtype = DType::float64;
    std::optional<Range> masses;
    std::optional<Velocities> velocities;
};

Contents read_contents(const std::string& path, const std::vector<std::string>& columns) {
    ProgressBar bar;
    bar.announce("reading");
    Contents contents;
    contents.header = io::read_header(path, columns);
    const auto& counts = contents.header.counts;
    contents.points = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (contents.points == 0 || !contents.header.incomplete.empty()) {
        return contents;
    }
    const io::Snapshot snapshot =
        io::read_snapshot(path, {.types = {io::TypeSelection::Kind::all, {}}, .ids = false, .columns = columns});
    contents.header = snapshot.header;
    contents.extents = ranges_of(snapshot.positions);
    if (snapshot.masses) {
        contents.mass_dtype = snapshot.masses->dtype();
        contents.masses = ranges_of(*snapshot.masses).front();
    } else if (snapshot.uniform_mass) {
        contents.masses.emplace().include(*snapshot.uniform_mass);
    }
    if (snapshot.velocities) {
        contents.velocities = velocities_of(snapshot, snapshot.masses && contents.masses->high > 0);
    }
    return contents;
}

std::string axis_name(std::size_t axis, std::size_t axes) {
    return axes <= 3 ? std::string(1, "xyz"[axis]) : fmt::format("x{}", axis);
}

void print_json_of(const Contents& contents, const std::string& path) {
    const io::SnapshotHeader& header = contents.header;
    Json json;
    json["file"] = path;
    json["format"] = header.format;
    json["n"] = contents.points;
    json["dimension"] = header.dimension;
    json["dtype"] = name_of(header.dtype);
    json["has_types"] = header.has_types;
    json["counts"] = header.counts;
    json["box_size"] = header.box_size ? Json(*header.box_size) : Json(nullptr);
    json["time"] = header.time ? Json(*header.time) : Json(nullptr);
    json["redshift"] = header.redshift ? Json(*header.redshift) : Json(nullptr);
    json["parameters"] = header.parameters;
    json["extents"] = Json::array();
    std::int64_t not_finite = 0;
    for (const Range& range : contents.extents) {
        json["extents"].push_back(range.json());
        not_finite += range.not_finite;
    }
    json["not_finite"] = not_finite;
    json["masses"] = contents.masses ? contents.masses->json() : Json(nullptr);
    json["velocities"] = contents.velocities ? contents.velocities->json() : Json(nullptr);
    json["warnings"] = header.warnings;
    json["peak_rss_bytes"] = peak_rss_bytes();
    print_json(json);
}

void print_summary_of(const Contents& contents, const std::string& path) {
    const io::SnapshotHeader& header = contents.header;
    print_line("file", path);
    print_line("format", header.format);
    print_line("points", fmt::format("{} in {} dimensions, {}", format_count(contents.points), header.dimension,
                                     name_of(header.dtype)));
    for (std::size_t type = 0; header.has_types && type < header.counts.size(); ++type) {
        if (header.counts[type] > 0) {
            print_line("", fmt::format("type {}: {}", type, format_count(header.counts[type])));
        }
    }
    const bool boxed = header.box_size &&
                       std::any_of(header.box_size->begin(), header.box_size->end(), [](double l) { return l != 0; });
    print_line("box", boxed ? describe(Box::periodic(*header.box_size), header.dimension)
                            : "no period given: open or unknown");
    print_if_known("time", header.time);
    print_if_known("redshift", header.redshift);
    for (std::size_t axis = 0; axis < contents.extents.size(); ++axis) {
        const Range& range = contents.extents[axis];
        std::string text = range.text(header.dtype);
        if (range.not_finite > 0) {
            text += fmt::format(" ({} NaN or infinite)", format_count(range.not_finite));
        }
        print_line(axis_name(axis, contents.extents.size()), text);
    }
    if (contents.masses) {
        const Range& range = *contents.masses;
        print_line("masses", range.low == range.high ? "all " + format_length(range.low, contents.mass_dtype)
                                                     : range.text(contents.mass_dtype));
    } else if (header.incomplete.empty()) {
        print_line("masses", "none");
    }
    if (contents.velocities) {
        const std::vector<Range>& components = contents.velocities->components;
        for (std::size_t axis = 0; axis < components.size(); ++axis) {
            const Range& range = components[axis];
            print_line(fmt::format("v{}", axis_name(axis, components.size())),
                       range.empty() ? "no finite value" : fmt::format("{:.6g} to {:.6g}", range.low, range.high));
        }
        print_line("", contents.velocities->description());
    }
    for (const auto& [name, value] : header.parameters) {
        print_line("", fmt::format("{} = {}", name, value));
    }
}

} // namespace

Command info_command(const Parser& program) {
    struct Arguments {
        CommonOptions common;
        std::vector<std::string> files;
        std::vector<std::string> columns;
    };
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command("info", "Show what a file of points, particles or groups holds");
    add_snapshot_argument(command, "FILE", arguments->files);
    add_columns_option(command, arguments->columns);
    add_json_option(command, arguments->common);
    command.footer(std::string(input_formats) +
                   "\nHalo catalogs in HDF5 are described, too: those of kith, Gadget-4 and AREPO;"
                   "\nso are the neighbors, trees, clusters, labels, levels and tables that kith writes."
                   "\n\nExamples:\n  kith info snapshot.hdf5\n  kith info snapdir/snap_007\n  kith info halos.hdf5");
    return {command, [arguments](const Invocation&) {
                const auto& files = arguments->files;
                const auto catalog = std::find_if(files.begin(), files.end(), io::is_catalog);
                if (catalog != files.end() && arguments->columns.empty()) {
                    if (files.size() > 1) {
                        throw UsageError(
                            fmt::format("{} is a halo catalog, and one call shows one; type\n  kith info {}", *catalog,
                                        shell_word(*catalog)));
                    }
                    show_catalog(*catalog, arguments->common.json);
                    return;
                }
                // Of a table of groups, columns are points like those of any table.
                const bool may_be_result = files.size() == 1 && arguments->columns.empty();
                if (const auto result = may_be_result ? io::describe_result(files.front()) : std::nullopt) {
                    show_result(*result, files.front(), arguments->common.json);
                    return;
                }
                const std::string file = only_snapshot(files, R"(kith info "$file")");
                const Contents contents = read_contents(file, arguments->columns);
                stop_if_interrupted();
                print_warnings(contents.header.warnings);
                if (arguments->common.json) {
                    print_json_of(contents, file);
                } else {
                    print_summary_of(contents, file);
                }
            }};
}

} // namespace kith::cli
