// kith density: the density at every point, from its k nearest neighbors, into a file.
#include "cli/commands.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>
#include <kith/sum_neighbors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

namespace {

struct Arguments : SearchArguments {
    std::int64_t k = 32;
    SmoothingKernel kernel = SmoothingKernel::cubic_spline;
    bool number = false; ///< of points per volume, whatever their masses
};

SmoothingKernel parse_kernel(std::string_view text) {
    return static_cast<SmoothingKernel>(parse_name("--kernel", std::string(text), smoothing_kernel_names));
}

/// Masses of the points read; none: they count 1 each, or all have the same one.
struct Masses {
    std::optional<ScalarsView> each;
    double uniform = 1;
    bool are_given = false;

    Masses(const Arguments& arguments, const io::Snapshot& snapshot) {
        if (arguments.number) {
            return;
        }
        if (snapshot.masses) {
            each = std::visit([](const auto& values) { return ScalarsView(values); }, snapshot.masses->values);
            are_given = true;
        } else if (snapshot.uniform_mass) {
            uniform = *snapshot.uniform_mass;
            are_given = true;
        }
    }
};

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

SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    const Masses masses(arguments, task.snapshot);
    const SumOptions options{.box = task.box,
                             .kernel = arguments.kernel,
                             .exclude_self = arguments.exclude_self,
                             .masses = masses.each,
                             .engine = arguments.engine,
                             .execution = execution_over(task.ranks, task.execution)};
    const auto sums = std::make_shared<NeighborSums>(task.call(
        [](const auto&... given) { return sum_neighbors(given...); }, Neighborhood(Nearest{arguments.k}), options));
    if (masses.uniform != 1) {
        for (double& density : sums->density) {
            density *= masses.uniform;
        }
    }
    task.clock->add(sums->stages);
    const std::int64_t queries = sum_over(task.ranks, std::ssize(sums->density));
    sums->density = on_first(task.ranks, std::move(sums->density)); // whose median needs all
    sums->reach = on_first(task.ranks, std::move(sums->reach));
    const Spread spread(sums->density);
    const std::string kernel(smoothing_kernel_names[static_cast<std::size_t>(arguments.kernel)]);
    const char* const quantity = masses.are_given ? "mass per volume" : "points per volume";
    SearchOutcome outcome;
    outcome.queries = queries;
    outcome.distribution = sums->distribution;
    outcome.warning = sums->unresolved.warning();
    outcome.facts["k"] = arguments.k;
    outcome.facts["kernel"] = kernel;
    outcome.facts["quantity"] = quantity;
    outcome.facts["engine"] = name_of(sums->engine);
    outcome.facts["density"] = {{"least", spread.least}, {"median", spread.median}, {"greatest", spread.greatest}};
    outcome.parameters["quantity"] = quantity;
    add_units(task.snapshot, masses.are_given, task.points.dimension(), outcome.parameters);
    outcome.report = fmt::format("{}, {} kernel of {} neighbors: from {:.6g} to {:.6g}, median {:.6g}", quantity,
                                 kernel, arguments.k, spread.least, spread.greatest, spread.median);
    outcome.write = [sums](const std::filesystem::path& path, const io::Provenance& made_by) {
        if (path.extension() == ".npy") {
            io::write_npy(path, sums->density);
        } else {
            (path.extension() == ".npz" ? io::write_densities_npz : io::write_densities_hdf5)(path, *sums, made_by);
        }
    };
    return outcome;
}

void run(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation,
                  fmt::format(R"(kith density "$file" -k {} -o "${{file%.*}}_density.npy")", arguments.k));
    run_search(
        arguments, invocation,
        {.stages = {"read", "order", "tree", "search", "write"},
         .parameters = {{"k", fmt::format("{}", arguments.k)},
                        {"kernel", std::string(smoothing_kernel_names[static_cast<std::size_t>(arguments.kernel)])}},
         .with_masses = true,
         .writes_npy = true,
         .memory_remedy = "choose fewer points, with --types or another file",
         .run = [&](const SearchTask& task) { return search(arguments, task); },
         .try_out =
             [&](const PointsView& none, const Execution& execution) {
                 (void)sum_neighbors(none, Nearest{1}, {.engine = arguments.engine, .execution = execution});
             }});
}

} // namespace

Command density_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command("density", "Find the density at every point, from its k nearest neighbors");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points");
    add_value(command, "-k", "K", "Neighbors to sum over, the point itself among them; 32 by default", arguments->k,
              parse_whole, 1, std::numeric_limits<std::int32_t>::max());
    add_search_files(
        command, *arguments,
        "File to write, .npy, .npz or .hdf5: 'density', and but for .npy 'reach', the distance of the last "
        "neighbor");
    command.text("--kernel", fmt::format("{}", fmt::join(smoothing_kernel_names, "|")),
                 "Shape of the kernel, which vanishes at the last neighbor; cubic by default",
                 [arguments](const std::string& text) { arguments->kernel = parse_kernel(text); });
    command.flag("--number", "Points per volume, whatever masses the file has", arguments->number);
    add_search_options(command, arguments, fmt::format("{}", fmt::join(engine_names, "|")));
    add_execution_options(command, arguments->common);
    add_footer(
        command,
        "Densities are masses per volume where the file has masses, in its units, else points per volume; one for\n"
        "each point read, in file order.",
        "  kith density snapshot.hdf5 -k 32 -o density.npy\n"
        "  kith density snapshot.hdf5 --types 0 --kernel wendland-c4 -k 128 -o gas.hdf5\n"
        "  kith density galaxies.npy --queries places.npy --box none -o at_places.npz");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
