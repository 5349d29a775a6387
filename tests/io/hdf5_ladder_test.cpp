// Groups at several linking lengths as HDF5, read back with the C library.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"
#include "support/cases.hpp"

#include <kith/hierarchy.hpp>

using namespace kith;
using namespace kith::test;

namespace {

class Hdf5Ladder : public NeedsDimension<3> {
protected:
    const std::vector<double> line = {0, 0, 0, 1, 0, 0, 3, 0, 0, 8, 0, 0, 9, 0, 0};
    const FofLadder ladder = fof_ladder(
        PointsView(line, 3), std::vector{LinkingLength::absolute(1), LinkingLength::absolute(2)}, {.min_members = 2});
    const TemporaryFolder folder;
};

TEST_F(Hdf5Ladder, LevelsGroupsAndLabels) {
    const std::vector<std::int64_t> rows{3, 5, 6, 7, 9};
    io::write_fof_ladder_hdf5(folder / "a.hdf5", ladder, rows, {"kith", "kith hierarchy", "in.npy", {{"box", "open"}}},
                              [&](std::int64_t level) { return ladder.labels(level); });
    const Hdf5Checker file(folder / "a.hdf5");
    EXPECT_EQ(file.dataset<double>("linking_lengths"), (std::vector<double>{1, 2}));
    EXPECT_EQ(file.dataset<std::int64_t>("groups"), (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(file.dataset<std::int64_t>("offsets"), (std::vector<std::int64_t>{0, 2, 4}));
    EXPECT_EQ(file.dataset<std::int32_t>("sizes"), (std::vector<std::int32_t>{2, 2, 3, 2}));
    EXPECT_EQ(file.dataset<std::int32_t>("parents"), (std::vector<std::int32_t>{0, 1, -1, -1}));
    EXPECT_EQ(file.dataset<std::int64_t>("first_rows"), (std::vector<std::int64_t>{3, 7, 3, 7}));
    EXPECT_EQ(file.dataset<std::int32_t>("labels/0"), (std::vector<std::int32_t>{0, 0, 2, 1, 1}));
    EXPECT_EQ(file.dataset<std::int32_t>("labels/1"), (std::vector<std::int32_t>{0, 0, 0, 1, 1}));
    EXPECT_EQ(file.text("/", "Command"), "kith hierarchy");
    EXPECT_EQ(file.text("/", "box"), "open");
}

TEST_F(Hdf5Ladder, NeedsARowOfEachPoint) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"0 rows", "5 points"},
                           [&] { io::write_fof_ladder_hdf5(folder / "a.hdf5", ladder, {}, {}); }));
    EXPECT_EQ(folder.entries(), 0U);
}

} // namespace
