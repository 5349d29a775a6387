// Ranks that are MPI's processes. MPI is initialized only if the environment says that a launcher started the program:
// MPI's own start costs time, and fails on machines where no MPI job may run.
#include "cli/launcher.hpp"
#include "cli/rank_team.hpp"

#include <kith/mpi.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace kith::cli {

namespace {

/// Waits for all ranks, then ends MPI. MPI_Finalize waits, too, but keeps the core of every rank busy, which the one
/// that still writes a file may need.
void finish_together() {
    MPI_Request all_are_here = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all_are_here);
    for (int are_here = 0; MPI_Test(&all_are_here, &are_here, MPI_STATUS_IGNORE) == MPI_SUCCESS && are_here == 0;) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    MPI_Finalize();
}

} // namespace

LaunchedRanks join_launched_ranks() {
    int size = 1;
    if (is_launched()) {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (size == 1) {
            MPI_Finalize();
        }
    }
    if (size == 1) {
        require_alone("was built with another MPI, " + mpi_library(),
                      "Start it with the launcher of its own MPI, or run without mpirun");
        return {};
    }
    // Points travel through the hosts: the program chooses a GPU after MPI_Init, which many GPU-aware MPIs do not
    // accept, and has not run with one.
    return {std::shared_ptr<void>(nullptr, [](void*) { finish_together(); }),
            std::make_unique<MpiCommunicator>(MPI_COMM_WORLD, std::int64_t{1} << 30, false)};
}

/// The first line of what the library says of itself, which it does before it is initialized.
std::string mpi_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string line(text.data(), static_cast<std::size_t>(length));
    line.resize(std::min(line.size(), line.find_first_of(",\n")));
    std::ranges::replace(line, '\t', ' ');
    const auto are_blanks = [](char left, char right) { return left == ' ' && right == ' '; };
    line.erase(std::unique(line.begin(), line.end(), are_blanks), line.end());
    return line;
}

} // namespace kith::cli
