// Runs the tests of a program on every rank of MPI; all ranks fail if one does.
#include "support/cases.hpp"

#include <kith/mpi.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    testing::InitGoogleTest(&argc, argv);
    int failed = 0;
    {
        std::optional<kith::MpiCommunicator> outlives(MPI_COMM_WORLD);
        failed = RUN_ALL_TESTS();
        // The number of failures of all: mpirun need not see the status of every process.
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Finalize();
    } // after MPI has ended there is nothing to free
    const testing::AssertionResult refused = kith::test::is_refused(
        kith::ErrorKind::invalid_argument, {"MPI is not running"}, [] { kith::MpiCommunicator late(MPI_COMM_WORLD); });
    if (!refused) { // no test is running that could fail
        std::fprintf(stderr, "%s\n", refused.message());
    }
    return failed != 0 || !refused ? 1 : 0;
}
