#include "cli/features.hpp"

#include <fmt/format.h>

namespace kith::cli {

std::string built_features(const std::string& mpi) {
    return fmt::format("  MPI               {}\n"
                       "  HDF5              {}\n"
                       "  CUDA              {}\n"
                       "  instruction sets  {}\n"
                       "  dimensions        {}",
                       mpi.empty() ? "no" : mpi, KITH_IO_HAS_HDF5 != 0 ? "yes" : "no", KITH_BUILT_CUDA, KITH_BUILT_SIMD,
                       KITH_BUILT_DIMS);
}

} // namespace kith::cli
