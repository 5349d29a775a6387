#include "cli/launcher.hpp"

#include "cli/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace kith::cli {

namespace {

/// Hydra and Slurm (PMI), PMIx (Open MPI 5, Slurm), Open MPI 4, Cray's PALS.
constexpr std::array ranks = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID"};

/// Numbers of processes: of Hydra and Slurm (PMI), Open MPI, Slurm, and Hydra on this machine.
constexpr std::array sizes = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "MPI_LOCALNRANKS"};

/// Whether the environment numbers this process, and not as the first.
bool is_later_rank() {
    return std::ranges::any_of(ranks, [](const char* variable) {
        const char* const value = std::getenv(variable);
        return value != nullptr && std::string_view(value) != "0";
    });
}

} // namespace

bool is_launched() {
    return std::ranges::any_of(ranks, [](const char* variable) { return std::getenv(variable) != nullptr; });
}

void require_alone(std::string_view built, std::string_view remedy) {
    for (const char* const variable : sizes) {
        const char* const value = std::getenv(variable);
        const std::string_view text = value != nullptr ? value : "";
        int size = 0;
        std::from_chars(text.data(), text.data() + text.size(), size);
        if (size > 1) {
            if (is_later_rank() && ::isatty(STDERR_FILENO) == 0) {
                std::this_thread::sleep_for(std::chrono::seconds(1));
                throw UsageError("");
            }
            throw UsageError(
                fmt::format("{} processes were started together ({} is {}), but this kith {}, so each would "
                            "do the whole work and write the same files. {}; or unset {} if each is to "
                            "run alone",
                            size, variable, text, built, remedy, variable));
        }
    }
}

} // namespace kith::cli
