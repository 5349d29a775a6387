// What this program was built with, for `kith --version`.
#pragma once

#include <string>

namespace kith::cli {

/// A line for each of what a build may lack: MPI, HDF5, CUDA, instruction sets, dimensions. `mpi` names the library.
[[nodiscard]] std::string built_features(const std::string& mpi);

} // namespace kith::cli
