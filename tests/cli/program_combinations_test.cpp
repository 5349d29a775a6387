// Every command with every engine on every device: it answers, or it is refused before its input is read.
//
// The input does not exist, so an answer is the refusal of the file, which comes once the command line has been found
// to be possible. Nothing is written either way.
#include "cli/program.hpp"

namespace {

using kith::test::Outcome;
using Combinations = kith::test::ProgramTest;

struct Task {
    std::string command;
    std::vector<std::string> engines; ///< that it takes
    std::vector<std::string> on_gpu;  ///< of these
};

const std::vector<Task> tasks = {
    {"knn gone.npy -k 3 -o out.npz",
     {"auto", "tree", "brute", "kdtree", "clover"},
     {"auto", "tree", "brute", "kdtree", "clover"}},
    {"knn gone.npy -k 3 -o out.npz --z-order", {"auto", "tree"}, {"auto", "tree"}},
    {"knn gone.npy -k 3 -o out.npz --clover flat --hubs 5 --hub-selection kmeans++ --seed 1", {"clover"}, {"clover"}},
    {"radius gone.npy -r 1 -o out.npz", {"auto", "tree", "brute", "kdtree"}, {"auto", "tree", "kdtree"}},
    {"radius gone.npy -r 1 --count -o out.npz", {"auto", "tree", "brute", "kdtree"}, {"auto", "tree", "kdtree"}},
    {"fof gone.npy -o out.hdf5",
     {"auto", "tree", "brute", "kdtree", "spanning-tree"},
     {"auto", "tree", "brute", "kdtree", "spanning-tree"}},
    {"fof gone.npy --psi 3 -o out.hdf5",
     {"auto", "tree", "brute", "kdtree", "spanning-tree"},
     {"auto", "tree", "brute", "kdtree", "spanning-tree"}},
    {"fof gone.npy --psi-sigma 0.5 -o out.hdf5",
     {"auto", "tree", "brute", "kdtree", "spanning-tree"},
     {"auto", "tree", "brute", "kdtree", "spanning-tree"}},
    {"dbscan gone.npy --eps 1 -o out.npy", {"auto", "tree", "brute"}, {"auto", "tree"}},
    {"mst gone.npy -o out.npz", {"auto", "tree", "brute"}, {"auto", "tree"}},
    {"mst gone.npy --psi 3 -o out.npz", {"auto", "tree", "brute"}, {"auto", "tree"}},
    {"hierarchy gone.npy -o out.hdf5", {"auto", "tree", "brute"}, {"auto", "tree"}},
    {"hierarchy gone.npy --psi-sigma 0.5 -o out.hdf5", {"auto", "tree", "brute"}, {"auto", "tree"}},
};

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_F(Combinations, AreRefusedBeforeReading) {
    for (const Task& task : tasks) {
        for (const std::string engine : {"auto", "tree", "brute", "kdtree", "clover", "spanning-tree"}) {
            for (const std::string device : {"cpu", "cuda", "cuda:99"}) {
                const bool on_cpu = device == "cpu";
                const std::string arguments =
                    task.command + " --engine " + engine + (on_cpu ? "" : " --device " + device);
                const Outcome outcome = kith(arguments);
                SCOPED_TRACE(arguments + "\n" + outcome.err);
                const bool reads = outcome.err.find("gone.npy") != std::string::npos;
                EXPECT_NE(outcome.exit_code, 0);
                if (has(task.engines, engine) && on_cpu) {
                    EXPECT_TRUE(reads);
                    EXPECT_EQ(outcome.exit_code, 1);
                } else if (!has(task.engines, engine) || !has(task.on_gpu, engine)) { // on any machine
                    EXPECT_FALSE(reads);
                    EXPECT_EQ(outcome.exit_code, 2);
                    bool helps = false;
                    for (const char* remedy :
                         {"give one of: auto", "use one of: auto", "--device cpu", "leave --device", "Leave --device",
                          "no option --device", "give it, or leave them out"}) {
                        helps = helps || outcome.err.find(remedy) != std::string::npos;
                    }
                    EXPECT_TRUE(helps);
                } else if (device == "cuda:99") {
                    EXPECT_FALSE(reads);
                    EXPECT_TRUE(outcome.err.find("GPU") != std::string::npos ||
                                outcome.err.find("no CUDA") != std::string::npos);
                } else { // where there is a GPU, an answer
                    EXPECT_TRUE(reads || outcome.exit_code == 2 || outcome.err.find("GPU") != std::string::npos);
                }
            }
        }
    }
    EXPECT_TRUE(files().empty());
}

} // namespace
