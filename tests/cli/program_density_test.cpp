// kith density from a file to densities.
#include "cli/program.hpp"

#include <kith/kith.hpp>

#include <nlohmann/json.hpp>

namespace {

using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;

class Density : public kith::test::ProgramTest {
protected:
    std::vector<float> line{0, 0, 1, 0, 3, 0, 7, 0};

    void write_line() const { write_npy("in.npy", line, 2); }
    [[nodiscard]] kith::NeighborSums expected(const kith::SumOptions& options = {}) const {
        return kith::sum_neighbors(kith::PointsView(line, 2), kith::Nearest{3}, options);
    }
};

TEST_F(Density, IsThatOfTheLibrary) {
    write_line();
    Outcome outcome = kith("density in.npy -k 3 -o out.npy --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(npy_values<double>(read("out.npy"), "<f8"), expected().density);
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["k"], 3);
    EXPECT_EQ(json["kernel"], "cubic");
    EXPECT_EQ(json["quantity"], "points per volume");
    EXPECT_GT(json["density"]["greatest"], json["density"]["median"]);
    outcome = kith("density in.npy -k 3 --kernel gaussian --exclude-self --box 8,0 -o out.npz");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const kith::NeighborSums sums =
        expected({.box = kith::Box::periodic({8, 0}), .kernel = kith::SmoothingKernel::gaussian, .exclude_self = true});
    EXPECT_EQ(npy_values<double>(read("out.npz"), "<f8", 0), sums.density);
    EXPECT_EQ(npy_values<double>(read("out.npz"), "<f8", 1), sums.reach);
    EXPECT_NE(kith("info out.npz").out.find("densities"), std::string::npos);
    EXPECT_NE(kith("info out.npz").out.find("gaussian"), std::string::npos);
}

TEST_F(Density, TakesMassesOfTheFile) {
    write_text("in.csv", "x,y,z,mass\n0,0,0,2\n1,0,0,0.5\n3,0,0,1\n7,0,0,4\n");
    const std::vector<double> points{0, 0, 0, 1, 0, 0, 3, 0, 0, 7, 0, 0};
    const std::vector<double> masses{2, 0.5, 1, 4};
    const auto expected_of = [&](const kith::SumOptions& options) {
        return kith::sum_neighbors(kith::PointsView(points, 3), kith::Nearest{3}, options).density;
    };
    Outcome outcome = kith("density in.csv -k 3 -o out.npy --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["quantity"], "mass per volume");
    EXPECT_EQ(npy_values<double>(read("out.npy"), "<f8"), expected_of({.masses = masses}));
    outcome = kith("density in.csv -k 3 --number -o out.npy");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(npy_values<double>(read("out.npy"), "<f8"), expected_of({}));
}

TEST_F(Density, NonsenseIsRefused) {
    write_line();
    EXPECT_EQ(kith("density in.npy -k 0 -o out.npy").exit_code, 2);
    const Outcome kernel = kith("density in.npy --kernel spline -o out.npy");
    EXPECT_EQ(kernel.exit_code, 2);
    EXPECT_NE(kernel.err.find("--kernel"), std::string::npos) << kernel.err;
    EXPECT_EQ(kith("density in.npy -o out.txt").exit_code, 2);
    EXPECT_NE(kith("density in.npy -o out.npy --device cuda").exit_code, 0);
}

} // namespace
