// Groups of real simulations against what other halo finders published for them.
//
// The files lie outside the project; where they are absent the tests are skipped. Tipsy files are read by hand: a
// header of 32 bytes, then dark particles of nine big-endian floats (mass, position, velocity, softening, potential).
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace kith::test {
namespace {

const std::filesystem::path shared_data = KITH_SHARED_DATA;

std::vector<unsigned char> bytes_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

float big_endian_float(const unsigned char* bytes) {
    return std::bit_cast<float>(std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
                                std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]});
}

std::vector<float> tipsy_dark_positions(const std::filesystem::path& file) {
    const std::vector<unsigned char> bytes = bytes_of(file);
    std::vector<float> positions;
    for (std::size_t record = 32; record + 36 <= bytes.size(); record += 36) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            positions.push_back(big_endian_float(&bytes[record + 4 + 4 * axis]));
        }
    }
    return positions;
}

class RealData : public NeedsDimension<3> {};

TEST_F(RealData, CosmologyGroupCountsOfHfof) {
    const std::filesystem::path file = shared_data / "particles/hfof_cosmo32768.u16";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << file << " is absent";
    }
    const std::vector<unsigned char> bytes = bytes_of(file);
    ASSERT_EQ(bytes.size(), 32768U * 6);
    std::vector<double> positions;
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
        positions.push_back((bytes[i] + 256 * bytes[i + 1]) / 65536.0);
    }
    const std::vector<float> narrow(positions.begin(), positions.end());
    const auto groups = [](const PointsView& points, double length, const Box& box) {
        return fof(points, LinkingLength::absolute(length), {.box = box}).sizes.size();
    };
    const std::map<double, std::size_t> open{{0.1, 2}, {0.05, 461}, {0.01, 9600}, {0.005, 14497}, {0.001, 27824}};
    for (const auto& [length, count] : open) {
        EXPECT_EQ(groups(PointsView(positions, 3), length, {}), count) << "open, " << length;
        EXPECT_EQ(groups(PointsView(narrow, 3), length, {}), count) << "open, float32, " << length;
    }
    const std::map<double, std::size_t> periodic{{0.3, 1},     {0.1, 1},       {0.05, 396},
                                                 {0.01, 9580}, {0.005, 14488}, {0.001, 27823}};
    for (const auto& [length, count] : periodic) {
        EXPECT_EQ(groups(PointsView(positions, 3), length, Box::periodic(1)), count) << "periodic, " << length;
        EXPECT_EQ(groups(PointsView(narrow, 3), length, Box::periodic(1)), count) << "periodic, float32, " << length;
    }
}

TEST_F(RealData, PartitionOfTheNBodyShopGroupFinder) {
    const std::filesystem::path snapshot = shared_data / "tipsy/lambs30K_density.std";
    const std::filesystem::path published = shared_data / "expected/lambs30K_density_NBodyShopFOF_b0.2_m20.grp";
    if (!std::filesystem::exists(snapshot) || !std::filesystem::exists(published)) {
        GTEST_SKIP() << snapshot << " or " << published << " is absent";
    }
    const std::vector<float> positions = tipsy_dark_positions(snapshot);
    ASSERT_EQ(positions.size(), 90000U);
    const FofResult found = fof(PointsView(positions, 3), LinkingLength::relative(0.2), {.box = Box::periodic(1)});
    EXPECT_NEAR(found.linking_length, 0.006436595897, 1e-9);
    EXPECT_EQ(found.volume, 1);
    EXPECT_EQ(found.volume_kind, VolumeKind::box);
    EXPECT_EQ(found.sizes.size(), 14377);
    EXPECT_EQ(found.groups_of_at_least(1), 14377);
    EXPECT_EQ(found.groups_of_at_least(2), 2227);
    EXPECT_EQ(found.groups_of_at_least(8), 332);
    EXPECT_EQ(found.groups_of_at_least(20), 137);
    EXPECT_EQ(std::vector<std::int32_t>(found.sizes.begin(), std::next(found.sizes.begin(), 5)),
              (std::vector<std::int32_t>{605, 581, 524, 412, 399}));

    // The published file numbers groups of 20 or more from 1 in an order of its own; 0 is no group.
    std::ifstream stream(published);
    std::int64_t count = 0;
    stream >> count;
    ASSERT_EQ(count, 30000);
    std::map<std::int64_t, std::int32_t> ours_of_theirs;
    std::map<std::int32_t, std::int64_t> theirs_of_ours;
    for (std::size_t i = 0; i < 30000; ++i) {
        std::int64_t theirs = -1;
        ASSERT_TRUE(stream >> theirs);
        const std::int32_t ours = found.labels()[i] < 137 ? found.labels()[i] : -1;
        ASSERT_EQ(ours == -1, theirs == 0) << "particle " << i;
        if (theirs != 0) {
            EXPECT_EQ(ours_of_theirs.emplace(theirs, ours).first->second, ours) << "particle " << i;
            EXPECT_EQ(theirs_of_ours.emplace(ours, theirs).first->second, theirs) << "particle " << i;
        }
    }
    EXPECT_EQ(ours_of_theirs.size(), 137U);
}

TEST_F(RealData, InitialConditionsLinkNoPair) {
    // Particles stick out of the box and are wrapped.
    const std::filesystem::path snapshot = shared_data / "tipsy/cube300.tbin";
    if (!std::filesystem::exists(snapshot)) {
        GTEST_SKIP() << snapshot << " is absent";
    }
    const std::vector<float> positions = tipsy_dark_positions(snapshot);
    ASSERT_EQ(positions.size(), 3U * 110592);
    EXPECT_EQ(fof(PointsView(positions, 3), LinkingLength::relative(0.2), {.box = Box::periodic(1)}).sizes.size(),
              110592);
}

} // namespace
} // namespace kith::test
