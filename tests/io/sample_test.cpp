// Random parts of the rows of a snapshot.
#include "io/files.hpp"

#include <algorithm>
#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

/// Rows `first` to `last` of a file of as many particles, with all columns.
io::Snapshot rows_of(std::int64_t first, std::int64_t last) {
    io::Snapshot snapshot;
    const auto rows = static_cast<std::size_t>(last - first);
    snapshot.file_rows.resize(rows);
    std::iota(snapshot.file_rows.begin(), snapshot.file_rows.end(), first);
    std::vector<float> positions;
    std::vector<double> velocities;
    for (const std::int64_t row : snapshot.file_rows) {
        for (int axis = 0; axis < 3; ++axis) {
            positions.push_back(static_cast<float>(3 * row + axis));
            velocities.push_back(static_cast<double>(-3 * row - axis));
        }
        snapshot.ids.push_back(static_cast<std::uint64_t>(row) + 1'000'000);
        snapshot.types.push_back(static_cast<std::uint8_t>(row % 3));
    }
    snapshot.masses = io::RealArray{std::vector<float>(snapshot.file_rows.begin(), snapshot.file_rows.end()), 1};
    snapshot.positions = {std::move(positions), 3};
    snapshot.velocities = io::RealArray{std::move(velocities), 3};
    return snapshot;
}

TEST(Sample, KeepsAllColumnsOfTheSameRows) {
    io::Snapshot snapshot = rows_of(0, 5000);
    io::keep_sample(snapshot, 321, 7);
    ASSERT_EQ(snapshot.file_rows.size(), 321U);
    EXPECT_TRUE(std::is_sorted(snapshot.file_rows.begin(), snapshot.file_rows.end()));
    EXPECT_EQ(snapshot.positions.rows(), 321);
    EXPECT_EQ(snapshot.velocities->rows(), 321);
    EXPECT_EQ(snapshot.masses->rows(), 321);
    EXPECT_EQ(snapshot.ids.size(), 321U);
    EXPECT_EQ(snapshot.types.size(), 321U);
    for (std::size_t i = 0; i < snapshot.file_rows.size(); ++i) {
        const std::int64_t row = snapshot.file_rows[i];
        EXPECT_EQ(at(snapshot.positions, 3 * i + 2), 3 * row + 2);
        EXPECT_EQ(at(*snapshot.velocities, 3 * i + 1), -3 * row - 1);
        EXPECT_EQ(at(*snapshot.masses, i), row);
        EXPECT_EQ(snapshot.ids[i], static_cast<std::uint64_t>(row) + 1'000'000);
        EXPECT_EQ(snapshot.types[i], row % 3);
    }
}

TEST(Sample, DependsOnTheSeedAlone) {
    const auto sample = [](std::int64_t count, std::uint64_t seed) {
        io::Snapshot snapshot = rows_of(0, 1000);
        io::keep_sample(snapshot, count, seed);
        return snapshot.file_rows;
    };
    EXPECT_EQ(sample(100, 1), sample(100, 1));
    EXPECT_NE(sample(100, 1), sample(100, 2));
    const std::vector<std::int64_t> more = sample(200, 1);
    const std::vector<std::int64_t> fewer = sample(100, 1);
    EXPECT_TRUE(std::includes(more.begin(), more.end(), fewer.begin(), fewer.end()));
    EXPECT_EQ(sample(1, 3).size(), 1U);
    EXPECT_EQ(sample(1000, 1).size(), 1000U);
    EXPECT_EQ(sample(5000, 1).size(), 1000U);
}

TEST(Sample, OfEmptySnapshotsAndOfNoRows) {
    io::Snapshot none = rows_of(0, 0);
    io::keep_sample(none, 10);
    EXPECT_TRUE(none.file_rows.empty());
    expect_error(ErrorKind::invalid_argument, {"0 rows"}, [&] { io::keep_sample(none, 0); });
    io::Snapshot unnumbered = rows_of(0, 5);
    unnumbered.file_rows.clear();
    expect_error(ErrorKind::invalid_argument, {"5 rows", "file_rows"}, [&] { io::keep_sample(unnumbered, 2); });
}

} // namespace
