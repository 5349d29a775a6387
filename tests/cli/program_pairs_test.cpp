// kith pairs from a file to counts of pairs.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;

class Pairs : public kith::test::ProgramTest {
protected:
    /// On a line: 0, 1, 3, 7. Distances: 1, 3, 7; 2, 6; 4.
    void write_line() const { write_npy("in.npy", std::vector<float>{0, 0, 1, 0, 3, 0, 7, 0}, 2); }
};

TEST_F(Pairs, CountsThemAndWritesThem) {
    write_line();
    const Outcome outcome = kith("pairs in.npy --edges 0:8:4 -o out.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(npy_values<double>(read("out.npz"), "<f8", 0), (std::vector<double>{0, 2, 4, 6, 8}));
    EXPECT_EQ(npy_values<std::int64_t>(read("out.npz"), "<i8", 1), (std::vector<std::int64_t>{2, 2, 1, 1}));
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["n"], 4);
    EXPECT_EQ(json["pairs"], 6);
    EXPECT_EQ(json["counts"], (std::vector<int>{2, 2, 1, 1}));
    EXPECT_EQ(json["engine"], "tree");
    EXPECT_NE(kith("info out.npz").out.find("pair counts"), std::string::npos);
}

TEST_F(Pairs, InABoxAlongALineOfSightAndWithAnotherSet) {
    write_line();
    write_npy("others.npy", std::vector<float>{0.5F, 0, 0.5F, 3}, 2);
    const Json boxed = Json::parse(kith("pairs in.npy --edges 1,2,4,8 --box 8,0 --json").out);
    EXPECT_EQ(boxed["counts"], (std::vector<int>{2, 2, 0})); // 1 1 3 2 2 4: those at 1 are below the first bin
    const Json with = Json::parse(kith("pairs in.npy --with others.npy --edges 0,1,8 --pi 0,1,4 --json").out);
    EXPECT_EQ(with["counts"], (std::vector<int>{2, 2, 2, 2}));
    EXPECT_EQ(with["line_of_sight"], 1);
    EXPECT_EQ(with["n_with"], 2);
    EXPECT_NE(
        kith("pairs in.npy --with others.npy --edges 0,8").out.find("pairs with the 2 of 'others.npy' in 1 bin of r"),
        std::string::npos);
    write_text("first.csv", "x,y,vx,vy\n0,0,5,5\n1,0,6,6\n");
    write_text("second.csv", "x,y,vx,vy\n9,9,5,5\n9,9,6,7\n");
    const std::string of_columns = "pairs first.csv --columns 3,4 --with second.csv --edges 0,1,2 --json";
    const Outcome dropped = kith(of_columns);
    EXPECT_EQ(Json::parse(dropped.out)["counts"], (std::vector<int>{0, 0}));
    EXPECT_NE(dropped.err.find("read unless --with-columns chooses others"), std::string::npos) << dropped.err;
    EXPECT_EQ(Json::parse(kith(of_columns + " --with-columns 3,4").out)["counts"], (std::vector<int>{2, 1}));
    const Json mu = Json::parse(kith("pairs in.npy --edges 0.1:10:1log --mu 0:1:2 --line-of-sight x --json").out);
    EXPECT_EQ(mu["counts"], (std::vector<int>{0, 6}));
    write_npy("space.npy", std::vector<float>{0, 0, 0, 0, 0, 2, 1, 0, 0}, 3);
    const Json along = Json::parse(kith("pairs space.npy --edges 0,2 --pi 0,1,3 --line-of-sight z --json").out);
    EXPECT_EQ(along["counts"], (std::vector<int>{1, 2}));
    EXPECT_NE(kith("pairs in.npy --edges 0,2 --pi 0,1 --line-of-sight z").err.find("0 to 1"), std::string::npos);
}

TEST_F(Pairs, WeightsAndSeparations) {
    write_text("in.csv", "x,y,w,mass\n0,0,1,5\n1,0,2,5\n3,0,4,5\n7,0,8,5\n");
    const std::string edges = "pairs in.csv --edges 0,2,8 --separations --weights ";
    const Json json = Json::parse(kith(edges + "--columns mass=w -o out.npz --json").out);
    EXPECT_EQ(json["counts"], (std::vector<int>{2, 4})); // 1 2; 3 7 6 4
    EXPECT_EQ(json["weighted"],
              (std::vector<double>{1 * 2 + 2 * 4, 4 + 8 + 16 + 32})); // of 0 1, 1 3; 0 3, 0 7, 1 7, 3 7
    EXPECT_EQ(json["separations"], (std::vector<double>{18 / 10.0, (12 + 56 + 96 + 128) / 60.0}));
    EXPECT_EQ(npy_values<double>(read("out.npz"), "<f8", 2), json["weighted"].get<std::vector<double>>());
    EXPECT_EQ(npy_values<double>(read("out.npz"), "<f8", 3), json["separations"].get<std::vector<double>>());
    EXPECT_EQ(Json::parse(kith(edges + "--json").out)["separations"],
              (std::vector<double>{1.5, 5})); // by mass, all alike
    write_npy("others.npy", std::vector<double>{0.5, 0}, 2);
    const Outcome with = kith(edges + "--columns mass=w --with others.npy --json");
    EXPECT_EQ(Json::parse(with.out)["weighted"], (std::vector<double>{3, 12}));
    EXPECT_NE(with.out.find("'others.npy' has no masses; its points weigh 1 each"), std::string::npos) << with.out;
    write_text("others.csv", "x,y,w\n0.5,0,10\n");
    const Json weighed = Json::parse(kith(edges + "--columns mass=w --with others.csv --json").out);
    EXPECT_EQ(weighed["weighted"], (std::vector<double>{30, 120}));
    write_text("uneven.csv", "x,y,mass\n0,0,1e12\n1,0,1\n");
    EXPECT_NE(kith("pairs uneven.csv --edges 0,2 --weights").err.find("1 weight counts as 0"), std::string::npos);
    write_line();
    EXPECT_NE(kith("pairs in.npy --edges 0,2 --weights").err.find("'in.npy' has none"), std::string::npos);
}

TEST_F(Pairs, BinsArePrinted) {
    write_line();
    const auto has = [](const Outcome& outcome, const std::string& table) {
        EXPECT_NE(outcome.out.find(table), std::string::npos) << outcome.out << outcome.err;
    };
    has(kith("pairs in.npy --edges 0,2,6.5,inf"), "bins     r above   to  pairs\n"
                                                  "               0    2      2\n"
                                                  "               2  6.5      3\n"
                                                  "             6.5  inf      1\n");
    has(kith("pairs in.npy --edges 0,8 --mu 0,0.5,1"), "bins     s above  to  mu above   to  pairs\n"
                                                       "               0   8         0  0.5      6\n"
                                                       "               0   8       0.5    1      0\n");
    write_text("in.csv", "x,y,mass\n0,0,1\n1,0,2\n3,0,4\n7,0,8\n");
    has(kith("pairs in.csv --edges 0,2,8 --weights --separations"), "bins     r above  to  pairs  weighted   mean r\n"
                                                                    "               0   2      2        10      1.8\n"
                                                                    "               2   8      4        60  4.86667\n");
    has(kith("pairs in.npy --edges 0:8:70 -o out.npz"), "and 10 more; -o writes all of them");
    EXPECT_EQ(kith("pairs in.npy --edges 0:8:70 --json").out.find("bins  "), std::string::npos);
}

TEST_F(Pairs, EdgesWhoseRatioOverflows) {
    write_npy("in.npy", std::vector<double>{0, 0, 1, 0, 3, 0, 7, 0}, 2);
    const Outcome outcome = kith("pairs in.npy --edges 1e-10:1e300:31log --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::vector<double> edges = Json::parse(outcome.out)["edges"];
    ASSERT_EQ(edges.size(), 32U);
    EXPECT_EQ(edges.front(), 1e-10);
    EXPECT_EQ(edges.back(), 1e300);
    for (int k = 1; k < 31; ++k) {
        EXPECT_NEAR(std::log10(edges[k]), -10 + 10.0 * k, 1e-9);
    }
}

TEST_F(Pairs, WrongUsageIsRefused) {
    write_line();
    write_npy("space.npy", std::vector<float>{0, 0, 0}, 3);
    write_npy("nan.npy", std::vector<float>{0, 0, std::numeric_limits<float>::quiet_NaN(), 0}, 2);
    for (const auto& [options, text] :
         {std::pair("--edges 0:1", "FIRST:LAST:BINS"), std::pair("--edges 0:10:5log", "the first above 0"),
          std::pair("--edges 2,1", "kith: --edges[1] is 1, less than the one before, 2; edges must not descend"),
          std::pair("--edges 0,1 --pi 2,1", "kith: --pi[1] is 1, less"),
          std::pair("--edges 1", "kith: --edges holds 1 number"),
          std::pair(
              "--edges 0,1 --pi 0,1 --line-of-sight 2",
              "kith: --line-of-sight is 2, but the points have 2 axes; it must be x, y, z, or the number of an axis, "
              "0 to 1\n"),
          std::pair("--edges 0,1e-300", "kith: --edges[1] is 1e-300"),
          std::pair("--edges 0,1 --pi 0,1 --mu 0,1", "both given"),
          std::pair("--edges 0,1 --line-of-sight z", "leave it out"),
          std::pair("--edges 0,1 --mu 0,2", "kith: --mu[1] is 2; it must be 0 or more, and 1 at most"),
          std::pair("--edges 0,1 --engine brute", "give one of: auto, tree"),
          std::pair("--edges 0,1 --with space.npy", "the other points of 'space.npy' 3"),
          std::pair("--edges 0,1 --with nan.npy", "'nan.npy': point 1 has NaN"),
          std::pair("--edges 0,1 --with-columns 1,2", "of a second file, which is not given"),
          std::pair("--edges 0,inf,inf", "finite number"), std::pair("--edges 0:inf:5", "list the edges with commas"),
          std::pair("--edges 0,inf --separations", "mean separations need a finite last edge: give a length that no "
                                                   "distance exceeds, or leave --separations out")}) {
        const Outcome outcome = kith(std::string("pairs in.npy ") + options);
        EXPECT_NE(outcome.exit_code, 0) << options;
        EXPECT_NE(outcome.err.find(text), std::string::npos) << options << ": " << outcome.err;
    }
}

} // namespace
