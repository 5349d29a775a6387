// kith density: the density at every point, from its k nearest neighbors or those within a radius, into a file; and
// sums of the file's columns with it.
#include "cli/commands.hpp"
#include "cli/density_fields.hpp"
#include "cli/few_points.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/density_file.hpp>
#include <kith/io.hpp>
#include <kith/sum_neighbors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

namespace {

struct Arguments : SearchArguments {
    std::int64_t k = 32;
    std::optional<double> radius; ///< instead of k
    SmoothingKernel kernel = SmoothingKernel::cubic_spline;
    bool number = false; ///< of points per volume, whatever their masses
    FieldChoice fields;

    [[nodiscard]] Neighborhood neighborhood() const {
        return radius ? Neighborhood(Within{*radius}) : Neighborhood(Nearest{k});
    }
    /// Name and value of the number that says which neighbors.
    [[nodiscard]] std::pair<std::string, std::string> extent() const {
        return radius ? std::pair("radius", fmt::format("{}", *radius)) : std::pair("k", fmt::format("{}", k));
    }
};

SmoothingKernel parse_kernel(std::string_view text) {
    return static_cast<SmoothingKernel>(parse_name("--kernel", std::string(text), smoothing_kernel_names));
}

/// The powers of a and h, and the factor to cgs units, of a density where the file states those of its numbers.
void add_units(const io::Snapshot& snapshot, bool of_mass, int dimension, std::map<std::string, std::string>& to) {
    if (!snapshot.header.frame) {
        return;
    }
    const io::Scaling none{0, 0, 1.0};
    const io::Scaling& mass = of_mass ? snapshot.header.frame->mass : none;
    const io::Scaling& length = snapshot.header.frame->length;
    to["a_scaling"] = fmt::format("{}", mass.a_power - dimension * length.a_power);
    to["h_scaling"] = fmt::format("{}", mass.h_power - dimension * length.h_power);
    if (mass.to_cgs && length.to_cgs) {
        double volume = 1;
        for (int axis = 0; axis < dimension; ++axis) {
            volume *= *length.to_cgs;
        }
        to["to_cgs"] = fmt::format("{}", *mass.to_cgs / volume);
    }
}

struct Spread {
    double least = 0;
    double median = 0;
    double greatest = 0;

    /// NaN, of points that coincide and have no mass, has no order.
    explicit Spread(std::vector<double> numbers) {
        std::erase_if(numbers, [](double number) { return std::isnan(number); });
        if (numbers.empty()) {
            return;
        }
        const auto middle = numbers.begin() + (std::ssize(numbers) - 1) / 2;
        std::nth_element(numbers.begin(), middle, numbers.end());
        median = *middle;
        least = *std::min_element(numbers.begin(), middle + 1);
        greatest = *std::max_element(middle, numbers.end());
    }
};

/// The columns of this rank in the order of a file, which describes them.
std::vector<RankArray> columns_of(const NeighborSums& sums, const Fields& fields, const SumOptions& options,
                                  bool is_by_count, int dimension, io::DensitySource& file) {
    std::vector<RankArray> arrays;
    const auto add = [&](const auto& column) { arrays.push_back(array_of(std::as_bytes(std::span(column)))); };
    add(sums.density);
    is_by_count ? add(sums.reach) : add(sums.counts);
    add(sums.density_gradient);
    for (std::size_t f = 0; f < sums.fields.size(); ++f) {
        const FieldSums& field = sums.fields[f];
        file.fields.push_back({fields.names[f], options.statistics});
        for (const auto* column :
             {&field.sum, &field.mean, &field.variance, &field.least, &field.greatest, &field.gradient}) {
            add(*column);
        }
    }
    file.dimension = dimension;
    file.reach = is_by_count;
    file.counts = !is_by_count;
    file.density_gradient = options.density_gradient;
    return arrays;
}

/// Where half of the queries of all ranks or more have no neighbor but themselves: their number, and what their
/// densities are. Collective.
std::string loneliness(const Arguments& arguments, RankTeam* ranks, const std::vector<std::int64_t>& counts,
                       bool separate_queries) {
    const bool with_self = !separate_queries && !arguments.exclude_self;
    const std::int64_t queries = sum_over(ranks, std::ssize(counts));
    const std::int64_t alone = sum_over(
        ranks, std::ranges::count_if(counts, [&](std::int64_t count) { return count <= (with_self ? 1 : 0); }));
    if (queries == 0 || 2 * alone < queries) {
        return "";
    }
    const char* const densities = !with_self              ? "are 0"
                                  : *arguments.radius > 0 ? "count nothing but themselves"
                                                          : "are infinite, since the kernel has no reach";
    return fmt::format(
        "{} of {} {} have no {}point within the radius {}, and their densities {}; take a larger --radius",
        format_count(alone), format_count(queries), separate_queries ? "queries" : "points",
        separate_queries ? "" : "other ", *arguments.radius, densities);
}

SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    const std::optional<ScalarsView> masses = arguments.number ? std::nullopt : masses_of(task.run.snapshot);
    Fields fields;
    agreed_over(task.run.ranks(), [&] { fields = fields_of(arguments.fields, task.run.snapshot, arguments.snapshot); });
    const SumOptions options{.box = task.run.box.box,
                             .kernel = arguments.kernel,
                             .exclude_self = arguments.exclude_self,
                             .masses = masses,
                             .fields = fields.columns,
                             .field_names = fields.names,
                             .statistics = arguments.fields.found(),
                             .density_gradient = arguments.fields.density_gradient,
                             .engine = arguments.engine,
                             .execution = task.run.execution_together()};
    const auto sums = std::make_shared<NeighborSums>(
        task.call([](const auto&... given) { return sum_neighbors(given...); }, arguments.neighborhood(), options));
    task.run.clock.add(sums->stages);
    const std::int64_t queries = sum_over(task.run.ranks(), std::ssize(sums->density));
    const Spread spread(on_first(task.run.ranks(), sums->density)); // the median needs all densities
    const std::string kernel(smoothing_kernel_names[static_cast<std::size_t>(arguments.kernel)]);
    const char* const quantity = masses ? "mass per volume" : "points per volume";
    SearchOutcome outcome;
    outcome.queries = queries;
    outcome.distribution = sums->distribution;
    outcome.warnings = {sums->unresolved.warning(), std::string(sums->warning)};
    if (arguments.radius) {
        outcome.facts["radius"] = *arguments.radius;
        outcome.warnings.push_back(loneliness(arguments, task.run.ranks(), sums->counts, task.queries.has_value()));
    } else {
        outcome.facts["k"] = arguments.k;
        const std::int64_t points = sum_over(task.run.ranks(), task.run.points().count());
        outcome.warnings.push_back(warning_of_short_rows(arguments.k, arguments.exclude_self, points, queries,
                                                         points > (arguments.exclude_self ? 1 : 0)
                                                             ? "kernels reach to the farthest of them"
                                                             : "nothing is summed, and densities are 0"));
    }
    outcome.facts["kernel"] = kernel;
    outcome.facts["quantity"] = quantity;
    outcome.facts["engine"] = name_of(sums->engine);
    outcome.facts["density"] = {{"least", spread.least}, {"median", spread.median}, {"greatest", spread.greatest}};
    outcome.parameters["quantity"] = quantity;
    if (!fields.names.empty()) {
        outcome.facts["fields"] = fields.names;
        outcome.parameters["fields"] = fmt::format("{}", fmt::join(fields.names, ","));
    }
    add_units(task.run.snapshot, masses.has_value(), task.run.points().dimension(), outcome.parameters);
    const std::string extent = arguments.radius
                                   ? fmt::format("within {}", *arguments.radius)
                                   : fmt::format("of {} neighbor{}", arguments.k, arguments.k == 1 ? "" : "s");
    outcome.report = fmt::format("{}, {} kernel {}: from {:.6g} to {:.6g}, median {:.6g}", quantity, kernel, extent,
                                 spread.least, spread.greatest, spread.median);
    io::DensitySource file{.rows = queries};
    outcome.funnel = std::make_shared<RankFunnel>(
        task.run.ranks(), columns_of(*sums, fields, options, !arguments.radius, task.run.points().dimension(), file));
    file.next = blocks_from(outcome.funnel, sums);
    outcome.write = [file](const std::filesystem::path& path, const io::Provenance& made_by) {
        if (path.extension() == ".npy") {
            io::stream_density_npy(path, file);
        } else {
            (path.extension() == ".npz" ? io::stream_densities_npz : io::stream_densities_hdf5)(path, file, made_by);
        }
    };
    return outcome;
}

void run(Arguments& arguments, const Invocation& invocation) {
    const auto [extent, number] = arguments.extent();
    find_snapshot(
        arguments, invocation,
        fmt::format(R"(kith density "$file" -{} {} -o "${{file%.*}}_density.npy")", extent.substr(0, 1), number));
    agreed_over(invocation.ranks, [&] {
        check(arguments.fields, !arguments.queries.empty());
        if (arguments.fields.is_given() && std::filesystem::path(arguments.output).extension() == ".npy") {
            throw UsageError(fmt::format("-o is '{}', which holds one array; with --fields or --density-gradient write "
                                         ".npz or .hdf5",
                                         arguments.output));
        }
    });
    run_search(
        arguments, invocation,
        {.stages = {"read", "order", "tree", "search", "write"},
         .parameters = {{extent, number},
                        {"kernel", std::string(smoothing_kernel_names[static_cast<std::size_t>(arguments.kernel)])}},
         .with_masses = true,
         .with_velocities = arguments.fields.has(FieldColumn::velocity),
         .with_internal_energies = arguments.fields.has(FieldColumn::internal_energy),
         .writes_npy = true,
         .run = [&](const SearchTask& task) { return search(arguments, task); },
         .try_out =
             [&](const PointsView& none, const Execution& execution) {
                 const std::vector<ScalarsView> fields(arguments.fields.columns.size());
                 (void)sum_neighbors(none, arguments.neighborhood(),
                                     {.kernel = arguments.kernel,
                                      .fields = fields,
                                      .statistics = arguments.fields.found(),
                                      .density_gradient = arguments.fields.density_gradient,
                                      .engine = arguments.engine,
                                      .execution = execution});
             }});
}

} // namespace

Command density_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command =
        program.command("density", "Find the density at every point, and means of fields, from its neighbors");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points");
    const Option k = add_value(command, "-k", "K", "Neighbors to sum over, the point itself among them; 32 by default",
                               arguments->k, parse_whole, 1, std::numeric_limits<std::int32_t>::max());
    add_value(command, "-r,--radius", "R", "Sum over the points within a radius instead, to which the kernel reaches",
              arguments->radius, parse_length)
        .excludes(k);
    add_search_files(
        command, *arguments,
        "File to write, .npy, .npz or .hdf5: 'density', and but for .npy 'reach', the distance of the last "
        "neighbor, or 'counts' within a radius, and what else is asked for");
    command.text("--kernel", fmt::format("{}", fmt::join(smoothing_kernel_names, "|")),
                 "Shape of the kernel, which ends at the last neighbor or the radius; cubic by default",
                 [arguments](const std::string& text) { arguments->kernel = parse_kernel(text); });
    command.flag("--number", "Points per volume, whatever masses the file has", arguments->number);
    add_field_options(command, arguments->fields);
    add_search_options(command, arguments, fmt::format("{}", fmt::join(engine_names, "|")));
    add_options_over_ranks(command, arguments->common);
    add_footer(
        command,
        "Densities are masses per volume where the file has masses, in its units, else points per volume; one for\n"
        "each point read, in file order. A field, such as 'mass', adds 'mass_mean' and so on; velocity adds the "
        "fields\n"
        "velocity_x, velocity_y and velocity_z. Fields are in the units of the file.",
        "  kith density snapshot.hdf5 -k 32 -o density.npy\n"
        "  kith density snapshot.hdf5 --types 0 --kernel wendland-c4 -k 128 -o gas.hdf5\n"
        "  kith density snapshot.hdf5 -r 50 --fields velocity --statistics mean,variance -o flow.npz\n"
        "  kith density galaxies.npy --queries places.npy --box none -o at_places.npz");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
