// Ranks that are MPI's processes. MPI is initialized only if the environment says that a launcher started the program:
// MPI's own start costs time, and fails on machines where no MPI job may run.
#include "cli/launcher.hpp"
#include "cli/rank_team.hpp"

#include <kith/mpi.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace kith::cli {

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
    return {std::shared_ptr<void>(nullptr, [](void*) { MPI_Finalize(); }),
            std::make_unique<MpiCommunicator>(MPI_COMM_WORLD)};
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
