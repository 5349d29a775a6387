// Tipsy ASCII: the order of its properties, and texts that are too short, too long or wrong.
#include "io/files.hpp"

#include <algorithm>

using namespace kith;
using namespace kith::test;

namespace {

// One gas, two dark and one star particle: masses 1 to 4, x 11 to 14, y 21, z 31, velocities 41, 51, 61.
std::string small(std::string_view between = "\n") {
    std::string text = "4 1 1\n 3\n 0.5\n";
    for (const int first : {1, 11, 21, 31, 41, 51, 61}) {
        for (int i = 0; i < 4; ++i) {
            text += std::to_string(first + i) + ".25" + std::string(between);
        }
    }
    return text;
}

class TipsyAscii : public testing::Test {
protected:
    [[nodiscard]] io::Snapshot read(std::string_view content, const io::ReadOptions& options = all_types()) const {
        write_bytes(folder_ / "snapshot", content);
        return io::read_snapshot(folder_ / "snapshot", options);
    }
    void refused(std::string_view content, std::initializer_list<std::string_view> words) const {
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(read(content)); });
    }
    TemporaryFolder folder_;
};

TEST_F(TipsyAscii, PropertiesFollowEachOther) {
    for (const char* between : {"\n", "\r\n", "  ", "\n\n\t", "\r"}) {
        std::string text = small(between) + "7 7 7\n"; // softenings and the like are not read
        if (between == std::string_view("\r")) {
            std::replace(text.begin(), text.end(), '\n', '\r');
        }
        const io::Snapshot s = read(text);
        EXPECT_EQ(s.header.format, "Tipsy ASCII");
        EXPECT_EQ(s.header.time, 0.5);
        EXPECT_EQ(s.header.counts, (std::array<std::int64_t, max_types>{1, 2, 0, 0, 1, 0, 0}));
        EXPECT_EQ(s.types, (std::vector<std::uint8_t>{0, 1, 1, 4}));
        for (std::size_t row = 0; row < 4; ++row) {
            EXPECT_EQ(at(*s.masses, row), 1.25 + static_cast<double>(row));
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const auto number = static_cast<double>(10 * axis + row);
                EXPECT_EQ(at(s.positions, 3 * row + axis), 11.25 + number);
                EXPECT_EQ(at(*s.velocities, 3 * row + axis), 41.25 + number);
            }
        }
        EXPECT_TRUE(s.header.warnings.empty());
    }
    const io::Snapshot dark = read(small(), {});
    EXPECT_EQ(std::get<std::vector<double>>(dark.masses->values), (std::vector<double>{2.25, 3.25}));
    EXPECT_EQ(std::get<std::vector<double>>(dark.positions.values),
              (std::vector<double>{12.25, 22.25, 32.25, 13.25, 23.25, 33.25}));
    EXPECT_EQ(dark.file_rows, (std::vector<std::int64_t>{1, 2}));
}

TEST_F(TipsyAscii, TwoDimensions) {
    const io::Snapshot s = read("1 0 0\n2\n0\n1 2 3 4 5\n");
    EXPECT_EQ(s.header.dimension, 2);
    EXPECT_EQ(std::get<std::vector<double>>(s.positions.values), (std::vector<double>{2, 3}));
    EXPECT_EQ(std::get<std::vector<double>>(s.velocities->values), (std::vector<double>{4, 5}));
}

TEST_F(TipsyAscii, WhatIsWrongIsNamed) {
    refused("4 3 2\n3\n0\n" + small(), {"4 particles", "3 gas and 2 stars"});
    refused("-1 0 0\n3\n0\n1\n", {"-1 particles"});
    refused("4 1 1\n7\n0\n" + small(), {"7 dimensions"});
    refused("1000000000000 1 1\n3\n0\n" + small(), {"too short", "1000000000000 particles", "ends at byte"});
    refused("4.5 1 1\n3\n0\n" + small(), {"line 1", "'4.5'", "number of particles"});
    std::string content = small();
    refused(content.replace(content.find("12.25"), 5, "twelv"), {"line 9", "'twelv'", "a coordinate"});
    content = small();
    refused(content.substr(0, content.size() - 7), {"too short", "a velocity", "after line 30"});
}

// Cut within its first line it is a table of one point; cut within its last number that is a number still.
TEST_F(TipsyAscii, EveryOtherTruncationIsAnError) {
    const std::string content = small();
    const std::size_t last_number = content.rfind("64.25");
    for (std::size_t length = content.find('3') + 1; length <= last_number; ++length) {
        EXPECT_THROW(static_cast<void>(read(content.substr(0, length))), Error) << length;
    }
}

// The same galaxy, once in float32 and once in seven digits.
TEST(RealTipsyAscii, IsWhatTheBinaryFileHolds) {
    const auto folder = std::filesystem::path(KITH_SHARED_DATA) / "tipsy";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << folder << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    const io::Snapshot text = io::read_snapshot(folder / "run99.ascii", all_types());
    const io::Snapshot binary = io::read_snapshot(folder / "run99.std", all_types());
    EXPECT_EQ(text.header.counts, binary.header.counts);
    EXPECT_EQ(text.types, binary.types);
    EXPECT_NEAR(*text.header.time, *binary.header.time, 1e-5);
    const auto same = [](const io::RealArray& left, const io::RealArray& right) {
        ASSERT_EQ(left.rows(), right.rows());
        ASSERT_EQ(left.columns, right.columns);
        for (std::size_t i = 0; i < static_cast<std::size_t>(left.rows() * left.columns); ++i) {
            ASSERT_NEAR(at(left, i), at(right, i), 1e-6 * std::abs(at(right, i))) << i;
        }
    };
    same(text.positions, binary.positions);
    same(*text.velocities, *binary.velocities);
    same(*text.masses, *binary.masses);
}

} // namespace
