// kith dbscan from a file to clusters.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

namespace {

using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;

class Dbscan : public kith::test::ProgramTest {
protected:
    /// On a line: 10 11 12, and 0 1 2 3, in another order, and 7.
    void write_line() const {
        write_npy("in.npy", std::vector<float>{10, 0, 2, 0, 11, 0, 12, 0, 1, 0, 7, 0, 0, 0, 3, 0}, 2);
    }
    [[nodiscard]] std::vector<std::int32_t> labels() const { return npy_values<std::int32_t>(read("out.npy"), "<i4"); }
};

TEST_F(Dbscan, LabelsEveryRow) {
    write_line();
    for (const char* engine : {"tree", "brute"}) {
        const Outcome outcome =
            kith(std::string("dbscan in.npy --eps 1 --min-samples 3 -o out.npy --json --engine ") + engine);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(labels(), (std::vector<std::int32_t>{1, 0, 1, 1, 0, -1, 0, 0}));
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json["n"], 8);
        EXPECT_EQ(json["eps"], 1);
        EXPECT_EQ(json["min_samples"], 3);
        EXPECT_EQ(json["clusters"], 2);
        EXPECT_EQ(json["core_points"], 3);
        EXPECT_EQ(json["noise_points"], 1);
        EXPECT_EQ(json["largest"], (std::vector<int>{4, 3}));
        EXPECT_EQ(json["engine"], engine);
        EXPECT_EQ(json["outputs"], std::vector<std::string>{"out.npy"});
        for (const char* stage : {"read", "core", "link", "border", "write"}) {
            EXPECT_GT(json["seconds"][stage], 0) << stage;
        }
    }
}

TEST_F(Dbscan, LeavesBorderPointsOutAndKnowsTheBox) {
    write_line();
    ASSERT_EQ(kith("dbscan in.npy --eps 1 --min-samples 3 --star -o out.npy").exit_code, 0);
    EXPECT_EQ(labels(), (std::vector<std::int32_t>{-1, 0, 1, -1, 0, -1, -1, -1}));
    ASSERT_EQ(kith("dbscan in.npy --eps 1 --min-samples 3 --box 13,0 -o out.npy").exit_code, 0);
    EXPECT_EQ(labels(), (std::vector<std::int32_t>{0, 0, 0, 0, 0, -1, 0, 0}));
}

TEST_F(Dbscan, WarnsWhereAllMustBeNoise) {
    write_line();
    const Outcome outcome = kith("dbscan in.npy --eps 1 --min-samples 9 -o out.npy");
    EXPECT_EQ(labels(), std::vector<std::int32_t>(8, -1));
    EXPECT_NE(
        outcome.err.find("--min-samples is 9, but there are 8 points: no core point is possible, and all are noise"),
        std::string::npos)
        << outcome.err;
    EXPECT_EQ(kith("dbscan in.npy --eps 1 --min-samples 8 -o out.npy").err.find("--min-samples"), std::string::npos);
}

TEST_F(Dbscan, WritesTextAndHdf5) {
    write_line();
    const Outcome outcome = kith("dbscan in.npy --eps 1 --min-samples 3 -o out.txt");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(read("out.txt"), "1\n0\n1\n1\n0\n-1\n0\n0\n");
    EXPECT_NE(outcome.out.find("2, of 3 core points and 4 border points; 1 noise point"), std::string::npos)
        << outcome.out;
    ASSERT_EQ(kith("dbscan in.npy --eps 1 -o out.hdf5").exit_code, 0);
    EXPECT_EQ(read("out.hdf5").substr(1, 3), "HDF");
}

TEST_F(Dbscan, ListsTheLargestIfThereAreAny) {
    write_line();
    EXPECT_NE(kith("dbscan in.npy --eps 1 -o out.npy --min-samples 3").out.find("largest"), std::string::npos);
    const Outcome none = kith("dbscan in.npy --eps 1 -o out.npy --min-samples 99");
    EXPECT_EQ(none.exit_code, 0) << none.err;
    EXPECT_EQ(none.out.find("largest"), std::string::npos) << none.out;
}

TEST_F(Dbscan, RefusesWhatMeansNothing) {
    write_line();
    const auto refused = [&](const std::string& arguments, const std::string& text) {
        const Outcome outcome = kith("dbscan in.npy " + arguments);
        EXPECT_EQ(outcome.exit_code, 2) << arguments;
        EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
    };
    refused("-o out.npy", "--eps");
    refused("--eps 1", "--output");
    refused("--eps -1 -o out.npy", "'-1'");
    refused("--eps inf -o out.npy", "'inf'");
    refused("--eps 1e300 -o out.npy", "float32");
    refused("--eps 1 --min-samples 0 -o out.npy", "'0'");
    refused("--eps 1 -o out.csv", ".npy or .txt or .hdf5");
    EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});
}

} // namespace
