// What a launcher (mpirun, mpiexec, srun) tells a process by environment variables. It holds for any MPI, so it shows
// that several were started together even where the MPI of this program does not: under the launcher of another MPI, or
// without MPI, each would run alone and write the files of all.
#pragma once

#include <string_view>

namespace kith::cli {

/// Whether a launcher started this process, alone or with others.
[[nodiscard]] bool is_launched();

/// Throws UsageError if the environment names more than one process; only for one that knows of no other. `built` says
/// why, as in "was built without MPI". All processes find the same, so the text of those after the first is empty,
/// unless it would go to a terminal, and not to a launcher; and they throw it later, so that a launcher that ends all
/// with the first that fails does not keep that one from speaking.
void require_alone(std::string_view built, std::string_view remedy);

} // namespace kith::cli
