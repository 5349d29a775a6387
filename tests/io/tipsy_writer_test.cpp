// .grp and .gtp files.
#include "io/files.hpp"

#include <array>
#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

Catalog two_groups() {
    Catalog catalog;
    catalog.groups = 2;
    catalog.dimension = 3;
    catalog.mass = {10, 5};
    catalog.center = {1, 2, 3, -4, -5, -6};
    catalog.velocity = {0.5, 0.25, 0.125, 7, 8, 9};
    catalog.max_radius = {0.75, 1.5};
    return catalog;
}

TEST(Writers, AReplacedFileKeepsItsPermissions) {
    namespace fs = std::filesystem;
    const TemporaryFolder folder;
    const fs::path path = folder / "a.grp";
    io::write_grp(path, {});
    constexpr fs::perms private_to_group = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
    fs::permissions(path, private_to_group);
    io::write_grp(path, std::vector<std::int32_t>{0});
    EXPECT_EQ(read_bytes(path), "1\n1\n");
    EXPECT_EQ(fs::status(path).permissions(), private_to_group);
}

TEST(TipsyWriter, LabelsPlusOne) {
    const TemporaryFolder folder;
    const std::vector<std::int32_t> labels = {-1, 0, 41, 2147483647};
    io::write_grp(folder / "a.grp", labels);
    EXPECT_EQ(read_bytes(folder / "a.grp"), "4\n0\n1\n42\n2147483648\n");
    io::write_grp(folder / "none.grp", {});
    EXPECT_EQ(read_bytes(folder / "none.grp"), "0\n");
    const std::vector<std::int32_t> wrong = {0, -2};
    expect_error(ErrorKind::invalid_argument, {"label -2", "particle 1"},
                 [&] { io::write_grp(folder / "b.grp", wrong); });
    EXPECT_EQ(folder.entries(), 2U);
}

TEST(TipsyWriter, ManyLabels) {
    const TemporaryFolder folder;
    std::string expected = "50000\n";
    std::vector<std::int32_t> labels(50000);
    for (int i = 0; i < 50000; ++i) {
        labels[static_cast<std::size_t>(i)] = i * 7;
        expected += std::to_string(i * 7 + 1) + "\n";
    }
    io::write_grp(folder / "a.grp", labels);
    EXPECT_EQ(read_bytes(folder / "a.grp"), expected);
}

TEST(TipsyWriter, GroupsAsStars) {
    const TemporaryFolder folder;
    io::write_gtp(folder / "a.gtp", two_groups(), 0.5);
    Bytes expected(std::endian::big);
    expected.add(0.5).add(2).add(3).add(0).add(0).add(2).add(0);
    for (const float value : {10.0F, 1.0F, 2.0F, 3.0F, 0.5F, 0.25F, 0.125F, 0.0F, 0.5F, 0.75F, 0.0F}) {
        expected.add(value);
    }
    for (const float value : {5.0F, -4.0F, -5.0F, -6.0F, 7.0F, 8.0F, 9.0F, 0.0F, 0.5F, 1.5F, 0.0F}) {
        expected.add(value);
    }
    EXPECT_EQ(read_bytes(folder / "a.gtp"), expected.text());
    const io::Snapshot s = io::read_snapshot(folder / "a.gtp");
    EXPECT_EQ(s.header.counts[4], 2);
    EXPECT_EQ(at(s.positions, 3), -4.0);
}

TEST(TipsyWriter, NoVelocitiesNoGroupsOtherDimensions) {
    const TemporaryFolder folder;
    Catalog still = two_groups();
    still.velocity.clear();
    io::write_gtp(folder / "still.gtp", still, 1);
    EXPECT_EQ(at(*io::read_snapshot(folder / "still.gtp").velocities, 4), 0.0);
    io::write_gtp(folder / "none.gtp", Catalog{}, 1);
    EXPECT_EQ(read_bytes(folder / "none.gtp").size(), 32U);
    Catalog flat = two_groups();
    flat.dimension = 2;
    expect_error(ErrorKind::invalid_argument, {"3 dimensions", "have 2"},
                 [&] { io::write_gtp(folder / "flat.gtp", flat, 1); });
    EXPECT_EQ(folder.entries(), 2U);
}

io::Snapshot snapshot_of_three(const std::vector<std::uint8_t>& types) {
    io::Snapshot snapshot;
    snapshot.header.time = 0.25;
    snapshot.positions = {std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3};
    snapshot.velocities = io::RealArray{std::vector<float>{-1, -2, -3, -4, -5, -6, -7, -8, -9}, 3};
    snapshot.masses = io::RealArray{std::vector<double>{10, 11, 12}, 1};
    snapshot.types = types;
    return snapshot;
}

TEST(TipsySnapshot, BytesOfEachKind) {
    const TemporaryFolder folder;
    io::write_tipsy(folder / "a.std", snapshot_of_three({0, 1, 4}));
    Bytes expected(std::endian::big);
    expected.add(0.25).add(3).add(3).add(1).add(1).add(1).add(0);
    for (int kind = 0; kind < 3; ++kind) {
        const auto first = static_cast<float>(3 * kind + 1);
        expected.add(static_cast<float>(10 + kind)).add(first).add(first + 1).add(first + 2);
        expected.add(-first).add(-first - 1).add(-first - 2);
        for (int left = kind == 0 ? 5 : kind == 1 ? 2 : 4; left > 0; --left) { // gas, dark matter, stars
            expected.add(0.0F);
        }
    }
    EXPECT_EQ(read_bytes(folder / "a.std"), expected.text());
}

TEST(TipsySnapshot, IsReadAsItWas) {
    const TemporaryFolder folder;
    for (const bool wide_positions : {false, true}) {
        for (const bool wide_velocities : {false, true}) {
            io::Snapshot written = snapshot_of_three({4, 0, 4}); // not in the order of Tipsy
            if (wide_positions) {
                written.positions.values = std::vector<double>{1.1, 2.2, 3.3, 4, 5, 6, 7, 8, 9};
            }
            if (wide_velocities) {
                written.velocities->values = std::vector<double>{-1.1, -2, -3, -4, -5, -6, -7, -8, -9};
            }
            io::write_tipsy(folder / "a.std", written);
            const io::Snapshot read =
                io::read_snapshot(folder / "a.std", {.types = {io::TypeSelection::Kind::all, {}}});
            EXPECT_EQ(read.header.counts, (std::array<std::int64_t, max_types>{1, 0, 0, 0, 2}));
            EXPECT_TRUE(read.header.warnings.empty());
            EXPECT_EQ(read.header.time, 0.25);
            EXPECT_EQ(read.positions.dtype(), wide_positions || wide_velocities ? DType::float64 : DType::float32);
            EXPECT_EQ(read.velocities->dtype(), written.velocities->dtype());
            for (std::size_t row = 0; row < 3; ++row) {
                const std::size_t from = std::array<std::size_t, 3>{1, 0, 2}[row];
                EXPECT_EQ(at(*read.masses, row), at(*written.masses, from));
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    EXPECT_EQ(at(read.positions, 3 * row + axis), at(written.positions, 3 * from + axis));
                    EXPECT_EQ(at(*read.velocities, 3 * row + axis), at(*written.velocities, 3 * from + axis));
                }
            }
        }
    }
}

TEST(TipsySnapshot, ManyPointsWithoutTypesOrColumns) {
    const TemporaryFolder folder;
    io::Snapshot written;
    std::vector<float> positions(3 * 40'000);
    std::iota(positions.begin(), positions.end(), 0.0F);
    written.positions = {positions, 3};
    written.uniform_mass = 2;
    io::write_tipsy(folder / "a.std", written);
    const io::Snapshot read = io::read_snapshot(folder / "a.std");
    EXPECT_EQ(read.header.counts[1], 40'000);
    EXPECT_EQ(read.positions.values, written.positions.values);
    EXPECT_EQ(at(*read.masses, 39'999), 2);
    EXPECT_EQ(at(*read.velocities, 0), 0);
    io::Snapshot none;
    none.positions.columns = 3;
    io::write_tipsy(folder / "none.std", none);
    EXPECT_EQ(read_bytes(folder / "none.std").size(), 32U);
}

TEST(TipsySnapshot, RefusesWhatTheFormatLacks) {
    const TemporaryFolder folder;
    expect_error(ErrorKind::invalid_argument, {"row 2 is of type 5", "stars (4)"}, [&] {
        io::write_tipsy(folder / "a.std", snapshot_of_three({0, 1, 5}));
    });
    io::Snapshot flat;
    flat.positions = {std::vector<float>{1, 2}, 2};
    expect_error(ErrorKind::invalid_argument, {"3 dimensions", "has 2"},
                 [&] { io::write_tipsy(folder / "a.std", flat); });
    io::Snapshot uneven = snapshot_of_three({0, 1, 4});
    std::get<std::vector<double>>(uneven.masses->values)[2] = 1e39;
    expect_error(ErrorKind::invalid_argument, {"mass of row 2 is 1e+39", "float32"},
                 [&] { io::write_tipsy(folder / "a.std", uneven); });
    uneven.masses->values = std::vector<double>{1, 2};
    expect_error(ErrorKind::invalid_argument, {"masses are 2 rows of 1", "3 of 1"},
                 [&] { io::write_tipsy(folder / "a.std", uneven); });
    uneven.masses.reset();
    uneven.velocities->columns = 1;
    expect_error(ErrorKind::invalid_argument, {"velocities are 9 rows of 1", "3 of 3"},
                 [&] { io::write_tipsy(folder / "a.std", uneven); });
    uneven.velocities.reset();
    uneven.types = {1};
    expect_error(ErrorKind::invalid_argument, {"1 types for 3 positions"},
                 [&] { io::write_tipsy(folder / "a.std", uneven); });
    EXPECT_EQ(folder.entries(), 0U);
}

} // namespace
