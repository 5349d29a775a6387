// Groups at every step of a simulation whose particles are distributed over ranks: MPI processes (simulation_mpi,
// started by mpirun -n 4) or threads of one process (simulation). The groups do not depend on the number of ranks. What
// the call moved, on the standard error, does.
//
//     mpirun -n 4 simulation_mpi 8               eight steps
//     mpirun -n 4 simulation_mpi 8 halves        two simulations, each by half of the processes
//     mpirun -n 4 simulation_mpi 8 gpus          on a GPU of each process
#include <kith/kith.hpp>
#ifdef SIMULATION_OVER_MPI
#include <kith/mpi.hpp>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

struct Particle {
    std::int64_t id;
    float position[3];
};

/// A start coordinate between 0 and 1, which depends only on the particle's id and the axis.
float start(std::int64_t id, int axis) {
    std::mt19937 random(static_cast<std::uint32_t>(3 * id + axis));
    return static_cast<float>(random()) * 0x1p-32F;
}

/// Every rank has some of the particles. Each particle moves toward one of five centers.
void simulate(kith::Communicator& ranks, int steps, const kith::Execution& local, int box = 0) {
    constexpr std::int64_t particles = 4000;
    std::vector<Particle> mine;
    for (std::int64_t i = particles * ranks.rank() / ranks.size(); i < particles * (ranks.rank() + 1) / ranks.size();
         ++i) {
        const std::int64_t id = particles * box + i; // another box has other particles
        mine.push_back({id, {start(id, 0), start(id, 1), start(id, 2)}});
    }
    std::vector<float> work; // what each particle cost in the previous step
    for (int step = 0; step < steps; ++step) {
        for (Particle& particle : mine) {
            for (float& x : particle.position) {
                const float goal = 0.1F + 0.2F * static_cast<float>(particle.id % 5);
                x += 0.1F * (goal - x);
            }
        }
        // Collective: all ranks call it, including those without particles.
        const kith::FofResult groups =
            kith::fof(kith::PointsView(mine, &Particle::position), kith::LinkingLength::absolute(0.03),
                      {.box = kith::Box::periodic(1),
                       .execution = kith::over(ranks, local, {.rebalance = true, .weights = work})});
        // groups.labels64()[i] is the group of mine[i], among those of all ranks.
        work = groups.distribution->work;
        if (ranks.rank() == 0) {
            std::cout << (box == 0 ? "" : "other box, ") << "step " << step << ": " << groups.groups_of_at_least(20)
                      << " groups of 20 or more, the largest of " << groups.sizes.front() << '\n';
            const kith::Traffic& traffic = groups.distribution->traffic;
            std::clog << "  rank 0 sent positions of " << traffic.bytes_migrated
                      << " bytes to the ranks that worked on them\n";
            if (traffic.bytes_from_device > 0) {
                std::clog << "  its GPU sent it " << traffic.bytes_from_device << " bytes\n";
            }
        }
    }
}

#ifdef SIMULATION_OVER_MPI
int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    const int steps = words.empty() ? 8 : std::atoi(words.front().c_str());
    try {
        kith::MpiCommunicator world(MPI_COMM_WORLD); // a duplicate; must be freed before MPI_Finalize
        // Of all processes, so that those of a machine take its GPUs in turn whatever they work on.
        const kith::Execution local = has("gpus") ? kith::cuda(kith::gpu_of_rank(world)) : kith::cpu(1);
        if (has("halves")) {
            // Calls over a part of the processes do not concern the others, which make calls of their own meanwhile.
            const int box = world.rank() % 2;
            MPI_Comm half = MPI_COMM_NULL;
            MPI_Comm_split(MPI_COMM_WORLD, box, world.rank(), &half);
            kith::MpiCommunicator ranks(half);
            MPI_Comm_free(&half);
            simulate(ranks, steps, local, box);
        } else {
            simulate(world, steps, local);
        }
    } catch (const kith::Error& error) { // on all ranks that made the call
        std::cerr << error.what() << '\n';
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
#else
int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 4;
    kith::run_ranks(count, [](kith::Communicator& ranks) { simulate(ranks, 8, kith::cpu(1)); });
}
#endif
