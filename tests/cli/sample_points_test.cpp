// The points that kith bench makes: in the unit cube, the same every time, as clustered as their name says.
#include "cli/sample_points.hpp"

#include <kith/fof.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace kith;
using kith::cli::sample_points;
using kith::cli::SampleSet;

TEST(SamplePoints, LieInTheUnitCubeAndAreTheSameAgain) {
    for (const SampleSet set : {SampleSet::uniform, SampleSet::clustered}) {
        const io::RealArray points = sample_points(set, 5000, 3, DType::float32);
        EXPECT_EQ(points.rows(), 5000);
        EXPECT_EQ(points.columns, 3);
        const auto& values = std::get<std::vector<float>>(points.values);
        EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](float x) { return x >= 0 && x < 1; }));
        EXPECT_EQ(values, std::get<std::vector<float>>(sample_points(set, 5000, 3, DType::float32).values));
    }
}

TEST(SamplePoints, ClusteredOnesFormGroups) {
    const auto largest = [](SampleSet set) {
        const io::RealArray points = sample_points(set, 20000, 3, DType::float64);
        return fof(points.view(), LinkingLength::relative(0.2), {.box = Box::periodic(1.0)}).sizes.front();
    };
    EXPECT_LT(largest(SampleSet::uniform), 50);
    EXPECT_GT(largest(SampleSet::clustered), 200);
}

} // namespace
