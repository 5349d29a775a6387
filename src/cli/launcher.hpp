// What a launcher (mpirun, mpiexec, srun) tells a process by environment variables. It holds for any MPI, so it shows
// that several were started together even where the MPI of this program does not: under the launcher of another MPI, or
// without MPI, each would run alone and write the files of all.
#pragma once

#include <string_view>

namespace kith::cli {

/// Whether a launcher started this process, alone or with others.
[[nodiscard]] bool is_launched();

/// Throws UsageError if the environment names more than one process; only for one that knows of no other. `built` says
/// with which MPI, or without any.
void require_alone(std::string_view built, std::string_view remedy);

} // namespace kith::cli
