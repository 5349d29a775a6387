// kith knn from a file to neighbors.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

#include <limits>

namespace {

using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;

class Knn : public kith::test::ProgramTest {
protected:
    void write_line() const { write_npy("in.npy", std::vector<float>{0, 0, 1, 0, 3, 0, 7, 0}, 2); }
    [[nodiscard]] std::vector<std::int32_t> indices() const {
        return npy_values<std::int32_t>(read("out.npz"), "<i4", 0);
    }
    template <class T>
    [[nodiscard]] std::vector<T> distances(std::string_view descriptor) const {
        return npy_values<T>(read("out.npz"), descriptor, 1);
    }
};

TEST_F(Knn, FindsNeighborsOfEveryPoint) {
    write_line();
    const Outcome outcome = kith("knn in.npy -k 2 -o out.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(indices(), (std::vector<std::int32_t>{0, 1, 1, 0, 2, 1, 3, 2}));
    EXPECT_EQ(distances<float>("<f4"), (std::vector<float>{0, 1, 0, 1, 0, 2, 0, 4}));
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["n"], 4);
    EXPECT_EQ(json["queries"], 4);
    EXPECT_EQ(json["k"], 2);
    EXPECT_TRUE(json["engine"] == "tree" || json["engine"] == "brute");
    for (const char* stage : {"read", "order", "tree", "search", "write"}) {
        EXPECT_TRUE(json["seconds"].contains(stage)) << stage;
    }
    EXPECT_GT(json["peak_rss_bytes"], 1000000);
    EXPECT_GT(json["stage_peak_bytes"]["search"], 0);
}

TEST_F(Knn, EnginesAgree) {
    write_line();
    for (const char* engine : {"tree", "brute", "kdtree", "clover"}) {
        const Outcome outcome =
            kith(std::string("knn in.npy -k 3 --exclude-self --json -o out.npz --engine ") + engine);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(Json::parse(outcome.out)["engine"], engine);
        EXPECT_EQ(indices(), (std::vector<std::int32_t>{1, 2, 3, 0, 2, 3, 1, 0, 3, 2, 1, 0}));
    }
}

TEST_F(Knn, OfTheFormsOfCloverAgree) {
    write_line();
    for (const char* form : {"hierarchical --seed 3", "flat", "flat --hubs 2 --hub-selection kmeans++ --seed 7",
                             "flat --hubs 4 --hub-selection random", "flat --queries in.npy"}) {
        const Outcome outcome =
            kith(std::string("knn in.npy -k 3 --box 8,0 --json -o out.npz --engine clover --clover ") + form);
        ASSERT_EQ(outcome.exit_code, 0) << form << outcome.err;
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json["engine"], "clover");
        EXPECT_EQ(json["clover"], std::string(form).substr(0, std::string(form).find(' ')));
        EXPECT_TRUE(json["seconds"].contains("graph"));
        EXPECT_EQ(indices(), (std::vector<std::int32_t>{0, 1, 3, 1, 0, 2, 2, 1, 0, 3, 0, 1}));
    }
    const Json json = Json::parse(kith("knn in.npy -k 1 -o out.npz --json --engine clover --clover flat --hubs 2 "
                                       "--hub-selection kmeans++ --seed 7")
                                      .out);
    EXPECT_EQ(json["hubs"], 2);
    EXPECT_EQ(json["hub_selection"], "kmeans++");
    EXPECT_EQ(json["seed"], 7);
}

TEST_F(Knn, MissingNeighborsAreMinusOne) {
    write_line();
    const Outcome outcome = kith("knn in.npy -k 5 --max-distance 2 -o out.npz --squared");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("-k is 5, but there are 4 points: rows end with the index -1, at infinity"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(kith("knn in.npy -k 4 -o other.npz").err, "");
    EXPECT_NE(kith("knn in.npy -k 4 --exclude-self -o other.npz").err.find("none is its own neighbor: rows end"),
              std::string::npos);
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(indices(),
              (std::vector<std::int32_t>{0, 1, -1, -1, -1, 1, 0, 2, -1, -1, 2, 1, -1, -1, -1, 3, -1, -1, -1, -1}));
    EXPECT_EQ(distances<float>("<f4"),
              (std::vector<float>{0, 1, infinity, infinity, infinity, 0, 1,        4,        infinity, infinity,
                                  0, 4, infinity, infinity, infinity, 0, infinity, infinity, infinity, infinity}));
}

TEST_F(Knn, QueriesOfAnotherTypeAreSearchedInTheWiderOne) {
    write_line();
    write_npy("q.npy", std::vector<double>{6.5, 0}, 2);
    const Outcome outcome = kith("knn in.npy -k 1 --queries q.npy --box 8,0 -o out.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("float64"), std::string::npos);
    EXPECT_EQ(Json::parse(outcome.out)["warnings"].size(), 1U);
    EXPECT_EQ(indices(), std::vector<std::int32_t>{3});
    EXPECT_EQ(distances<double>("<f8"), std::vector<double>{0.5});
}

TEST_F(Knn, PeriodsAreUsed) {
    write_line();
    ASSERT_EQ(kith("knn in.npy -k 1 --exclude-self --box 8,0 -o out.npz").exit_code, 0);
    EXPECT_EQ(indices(), (std::vector<std::int32_t>{1, 0, 1, 0}));
}

TEST_F(Knn, NoPointsAndNoQueriesAreOrdinary) {
    write_line();
    write_npy("none.npy", std::vector<float>{}, 2);
    const Outcome nobody = kith("knn none.npy -k 2 -o out.npz --json");
    ASSERT_EQ(nobody.exit_code, 0) << nobody.err;
    EXPECT_EQ(Json::parse(nobody.out)["n"], 0);
    EXPECT_TRUE(indices().empty());
    EXPECT_TRUE(distances<float>("<f4").empty());
    EXPECT_EQ(kith("knn none.npy -k 2 -o out.hdf5").exit_code, 0);

    const Outcome unasked = kith("knn in.npy -k 2 --queries none.npy -o out.npz --json");
    ASSERT_EQ(unasked.exit_code, 0) << unasked.err;
    EXPECT_EQ(Json::parse(unasked.out)["queries"], 0);
    EXPECT_TRUE(indices().empty());

    const Outcome alone = kith("knn none.npy -k 2 --queries in.npy -o out.npz");
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_EQ(indices(), std::vector<std::int32_t>(8, -1));
    EXPECT_EQ(distances<float>("<f4"), std::vector<float>(8, std::numeric_limits<float>::infinity()));
    EXPECT_EQ(alone.err.find("type"), std::string::npos) << alone.err;
}

TEST_F(Knn, ANameOfTheGreatestLengthIsWritten) {
    write_line();
    const std::string name = std::string(251, 'x') + ".npz";
    const Outcome outcome = kith("knn in.npy -k 1 -o " + name);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(exists(name));
}

TEST_F(Knn, WritesHdf5) {
    write_line();
    ASSERT_EQ(kith("knn in.npy -k 1 -o out.hdf5").exit_code, 0);
    EXPECT_EQ(read("out.hdf5").substr(1, 3), "HDF");
}

TEST_F(Knn, WarnsOfAPlaceholder) {
    write_npy("in.npy", std::vector<float>{0, 0, 1, 0, 1e37F, 0, 3, 0}, 2);
    const Outcome outcome = kith("knn in.npy -k 2 -o out.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("coordinate 0 of point 2, 1e+37"), std::string::npos) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["warnings"].size(), 1U);
}

TEST_F(Knn, SaysWhatRowNumbersCountWhereTypesAreSelected) {
    write_text("tipsy.ascii", "4 1 0\n3\n0\n5 1 1 2\n0 1 3 7\n0 1 0 0\n0 0 2 0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n"
                              "1\n1\n1\n1\n1\n1\n1\n1\n");
    const Outcome some = kith("knn tipsy.ascii -k 1 --types 1 -o out.npz");
    ASSERT_EQ(some.exit_code, 0) << some.err;
    const std::string said = "row numbers count the points read, in file order (type 1), not the 4 rows of the file";
    EXPECT_NE(some.out.find(said), std::string::npos) << some.out;
    EXPECT_NE(read("out.npz").find(said), std::string::npos);
    const Outcome all = kith("knn tipsy.ascii -k 1 --types all -o out.npz");
    EXPECT_EQ(all.out.find("row numbers"), std::string::npos) << all.out;
}

TEST_F(Knn, PrintsPeriodsAsTheTypeOfThePointsHasThem) {
    write_npy("in.npy", std::vector<float>{0, 0, 0, 1, 1, 1}, 3);
    const Outcome outcome = kith("knn in.npy -k 1 --box 43.3 -o out.npz");
    EXPECT_NE(outcome.out.find("43.3 x 43.3 x 43.3 (--box)"), std::string::npos) << outcome.out;
}

// Queries lie in the box of the points, whatever their file states.
TEST_F(Knn, TheBoxOfAFileOfQueriesIsNoMatter) {
    write_npy("in.npy", std::vector<float>{0, 0, 0, 1, 1, 1}, 3);
    ASSERT_EQ(kith("fof in.npy --linking-length 2 --min-members 2 --box 8 -o halos.hdf5").exit_code, 0);
    const Outcome outcome = kith("knn in.npy -k 1 --box 8 --queries halos.hdf5:/Group/GroupPos -o out.npz");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("BoxSize"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("states a box"), std::string::npos) << outcome.err;
}

} // namespace
