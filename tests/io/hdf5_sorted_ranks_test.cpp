// Snapshots in group order that ranks write: the bytes of one process.
#include "io/hdf5_sorted_files.hpp"

#include "io/tipsy_layout.hpp"

#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

class SortedOverRanks : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path input() const { return folder_ / "in.hdf5"; }
    [[nodiscard]] std::filesystem::path output() const { return folder_ / "out.hdf5"; }
    [[nodiscard]] std::vector<std::string> sort(const Catalog& catalog, const io::Snapshot& snapshot) const {
        const auto left_out = io::write_sorted_snapshot(output(), catalog, snapshot, sorted_provenance);
        for (const int ranks : {1, 2, 3}) {
            const std::filesystem::path over = folder_ / "over_ranks.hdf5";
            EXPECT_EQ(write_sorted_over(ranks, over, catalog, snapshot, sorted_provenance), left_out) << ranks;
            EXPECT_TRUE(read_bytes(over) == read_bytes(output())) << ranks << " ranks";
        }
        return left_out;
    }
    TemporaryFolder folder_;
};

// More members of one rank than it sends at a time.
TEST_F(SortedOverRanks, LargeGroups) {
    constexpr int rows = 300000;
    std::vector<int> numbers(rows);
    std::iota(numbers.begin(), numbers.end(), 0);
    {
        Hdf5Maker file(input());
        add_header(file, {0, rows}, {0, rows});
        add_type(file, "PartType1", numbers);
    }
    const io::Snapshot snapshot = io::read_snapshot(input());
    Catalog catalog;
    catalog.groups = 2; // the odd rows, the even ones
    catalog.offset = {0, rows / 2};
    catalog.count_by_type.resize(2 * max_types);
    std::vector<std::uint64_t> expected;
    for (int i = 0; i < rows; ++i) {
        const int row = i < rows / 2 ? 2 * i + 1 : 2 * i - rows;
        catalog.member_array.vector<std::int32_t>().push_back(row);
        ++catalog.count_by_type[i < rows / 2 ? 1 : max_types + 1];
        expected.push_back(static_cast<std::uint64_t>(row));
    }
    EXPECT_EQ(sort(catalog, snapshot), std::vector<std::string>{});
    EXPECT_EQ(Hdf5Checker(output()).dataset<std::uint64_t>("PartType1/ParticleIDs"), expected);
}

// Two gas, three dark and two star particles, each of floats that count from eight times its mass.
class SortedTipsy : public SortedOverRanks {
protected:
    SortedTipsy() {
        append(0.25);
        for (const std::int32_t number : {7, 3, 2, 3, 2, 0}) { // all, dimensions, gas, dark, star, padding
            append(number);
        }
        append_records({1, 2}, 12);
        append_records({11, 12, 13}, 9);
        append_records({41, 42}, 11);
        write_bytes(folder_ / "tipsy", bytes_);
        snapshot_ = io::read_snapshot(folder_ / "tipsy", all_types());
        snapshot_.ids = {1, 2, 11, 12, 13, 41, 42}; // for the groups; the file has none
        catalog_ = groups_of(snapshot_, {{2, 13, 42}, {12, 41}});
    }
    void append(const auto value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value)); // native: little-endian
    }
    void append_records(const std::vector<int>& ids, int floats) {
        for (const int id : ids) {
            for (int i = 0; i < floats; ++i) {
                append(static_cast<float>(id + i) / 8);
            }
        }
    }
    std::string bytes_;
    io::Snapshot snapshot_;
    Catalog catalog_;
};

TEST_F(SortedTipsy, BecomesHdf5) {
    EXPECT_EQ(snapshot_.header.counts, (std::array<std::int64_t, max_types>{2, 3, 0, 0, 2, 0, 0}));
    EXPECT_EQ(sort(catalog_, snapshot_).size(), 1U);
    const Hdf5Checker file(output());
    EXPECT_EQ(file.dataset<float>("PartType1/Masses"), (std::vector<float>{13 / 8.0F, 12 / 8.0F, 11 / 8.0F}));
    EXPECT_EQ(file.dataset<float>("PartType0/Masses"), (std::vector<float>{2 / 8.0F, 1 / 8.0F}));
    EXPECT_EQ(file.dataset<float>("PartType4/Coordinates"),
              (std::vector<float>{43 / 8.0F, 44 / 8.0F, 45 / 8.0F, 42 / 8.0F, 43 / 8.0F, 44 / 8.0F}));
}

TEST_F(SortedTipsy, KeepsItsRecordsInATipsyFile) {
    bytes_.resize(io::tipsy_header_bytes);
    append_records({2, 1}, 12);
    append_records({13, 12, 11}, 9);
    append_records({42, 41}, 11);
    const std::filesystem::path sorted = folder_ / "sorted.std";
    EXPECT_EQ(io::write_sorted_snapshot(sorted, catalog_, snapshot_, sorted_provenance), std::vector<std::string>{});
    EXPECT_TRUE(read_bytes(sorted) == bytes_);
    for (const int ranks : {1, 2, 3}) {
        const std::filesystem::path over = folder_ / "over_ranks.tipsy";
        static_cast<void>(write_sorted_over(ranks, over, catalog_, snapshot_, sorted_provenance));
        EXPECT_TRUE(read_bytes(over) == bytes_) << ranks << " ranks";
    }
}

} // namespace
