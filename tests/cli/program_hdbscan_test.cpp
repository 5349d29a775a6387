// kith hdbscan from a file to clusters and their tree.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

namespace {

using kith::test::Outcome;
using Json = nlohmann::json;

class Hdbscan : public kith::test::ProgramTest {
protected:
    /// On a line: 0 1 2, 10 11 12 13 in another order, and 40.
    void write_line() const {
        write_npy("in.npy", std::vector<float>{10, 0, 0, 0, 12, 0, 1, 0, 11, 0, 40, 0, 2, 0, 13, 0}, 2);
    }
};

TEST_F(Hdbscan, FindsClustersOfTheLine) {
    write_line();
    for (const char* engine : {"tree", "brute"}) {
        const Outcome outcome = kith(std::string("hdbscan in.npy --min-cluster-size 3 --min-samples 1 -o out.npz "
                                                 "--json --engine ") +
                                     engine);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json["n"], 8);
        EXPECT_EQ(json["min_cluster_size"], 3);
        EXPECT_EQ(json["min_samples"], 1);
        EXPECT_EQ(json["clusters"], 2);
        EXPECT_EQ(json["noise_points"], 1);
        EXPECT_EQ(json["largest"], (std::vector<int>{4, 3}));
        EXPECT_EQ(json["condensed_clusters"], 3);
        EXPECT_EQ(json["engine"], engine);
        EXPECT_EQ(json["device"], "cpu");
    }
    const Outcome about = kith("info out.npz");
    for (const char* text : {"clusters of HDBSCAN*", "labels (8)", "probabilities (8)", "edges (7 x 2)",
                             "cluster_stabilities (3)", "min_cluster_size = 3"}) {
        EXPECT_NE(about.out.find(text), std::string::npos) << about.out;
    }
}

TEST_F(Hdbscan, WritesHdf5AndKnowsItsOptions) {
    write_line();
    ASSERT_EQ(kith("hdbscan in.npy --min-cluster-size 3 -o out.hdf5").exit_code, 0);
    EXPECT_EQ(read("out.hdf5").substr(1, 3), "HDF");
    const auto clusters = [&](const std::string& options) {
        return Json::parse(
            kith("hdbscan in.npy --min-cluster-size 3 --min-samples 1 --json " + options).out)["largest"];
    };
    EXPECT_EQ(clusters("--leaves"), (std::vector<int>{4, 3}));
    EXPECT_EQ(clusters("--max-cluster-size 3"), std::vector<int>{3});
    EXPECT_EQ(clusters("--epsilon 9 --allow-single-cluster"), std::vector<int>{7});
    const Outcome one = kith("hdbscan in.npy --min-cluster-size 9 --min-samples 1 --max-cluster-size 8 --epsilon 99 "
                             "--allow-single-cluster --json");
    EXPECT_EQ(Json::parse(one.out)["largest"], std::vector<int>{8}); // all points, fewer than a cluster has
    EXPECT_EQ(clusters("--box 21,0"), (std::vector<int>{4, 4}));     // 40 is at 19, beside 0
}

TEST_F(Hdbscan, DrawsTheCondensedTree) {
    write_line();
    const Json json = Json::parse(kith("hdbscan in.npy --min-cluster-size 3 --picture tree.png --json").out);
    EXPECT_EQ(json["outputs"], Json{"tree.png"});
    EXPECT_TRUE(read("tree.png").starts_with("\x89PNG"));
    ASSERT_EQ(kith("hdbscan in.npy --min-cluster-size 3 -o out.npz --picture tree.png").exit_code, 0);
    EXPECT_EQ(files(), (std::vector<std::string>{"in.npy", "out.npz", "tree.png"}));
}

TEST_F(Hdbscan, WarnsWhereAllMustBeNoise) {
    write_line();
    const std::string warning =
        "--min-samples is 9, but there are 8 points: no core point is possible, and all are noise";
    const Outcome outcome = kith("hdbscan in.npy --min-samples 9 --json");
    EXPECT_EQ(Json::parse(outcome.out)["noise_points"], 8);
    EXPECT_NE(outcome.err.find(warning), std::string::npos) << outcome.err;
    EXPECT_EQ(kith("hdbscan in.npy --min-samples 8").err.find("--min-samples"), std::string::npos);
    const std::string too_large =
        "--min-cluster-size is 9, but there are 8 points: no cluster is possible, and all are noise";
    for (const char* samples : {"", " --min-samples 1"}) {
        const Outcome all_noise = kith(std::string("hdbscan in.npy --min-cluster-size 9") + samples);
        EXPECT_NE(all_noise.err.find(too_large), std::string::npos) << all_noise.err;
    }
    const Outcome one = kith("hdbscan in.npy --min-cluster-size 9 --min-samples 1 --allow-single-cluster --epsilon 99");
    EXPECT_EQ(one.err.find("all are noise"), std::string::npos) << one.err;
}

TEST_F(Hdbscan, RefusesWhatMeansNothing) {
    write_line();
    const auto refused = [&](const std::string& arguments, const std::string& text) {
        const Outcome outcome = kith("hdbscan in.npy " + arguments);
        EXPECT_EQ(outcome.exit_code, 2) << arguments;
        EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
    };
    refused("--min-cluster-size 1", "'1'");
    refused("--min-samples 0", "'0'");
    refused("--epsilon -1", "'-1'");
    refused("--max-cluster-size 0", "'0'");
    refused("--leaves --max-cluster-size 3", "--leaves selects the smallest ones");
    refused("--max-cluster-size 4", "--max-cluster-size is 4, less than the smallest cluster, 5 (--min-cluster-size)");
    refused("-o out.csv", ".npz or .hdf5");
    refused("--picture tree.jpg", ".png");
    EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});
}

} // namespace
