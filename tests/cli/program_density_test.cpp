// kith density from a file to densities.
#include "cli/program.hpp"

#include <kith/kith.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

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

TEST_F(Density, SumsWithinARadius) {
    write_line();
    const Outcome outcome = kith("density in.npy --radius 2.5 -o out.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const kith::NeighborSums sums = kith::sum_neighbors(kith::PointsView(line, 2), kith::Within{2.5});
    EXPECT_EQ(npy_values<double>(read("out.npz"), "<f8", 0), sums.density);
    EXPECT_EQ(npy_values<std::int64_t>(read("out.npz"), "<i8", 1), sums.counts);
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["radius"], 2.5);
    EXPECT_FALSE(json.contains("k"));
    const std::string info = kith("info out.npz").out;
    EXPECT_NE(info.find("densities"), std::string::npos) << info;
    EXPECT_NE(info.find("2.5"), std::string::npos) << info;
}

TEST_F(Density, SumsColumnsOfTheFile) {
    write_text("in.csv", "x,y,z,vx,vy,vz,mass\n0,0,0,1,2,3,2\n1,0,0,4,-5,6,0.5\n3,0,0,7,8,9,1\n7,0,0,1,1,-1,4\n");
    const std::vector<double> points{0, 0, 0, 1, 0, 0, 3, 0, 0, 7, 0, 0};
    const std::vector<double> masses{2, 0.5, 1, 4};
    const std::vector<std::vector<double>> velocities{{1, 4, 7, 1}, {2, -5, 8, 1}, {3, 6, 9, -1}};
    const Outcome outcome = kith("density in.csv -k 3 --fields velocity,mass --statistics "
                                 "greatest,mean,gradient,variance,sum,least --density-gradient -o out.npz --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const kith::NeighborSums sums = kith::sum_neighbors(
        kith::PointsView(points, 3), kith::Nearest{3},
        {.masses = masses,
         .fields = {velocities[0], velocities[1], velocities[2], masses},
         .statistics = {.sum = true, .mean = true, .variance = true, .least = true, .greatest = true, .gradient = true},
         .density_gradient = true});
    const std::string file = read("out.npz");
    int member = 2; // after density and reach
    EXPECT_EQ(npy_values<double>(file, "<f8", member++), sums.density_gradient);
    for (const kith::FieldSums& field : sums.fields) {
        for (const std::vector<double>* column :
             {&field.sum, &field.mean, &field.variance, &field.least, &field.greatest, &field.gradient}) {
            EXPECT_EQ(npy_values<double>(file, "<f8", member++), *column);
        }
    }
    EXPECT_EQ(Json::parse(outcome.out)["fields"], Json({"velocity_x", "velocity_y", "velocity_z", "mass"}));
    const std::string info = kith("info out.npz").out;
    for (const char* name : {"velocity_y_variance", "mass_gradient", "density_gradient"}) {
        EXPECT_NE(info.find(name), std::string::npos) << info;
    }
}

TEST_F(Density, FilesOfNoRowsHaveTheColumnsThatWereAskedFor) {
    write_line();
    write_npy("none.npy", std::vector<float>(), 2);
    for (const auto& [options, names] :
         {std::pair("-k 3", std::vector<std::string>{"density", "reach"}),
          std::pair("-r 2 --density-gradient", std::vector<std::string>{"density", "counts", "density_gradient"})}) {
        for (const char* output : {"out.npz", "out.hdf5"}) {
            const std::string command = "density in.npy --queries none.npy --box none " + std::string(options) + " -o ";
            ASSERT_EQ(kith(command + output).exit_code, 0) << kith(command + output).err;
            const std::string info = kith(std::string("info ") + output).out;
            for (const std::string& name : names) {
                EXPECT_NE(info.find(name), std::string::npos) << info;
            }
        }
    }
    ASSERT_EQ(kith("density in.npy --queries none.npy -o out.npy").exit_code, 0);
    EXPECT_TRUE(npy_values<double>(read("out.npy"), "<f8").empty());
}

TEST_F(Density, WarnsWhereOneNeighborMakesNoDensity) {
    write_line();
    for (const auto& [options, words] :
         {std::pair("", "densities are infinite"), std::pair("--exclude-self", "densities are 0"),
          std::pair("-r 0.5", ""), std::pair("--exclude-self --kernel top-hat", "")}) {
        const bool by_radius = std::string(options).starts_with("-r");
        const Outcome outcome =
            kith("density in.npy " + std::string(by_radius ? "" : "-k 1 ") + options + " -o out.npy");
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(outcome.err.find("take a larger k") != std::string::npos, *words != 0) << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    }
}

TEST_F(Density, WarnsWhereThereAreFewerPoints) {
    write_line();
    const Outcome outcome = kith("density in.npy -k 5 -o out.npy");
    EXPECT_NE(outcome.err.find("-k is 5, but there are 4 points: kernels reach to the farthest of them"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(kith("density in.npy -k 4 -o out.npy").err, "");
    write_npy("one.npy", std::vector<float>{1, 2}, 2);
    const Outcome one = kith("density one.npy -k 2 --exclude-self -o out.npy");
    EXPECT_NE(one.err.find("there is 1 point and none is its own neighbor: nothing is summed, and densities are 0"),
              std::string::npos)
        << one.err;
}

TEST_F(Density, WarnsWhereRadiiHoldNoOtherPoint) {
    write_line(); // 0, 1, 3, 7
    write_npy("far.npy", std::vector<float>{50, 0, 7, 0, 60, 0}, 2);
    for (const auto& [options, words] :
         {std::pair("-r 0.5",
                    "4 of 4 points have no other point within the radius 0.5, and their densities count nothing"),
          std::pair("-r 1", "2 of 4 points have no other"), std::pair("-r 2.5", ""),
          std::pair("-r 0", "4 of 4 points have no other point within the radius 0, and their densities are infinite"),
          std::pair("-r 0.5 --exclude-self",
                    "within the radius 0.5, and their densities are 0; take a larger --radius"),
          std::pair("-r 0.5 --queries far.npy", "2 of 3 queries have no point within the radius 0.5"),
          std::pair("-r 5 --queries in.npy", "")}) {
        const Outcome outcome = kith("density in.npy " + std::string(options) + " -o out.npz");
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << options << outcome.err;
        EXPECT_EQ(outcome.err.find("larger --radius") != std::string::npos, *words != 0) << options << outcome.err;
    }
}

TEST_F(Density, NonsenseIsRefused) {
    write_line();
    EXPECT_EQ(kith("density in.npy -k 0 -o out.npy").exit_code, 2);
    const Outcome kernel = kith("density in.npy --kernel spline -o out.npy");
    EXPECT_EQ(kernel.exit_code, 2);
    EXPECT_NE(kernel.err.find("--kernel"), std::string::npos) << kernel.err;
    EXPECT_EQ(kith("density in.npy -o out.txt").exit_code, 2);
    EXPECT_NE(kith("density in.npy -o out.npy --device cuda").exit_code, 0);
    for (const auto& [options, words] :
         {std::pair("-k 3 --radius 1 -o out.npz", "--radius"), std::pair("--radius inf -o out.npz", "-r is 'inf'"),
          std::pair("--fields velocity -o out.npz", "'in.npy' has none"),
          std::pair("--fields speed -o out.npz", "velocity, mass, internal-energy"),
          std::pair("--fields mass -o out.npy", "holds one array"),
          std::pair("--statistics mean -o out.npz", "without --fields"),
          std::pair("--fields mass --statistics mode -o out.npz", "--statistics is 'mode'"),
          std::pair("--fields mass --statistics gradient --queries in.npy -o out.npz", "--queries"),
          std::pair("--density-gradient --kernel top-hat -o out.npz", "a top hat has no gradient")}) {
        const Outcome outcome = kith("density in.npy " + std::string(options));
        EXPECT_EQ(outcome.exit_code, 2) << options << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << options << outcome.err;
        EXPECT_FALSE(exists("out.npz")) << options;
    }
    write_text("nan.csv", "x,y,z,vx,vy,vz\n0,0,0,1,2,3\n1,0,0,4,nan,6\n");
    const Outcome nan = kith("density nan.csv -k 2 --fields velocity -o out.npz");
    EXPECT_NE(nan.exit_code, 0);
    EXPECT_NE(nan.err.find("velocity_y: row 1 is nan"), std::string::npos) << nan.err;
}

} // namespace
