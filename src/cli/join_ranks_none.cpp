// A program that was built without MPI runs alone.
#include "cli/launcher.hpp"
#include "cli/rank_team.hpp"

namespace kith::cli {

LaunchedRanks join_launched_ranks() {
    require_alone("without MPI", "build it where CMake finds MPI (KITH_MPI=ON), or start it without a launcher");
    return {};
}

} // namespace kith::cli
