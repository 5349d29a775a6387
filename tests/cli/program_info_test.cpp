// kith info describes a file.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <limits>

namespace {

using kith::test::Outcome;
using Json = nlohmann::json;
using Info = kith::test::ProgramTest;

TEST_F(Info, DescribesAnArray) {
    write_npy("in.npy", std::vector<float>{0.1F, 5, -3, 7}, 2);
    const Outcome people = kith("info in.npy");
    ASSERT_EQ(people.exit_code, 0) << people.err;
    EXPECT_NE(people.out.find("-3 to 0.1"), std::string::npos) << people.out;
    const Json json = Json::parse(kith("info in.npy --json").out);
    EXPECT_EQ(json["n"], 2);
    EXPECT_EQ(json["dimension"], 2);
    EXPECT_EQ(json["dtype"], "float32");
    EXPECT_EQ(json["extents"][1], (std::vector<double>{5, 7}));
    EXPECT_TRUE(json["box_size"].is_null());
    EXPECT_TRUE(json["masses"].is_null());
}

TEST_F(Info, CountsWhatIsNoNumber) {
    write_npy("in.npy", std::vector<double>{1, std::numeric_limits<double>::quiet_NaN(), 2, 3}, 2);
    const Outcome outcome = kith("info in.npy --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["not_finite"], 1);
}

TEST_F(Info, CountsParticlesByType) {
    const std::filesystem::path file = std::filesystem::path(KITH_SHARED_DATA) / "tipsy" / "run99.std";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "the real files are not here: " << file;
    }
    const Outcome outcome = kith("info --json '" + std::filesystem::absolute(file).string() + "'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["counts"], (std::vector<int>{1049, 1021, 0, 0, 6509, 0, 0}));
}

TEST_F(Info, DescribesACatalog) {
    write_npy("in.npy", std::vector<float>{0, 0, 0.5F, 0, 1, 0, 5, 5, 5, 5.5F, 9, 9}, 2);
    const Outcome found = kith("fof in.npy --linking-length 0.5 --box 10,20 --min-members 2 -o halos.hdf5");
    ASSERT_EQ(found.exit_code, 0) << found.err;
    const Outcome people = kith("info halos.hdf5");
    ASSERT_EQ(people.exit_code, 0) << people.err;
    for (const char* words :
         {"groups   2 of 2 or more members, in 2 dimensions", "members  5", "largest  3, 2", "masses   2 to 3",
          "linking  0.5", "box      10 x 20", "input    in.npy", "GroupPos x 2"}) {
        EXPECT_NE(people.out.find(words), std::string::npos) << words << " is not in:\n" << people.out;
    }
    const Outcome machine = kith("info halos.hdf5 --json");
    ASSERT_EQ(machine.exit_code, 0) << machine.err;
    const Json json = Json::parse(machine.out);
    EXPECT_EQ(json["groups"], 2);
    EXPECT_EQ(json["members"], 5);
    EXPECT_EQ(json["largest"], (std::vector<int>{3, 2}));
    EXPECT_EQ(json["masses"], (std::vector<double>{2, 3}));
    EXPECT_EQ(json["linking_length"], 0.5);
    EXPECT_EQ(json["box_size"], (std::vector<double>{10, 20}));
    EXPECT_TRUE(json["redshift"].is_null());
    EXPECT_EQ(json["provenance"]["Input"], "in.npy");
    EXPECT_EQ(json["columns"][0]["name"], "GroupFirstSub");
}

TEST_F(Info, ShowsOneCatalogACall) {
    write_npy("in.npy", std::vector<float>{0, 0, 0.5F, 0, 1, 0}, 2);
    for (const char* name : {"fof_tab.0.hdf5", "fof_tab.1.hdf5"}) {
        ASSERT_EQ(kith(std::string("fof in.npy --linking-length 0.5 --min-members 2 -o ") + name).exit_code, 0);
    }
    const Outcome refused = kith("info fof_tab.*.hdf5");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("fof_tab.0.hdf5 is a halo catalog, and one call shows one; type\n  kith info fof_tab.0"),
              std::string::npos)
        << refused.err;
}

TEST_F(Info, OtherCommandsSayWhatACatalogIs) {
    write_npy("in.npy", std::vector<float>{0, 0, 0.5F, 0, 1, 0}, 2);
    ASSERT_EQ(kith("fof in.npy --linking-length 0.5 --min-members 2 -o halos.hdf5").exit_code, 0);
    for (const char* command : {"fof halos.hdf5 -o other.hdf5", "knn halos.hdf5 -k 2 -o other.npz"}) {
        const Outcome refused = kith(command);
        EXPECT_EQ(refused.exit_code, 1);
        EXPECT_NE(refused.err.find("it is a halo catalog"), std::string::npos) << refused.err;
        EXPECT_NE(refused.err.find("give the snapshot that it was made from, 'in.npy'"), std::string::npos)
            << refused.err;
        EXPECT_FALSE(exists("other.hdf5") || exists("other.npz"));
    }
}

TEST_F(Info, DescribesEveryResult) {
    write_npy("in.npy", std::vector<float>{0, 0, 0.5F, 0, 1, 0, 9, 9}, 2);
    struct Written {
        const char* command;
        const char* file;
        const char* kind;
        const char* array;
    };
    const std::vector<Written> all = {
        {"knn in.npy -k 2 -o", "a.npz", "nearest neighbors", "indices (4 x 2)"},
        {"knn in.npy -k 2 -o", "a.hdf5", "nearest neighbors", "distances (4 x 2): distances to these"},
        {"radius in.npy --radius 0.6 -o", "b.npz", "neighbors within a radius", "offsets (5)"},
        {"radius in.npy --radius 0.6 -o", "b.h5", "neighbors within a radius", "indices (8): rows of the sources"},
        {"radius in.npy --radius 0.6 --count -o", "c.npz", "numbers of neighbors within a radius", "counts (4)"},
        {"radius in.npy --radius 0.6 --count -o", "c.hdf5", "numbers of neighbors within a radius", "counts (4)"},
        {"mst in.npy -o", "d.npz", "a minimum spanning tree", "edges (3 x 2)"},
        {"mst in.npy -o", "d.hdf5", "a minimum spanning tree", "heights (3)"},
        {"hdbscan in.npy --min-cluster-size 2 -o", "i.npz", "clusters of HDBSCAN*", "probabilities (4)"},
        {"hdbscan in.npy --min-cluster-size 2 -o", "i.hdf5", "clusters of HDBSCAN*", "labels (4): the cluster"},
        {"dbscan in.npy --eps 0.6 --min-samples 2 -o", "e.hdf5", "clusters of DBSCAN", "labels (4)"},
        {"hierarchy in.npy --linking-length 0.5,20 --with-labels -o", "f.hdf5", "groups at several linking lengths",
         "labels/1 (4)"},
        {"fof in.npy --linking-length 0.6 --min-members 2 -o h.hdf5 --table", "g.csv", "a table of groups",
         "GroupLen (1)"},
        {"fof in.npy --linking-length 0.6 --min-members 2 -o h.hdf5 --table", "g.ecsv", "a table of groups",
         "GroupLen (1): members"},
    };
    for (const Written& each : all) {
        SCOPED_TRACE(each.file);
        const std::string file = each.file;
        const Outcome made = kith(std::string(each.command) + " " + file);
        ASSERT_EQ(made.exit_code, 0) << made.err;
        const Outcome people = kith("info " + file);
        ASSERT_EQ(people.exit_code, 0) << people.err;
        EXPECT_NE(people.out.find(std::string("holds    ") + each.kind), std::string::npos) << people.out;
        EXPECT_NE(people.out.find(each.array), std::string::npos) << people.out;
        EXPECT_EQ(people.out.find("Input = in.npy") == std::string::npos, file == "g.csv") << people.out;
        EXPECT_EQ(Json::parse(kith("info --json " + file).out)["kind"], each.kind);
        if (!file.starts_with("g.")) {
            const Outcome refused = kith("knn " + file + " -k 1 -o other.npz");
            EXPECT_EQ(refused.exit_code, 1);
            EXPECT_NE(refused.err.find(each.kind), std::string::npos) << refused.err;
            EXPECT_NE(refused.err.find("kith info describes"), std::string::npos) << refused.err;
        }
    }
    ASSERT_EQ(kith("fof in.npy --linking-length 0.6 --min-members 2 -o h.hdf5 --labels l.npy").exit_code, 0);
    ASSERT_EQ(kith("dbscan in.npy --eps 0.6 --min-samples 2 -o l.txt").exit_code, 0);
    for (const char* labels : {"l.npy", "l.txt"}) {
        const Outcome people = kith(std::string("info ") + labels);
        EXPECT_EQ(people.exit_code, 0) << people.err;
        EXPECT_NE(people.out.find("one value per row, as labels have\narrays   values (4)"), std::string::npos)
            << people.out;
    }
    write_text("tipsy.hsm", {"\0\0\0\2\x3f\0\0\0\x40\0\0\0", 12}); // 2: 0.5, 2
    EXPECT_NE(kith("info tipsy.hsm").out.find("values (2): of 4 bytes"), std::string::npos);
    // Columns that are chosen of a table of groups are points, and so are arrays of results, with a warning.
    const Outcome chosen = kith("info g.ecsv --columns GroupLen,GroupMass");
    EXPECT_NE(chosen.out.find("points   1 in 2 dimensions"), std::string::npos) << chosen.out << chosen.err;
    const Outcome array = kith("info a.npz:indices");
    EXPECT_NE(array.err.find("indices is taken as points, but the file holds nearest neighbors, a result of kith"),
              std::string::npos)
        << array.err;
    const Outcome refused = kith("fof in.npy --linking-length 0.6 -o halos.csv");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("add --table halos.csv"), std::string::npos) << refused.err;
}

TEST_F(Info, RefusesWhatIsNoSnapshot) {
    const Outcome outcome = kith("info words.txt", "echo 'not a snapshot' > words.txt &&");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("words.txt"), std::string::npos) << outcome.err;
}

} // namespace
