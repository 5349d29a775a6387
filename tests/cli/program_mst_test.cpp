// kith mst from a file to a minimum spanning tree.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace {

using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;

class Mst : public kith::test::ProgramTest {
protected:
    void write_line() const { write_npy("in.npy", std::vector<float>{0, 0, 7, 0, 1, 0, 3, 0}, 2); }
};

TEST_F(Mst, FindsTheTreeAndWritesIt) {
    write_line();
    for (const char* engine : {"tree", "brute"}) {
        const Outcome outcome = kith(std::string("mst in.npy -o out.npz --json --engine ") + engine);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(npy_values<std::int32_t>(read("out.npz"), "<i4", 0), (std::vector<std::int32_t>{0, 2, 2, 3, 1, 3}));
        EXPECT_EQ(npy_values<float>(read("out.npz"), "<f4", 1), (std::vector<float>{1, 2, 4}));
        EXPECT_EQ(npy_values<float>(read("out.npz"), "<f4", 2), (std::vector<float>{1, 2, 4}));
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json["n"], 4);
        EXPECT_EQ(json["edges"], 3);
        EXPECT_EQ(json["total_length"], 7);
        EXPECT_EQ(json["longest_edge"], 4);
        EXPECT_EQ(json["engine"], engine);
        EXPECT_FALSE(json.contains("queries"));
        EXPECT_EQ(json["outputs"], std::vector<std::string>{"out.npz"});
        for (const char* stage : {"read", "connect", "edges", "write"}) {
            EXPECT_GT(json["seconds"][stage], 0) << stage;
        }
    }
}

TEST_F(Mst, CrossesTheEdgeOfABoxAndReportsWithoutAFile) {
    write_line();
    const Outcome outcome = kith("mst in.npy --box 8,0");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("3 edges, total length 4, the longest 2"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("wrote"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("queries"), std::string::npos) << outcome.out;
}

TEST_F(Mst, NoPointsHaveNoEdges) {
    write_npy("none.npy", std::vector<float>{}, 2);
    ASSERT_EQ(kith("mst none.npy -o out.npz").exit_code, 0);
    EXPECT_TRUE(npy_values<std::int32_t>(read("out.npz"), "<i4", 0).empty());
}

TEST_F(Mst, BadPointsAndWrongUsageAreRefused) {
    write_npy("nan.npy", std::vector<double>{0, 0, 0, std::nan("")}, 2);
    const Outcome nan = kith("mst nan.npy -o out.npz");
    EXPECT_EQ(nan.exit_code, 1);
    EXPECT_NE(nan.err.find("'nan.npy': "), std::string::npos) << nan.err;
    struct Case {
        const char* arguments;
        const char* named;
    };
    // None of these files exists: the refusal comes before reading.
    for (const Case& wrong :
         {Case{"mst", "POINTS"}, Case{"mst in.npy -o out.npy", ".npz or .hdf5"}, Case{"mst in.npy --box -1", "-1"},
          Case{"mst in.npy -o ''", "--output"}, Case{"mst in.npy --queries in.npy", "--queries"}}) {
        const Outcome outcome = kith(wrong.arguments);
        EXPECT_EQ(outcome.exit_code, 2) << wrong.arguments;
        EXPECT_NE(outcome.err.find(wrong.named), std::string::npos) << wrong.arguments << ": " << outcome.err;
    }
    EXPECT_EQ(files(), (std::vector<std::string>{"nan.npy"}));
    EXPECT_NE(kith("mst --help").out.find("Examples"), std::string::npos);
}

} // namespace
