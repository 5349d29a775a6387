// Rows of other ranks: the density around each particle, from the masses of its neighbors, whichever rank has them.
// Start it with mpirun -n 4. The printed numbers do not depend on the number of ranks.
#include <kith/kith.hpp>
#include <kith/mpi.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

struct Particle {
    float position[3];
    double mass;
};

/// The share of all particles that this rank has.
std::vector<Particle> particles_of(int rank, int ranks) {
    constexpr std::int64_t count = 10'000;
    std::vector<Particle> mine;
    for (std::int64_t id = count * rank / ranks; id < count * (rank + 1) / ranks; ++id) {
        std::mt19937 random(static_cast<std::uint32_t>(id));
        const auto coordinate = [&random] { return static_cast<float>(random() >> 8) * 0x1p-24F; };
        const float x = coordinate();
        const float y = coordinate();
        const float z = coordinate();
        mine.push_back({{x, y, z}, 1.0 + static_cast<double>(id % 3)});
    }
    return mine;
}

/// Collective: all ranks call it, including those without particles.
std::vector<double> densities(kith::Communicator& ranks, const std::vector<Particle>& mine) {
    constexpr std::size_t k = 32;
    const auto near = kith::knn(kith::PointsView(mine, &Particle::position), k,
                                {.box = kith::Box::periodic(1), .execution = kith::over(ranks, kith::cpu(1))});
    const auto indices = near.indices64(); // global: of particles of all ranks
    std::vector<double> masses(indices.size());
    const kith::GatherColumn columns[] = {{mine, &Particle::mass, masses}}; // one or more
    kith::gather(ranks, indices, columns);

    const auto distances = near.distances<float>();
    std::vector<double> result;
    for (std::size_t row = 0; row < masses.size(); row += k) {
        double mass = 0;
        for (std::size_t i = row; i < row + k; ++i) {
            mass += masses[i];
        }
        result.push_back(mass / (4.18879 * std::pow(static_cast<double>(distances[row + k - 1]), 3)));
    }
    return result;
}

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    {
        kith::MpiCommunicator ranks(MPI_COMM_WORLD); // a duplicate; must be freed before MPI_Finalize
        const std::vector<double> mine = densities(ranks, particles_of(ranks.rank(), ranks.size()));
        const double here = mine.empty() ? 0 : *std::ranges::max_element(mine);
        double greatest = 0;
        MPI_Reduce(&here, &greatest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (ranks.rank() == 0) {
            std::cout << "the greatest density is " << greatest << '\n';
        }
    }
    MPI_Finalize();
}
