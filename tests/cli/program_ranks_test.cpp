// The program under mpirun: the same files as one process writes, byte for byte, and one text for a failure.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using kith::test::Outcome;
using Json = nlohmann::json;

std::size_t occurrences(const std::string& text, const std::string& word) {
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        ++count;
    }
    return count;
}

class Ranks : public kith::test::ProgramTest {
protected:
    [[nodiscard]] Outcome over(int ranks, const std::string& arguments, const std::string& before = "") const {
        return kith(arguments, before + " " KITH_MPIEXEC " " KITH_MPIEXEC_NUMPROC_FLAG " " + std::to_string(ranks));
    }

    /// Runs the command alone and over ranks, and compares all files that it writes. Three ranks have unequal parts of
    /// most files, and one has none of two points. Other numbers are for one command of each kind; tests/distributed has
    /// the calls themselves over all of them.
    void expect_same_files(const std::string& arguments, const std::vector<std::string>& outputs,
                           const std::vector<int>& counts = {3}) const {
        const Outcome alone = kith(arguments);
        ASSERT_EQ(alone.exit_code, 0) << arguments << "\n" << alone.err;
        std::vector<std::string> expected;
        for (const std::string& output : outputs) {
            expected.push_back(read(output));
            ASSERT_FALSE(expected.back().empty()) << output;
            std::filesystem::remove(directory_ / output);
        }
        for (const int ranks : counts) {
            const Outcome outcome = over(ranks, arguments);
            ASSERT_EQ(outcome.exit_code, 0) << ranks << " ranks: " << arguments << "\n" << outcome.err;
            EXPECT_EQ(outcome.err, alone.err) << ranks << " ranks: " << arguments;
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                EXPECT_TRUE(read(outputs[i]) == expected[i]) << ranks << " ranks: " << arguments << ": " << outputs[i];
                std::filesystem::remove(directory_ / outputs[i]);
            }
        }
    }

    /// Half of them uniform, half in four clumps, in the order of the first coordinate.
    [[nodiscard]] static std::vector<double> clumps(int count, int columns) {
        std::mt19937_64 draw(7);
        const auto uniform = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
        std::vector<std::vector<double>> rows;
        for (int i = 0; i < count; ++i) {
            std::vector<double>& row = rows.emplace_back();
            for (int axis = 0; axis < columns; ++axis) {
                row.push_back(i % 2 == 0 ? uniform() : 0.2 * (1 + i % 8 / 2) + 0.01 * uniform());
            }
        }
        std::sort(rows.begin(), rows.end());
        std::vector<double> values;
        for (const std::vector<double>& row : rows) {
            values.insert(values.end(), row.begin(), row.end());
        }
        return values;
    }
    [[nodiscard]] static std::vector<float> as_floats(const std::vector<double>& values) {
        return {values.begin(), values.end()};
    }
};

TEST_F(Ranks, NeighborsAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    write_npy("wide.npy", clumps(301, 2), 2);
    write_npy("few.npy", as_floats(clumps(2, 3)), 3);
    expect_same_files("knn points.npy -k 9 --box 1 -o near.npz", {"near.npz"}, {1, 2, 5});
    expect_same_files("knn points.npy -k 9 --exclude-self --squared -o near.hdf5", {"near.hdf5"});
    expect_same_files("knn wide.npy -k 3 --max-distance 0.01 -o near.npz", {"near.npz"});
    expect_same_files("knn points.npy --queries few.npy -k 4 -o near.npz", {"near.npz"});
    expect_same_files("knn few.npy --queries points.npy -k 4 -o near.npz", {"near.npz"}); // ranks without points
}

TEST_F(Ranks, GroupsAndAllTheirFilesAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    expect_same_files("fof points.npy --box 1 -b 0.2 --min-members 5 -o groups.hdf5 --labels labels.npy --grp all.grp "
                      "--gtp all.gtp --table groups.csv --map map.png",
                      {"groups.hdf5", "labels.npy", "all.grp", "all.gtp", "groups.csv", "map.png"}, {1, 2, 5});
    expect_same_files("fof points.npy --box 1 --min-members 5 -o groups.hdf5 --labels labels.npy --grp all.grp --gtp "
                      "all.gtp --table groups.ecsv", // without rows of other ranks on rank 0
                      {"groups.hdf5", "labels.npy", "all.grp", "all.gtp", "groups.ecsv"}, {1, 2, 5});
    expect_same_files("fof points.npy --min-members 2000 -o groups.hdf5 --labels labels.npy",
                      {"groups.hdf5", "labels.npy"}); // no groups
    write_npy("few.npy", as_floats(clumps(2, 3)), 3); // ranks without points
    expect_same_files("fof few.npy --linking-length 0.1 --min-members 1 -o groups.hdf5 --labels labels.npy",
                      {"groups.hdf5", "labels.npy"});
    std::string table = "x y z vx vy vz mass id\n"; // a format that each rank reads whole
    for (int i = 0; i < 60; ++i) {
        table += std::to_string(i % 7) + " " + std::to_string(i / 7) + " 0.5 1 2 " + std::to_string(i) + " 1.5 " +
                 std::to_string(1000 - i) + "\n";
    }
    write_text("points.txt", table);
    expect_same_files("fof points.txt --linking-length 1 --min-members 2 -o groups.hdf5", {"groups.hdf5"});
    expect_same_files("fof points.txt --linking-length 1 --min-members 2 -o groups.hdf5 --map map.png --slice 0:1",
                      {"groups.hdf5", "map.png"});
}

TEST_F(Ranks, ClustersAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    write_npy("few.npy", as_floats(clumps(2, 3)), 3); // ranks without points
    expect_same_files("dbscan points.npy --eps 0.01 --box 1 -o labels.npy", {"labels.npy"}, {1, 2, 5});
    expect_same_files("dbscan points.npy --eps 0.01 --star -o labels.txt", {"labels.txt"});
    expect_same_files("dbscan points.npy --eps 0.01 --min-samples 8 -o clusters.hdf5", {"clusters.hdf5"});
    expect_same_files("dbscan few.npy --eps 0.5 --min-samples 1 -o clusters.hdf5", {"clusters.hdf5"});
}

TEST_F(Ranks, ClustersOfDensitiesAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    write_npy("few.npy", as_floats(clumps(2, 3)), 3); // ranks without points
    expect_same_files("hdbscan points.npy --min-cluster-size 20 --box 1 -o clusters.npz --picture tree.png",
                      {"clusters.npz", "tree.png"}, {1, 2, 5});
    expect_same_files("hdbscan points.npy --min-samples 4 --leaves --epsilon 0.002 -o clusters.hdf5",
                      {"clusters.hdf5"});
    expect_same_files("hdbscan few.npy --min-samples 2 -o clusters.npz", {"clusters.npz"});
    const Json json = Json::parse(over(3, "hdbscan points.npy --min-cluster-size 20 --json").out);
    const Json alone = Json::parse(kith("hdbscan points.npy --min-cluster-size 20 --json").out);
    for (const char* fact : {"n", "clusters", "noise_points", "largest", "condensed_clusters"}) {
        EXPECT_EQ(json[fact], alone[fact]) << fact;
    }
}

TEST_F(Ranks, TreesAndLevelsAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    write_npy("wide.npy", clumps(301, 2), 2);
    write_npy("few.npy", as_floats(clumps(2, 3)), 3); // ranks without points
    expect_same_files("mst points.npy --box 1 -o tree.npz", {"tree.npz"}, {1, 2, 5});
    expect_same_files("mst wide.npy -o tree.hdf5", {"tree.hdf5"});
    expect_same_files("mst few.npy -o tree.npz", {"tree.npz"});
    expect_same_files("hierarchy points.npy --box 1 -b 0.1,0.2,0.5 --min-members 3 --with-labels -o levels.hdf5",
                      {"levels.hdf5"}, {1, 2, 5});
    expect_same_files("hierarchy wide.npy --linking-length 0.01,0.02 --min-members 1 -o levels.hdf5", {"levels.hdf5"});
    expect_same_files("hierarchy few.npy --linking-length 0.1,9 --min-members 2 --with-labels -o levels.hdf5",
                      {"levels.hdf5"});
    expect_same_files("hierarchy points.npy --min-members 2001 -o levels.hdf5", {"levels.hdf5"}); // no groups
    expect_same_files(
        "fof points.npy --box 1 --engine spanning-tree --min-members 5 -o groups.hdf5 --labels labels.npy",
        {"groups.hdf5", "labels.npy"});
    for (const char* arguments : {"mst points.npy --box 1 -o tree.npz --json",
                                  "hierarchy points.npy -b 0.1,0.3 --min-members 3 -o levels.hdf5 --json"}) {
        const auto alone = Json::parse(kith(arguments).out);
        const auto json = Json::parse(over(3, arguments).out);
        for (const auto& [name, value] : alone.items()) {
            if (name.find("seconds") == std::string::npos && name.find("bytes") == std::string::npos) {
                EXPECT_EQ(json[name], value) << name;
            }
        }
        EXPECT_GT(json["ranks"]["bytes_received"], 0);
    }
}

TEST_F(Ranks, SortedSnapshotsAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    ASSERT_EQ(kith("fof points.npy --box 1 -b 0.2 --min-members 2 -o groups.hdf5 --gtp stars").exit_code, 0); // Tipsy
    const std::string fof = "--linking-length 0.05 --min-members 2 -o groups.hdf5 --map map.png --sorted-snapshot ";
    expect_same_files("fof stars " + fof + "sorted.hdf5", {"groups.hdf5", "map.png", "sorted.hdf5"}, {1, 2, 5});
    ASSERT_EQ(kith("fof stars " + fof + "sorted.hdf5").exit_code, 0);
    expect_same_files("fof sorted.hdf5 " + fof + "again.hdf5", {"groups.hdf5", "map.png", "again.hdf5"});
}

TEST_F(Ranks, HalosAreThoseOfOneProcess) {
    std::string table = "x y z vx vy vz mass id\n";
    const std::vector<double> points = clumps(1200, 3);
    for (std::size_t i = 0; i < 1200; ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            table += std::to_string(points[3 * i + axis]) + " ";
        }
        table += std::to_string(i % 50 == 0 ? 500 : i * 37 % 11) + " " + std::to_string(i * 5 % 7) + " 0.5 " +
                 std::to_string(1 + i % 3) + " " + std::to_string(i * 7 % 1200) + "\n";
    }
    write_text("points.txt", table);
    const std::string halos = "halos points.txt --box 1 -b 0.2 -o halos.hdf5 ";
    const std::string gravity = "--G 1 --hubble 20 --omega-matter 0.3 ";
    expect_same_files(halos + gravity + "--table halos.ecsv --map map.png --slice 0.2:0.7",
                      {"halos.hdf5", "halos.ecsv", "map.png"}, {2, 5});
    expect_same_files(halos + "--unbind no --outermost --softening 0.01 --min-members 5 --table halos.csv",
                      {"halos.hdf5", "halos.csv"});
    expect_same_files(halos + gravity + "--rebalance --table halos.ecsv", {"halos.hdf5", "halos.ecsv"});
    expect_same_files(halos + "--G 1 --hubble 20 --bound-only --min-members 1100 --table halos.csv",
                      {"halos.hdf5", "halos.csv"}, {2}); // none
    const auto json = Json::parse(over(3, halos + gravity + "--json").out);
    const auto alone = Json::parse(kith(halos + gravity + "--json").out);
    for (const char* fact : {"groups", "halos", "bound", "overdensities", "softening"}) {
        EXPECT_EQ(json[fact], alone[fact]) << fact;
    }
    EXPECT_GE(json["halos"], 4);
    EXPECT_LT(json["bound"], json["grouped"]);
    write_npy("few.npy", as_floats(clumps(2, 3)), 3); // ranks without points
    expect_same_files("halos few.npy --linking-length 0.1 --min-members 1 -o halos.hdf5", {"halos.hdf5"});
}

TEST_F(Ranks, CountsAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    write_npy("few.npy", as_floats(clumps(7, 3)), 3);
    expect_same_files("radius points.npy -r 0.05 --box 1 --count -o counts.npz", {"counts.npz"}, {1, 2, 5});
    expect_same_files("radius points.npy -r 0.05 --count --exclude-self -o counts.hdf5", {"counts.hdf5"});
    expect_same_files("radius points.npy --queries few.npy -r 0.2 --count -o counts.npz", {"counts.npz"});
    const Json json = Json::parse(over(3, "radius points.npy -r 0.05 --box 1 --count -o counts.npz --json").out);
    const Json alone = Json::parse(kith("radius points.npy -r 0.05 --box 1 --count -o counts.npz --json").out);
    EXPECT_EQ(json["neighbors"], alone["neighbors"]);
    EXPECT_EQ(json["queries"], 2000);
}

TEST_F(Ranks, DensitiesAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    write_npy("few.npy", as_floats(clumps(7, 3)), 3);
    expect_same_files("density points.npy -k 20 --box 1 -o density.npy", {"density.npy"}, {1, 2, 5});
    expect_same_files("density points.npy --kernel wendland-c4 --exclude-self -o density.hdf5", {"density.hdf5"});
    expect_same_files("density points.npy --queries few.npy -k 9 -o density.npz",
                      {"density.npz"}); // ranks without rows
    expect_same_files("density few.npy --queries points.npy -k 9 -o density.npz", {"density.npz"});
    std::string table = "x y z mass\n"; // of other masses on the last rank alone
    for (int i = 0; i < 60; ++i) {
        table += std::to_string(i * 7 % 13) + " " + std::to_string(i % 5) + " " + std::to_string(i % 7) +
                 (i < 50 ? " 1\n" : " 2\n");
    }
    write_text("masses.txt", table);
    expect_same_files("density masses.txt -k 5 -o density.npz", {"density.npz"});
    expect_same_files("density masses.txt -r 3 --fields mass --statistics mean,variance,gradient --density-gradient "
                      "-o density.hdf5",
                      {"density.hdf5"}, {1, 3});
    expect_same_files("density masses.txt -k 5 --fields mass --statistics sum,least,greatest -o density.npz",
                      {"density.npz"}, {4});
    const Json json = Json::parse(over(3, "density points.npy -o density.npy --json").out);
    const Json alone = Json::parse(kith("density points.npy -o density.npy --json").out);
    EXPECT_EQ(json["density"], alone["density"]);
    EXPECT_EQ(json["queries"], 2000);
}

TEST_F(Ranks, PairsAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    write_npy("few.npy", as_floats(clumps(7, 3)), 3);
    expect_same_files("pairs points.npy --edges 0:0.5:10 --box 1 -o pairs.npz", {"pairs.npz"}, {1, 2, 5});
    expect_same_files("pairs points.npy --edges 0.01:0.1:5log --pi 0,0.05,0.2 --separations -o pairs.hdf5",
                      {"pairs.hdf5"});
    expect_same_files("pairs points.npy --with few.npy --edges 0:2:4 --mu 0,0.5,1 -o pairs.npz", {"pairs.npz"});
    const Json json = Json::parse(over(3, "pairs points.npy --edges 0:0.5:10 --json").out);
    const Json alone = Json::parse(kith("pairs points.npy --edges 0:0.5:10 --json").out);
    EXPECT_EQ(json["counts"], alone["counts"]);
    EXPECT_GT(json["ranks"]["bytes_received"], 0);
}

TEST_F(Ranks, NeighborsWithinARadiusAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    write_npy("wide.npy", clumps(301, 2), 2);
    write_npy("few.npy", as_floats(clumps(2, 3)), 3);
    expect_same_files("radius points.npy -r 0.02 --box 1 -o near.npz", {"near.npz"}, {1, 2, 5});
    expect_same_files("radius points.npy -r 0.02 --exclude-self --sort index -o near.hdf5", {"near.hdf5"});
    expect_same_files("radius wide.npy -r 0.01 -o near.hdf5", {"near.hdf5"});
    expect_same_files("radius points.npy --queries few.npy -r 0.1 -o near.npz", {"near.npz"}); // ranks without rows
    expect_same_files("radius few.npy --queries points.npy -r 0.1 -o near.npz", {"near.npz"});
    write_npy("many.npy", as_floats(clumps(3000, 3)), 3); // more than a block from each rank
    expect_same_files("radius many.npy -r 2 --sort index -o near.hdf5", {"near.hdf5"}, {2});
    const Json json = Json::parse(over(3, "radius points.npy -r 0.02 --box 1 -o near.npz --json").out);
    const Json alone = Json::parse(kith("radius points.npy -r 0.02 --box 1 -o near.npz --json").out);
    EXPECT_EQ(json["neighbors"], alone["neighbors"]);
    EXPECT_EQ(json["queries"], 2000);
}

TEST_F(Ranks, RebalancedAnswersAreThoseOfOneProcess) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    expect_same_files("knn points.npy -k 9 --box 1 --rebalance -o near.npz", {"near.npz"});
    expect_same_files("radius points.npy -r 0.05 --box 1 --rebalance -o within.npz", {"within.npz"});
    expect_same_files("fof points.npy --box 1 --min-members 5 --rebalance -o groups.hdf5 --labels labels.npy",
                      {"groups.hdf5", "labels.npy"});
    expect_same_files("density points.npy -k 9 --box 1 --rebalance -o density.npz", {"density.npz"});
    expect_same_files("pairs points.npy --edges 0:0.5:10 --box 1 --rebalance -o pairs.npz", {"pairs.npz"});
    expect_same_files("mst points.npy --box 1 --rebalance -o tree.npz", {"tree.npz"});
    expect_same_files("dbscan points.npy --box 1 --eps 0.01 --rebalance -o clusters.hdf5", {"clusters.hdf5"});
    expect_same_files(
        "hierarchy points.npy --box 1 -b 0.1,0.2,0.4 --rebalance --min-members 3 --with-labels -o levels.hdf5",
        {"levels.hdf5"});
    // Of rows that are scattered over the file, others travel than without the option.
    std::vector<double> points = clumps(2000, 3);
    std::vector<double> scattered;
    for (std::size_t i = 0; i < 2000; ++i) {
        const std::size_t from = 3 * (i * 777 % 2000);
        scattered.insert(scattered.end(), points.begin() + static_cast<std::ptrdiff_t>(from),
                         points.begin() + static_cast<std::ptrdiff_t>(from + 3));
    }
    write_npy("scattered.npy", as_floats(scattered), 3);
    for (const char* command :
         {"knn scattered.npy -k 4 -o near.npz", "mst scattered.npy -o tree.npz",
          "density scattered.npy -k 4 -o density.npy", "pairs scattered.npy --edges 0,0.01",
          "dbscan scattered.npy --eps 0.01 -o clusters.hdf5", "hierarchy scattered.npy -b 0.2 -o levels.hdf5"}) {
        const auto traffic = [&](const std::string& option) {
            return Json::parse(over(3, std::string(command) + " --json " + option).out)["ranks"];
        };
        const Json with = traffic("--rebalance");
        const Json without = traffic("");
        EXPECT_NE(with["bytes_received"], without["bytes_received"]) << command;
        EXPECT_GT(with["bytes_migrated"], 3 * 4 * 1000) << command; // coordinates of two thirds of the points
        EXPECT_EQ(without["bytes_migrated"], 0) << command;
    }
    const std::string text = over(3, "pairs scattered.npy --edges 0,0.01 --rebalance").out;
    EXPECT_NE(text.find("; points of "), std::string::npos) << text;
}

TEST_F(Ranks, GroupsInPhaseSpaceAndOfSamplesAreThoseOfOneProcess) {
    std::string table = "x y z vx vy vz mass id\n";
    const std::vector<double> points = clumps(300, 3);
    for (std::size_t i = 0; i < 300; ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            table += std::to_string(points[3 * i + axis]) + " ";
        }
        table += std::to_string(i * 37 % 11) + " " + std::to_string(i * 5 % 7) + " 0.5 " + std::to_string(1 + i % 3) +
                 " " + std::to_string(i) + "\n";
    }
    write_text("points.txt", table);
    for (const char* options :
         {"--psi 5 --min-members 2", "--psi-sigma 0.8 --min-members 2", "--sample 100 --min-members 2",
          "--sample 100 --seed 3 --psi-sigma 1 --min-members 2", "--sample 1 --min-members 1", "--sample 1000"}) {
        expect_same_files(std::string("fof points.txt --box 1 -b 0.7 -o groups.hdf5 --labels labels.npy ") + options,
                          {"groups.hdf5", "labels.npy"});
    }
}

TEST_F(Ranks, RealSnapshotsInSeveralFilesAndWithSeveralTypes) {
    const std::filesystem::path data = KITH_SHARED_DATA;
    if (!std::filesystem::exists(data)) {
        GTEST_SKIP() << data << " is not there";
    }
    for (const char* file : {"gadget_bin/snap_002.0", "gadget_bin/lcdm_gas_bigendian.dat", "tipsy/run99.std",
                             "hdf5/SimSpin_example_EAGLE.hdf5"}) {
        if (!std::filesystem::exists(data / file)) {
            continue;
        }
        const std::string path = "'" + (data / file).string() + "'";
        const std::string fof = "fof " + path + " -o groups.hdf5 --labels labels.npy ";
        expect_same_files(fof + "--types all --min-members 10", {"groups.hdf5", "labels.npy"});
        expect_same_files(fof + "--min-members 2 --grp all.grp --table groups.csv", // rows that are not selected
                          {"groups.hdf5", "labels.npy", "all.grp", "groups.csv"}, {4});
        expect_same_files(fof + "--min-members 2 --sample 300", {"groups.hdf5", "labels.npy"}, {2});
        expect_same_files(fof + "--min-members 2 --sorted-snapshot sorted.hdf5",
                          {"groups.hdf5", "labels.npy", "sorted.hdf5"}, {2});
        expect_same_files("halos " + path +
                              " --types all --min-overdensity 80 --omega-sim 2 --G 43009 --hubble 0.1 --omega-matter "
                              "0.3 -o halos.hdf5 --table halos.csv --sorted-snapshot sorted.hdf5",
                          {"halos.hdf5", "halos.csv", "sorted.hdf5"});
        expect_same_files("knn " + path + " -k 4 -o near.npz", {"near.npz"});
        expect_same_files("radius " + path + " -r 0.01 -o near.hdf5", {"near.hdf5"});
        expect_same_files("dbscan " + path + " --eps 0.01 -o clusters.hdf5", {"clusters.hdf5"});
    }
}

TEST_F(Ranks, TheSummaryHasVolumesMessagesAndSecondsOfAllRanks) {
    write_npy("points.npy", as_floats(clumps(2000, 3)), 3);
    const Outcome outcome = over(3, "knn points.npy -k 9 -o near.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out); // one object
    EXPECT_EQ(json["n"], 2000);
    EXPECT_EQ(json["queries"], 2000);
    EXPECT_EQ(json["ranks"]["count"], 3);
    EXPECT_GT(json["ranks"]["bytes_received"], 0);
    EXPECT_LE(json["ranks"]["most_bytes_received"], json["ranks"]["bytes_received"]);
    EXPECT_GT(json["ranks"]["messages"], 0);
    EXPECT_EQ(json["ranks"]["devices"], Json::array({"cpu", "cpu", "cpu"}));
    EXPECT_EQ(json["ranks"]["bytes_from_device"], 0);
    for (const auto& [stage, seconds] : json["seconds"].items()) {
        if (stage != "total") { // which goes on
            EXPECT_GE(json["ranks"]["most_seconds"][stage], seconds) << stage;
        }
    }
    EXPECT_TRUE(json["ranks"]["most_seconds"].contains("search pieces"));
    const Outcome text = over(3, "fof points.npy -o groups.hdf5");
    EXPECT_EQ(occurrences(text.out, "ranks    3; "), 1U) << text.out;
    EXPECT_EQ(occurrences(text.out, "points   2,000 in 3 dimensions"), 1U) << text.out;
}

TEST_F(Ranks, AFailureIsToldOnceAndLeavesNoFile) {
    std::vector<double> points = clumps(100, 3);
    write_npy("points.npy", points, 3);
    points[3 * 95] = std::numeric_limits<double>::quiet_NaN(); // of the last rank
    write_npy("bad.npy", points, 3);
    write_text("nonsense.npy", "no numbers");
    const std::vector<std::string> before = files();
    for (const auto& [arguments, exit_code, text] :
         {std::tuple("knn bad.npy -k 3 -o near.npz", 1, "has NaN as coordinate 0"),
          std::tuple("fof bad.npy -o groups.hdf5", 1, "has NaN as coordinate 0"),
          std::tuple("knn nonsense.npy -k 3 -o near.npz", 1, "nonsense.npy"),
          std::tuple("knn gone.npy -k 3 -o near.npz", 1, "gone.npy"),
          std::tuple("knn points.npy -k 0 -o near.npz", 2, "-k is '0'"),
          std::tuple("knn points.npy -k 3 -o near.txt", 2, "must end in .npz"),
          std::tuple("knn points.npy -k 3 -o gone/near.npz", 1, "its directory does not exist"),
          std::tuple("knn points.npy -k 3 --engine brute -o near.npz", 2, "does not work over ranks"),
          std::tuple("fof points.npy --psi 3 -o groups.hdf5", 2, "'points.npy' has no velocities"),
          std::tuple("radius points.npy -r 1 --count --sort index -o near.npz", 2, "leave --sort out"),
          std::tuple("pairs points.npy --edges 0,1 --pi 0,1 --mu 0,1", 2, "--pi and --mu are both given"),
          std::tuple("pairs points.npy --edges 2,1", 2, "kith: --edges[1] is 1, less than the one before"),
          std::tuple("mst points.npy --engine brute -o tree.npz", 2, "does not work over ranks"),
          std::tuple("hierarchy points.npy -b 0.2,0.1 -o levels.hdf5", 2, "ascending order"),
          std::tuple("hierarchy points.npy --psi 3 -o levels.hdf5", 2, "'points.npy' has no velocities"),
          std::tuple("mst points.npy --psi 3 -o tree.npz", 2, "'points.npy' has no velocities"),
          std::tuple("mst points.npy -b 0.2 -o tree.npz", 2, "without --psi"),
          std::tuple("fof points.npy --engine kdtree -o groups.hdf5", 2, "does not work over ranks"),
          std::tuple("dbscan points.npy --eps 0.1 --engine brute -o labels.npy", 2, "does not work over ranks"),
          std::tuple("density points.npy --device cuda -o density.npy", 2, "does not work over ranks"),
          std::tuple("pairs points.npy --edges 0:1:2 --device cuda -o pairs.npz", 2, "does not work over ranks"),
          std::tuple("mst points.npy --device cuda -o tree.npz", 2, "does not work over ranks"),
          std::tuple("hierarchy points.npy -b 0.2 --device cuda -o levels.hdf5", 2, "does not work over ranks"),
          std::tuple("fof points.npy --engine spanning-tree --device cuda -o groups.hdf5", 2,
                     "does not work over ranks"),
          std::tuple("knn points.npy -k 3 --device gpu -o near.npz", 2, "--device is 'gpu'"),
          std::tuple("info points.npy", 2,
                     "kith info runs in one process, but 3 were started together; start it without mpirun (fof, halos, "
                     "knn, radius, dbscan, hdbscan, hierarchy, mst, density, pairs run over ranks)"),
          std::tuple("fof points.npy -b 0.2 -o groups.hdf5 --map map.png --slice 50:60", 2,
                     "--slice is 50:60, but no point has a third coordinate in that range: they are from "),
          std::tuple("nonsense", 2, "'nonsense' is not a subcommand")}) {
        const Outcome outcome = over(3, arguments);
        EXPECT_EQ(outcome.exit_code, exit_code) << arguments << "\n" << outcome.err;
        EXPECT_EQ(occurrences(outcome.err, text), 1U) << arguments << "\n" << outcome.err;
        EXPECT_EQ(occurrences(outcome.err, "kith: "), 1U) << arguments << "\n" << outcome.err;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_EQ(files(), before) << arguments;
    }
    for (const char* command : {"knn points.npy -k 3 -o near.npz", "radius points.npy -r 1 -o near.npz",
                                "fof points.npy -b 0.2 -o groups.hdf5", "dbscan points.npy --eps 0.1 -o labels.npy"}) {
        const Outcome outcome = over(3, std::string(command) + " --device cuda:1000"); // no machine has it
        EXPECT_NE(outcome.exit_code, 0) << command;
        EXPECT_EQ(occurrences(outcome.err, "kith: "), 1U) << command << "\n" << outcome.err;
        EXPECT_EQ(files(), before) << command;
    }
    EXPECT_EQ(occurrences(over(3, "--version").out, "kith "), 1U);
    EXPECT_EQ(occurrences(over(2, "knn --help").out, "Usage"), 1U);
}

TEST_F(Ranks, DifferentCommandsAreRefused) {
    write_npy("points.npy", as_floats(clumps(100, 3)), 3);
    const std::string command = "knn points.npy -k 3 -o near.npz";
    for (const std::string& other : {std::string("mst points.npy"), command + " --queries points.npy"}) {
        const Outcome outcome = kith(command, KITH_MPIEXEC " " KITH_MPIEXEC_NUMPROC_FLAG " 1 " KITH_PROGRAM " " +
                                                  other + " : " KITH_MPIEXEC_NUMPROC_FLAG " 1");
        EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
        EXPECT_EQ(outcome.err, "kith: rank 1 was started as 'kith " + command + "', rank 0 as 'kith " + other +
                                   "'; start all with the same command\n");
    }
}

TEST_F(Ranks, HelpPromisesGpusOfRanksWhereTheyAreNotRefused) {
    write_npy("points.npy", as_floats(clumps(100, 3)), 3);
    for (const char* command :
         {"knn points.npy -k 3 -o out.npz", "radius points.npy -r 0.1 -o out.npz", "fof points.npy -o out.hdf5",
          "dbscan points.npy --eps 0.1", "halos points.npy -o out.hdf5", "density points.npy -o out.npz",
          "pairs points.npy --edges 0,1", "mst points.npy -o out.npz", "hierarchy points.npy -o out.hdf5",
          "hdbscan points.npy"}) {
        const std::string text = command;
        const bool is_refused =
            over(2, text + " --device cuda").err.find("--device cuda does not work over ranks") != std::string::npos;
        const std::string help = kith(text.substr(0, text.find(' ')) + " --help").out;
        EXPECT_EQ(occurrences(help, "GPUs are not used over ranks"), is_refused ? 1U : 0U) << help;
    }
}

TEST_F(Ranks, ErrorsAreThoseOfOneProcess) {
    std::vector<double> points = clumps(100, 3);
    write_npy("points.npy", points, 3);
    points[3 * 95 + 1] = std::numeric_limits<double>::infinity(); // of the last rank
    points[3 * 97] = std::numeric_limits<double>::quiet_NaN();
    write_npy("bad.npy", points, 3);
    points[3 * 60 + 2] = std::numeric_limits<double>::quiet_NaN(); // of rank 1 of three
    write_npy("worse.npy", points, 3);
    write_npy("near_zero.npy", as_floats({1e-30, 0, 0, 2e-30, 0, 0}), 3);
    write_npy("far.npy", as_floats({0, 0, 0, 1e-30, 0, 0, 0, 0, 0, 3e38F, 0, 0}), 3);
    std::string table = "x y z mass\n";
    for (int i = 0; i < 60; ++i) {
        table += std::to_string(i) + " " + std::to_string(i % 5) + " " + std::to_string(i % 7) +
                 (i == 45 || i == 57 ? " -2\n" : " 1\n");
    }
    write_text("masses.txt", table);
    for (const char* arguments :
         {"knn bad.npy -k 3 -o near.npz", "knn worse.npy -k 3 -o near.npz", "fof worse.npy -o groups.hdf5",
          "fof masses.txt -o groups.hdf5", "knn points.npy --queries bad.npy -k 3 -o near.npz",
          "knn bad.npy --queries points.npy -k 3 -o near.npz", "knn worse.npy --queries bad.npy -k 3 -o near.npz",
          "knn near_zero.npy --queries far.npy -k 1 -o near.npz", "knn points.npy -k 3 --box 0.001 -o near.npz",
          "fof points.npy --box 0.001 -o groups.hdf5", "knn points.npy -k 3 --box 1,1 -o near.npz",
          "mst worse.npy -o tree.npz", "hierarchy bad.npy -o levels.hdf5",
          "hierarchy points.npy --linking-length 1e-300 -o levels.hdf5", "radius bad.npy -r 0.1 -o near.npz",
          "dbscan worse.npy --eps 0.1 -o labels.npy", "fof points.npy --linking-length 1e-300 -o groups.hdf5"}) {
        const Outcome alone = kith(arguments);
        EXPECT_NE(alone.exit_code, 0) << arguments;
        const Outcome outcome = over(3, arguments);
        EXPECT_EQ(outcome.exit_code, alone.exit_code) << arguments;
        EXPECT_EQ(outcome.err, alone.err) << arguments;
    }
}

TEST_F(Ranks, WarningsAreThoseOfOneProcess) {
    write_npy("points.npy", clumps(200, 3), 3);
    write_npy("narrow.npy", as_floats(clumps(200, 3)), 3);
    write_npy("placeholder.npy", as_floats({0, 0, 0, 1e-3F, 0, 0, 0, 1e-3F, 0, 0, 0, 1e-3F, 1e30F, 0, 0}), 3);
    // Whole numbers that are rounded, in the last rows alone, and thus on the last rank alone.
    std::vector<std::int64_t> whole(3 * 50);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        whole[i] = static_cast<std::int64_t>(i) + (i > 140 ? (std::int64_t{1} << 53) + 1 : 0);
    }
    write_npy("whole.npy", whole, 3);
    std::string table = "x y z mass\n"; // other masses on the last rank alone
    for (int i = 0; i < 60; ++i) {
        table +=
            std::to_string(i) + " " + std::to_string(i % 5) + " " + std::to_string(i % 7) + (i < 50 ? " 1\n" : " 2\n");
    }
    write_text("masses.txt", table);
    table = "x y z mass\n"; // the largest mass on the last rank alone; its square is 1e-300
    for (int i = 0; i < 60; ++i) {
        table += std::to_string(i) + " " + std::to_string(i % 5) + " " + std::to_string(i % 7) +
                 (i < 50 ? " 0\n" : " 1e-150\n");
    }
    write_text("tiny.txt", table);
    std::size_t warned = 0;
    for (const char* arguments :
         {"knn points.npy --queries narrow.npy -k 3 -o near.npz", "knn points.npy --queries whole.npy -k 3 -o near.npz",
          "knn whole.npy --queries whole.npy -k 3 -o near.npz", "knn placeholder.npy -k 2 -o near.npz",
          "knn points.npy -k 3 --box 0.8 -o near.npz", "fof points.npy --box 0.8 -o groups.hdf5",
          "fof whole.npy -o groups.hdf5", "fof masses.txt -o groups.hdf5",
          "fof points.npy --linking-length 0.9 --box 1 -o groups.hdf5", "density points.npy --radius 1e-9 -o d.npy",
          "dbscan points.npy --eps 1 --min-samples 201 -o l.npy", "knn points.npy -k 201 -o near.npz",
          "density tiny.txt -k 8 --fields mass -o d.npz"}) {
        const Outcome alone = kith(arguments);
        EXPECT_EQ(alone.exit_code, 0) << arguments << "\n" << alone.err;
        warned += occurrences(alone.err, "warning: ");
        EXPECT_EQ(over(3, arguments).err, alone.err) << arguments;
    }
    EXPECT_GE(warned, 13U);
}

TEST_F(Ranks, NoMemoryOnOneEndsAll) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "this build needs more memory than the limit";
#endif
    constexpr int of_rank = 16'000; // those of rank 1 coincide: its rows would take 3 GB
    std::vector<float> points;
    for (int i = 0; i < 3 * of_rank; ++i) {
        points.insert(points.end(), {i / of_rank == 1 ? -9.0F : static_cast<float>(i), 0, 0});
    }
    write_npy("points.npy", points, 3);
    const std::vector<std::string> before = files();
    const Outcome outcome = kith("radius points.npy -r 0.5 --threads 1 -o near.npz",
                                 "timeout 120 " KITH_MPIEXEC " " KITH_MPIEXEC_NUMPROC_FLAG
                                 " 3 sh -c 'if [ \"${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-}}\" = 1 ]; then "
                                 "ulimit -v 2000000; fi; exec \"$@\"' sh");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_EQ(occurrences(outcome.err, "kith: "), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find("rank 1: the result has 256000000 neighbors and needs 3.072e+09 bytes"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(files(), before);
}

TEST_F(Ranks, AFullDiskLeavesNoFile) {
    write_npy("points.npy", as_floats(clumps(3000, 3)), 3);
    std::filesystem::create_directory(directory_ / "disk");
    const std::string on_small_disk = "unshare -rm sh -c 'mount -t tmpfs -o size=200k none disk && cd disk || exit 77; "
                                      "timeout 120 \"$@\"; code=$?; echo left: $(ls -A) >&2; exit $code' sh";
    for (const char* arguments : {"knn ../points.npy -k 32 -o near.npz", "knn ../points.npy -k 32 -o near.hdf5",
                                  "radius ../points.npy -r 0.2 -o near.npz", "radius ../points.npy -r 0.2 -o near.hdf5",
                                  "fof ../points.npy --min-members 1 -o groups.hdf5 --labels labels.npy"}) {
        const Outcome outcome = over(3, arguments, on_small_disk);
        if (outcome.err.find("left:") == std::string::npos) {
            GTEST_SKIP() << "no small disk can be mounted here: " << outcome.err;
        }
        EXPECT_EQ(outcome.exit_code, 1) << arguments << "\n" << outcome.err;
        EXPECT_EQ(occurrences(outcome.err, "kith: "), 1U) << arguments << "\n" << outcome.err;
        EXPECT_NE(outcome.err.find("left:\n"), std::string::npos) << arguments << "\n" << outcome.err;
    }
}

} // namespace
