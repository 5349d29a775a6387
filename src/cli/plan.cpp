// kith plan: memory, bytes a link and seconds a stage of calls over ranks on a machine that is not at hand. A model
// (rank_model.hpp), from constants measured on this machine.
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/rank_costs.hpp"
#include "cli/rank_model.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>

namespace kith::cli {

namespace {

struct Arguments {
    CommonOptions common;
    Cluster cluster;
    std::string constants; ///< file; empty: measured
    RankConstants wanted;
};

RankConstants constants_of(const Arguments& arguments) {
    if (arguments.constants.empty()) {
        ProgressBar bar;
        bar.announce("measuring the constants");
        return measure_rank_constants(arguments.wanted, execution_of(arguments.common, {}));
    }
    std::ifstream file(arguments.constants);
    if (!file) {
        throw Error(ErrorKind::file, fmt::format("--constants is '{}', which cannot be read; make it with: kith bench "
                                                 "--ranks --json > node.json",
                                                 arguments.constants));
    }
    return rank_constants_of(Json::parse(file, nullptr, false), arguments.constants);
}

void require_countable(const Cluster& cluster) {
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    const double per_rank = std::ceil(cluster.points / cluster.ranks);
    if (per_rank > most) {
        throw UsageError(
            fmt::format("--points {:.6g} on --ranks {} are {:.6g} points per rank, which can have {:.0f} at "
                        "most; give {:.0f} ranks or more",
                        cluster.points, cluster.ranks, per_rank, most, std::ceil(cluster.points / most)));
    }
}

Json json_of(const CallPlan& plan, const Cluster& cluster) {
    Json seconds = object_of(plan.seconds);
    seconds["all"] = plan.all_seconds();
    return {{"seconds", seconds},
            {"bytes_received_per_rank", plan.bytes},
            {"bytes_in_all", plan.bytes * cluster.ranks},
            {"messages_per_rank", plan.messages},
            {"points_fetched_per_rank", plan.layer_points},
            {"memory_bytes_per_rank", plan.memory}};
}

std::string scaled_bytes(double bytes) {
    return bytes < 9e15 ? format_bytes(static_cast<std::int64_t>(bytes)) : fmt::format("{:.3g} GiB", bytes / 0x1p30);
}

void print_plan(std::string_view call, const std::string& parameter, const CallPlan& plan, const Cluster& cluster) {
    print_line(call, fmt::format("{}; per rank, modeled:", parameter));
    for (const auto& [stage, seconds] : plan.seconds) {
        print_line("", fmt::format("{:<14}{:>12}", stage, format_seconds(seconds)));
    }
    print_line("", fmt::format("{:<14}{:>12}", "all", format_seconds(plan.all_seconds())));
    print_line("", fmt::format("{:<14}{:>12}, {:.1f} s on the link alone: {} points of others ({:.2g} of its own), "
                               "top planes; {:.0f} messages",
                               "receives", scaled_bytes(plan.bytes), plan.bytes / cluster.link,
                               format_count(std::llround(plan.layer_points)),
                               plan.layer_points / (cluster.points / cluster.ranks), plan.messages));
    print_line("", fmt::format("{:<14}{:>12}", "memory", scaled_bytes(plan.memory)));
}

void run(const Arguments& arguments) {
    const Cluster& cluster = arguments.cluster;
    require_countable(cluster);
    const RankConstants constants = constants_of(arguments);
    const CallPlan knn = plan_of(constants.knn, constants, cluster);
    const CallPlan fof = plan_of(constants.fof, constants, cluster);
    const std::vector<int> blocks = blocks_of(cluster.ranks, constants.dimension);
    if (arguments.common.json) {
        print_json({{"kind", "model"},
                    {"points", cluster.points},
                    {"ranks", cluster.ranks},
                    {"points_per_rank", cluster.points / cluster.ranks},
                    {"blocks", blocks},
                    {"link_bytes_per_second", cluster.link},
                    {"latency_seconds", cluster.latency},
                    {"knn", json_of(knn, cluster)},
                    {"fof", json_of(fof, cluster)},
                    {"constants", json_of(constants)}});
        return;
    }
    print_line("model", fmt::format("every number below is modeled, none is measured at this size; the constants are "
                                    "measured {}",
                                    arguments.constants.empty()
                                        ? std::string("here, just now")
                                        : fmt::format("on some machine, and stored in {}", arguments.constants)));
    print_line("points", fmt::format("{:.6g}, uniform, in {} dimensions, {}, periodic", cluster.points,
                                     constants.dimension, name_of(constants.dtype)));
    print_line("ranks",
               fmt::format("{}, in blocks of {}; each rank has {:.3g} points and {}", format_count(cluster.ranks),
                           fmt::join(blocks, " x "), cluster.points / cluster.ranks,
                           constants.threads == 0   ? "as many threads as this machine has cores"
                           : constants.threads == 1 ? "1 thread"
                                                    : fmt::format("{} threads", constants.threads)));
    print_line("link", fmt::format("{:.3g} bytes per second into each rank, {} per message", cluster.link,
                                   format_seconds(cluster.latency)));
    print_plan("knn", fmt::format("k = {}", constants.k), knn, cluster);
    print_plan("fof", fmt::format("b = {}", constants.b), fof, cluster);
    print_line("left out", "uneven loads, waits, reading and writing; docs/ranks.md has the formulas");
}

} // namespace

Command plan_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command =
        program.command("plan", "Model the memory, traffic and time of points distributed over many ranks");
    constexpr std::int64_t most_points = 1'000'000'000'000'000;
    Cluster& cluster = arguments->cluster;
    cluster.link = 25e9;
    cluster.latency = 2e-6;
    add_value(command, "--points", "N", "Points on all ranks together, such as 1e12", cluster.points, parse_whole, 1,
              most_points)
        .required();
    add_value(command, "--ranks", "P", "Ranks (MPI processes)", cluster.ranks, parse_whole, 1, 1 << 24).required();
    add_value(command, "--link", "BYTES", "Bytes per second that a rank receives and sends; 25e9 by default",
              cluster.link, parse_positive);
    add_value(command, "--latency", "SECONDS", "Seconds per message; 2e-6 by default", cluster.latency, parse_length);
    add_rank_options(command, arguments->wanted);
    const Option constants = command.file("--constants",
                                          "Constants from `kith bench --ranks --json`, such as those of a node of the "
                                          "cluster, instead of measuring them here, which takes some seconds",
                                          arguments->constants, "FILE");
    add_threads_option(command, arguments->common);
    for (const char* measured : {"-k", "-b", "-d", "--float64", "--threads"}) {
        constants.excludes(command.option(measured));
    }
    add_json_option(command, arguments->common);
    command.footer("A model: uniform points in a periodic box, each rank owning one block. See docs/ranks.md.\n\n"
                   "Examples:\n"
                   "  kith plan --points 1e12 --ranks 4096 --link 25e9\n"
                   "  kith bench --ranks --json > node.json; kith plan --points 1e10 --ranks 64 --constants node.json");
    return {command, [arguments](const Invocation&) {
                arguments->wanted.threads = arguments->common.threads;
                arguments->wanted.points_per_rank = usual_points_per_rank;
                run(*arguments);
            }};
}

} // namespace kith::cli
