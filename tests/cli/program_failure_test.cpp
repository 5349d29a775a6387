// Bad data and failures end with code 1 and leave nothing behind.
#include "cli/program.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using kith::test::Outcome;
using Failure = kith::test::ProgramTest;

TEST_F(Failure, AMissingInputIsNamed) {
    const Outcome outcome = kith("fof nowhere.npy -o out.hdf5");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("nowhere.npy"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(files().empty());
}

TEST_F(Failure, AMissingDirectoryIsFoundBeforeReading) {
    const Outcome outcome = kith("fof nowhere.npy -o no/such/place/out.hdf5");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("no/such/place/out.hdf5"), std::string::npos) << outcome.err;
}

TEST_F(Failure, PointsThatAreNoNumbersAreRefused) {
    write_npy("in.npy", std::vector<double>{0, 0, 0, 1, std::numeric_limits<double>::quiet_NaN(), 1}, 3);
    for (const char* arguments :
         {"fof in.npy -o out.hdf5 --linking-length 1 --map m.png", "knn in.npy -k 1 -o out.npz"}) {
        const Outcome outcome = kith(arguments);
        EXPECT_EQ(outcome.exit_code, 1);
        EXPECT_NE(outcome.err.find("point 1 "), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find("'in.npy'"), std::string::npos) << outcome.err;
        EXPECT_EQ(outcome.out, "");
    }
    EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});

    write_npy("good.npy", std::vector<double>{0, 0, 0, 1, 1, 1}, 3);
    const Outcome outcome = kith("knn good.npy --queries in.npy -k 1 -o out.npz");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("'in.npy': queries: point 1 "), std::string::npos) << outcome.err;
}

TEST_F(Failure, AResultBeyondMemoryNamesAnOptionAsTheRemedy) {
    write_npy("in.npy", std::vector<float>(3 * 50000, 1.0F), 3);
    const Outcome outcome = kith("knn in.npy -k 2147483647 -o out.npz");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("50000 rows x 2147483647"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("(-k)"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("--queries"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("knn_visit"), std::string::npos) << outcome.err;
    EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});
}

// Where kith was built without CUDA, where there is no GPU, and where there is one.
TEST_F(Failure, AGpuThatIsNotThereIsNamed) {
    write_npy("in.npy", std::vector<float>(3 * 100, 1.0F), 3);
    for (const char* command :
         {"knn in.npy -k 3 -o out.npz", "fof in.npy --linking-length 1 -o out.hdf5", "bench in.npy",
          "radius in.npy -r 1 -o out.npz", "radius in.npy -r 1 --count -o out.npz", "dbscan in.npy --eps 1 -o out.npy",
          "mst in.npy -o out.npz", "hdbscan in.npy -o out.npz"}) {
        const Outcome outcome = kith(std::string(command) + " --device cuda:99");
        const bool lacks_cuda = outcome.err.find("no CUDA") != std::string::npos; // whose remedy is another option
        EXPECT_EQ(outcome.exit_code, lacks_cuda ? 2 : 1) << command;
        EXPECT_TRUE(outcome.err.find("GPU") != std::string::npos || outcome.err.find("CUDA") != std::string::npos)
            << outcome.err;
        EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});
    }
}

TEST_F(Failure, AClosedStandardErrorChangesNothing) {
    const std::string closed = "closed() { \"$@\" 2>&-; }; closed";
    write_npy("in.npy", std::vector<float>{0, 0, 0, 1, 1, 1}, 3);
    write_npy("q.npy", std::vector<double>{0, 0, 0}, 3);
    EXPECT_EQ(kith("knn in.npy -k 1 --queries q.npy -o warned.npz", closed).exit_code, 0); // of two types: a warning
    EXPECT_EQ(kith("knn in.npy -k 1 --queries q.npy -o plain.npz").exit_code, 0);
    EXPECT_EQ(read("warned.npz").size(), read("plain.npz").size() + 1); // the command line in it; no warning
    EXPECT_EQ(kith("knn nowhere.npy -k 1 -o out.npz", closed).exit_code, 1);
    EXPECT_EQ(kith("knn in.npy -k 0 -o out.npz", closed).exit_code, 2);
    EXPECT_EQ(kith("knn in.npy --no-such", closed).exit_code, 2);
}

TEST_F(Failure, AClosedStandardOutputIsReported) {
    write_npy("in.npy", std::vector<float>{0, 0, 0, 1, 1, 1}, 3);
    for (const char* json : {"", " --json"}) {
        const Outcome outcome =
            kith(std::string("knn in.npy -k 1 -o out.npz") + json, "closed() { \"$@\" >&-; }; closed");
        EXPECT_EQ(outcome.exit_code, 1);
        EXPECT_NE(outcome.err.find("standard output"), std::string::npos) << outcome.err;
    }
}

TEST_F(Failure, WrongNumbersOfColumnsAreThoseOfTheFile) {
    write_text("in.csv", "x,y,z,vx,vy,vz,mass\n0,0,0,1,1,1,2\n1,0,0,1,1,nan,-3\n0,1,0,1,1,1,1\n");
    write_text("good.csv", "x,y,z,mass\n0,0,0,2\n1,0,0,3\n0,1,0,1\n");
    for (const auto& [command, text] :
         {std::pair("fof in.csv --linking-length 1 -o out.hdf5", "kith: 'in.csv': masses: row 1 is -3; masses must be"),
          std::pair("fof in.csv --linking-length 1 --psi 1 -o out.hdf5", "kith: 'in.csv': velocities: point 1 has NaN"),
          std::pair("density in.csv -k 2 -o out.npz", "kith: 'in.csv': masses: row 1 is -3; masses must be"),
          std::pair("density in.csv -k 2 --number --fields velocity -o out.npz",
                    "kith: 'in.csv': velocity_z: row 1 is nan"),
          std::pair("pairs in.csv --edges 0,2 --weights", "kith: 'in.csv': the weight of point 1 in weights is -3"),
          std::pair("pairs good.csv --with in.csv --edges 0,2 --weights",
                    "kith: 'in.csv': the weight of point 1 is -3")}) {
        const Outcome outcome = kith(command);
        EXPECT_EQ(outcome.exit_code, 1) << command;
        EXPECT_NE(outcome.err.find(text), std::string::npos) << command << ": " << outcome.err;
    }
    EXPECT_EQ(files(), (std::vector<std::string>{"good.csv", "in.csv"}));
}

TEST_F(Failure, ResultsWithoutMemoryHaveOneRemedy) {
    write_npy("in.npy", std::vector<float>(3000, 0), 3);
    const Outcome outcome = kith("knn in.npy -k 2000000000 -o out.npz");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("ask for fewer neighbors (-k)"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("radius"), std::string::npos) << outcome.err;
}

TEST_F(Failure, ABoxThatIsNotThisDatasIsRefused) {
    write_npy("in.npy", std::vector<double>{0, 0, 0, 100, 100, 100}, 3);
    EXPECT_EQ(kith("knn in.npy -k 1 -o out.npz --box 1").exit_code, 1);
    EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});
}

TEST_F(Failure, PointsInOnePlaceNeedAnAbsoluteLength) {
    write_npy("in.npy", std::vector<double>{1, 1, 1, 1, 1, 1}, 3);
    const Outcome relative = kith("fof in.npy -o out.hdf5");
    EXPECT_EQ(relative.exit_code, 2);
    EXPECT_NE(relative.err.find("absolute"), std::string::npos) << relative.err;
    EXPECT_EQ(kith("fof in.npy -o out.hdf5 --linking-length 0").exit_code, 0);
}

TEST_F(Failure, AFullDiskLeavesNothingAndKeepsOlderFiles) {
    // 100,000 labels need 400 kB; the shell allows files of 64 kB (or 32, where its blocks are of 512 bytes).
    std::vector<float> points;
    for (int i = 0; i < 200000; ++i) {
        points.push_back(static_cast<float>(i));
    }
    write_npy("in.npy", points, 2);
    ASSERT_EQ(kith("fof in.npy -o out.hdf5 --linking-length 0.5").exit_code, 0);
    const std::string older = read("out.hdf5");
    const Outcome outcome = kith("fof in.npy -o out.hdf5 --linking-length 0.25 --labels labels.npy", "ulimit -f 64;");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("labels.npy"), std::string::npos) << outcome.err; // not the name it is staged under
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(files(), (std::vector<std::string>{"in.npy", "out.hdf5"}));
    EXPECT_EQ(read("out.hdf5"), older);
}

} // namespace
