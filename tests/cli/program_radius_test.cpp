// kith radius from a file to neighbors within a radius, or to their number.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace {

using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;

class Radius : public kith::test::ProgramTest {
protected:
    void write_line() const { write_npy("in.npy", std::vector<float>{0, 0, 1, 0, 3, 0, 7, 0}, 2); }
    [[nodiscard]] std::vector<std::int64_t> offsets() const {
        return npy_values<std::int64_t>(read("out.npz"), "<i8", 0);
    }
    [[nodiscard]] std::vector<std::int32_t> indices() const {
        return npy_values<std::int32_t>(read("out.npz"), "<i4", 1);
    }
    template <class T>
    [[nodiscard]] std::vector<T> distances(std::string_view descriptor) const {
        return npy_values<T>(read("out.npz"), descriptor, 2);
    }
};

TEST_F(Radius, FindsNeighborsOfEveryPoint) {
    write_line();
    for (const char* engine : {"tree", "brute", "kdtree"}) {
        const Outcome outcome = kith(std::string("radius in.npy -r 3 -o out.npz --json --engine ") + engine);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(offsets(), (std::vector<std::int64_t>{0, 3, 6, 9, 10}));
        EXPECT_EQ(indices(), (std::vector<std::int32_t>{0, 1, 2, 1, 0, 2, 2, 1, 0, 3}));
        EXPECT_EQ(distances<float>("<f4"), (std::vector<float>{0, 1, 3, 0, 1, 2, 0, 2, 3, 0}));
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json["n"], 4);
        EXPECT_EQ(json["queries"], 4);
        EXPECT_EQ(json["radius"], 3);
        EXPECT_EQ(json["neighbors"], 10);
        EXPECT_EQ(json["engine"], engine);
        EXPECT_EQ(json["outputs"], std::vector<std::string>{"out.npz"});
        for (const char* stage : {"read", "count", "search", "write"}) {
            EXPECT_GT(json["seconds"][stage], 0) << stage;
        }
    }
}

TEST_F(Radius, SortsByIndexAndLeavesThePointItselfOut) {
    write_line();
    ASSERT_EQ(kith("radius in.npy -r 3 --exclude-self --sort index -o out.npz").exit_code, 0);
    EXPECT_EQ(offsets(), (std::vector<std::int64_t>{0, 2, 4, 6, 6}));
    EXPECT_EQ(indices(), (std::vector<std::int32_t>{1, 2, 0, 2, 0, 1}));
    EXPECT_EQ(distances<float>("<f4"), (std::vector<float>{1, 3, 1, 2, 3, 2}));
}

TEST_F(Radius, CountsAlone) {
    write_line();
    const Outcome outcome = kith("radius in.npy -r 3 --count --exclude-self --box 8,0 -o out.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(npy_values<std::int64_t>(read("out.npz"), "<i8"), (std::vector<std::int64_t>{3, 3, 2, 2}));
    EXPECT_EQ(read("out.npz").find("indices.npy"), std::string::npos);
    EXPECT_EQ(Json::parse(outcome.out)["neighbors"], 10);
    EXPECT_GT(Json::parse(outcome.out)["seconds"]["count"], 0);
    EXPECT_EQ(kith("radius in.npy -r 3 --count -o out.npz").exit_code, 0);
}

TEST_F(Radius, QueriesOfAnotherTypeAreSearchedInTheWiderOne) {
    write_line();
    write_npy("q.npy", std::vector<double>{7.5, 0, 100.5, 0}, 2);
    const Outcome outcome = kith("radius in.npy -r 0.5 --queries q.npy --box 8,0 -o out.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("float64"), std::string::npos);
    EXPECT_EQ(offsets(), (std::vector<std::int64_t>{0, 2, 2}));
    EXPECT_EQ(indices(), (std::vector<std::int32_t>{0, 3}));
    EXPECT_EQ(distances<double>("<f8"), (std::vector<double>{0.5, 0.5}));
}

TEST_F(Radius, NoPointsAndNoQueriesAreOrdinary) {
    write_line();
    write_npy("none.npy", std::vector<float>{}, 2);
    ASSERT_EQ(kith("radius none.npy -r 2 -o out.npz").exit_code, 0);
    EXPECT_EQ(offsets(), std::vector<std::int64_t>{0});
    EXPECT_TRUE(indices().empty());
    ASSERT_EQ(kith("radius none.npy -r 2 --queries in.npy -o out.npz").exit_code, 0);
    EXPECT_EQ(offsets(), std::vector<std::int64_t>(5, 0));
    ASSERT_EQ(kith("radius in.npy -r 2 --count --queries none.npy -o out.npz").exit_code, 0);
    EXPECT_TRUE(npy_values<std::int64_t>(read("out.npz"), "<i8").empty());
    EXPECT_EQ(kith("radius none.npy -r 2 -o out.hdf5").exit_code, 0);
    EXPECT_EQ(kith("radius none.npy -r 2 --count -o out.hdf5").exit_code, 0);
}

TEST_F(Radius, TheSummaryIsForPeople) {
    write_line();
    const Outcome outcome = kith("radius in.npy -r 3 --box none -o out.hdf5");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(read("out.hdf5").substr(1, 3), "HDF");
    EXPECT_NE(outcome.out.find("R = 3: 10 neighbors, 2.5 of each query"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("wrote    out.hdf5"), std::string::npos) << outcome.out;
}

TEST_F(Radius, BadPointsAndResultsBeyondMemoryAreRefusedWithNothingWritten) {
    write_npy("nan.npy", std::vector<double>{0, 0, 0, std::nan("")}, 2);
    const Outcome nan = kith("radius nan.npy -r 1 -o out.npz");
    EXPECT_EQ(nan.exit_code, 1);
    EXPECT_NE(nan.err.find("'nan.npy': "), std::string::npos) << nan.err;
    write_npy("same.npy", std::vector<float>(std::size_t{2} << 20, 1.0F), 2); // 2^40 pairs
    const Outcome large = kith("radius same.npy -r 0 -o out.npz");
    EXPECT_EQ(large.exit_code, 1);
    EXPECT_NE(large.err.find("1099511627776 neighbors"), std::string::npos) << large.err;
    EXPECT_NE(large.err.find("(-r)"), std::string::npos) << large.err;
    EXPECT_EQ(large.err.find("radius_count"), std::string::npos) << large.err;
    EXPECT_EQ(files(), (std::vector<std::string>{"nan.npy", "same.npy"}));
}

TEST_F(Radius, WrongUsageIsCodeTwoAndNamesTheCulprit) {
    struct Case {
        const char* arguments;
        const char* named;
    };
    // None of the files exists: the refusal comes before reading.
    for (const Case& wrong :
         {Case{"radius in.npy -o out.npz", "-r"}, Case{"radius in.npy -r 1", "--output"},
          Case{"radius in.npy -r -1 -o out.npz", "-1"}, Case{"radius in.npy -r nan -o out.npz", "nan"},
          Case{"radius in.npy -r 1 -o out.npy", ".npz or .hdf5"}, Case{"radius in.npy -r 1 -o out.npz --sort x", "'x'"},
          Case{"radius in.npy -r 1 -o out.npz --count --sort index", "--sort"},
          Case{"radius in.npy -r 1 -o out.npz --queries q.npy --exclude-self", "--exclude-self"},
          Case{"radius in.npz -r 1 -o in.npz", "input"},
          Case{"radius in.npy -r 1 -o out.npz --queries ''", "--queries"},
          Case{"radius in.npy -r 1 -o out.npz --device gpu", "'gpu'"}}) {
        const Outcome outcome = kith(wrong.arguments);
        EXPECT_EQ(outcome.exit_code, 2) << wrong.arguments;
        EXPECT_EQ(outcome.out, "") << wrong.arguments;
        EXPECT_NE(outcome.err.find(wrong.named), std::string::npos) << wrong.arguments << ": " << outcome.err;
    }
    EXPECT_TRUE(files().empty());
    EXPECT_NE(kith("radius --help").out.find("Examples"), std::string::npos);
}

} // namespace
