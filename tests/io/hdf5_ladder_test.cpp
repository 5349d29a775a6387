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

TEST_F(Hdf5Ladder, IsReadBackAndRecognized) {
    const std::filesystem::path path = folder / "a.hdf5";
    const std::vector<std::int64_t> rows{0, 1, 2, 3, 4};
    io::write_fof_ladder_hdf5(path, ladder, rows, {"kith 1", "kith hierarchy", "in.npy", {{"min_members", "2"}}},
                              [&](std::int64_t level) { return ladder.labels(level); });
    const io::FofLevelsFile read = io::read_fof_levels(path);
    ASSERT_EQ(read.levels.size(), 2U);
    for (std::size_t level = 0; level < 2; ++level) {
        EXPECT_EQ(read.levels[level].linking_length, ladder.levels()[level].linking_length);
        EXPECT_EQ(read.levels[level].groups, ladder.levels()[level].groups);
        EXPECT_EQ(read.levels[level].sizes, ladder.levels()[level].sizes);
        EXPECT_EQ(read.levels[level].parents, ladder.levels()[level].parents);
        EXPECT_EQ(io::read_fof_labels(path, static_cast<std::int64_t>(level)),
                  ladder.labels(static_cast<std::int64_t>(level)));
    }
    EXPECT_EQ(read.rows, 5);
    EXPECT_EQ(read.provenance.at("min_members"), "2");

    const std::optional<io::ResultFile> result = io::describe_result(path);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->kind, "groups at several linking lengths");
    EXPECT_EQ(result->provenance.at("Input"), "in.npy");
    for (const auto& read_as : {+[](const std::filesystem::path& p) { static_cast<void>(io::read_snapshot(p)); },
                                +[](const std::filesystem::path& p) { static_cast<void>(io::read_catalog(p)); }}) {
        expect_error(ErrorKind::file, {"a.hdf5", "groups at several linking lengths, a result of kith", "'in.npy'"},
                     [&] { read_as(path); });
    }
}

TEST_F(Hdf5Ladder, LevelsThatDoNotFitTogetherAreRefused) {
    const std::filesystem::path path = folder / "a.hdf5";
    const auto refused = [&](const std::vector<std::int64_t>& offsets, const std::vector<std::int32_t>& parents,
                             std::string_view words) {
        {
            Hdf5Maker file(path);
            file.text("/", "Program", "kith 1")
                .dataset<double>("linking_lengths", {1, 2})
                .dataset<std::int64_t>("groups", {3, 2})
                .dataset<std::int64_t>("offsets", offsets)
                .dataset<std::int32_t>("sizes", {2, 2, 3, 2})
                .dataset<std::int32_t>("parents", parents);
        }
        expect_error(ErrorKind::file, {"a.hdf5", words, "damaged"},
                     [&] { static_cast<void>(io::read_fof_levels(path)); });
    };
    refused({0, 2}, {0, 1, -1, -1}, "differ in length");
    refused({0, 5, 4}, {0, 1, -1, -1}, "offsets");
    refused({0, 2, 3}, {0, 1, -1, -1}, "offsets");
    refused({-1, 2, 4}, {0, 1, -1, -1}, "offsets");
    refused({0, 2, 4}, {0, 2, -1, -1}, "a parent is no group");
    refused({0, 2, 4}, {0, -1, -1, -1}, "a parent is no group");
    Hdf5Maker(path).dataset<double>("linking_lengths", {1});
    expect_error(ErrorKind::file, {"no groups at several linking lengths", "linking_lengths"},
                 [&] { static_cast<void>(io::read_fof_levels(path)); });
}

TEST_F(Hdf5Ladder, NeedsARowOfEachPoint) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"0 rows", "5 points"},
                           [&] { io::write_fof_ladder_hdf5(folder / "a.hdf5", ladder, {}, {}); }));
    EXPECT_EQ(folder.entries(), 0U);
}

} // namespace
