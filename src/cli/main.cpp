// The program kith. This file finds the subcommand and turns what goes wrong into a line on stderr and an exit code:
// 2 where the remedy lies in the command line, 1 for bad data and failures, 128 plus the signal after an interrupt.
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>
#include <kith/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <new>
#include <unistd.h>

namespace {

using kith::Error;
using kith::ErrorKind;

constexpr int success = 0;
constexpr int failure = 1;
constexpr int wrong_usage = 2;

/// A standard stream that the caller closed leaves its number to the next file opened, so that a warning would end up in
/// an output. In its place comes one from which nothing can be read or to which nothing can be written.
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

int exit_code_of(const Error& error) {
    switch (error.kind()) {
    case ErrorKind::canceled:
        return kith::cli::interrupt_exit_code();
    case ErrorKind::invalid_argument:
        return wrong_usage;
    default:
        return failure;
    }
}

int run(int argument_count, char** arguments) {
    CLI::App program(
        "Exact nearest neighbors, friends-of-friends groups and their hierarchy, DBSCAN clusters, spanning "
        "trees and halo catalogs of point sets.",
        "kith");
    program.set_version_flag("--version", "kith " KITH_VERSION);
    program.require_subcommand(1);
    program.footer("Examples:\n"
                   "  kith info snapshot.hdf5\n"
                   "  kith fof snapshot.hdf5 -b 0.2 -o groups.hdf5 --map groups.png\n"
                   "  kith knn points.npy -k 16 -o neighbors.npz\n\n"
                   "'kith COMMAND --help' lists all options. Exit codes: 0 success, 1 bad data or failure, 2 wrong "
                   "usage, 130 interrupted.");
    const std::array commands{kith::cli::info_command(program),      kith::cli::knn_command(program),
                              kith::cli::radius_command(program),    kith::cli::fof_command(program),
                              kith::cli::dbscan_command(program),    kith::cli::mst_command(program),
                              kith::cli::hierarchy_command(program), kith::cli::bench_command(program)};
    try {
        program.parse(argument_count, arguments);
    } catch (const CLI::Success& help_or_version) {
        return program.exit(help_or_version);
    } catch (const CLI::ParseError& error) {
        const auto chosen = program.get_subcommands();
        const auto unknown = program.remaining();
        complain(chosen.empty() && !unknown.empty()
                     ? fmt::format("'{}' is not a subcommand; there are info, knn, radius, fof, dbscan, mst, hierarchy "
                                   "and bench",
                                   unknown.front())
                     : error.what());
        kith::cli::print_stderr(fmt::format("'kith{} --help' shows the options.\n",
                                            chosen.empty() ? "" : " " + chosen.front()->get_name()));
        return wrong_usage;
    }
    kith::cli::watch_for_interrupts();
    for (const kith::cli::Command& command : commands) {
        if (command.parser->parsed()) {
            command.run(kith::cli::invocation_of(argument_count, arguments));
        }
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        complain("the summary could not be written to standard output; the output files are complete");
        return failure;
    }
    return success;
}

} // namespace

int main(int argument_count, char** arguments) {
    hold_standard_streams();
    try {
        return run(argument_count, arguments);
    } catch (const kith::cli::UsageError& error) {
        complain(error.what());
        return wrong_usage;
    } catch (const Error& error) {
        complain(error.kind() == ErrorKind::canceled ? "interrupted; nothing was written" : error.what());
        return exit_code_of(error);
    } catch (const std::bad_alloc&) {
        complain("out of memory; choose fewer particle types, or a smaller k or radius");
        return failure;
    } catch (const std::exception& error) {
        complain(error.what());
        return failure;
    }
}
