// Two MPI processes with two points each, one group across them; fails if an answer is wrong.
#include <kith/kith.hpp>
#include <kith/mpi.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <vector>

namespace {

int wrong_answers() {
    kith::MpiCommunicator ranks(MPI_COMM_WORLD);
    if (ranks.size() != 2) {
        std::cerr << "wrong: " << ranks.size() << " ranks in place of 2\n";
        return 1;
    }
    const std::vector<std::array<double, 3>> points = ranks.rank() == 0
                                                          ? std::vector<std::array<double, 3>>{{5, 5, 5}, {1, 2, 3}}
                                                          : std::vector<std::array<double, 3>>{{1, 2, 4}, {9, 9, 9}};
    const auto groups = kith::fof(points, kith::LinkingLength::absolute(1), {.execution = kith::over(ranks)});
    const std::vector<std::int64_t> labels =
        ranks.rank() == 0 ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{0, 2};
    const auto nearest = kith::knn(points, 1, {.exclude_self = true, .execution = kith::over(ranks)});
    const std::vector<std::int64_t> neighbors =
        ranks.rank() == 0 ? std::vector<std::int64_t>{2, 2} : std::vector<std::int64_t>{1, 0};
    const bool right = groups.groups == 3 && std::ranges::equal(groups.labels64(), labels) &&
                       std::ranges::equal(nearest.indices64(), neighbors);
    std::cerr << (right ? "" : "wrong: groups or neighbors of two ranks\n");
    return right ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int wrong = wrong_answers();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
