// A program that was built without MPI runs alone.
#include "cli/launcher.hpp"
#include "cli/rank_team.hpp"

namespace kith::cli {

LaunchedRanks join_launched_ranks() {
    require_alone("was built without MPI",
                  "Install MPI (libopenmpi-dev or libmpich-dev) and rebuild, or run without mpirun");
    return {};
}

std::string mpi_library() {
    return "";
}

} // namespace kith::cli
