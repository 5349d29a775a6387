// The program kith. This file finds the subcommand and turns what goes wrong into a line on stderr and an exit code
// (failure.hpp). Of the processes that mpirun starts together, rank 0 alone speaks.
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/features.hpp"
#include "cli/interrupt.hpp"
#include "cli/rank_team.hpp"
#include "cli/usage_error.hpp"

#include <kith/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using kith::cli::failure;
using kith::cli::RankTeam;
using kith::cli::success;
using kith::cli::wrong_usage;

/// A standard stream that the caller closed leaves its number to the next file opened, so that a warning would end up
/// in an output. In its place comes one from which nothing can be read or to which nothing can be written.
void hold_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) == -1) {
            static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)); // the lowest free one
        }
    }
}

void complain(const std::string& text) {
    kith::cli::print_stderr(fmt::format("kith: {}\n", text));
}

/// Whether this, and all that was printed before, is on standard output.
bool is_printed(const std::string& text) {
    const bool is_there = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!is_there) {
        complain("standard output cannot be written; the output files, if any were asked for, are complete");
    }
    return is_there;
}

/// The arguments; "help fof" is "fof --help".
std::vector<std::string> arguments_of(int argument_count, char** arguments) {
    std::vector<std::string> texts(arguments + 1, arguments + argument_count);
    if (!texts.empty() && texts.front() == "help") {
        texts.erase(texts.begin());
        texts.emplace_back("--help");
    }
    return texts;
}

/// Otherwise ranks would wait for each other in different calls.
void require_one_command(RankTeam& ranks, const std::vector<std::string>& arguments) {
    const std::vector<std::string> commands = ranks.gather(fmt::format("kith {}", fmt::join(arguments, " ")));
    for (std::size_t rank = 1; rank < commands.size(); ++rank) {
        if (commands[rank] != commands.front()) {
            throw kith::cli::AgreedFailure{
                {wrong_usage,
                 fmt::format("rank {} was started as '{}', rank 0 as '{}'; start all with the same command", rank,
                             commands[rank], commands.front())}};
        }
    }
}

/// All ranks have the same command line, so what is wrong with it they all say.
void parse(CLI::App& program, const std::vector<std::string>& arguments, const RankTeam* ranks) {
    try {
        kith::cli::Parser(program).refuse_unknown_names(arguments);
        program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); // it takes them from the end
    } catch (const kith::cli::UsageError& error) {
        if (ranks != nullptr) {
            throw kith::cli::AgreedFailure{{wrong_usage, error.what()}};
        }
        throw;
    }
}

/// "fof, halos, ...".
std::string names_over_ranks(std::span<const kith::cli::Command> commands) {
    std::string names;
    for (const kith::cli::Command& command : commands) {
        if (command.runs_over_ranks) {
            names += (names.empty() ? "" : ", ") + command.parser.name();
        }
    }
    return names;
}

int run(int argument_count, char** arguments, RankTeam* ranks) {
    const bool speaks = ranks == nullptr || ranks->is_first();
    CLI::App program("Exact nearest neighbors, friends-of-friends groups and their hierarchy, clusters by DBSCAN and "
                     "HDBSCAN*, spanning "
                     "trees and halo catalogs of point sets.",
                     "kith");
    program.set_version_flag(
        "--version", [] { return "kith " KITH_VERSION "\n" + kith::cli::built_features(kith::cli::mpi_library()); },
        "Print the version and what this program was built with, and exit");
    program.require_subcommand(1);
    program.footer("Examples:\n"
                   "  kith info snapshot.hdf5\n"
                   "  kith fof snapshot.hdf5 -b 0.2 -o groups.hdf5 --map groups.png\n"
                   "  kith knn points.npy -k 16 -o neighbors.npz\n\n"
                   "'kith COMMAND --help', or 'kith help COMMAND', lists all options. Exit codes: 0 success, 1 bad "
                   "data or failure, 2 wrong "
                   "usage, 128 + N ended by signal N (130: Ctrl-C).");
    const kith::cli::Parser parser(program);
    const std::array commands{
        kith::cli::info_command(parser),    kith::cli::fof_command(parser),       kith::cli::halos_command(parser),
        kith::cli::knn_command(parser),     kith::cli::radius_command(parser),    kith::cli::dbscan_command(parser),
        kith::cli::hdbscan_command(parser), kith::cli::hierarchy_command(parser), kith::cli::mst_command(parser),
        kith::cli::density_command(parser), kith::cli::pairs_command(parser),     kith::cli::bench_command(parser),
        kith::cli::plan_command(parser)};
    try {
        parse(program, arguments_of(argument_count, arguments), ranks);
    } catch (const CLI::Success& help_or_version) {
        std::ostringstream text;
        static_cast<void>(program.exit(help_or_version, text, text));
        return !speaks || is_printed(text.str()) ? success : failure;
    } catch (const CLI::ParseError& error) {
        if (!speaks) {
            return wrong_usage;
        }
        complain(error.what());
        const auto chosen = program.get_subcommands();
        kith::cli::print_stderr(fmt::format("'kith{} --help' shows the options.\n",
                                            chosen.empty() ? "" : " " + chosen.front()->get_name()));
        return wrong_usage;
    }
    kith::cli::watch_for_interrupts();
    for (const kith::cli::Command& command : commands) {
        if (command.parser.parsed()) {
            if (ranks != nullptr && !command.runs_over_ranks) {
                throw kith::cli::AgreedFailure{
                    {wrong_usage,
                     fmt::format("kith {} runs in one process, but {} were started together; start it without "
                                 "mpirun ({} run over ranks)",
                                 command.parser.name(), ranks->size(), names_over_ranks(commands))}};
            }
            kith::cli::Invocation invocation = kith::cli::invocation_of(argument_count, arguments);
            invocation.ranks = ranks;
            command.run(invocation);
        }
    }
    return is_printed("") ? success : failure;
}

} // namespace

int main(int argument_count, char** arguments) {
    hold_standard_streams();
    kith::cli::LaunchedRanks launched;
    std::optional<RankTeam> ranks;
    try {
        launched = kith::cli::join_launched_ranks();
        if (launched.ranks) {
            ranks.emplace(*launched.ranks);
            require_one_command(*ranks, std::vector<std::string>(arguments + 1, arguments + argument_count));
        }
        return run(argument_count, arguments, ranks ? &*ranks : nullptr);
    } catch (const kith::cli::AgreedFailure& agreed) {
        if (!ranks || ranks->is_first()) {
            complain(agreed.failure.text);
        }
        return agreed.failure.exit_code;
    } catch (...) {
        const kith::cli::Failure found = kith::cli::current_failure();
        if (ranks) { // the others do not know
            launched.ranks->abort(found.text);
        }
        if (!found.text.empty()) { // another process says it (launcher.hpp)
            complain(found.text);
        }
        return found.exit_code;
    }
}
