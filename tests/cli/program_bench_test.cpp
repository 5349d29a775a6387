// kith bench: measures, on sample points or a file, and says which options do not go together.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace {

using kith::test::Outcome;
using Json = nlohmann::json;

class Bench : public kith::test::ProgramTest {};

TEST_F(Bench, MeasuresEveryStageOfBothTasks) {
    const Outcome outcome = kith("bench -n 2000 -d 2 --set clustered --float64 --repeat 3 -k 5 --box 1 --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["n"], 2000);
    EXPECT_EQ(json["dimension"], 2);
    EXPECT_EQ(json["dtype"], "float64");
    EXPECT_EQ(json["box"], "1 x 1");
    EXPECT_EQ(json["k"], 5);
    for (const auto& [task, stages] : {std::pair("knn", std::vector{"order", "tree", "search", "all"}),
                                       std::pair("fof", std::vector{"order", "tree", "link", "all"})}) {
        for (const char* stage : stages) {
            const Json& seen = json[task][stage];
            EXPECT_GT(seen["seconds"], 0) << task << ' ' << stage;
            EXPECT_LE(seen["least"], seen["seconds"]) << task << ' ' << stage;
            EXPECT_GE(seen["most"], seen["seconds"]) << task << ' ' << stage;
            EXPECT_NEAR(static_cast<double>(seen["points_per_second"]) * static_cast<double>(seen["seconds"]), 2000, 1);
        }
        double parts = 0;
        for (const char* stage : {stages[0], stages[1], stages[2]}) {
            parts += static_cast<double>(json[task][stage]["least"]);
        }
        EXPECT_LE(parts, json[task]["all"]["most"]) << task;
    }
    EXPECT_TRUE(files().empty()) << "nothing is written";
}

TEST_F(Bench, PrintsTablesForPeople) {
    const Outcome outcome = kith("bench -n 100 --repeat 1");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const char* text :
         {"100 in 3 dimensions, float32", "knn      k = 16", "fof      b = 0.2", "points a second", "search"}) {
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text << "\n" << outcome.out;
    }
}

TEST_F(Bench, ComparesEngines) {
    const Outcome outcome = kith("bench --engines -n 200 -d 3 --set clustered -k 3 --repeat 1 --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    ASSERT_EQ(json["rows"].size(), 18U); // 100 and 200 points; themselves, 1 and 100 queries; three calls
    std::map<std::string, int> calls;
    for (const Json& row : json["rows"]) {
        ++calls[row["call"]];
        EXPECT_EQ(row["seconds"].size(), row["call"] == "knn" ? 4U : 3U);
        EXPECT_EQ(row["seconds"].contains("clover"), row["call"] == "knn");
        for (const Json& seconds : row["seconds"]) {
            EXPECT_GE(seconds, row["seconds"][std::string(row["fastest"])]);
        }
        EXPECT_TRUE(row["seconds"].contains(std::string(row["automatic"])));
        EXPECT_EQ(row["queries"].is_null(), row["queries"] != 1 && row["queries"] != 100);
    }
    EXPECT_EQ(calls, (std::map<std::string, int>{{"knn", 6}, {"radius_count", 6}, {"radius_search", 6}}));
    const Outcome table = kith("bench --engines -n 100 -d 3 --set uniform -k 3 --repeat 1");
    ASSERT_EQ(table.exit_code, 0) << table.err;
    for (const char* text :
         {"tree", "brute", "kdtree", "clover", "self", "radius_search", "radius_count", "automatic takes at most"}) {
        EXPECT_NE(table.out.find(text), std::string::npos) << text << "\n" << table.out;
    }
}

TEST_F(Bench, TakesAFile) {
    write_npy("in.npy", std::vector<float>{0, 0, 1, 0, 3, 0, 7, 1}, 2);
    const Outcome outcome = kith("bench in.npy --repeat 1 --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["n"], 4);
}

TEST_F(Bench, RefusesWhatMakesNoSense) {
    write_npy("in.npy", std::vector<float>{0, 0, 1, 0}, 2);
    for (const auto& [arguments, text] :
         {std::pair("bench in.npy -n 10", "'in.npy' is given with -n"), std::pair("bench --set lattice", "'lattice'"),
          std::pair("bench -d 9", "-d"), std::pair("bench in.npy --engines", "'in.npy' is given with --engines"),
          std::pair("bench -n 0", "-n"), std::pair("bench --repeat 0", "--repeat"), std::pair("bench -b none", "-b"),
          std::pair("bench --columns 0,1", "--types and --columns choose what is read of a file, and none is given"),
          std::pair("bench --engines --types 1", "--types and --columns")}) {
        const Outcome outcome = kith(arguments);
        EXPECT_EQ(outcome.exit_code, 2) << arguments << outcome.err;
        EXPECT_NE(outcome.err.find(text), std::string::npos) << arguments << outcome.err;
        EXPECT_TRUE(outcome.out.empty()) << arguments;
    }
}

} // namespace
