// HDF5 snapshots in several files: found by any of them or by their stem, joined in order of type, then file.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"

#include <numeric>

using namespace kith;
using namespace kith::test;
using Counts = std::array<std::int64_t, max_types>;

namespace {

// One file of a set: `gas` and `dark` particles whose coordinates, velocities and ids all tell their number.
struct Member {
    std::vector<int> gas;
    std::vector<int> dark;
    double time = 0.5;
    double box = 100;
    double dark_mass = 0.25;
    int files = 3;
    bool velocities = true;
    std::vector<std::uint32_t> totals = {3, 4};
};

template <class T>
std::vector<T> numbered(const std::vector<int>& numbers, std::size_t columns) {
    std::vector<T> values;
    for (const int number : numbers) {
        values.insert(values.end(), columns, static_cast<T>(number));
    }
    return values;
}

void make(const std::filesystem::path& path, const Member& member) {
    Hdf5Maker file(path);
    const auto count = [](const std::vector<int>& numbers) { return static_cast<std::uint32_t>(numbers.size()); };
    file.group("Header")
        .attribute<std::uint32_t>("Header", "NumPart_ThisFile", {count(member.gas), count(member.dark)})
        .attribute<std::uint32_t>("Header", "NumPart_Total", member.totals)
        .attribute<std::uint32_t>("Header", "NumPart_Total_HighWord", {0, 0})
        .attribute<std::int32_t>("Header", "NumFilesPerSnapshot", {member.files})
        .attribute<double>("Header", "MassTable", {0, member.dark_mass})
        .attribute<double>("Header", "BoxSize", {member.box})
        .attribute<double>("Header", "Time", {member.time});
    for (const auto& [group, numbers] : {std::pair("PartType0", member.gas), std::pair("PartType1", member.dark)}) {
        if (!numbers.empty()) {
            const std::string name = group;
            file.group(name)
                .dataset(name + "/Coordinates", numbered<float>(numbers, 3), 3)
                .dataset(name + "/ParticleIDs", numbered<std::uint64_t>(numbers, 1));
            if (member.velocities) {
                file.dataset(name + "/Velocities", numbered<float>(numbers, 3), 3);
            }
            if (name == "PartType0") {
                file.dataset(name + "/Masses", numbered<float>(numbers, 1));
            }
        }
    }
}

class Hdf5Set : public testing::Test {
protected:
    Hdf5Set() {
        make(folder_ / "snap_007.0.hdf5", {{1}, {10, 11}});
        make(folder_ / "snap_007.1.hdf5", {{}, {12}});
        make(folder_ / "snap_007.2.hdf5", {{2, 3}, {13}});
    }
    void refused(std::initializer_list<std::string_view> words) const {
        for (const char* name : {"snap_007.0.hdf5", "snap_007"}) {
            expect_error(ErrorKind::file, words,
                         [&] { static_cast<void>(io::read_snapshot(folder_ / name, all_types())); });
        }
    }
    TemporaryFolder folder_;
};

TEST_F(Hdf5Set, IsOneSnapshot) {
    for (const char* name : {"snap_007.0.hdf5", "snap_007.1.hdf5", "snap_007.2.hdf5", "snap_007", "snap_007.hdf5"}) {
        const io::Snapshot s = io::read_snapshot(folder_ / name, all_types());
        EXPECT_EQ(s.header.format, "HDF5 (Gadget-like), 3 files");
        EXPECT_EQ(s.header.counts, (Counts{3, 4, 0, 0, 0, 0, 0}));
        EXPECT_EQ(s.header.time, 0.5);
        EXPECT_TRUE(s.header.warnings.empty()) << s.header.warnings.front();
        const std::vector<int> order = {1, 2, 3, 10, 11, 12, 13};
        EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), numbered<float>(order, 3));
        EXPECT_EQ(std::get<std::vector<float>>(s.velocities->values), numbered<float>(order, 3));
        EXPECT_EQ(std::get<std::vector<float>>(s.masses->values),
                  (std::vector<float>{1, 2, 3, 0.25F, 0.25F, 0.25F, 0.25F}));
        EXPECT_EQ(s.ids, numbered<std::uint64_t>(order, 1));
        EXPECT_EQ(s.types, (std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1, 1}));
        EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
    }
    const io::Snapshot dark = io::read_snapshot(folder_ / "snap_007");
    EXPECT_EQ(dark.uniform_mass, 0.25);
    EXPECT_EQ(std::get<std::vector<float>>(dark.positions.values), numbered<float>({10, 11, 12, 13}, 3));
    EXPECT_EQ(dark.file_rows, (std::vector<std::int64_t>{3, 4, 5, 6}));
}

// A search needs all files, a description only one.
TEST_F(Hdf5Set, AMissingFileIsNamed) {
    std::filesystem::remove(folder_ / "snap_007.1.hdf5");
    refused({"one of 3 files", "snap_007.1.hdf5 is missing;", "name them: ", ".0.hdf5:/PartType1/Coordinates"});
    for (const char* name : {"snap_007", "snap_007.2.hdf5"}) {
        const io::SnapshotHeader header = io::read_header(folder_ / name);
        EXPECT_NE(header.incomplete.find("snap_007.1.hdf5 is missing"), std::string::npos) << header.incomplete;
        EXPECT_TRUE(warns(header, "snap_007.1.hdf5 is missing"));
        EXPECT_EQ(header.warnings.size(), 1U);
        EXPECT_EQ(header.format, "HDF5 (Gadget-like), 1 of 3 files");
        EXPECT_EQ(header.counts[1], std::string_view(name).find('2') == std::string_view::npos ? 2 : 1);
        EXPECT_EQ(header.files.size(), 1U);
    }
    expect_error(ErrorKind::file, {"snap_007.1.hdf5 is missing"}, [&] {
        static_cast<void>(io::one_snapshot({folder_ / "snap_007.0.hdf5", folder_ / "snap_007.2.hdf5"}));
    });
    const io::Snapshot alone = io::read_snapshot((folder_ / "snap_007.2.hdf5").string() + ":/PartType1/Coordinates");
    EXPECT_EQ(alone.positions.rows(), 1);
}

// Tools that write a whole snapshot, or a selection of it, into one file copy the header of one of its files.
TEST_F(Hdf5Set, AFileThatHoldsAllThatIsAnnouncedIsTheWhole) {
    for (const char* name : {"merged.hdf5", "merged.0.hdf5"}) {
        make(folder_ / name, {{1, 2, 3}, {10, 11, 12, 13}, 0.5, 100, 0.25, 8});
        const io::Snapshot s = io::read_snapshot(folder_ / name, all_types());
        EXPECT_EQ(s.positions.rows(), 7);
        EXPECT_EQ(s.header.format, "HDF5 (Gadget-like)");
        EXPECT_EQ(s.header.incomplete, "");
        EXPECT_TRUE(warns(s.header, "one of 8 files, but it holds all particles that the header announces"));
    }
    make(folder_ / "part.hdf5", {{1, 2, 3}, {10, 11, 12}, 0.5, 100, 0.25, 8});
    expect_error(ErrorKind::file, {"part.hdf5", "one of 8 files", "no number"},
                 [&] { static_cast<void>(io::read_snapshot(folder_ / "part.hdf5")); });
}

TEST_F(Hdf5Set, ASingleFileWithOtherTotalsIsDoubtful) {
    make(folder_ / "one.hdf5", {{1, 2, 3}, {10, 11}, 0.5, 100, 0.25, 1});
    const io::SnapshotHeader one = io::read_snapshot(folder_ / "one.hdf5").header;
    EXPECT_TRUE(warns(one, "announces 4 particles of type 1 in the whole snapshot and names no other files, but this "
                           "file holds 2; what it holds counts. If it is one of several"));
    EXPECT_EQ(one.incomplete, "");
    make(folder_ / "unset.hdf5", {{1}, {10}, 0.5, 100, 0.25, 1, true, {0, 0}});
    EXPECT_FALSE(warns(io::read_header(folder_ / "unset.hdf5"), "announces"));
}

TEST_F(Hdf5Set, NumbersMayBeginWithOne) {
    for (int number = 1; number <= 3; ++number) {
        make(folder_ / ("one." + std::to_string(number) + ".hdf5"), {{}, {number}, 0.5, 100, 0.25, 3, true, {0, 3}});
    }
    for (const char* name : {"one", "one.1.hdf5", "one.3.hdf5"}) {
        EXPECT_EQ(std::get<std::vector<float>>(io::read_snapshot(folder_ / name).positions.values),
                  numbered<float>({1, 2, 3}, 3));
    }
    std::filesystem::remove(folder_ / "one.2.hdf5");
    expect_error(ErrorKind::file, {"one.2.hdf5 is missing"},
                 [&] { static_cast<void>(io::read_snapshot(folder_ / "one.1.hdf5")); });
}

TEST_F(Hdf5Set, NumbersMayBePadded) {
    std::filesystem::create_directory(folder_ / "padded");
    for (int number = 0; number < 11; ++number) {
        const std::string digits = std::to_string(number);
        make(folder_ / "padded" / ("snap." + std::string(3 - digits.size(), '0') + digits + ".hdf5"),
             {{}, {number}, 0.5, 100, 0.25, 11, true, {0, 11}});
        make(folder_ / "padded" / ("two." + std::string(2 - digits.size(), '0') + digits),
             {{}, {number}, 0.5, 100, 0.25, 11, true, {0, 11}});
    }
    std::vector<int> order(11);
    std::iota(order.begin(), order.end(), 0);
    for (const char* name :
         {"snap.000.hdf5", "snap.007.hdf5", "snap.010.hdf5", "snap", "snap.hdf5", "two", "two.00", "two.10"}) {
        const io::Snapshot s = io::read_snapshot(folder_ / "padded" / name);
        EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), numbered<float>(order, 3)) << name;
        EXPECT_TRUE(s.header.warnings.empty()) << s.header.warnings.front();
    }
    EXPECT_EQ(io::read_header(folder_ / "padded" / "two.10").files.front(), folder_ / "padded" / "two.00");
    std::filesystem::remove(folder_ / "padded" / "snap.004.hdf5");
    expect_error(ErrorKind::file, {"snap.004.hdf5 is missing;"},
                 [&] { static_cast<void>(io::read_snapshot(folder_ / "padded" / "snap")); });
}

TEST_F(Hdf5Set, APatternNamesTheStem) {
    const auto refused_pattern = [&](const char* pattern, std::string_view words) {
        expect_error(ErrorKind::file, {"there is no such file", words},
                     [&] { static_cast<void>(io::read_header(folder_ / pattern)); });
    };
    const std::string stem = (folder_ / "snap_007").string();
    refused_pattern("snap_007.*", "name the stem, " + stem + ",");
    refused_pattern("snap_007.*.hdf5", "name the stem, " + stem + ",");
    refused_pattern("snap_0*.hdf5", "leave out the quotes");
    refused_pattern("absent.*", "leave out the quotes");
}

TEST_F(Hdf5Set, AllFilesInAnyOrderAreTheSnapshot) {
    const auto at = [&](const char* name) { return folder_ / name; };
    EXPECT_EQ(io::one_snapshot({at("snap_007.2.hdf5"), at("snap_007.0.hdf5"), at("snap_007.1.hdf5")}),
              at("snap_007.0.hdf5"));
    EXPECT_EQ(io::one_snapshot({at("snap_007.2.hdf5")}), at("snap_007.2.hdf5"));
    EXPECT_EQ(io::one_snapshot({at("snap_007")}), at("snap_007"));
    expect_error(ErrorKind::invalid_argument, {"2 of the 3 files", "snap_007.1.hdf5 is left out", "any one"}, [&] {
        static_cast<void>(io::one_snapshot({at("snap_007.0.hdf5"), at("snap_007.2.hdf5")}));
    });
    make(folder_ / "other.hdf5", {{1}, {2}, 0.5, 100, 0.25, 1});
    EXPECT_FALSE(io::one_snapshot({at("snap_007.0.hdf5"), at("other.hdf5")}));
    EXPECT_FALSE(io::one_snapshot({at("other.hdf5"), at("snap_007.0.hdf5")}));
    for (const char* first : {"other.hdf5", "snap_007.0.hdf5"}) {
        expect_error(ErrorKind::file, {"absent.hdf5", "no such file"}, [&] {
            static_cast<void>(io::one_snapshot({at(first), at("absent.hdf5")}));
        });
    }
    EXPECT_EQ(io::one_snapshot({at("other.hdf5"), at("other.hdf5")}), at("other.hdf5"));
    expect_error(ErrorKind::invalid_argument, {"no file"}, [] { static_cast<void>(io::one_snapshot({})); });
}

TEST_F(Hdf5Set, FilesOfOtherSnapshotsAreRefused) {
    const auto with_second = [&](const Member& member, std::initializer_list<std::string_view> words) {
        make(folder_ / "snap_007.1.hdf5", member);
        refused(words);
    };
    with_second({{}, {12}, 0.75}, {"snap_007.1.hdf5: the time is 0.75, but 0.5 in snap_007.0.hdf5"});
    with_second({{}, {12}, 0.5, 50}, {"the box is 50 x 50 x 50, but 100 x"});
    with_second({{}, {12}, 0.5, 100, 0.5}, {"the mass of type 1 is 0.5, but 0.25"});
    with_second({{}, {12}, 0.5, 100, 0.25, 4}, {"the number of files is 4, but 3"});
    write_bytes(folder_ / "snap_007.1.hdf5", "not HDF5");
    refused({"snap_007.1.hdf5"});
}

TEST_F(Hdf5Set, CountsThatDisagreeWithTheTotalsAreToldOf) {
    make(folder_ / "snap_007.1.hdf5", {{}, {12, 14}});
    const io::Snapshot s = io::read_snapshot(folder_ / "snap_007");
    EXPECT_EQ(s.positions.rows(), 5);
    EXPECT_TRUE(warns(s.header, "announce 4 particles of type 1 in all files, which hold 5"));
    EXPECT_EQ(s.header.warnings.size(), 2U); // and that gas is not read
}

TEST_F(Hdf5Set, AColumnThatOneFileLacksIsLeftOut) {
    make(folder_ / "snap_007.1.hdf5", {{}, {12}, 0.5, 100, 0.25, 3, false});
    const io::Snapshot s = io::read_snapshot(folder_ / "snap_007");
    EXPECT_FALSE(s.velocities);
    EXPECT_TRUE(warns(s.header, "PartType1 of snap_007.1.hdf5 has no velocities"));
}

TEST_F(Hdf5Set, NumbersThatCannotBeAreRefused) {
    const auto alone = [&](const char* name, int files, std::initializer_list<std::string_view> words) {
        make(folder_ / name, {{}, {12}, 0.5, 100, 0.25, files});
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_snapshot(folder_ / name)); });
    };
    alone("other.5.hdf5", 3, {"numbered 0 to 2", "its name says 5"});
    alone("other.0.hdf5", 2000000000, {"one of 2000000000 files", "other.1.hdf5 is missing"});
    alone("minus.0.hdf5", -3, {"NumFilesPerSnapshot", "-3"});
    alone("unnumbered.hdf5", 3, {"no number"});
    make(folder_ / "whole.hdf5", {{}, {12}, 0.5, 100, 0.25, 0}); // some codes write 0 for 1
    EXPECT_EQ(io::read_header(folder_ / "whole.hdf5").counts[1], 1);
}

TEST_F(Hdf5Set, TwoSetsOfOneStemAreAnError) {
    make(folder_ / "snap_007.0", {{1}, {10, 11}});
    expect_error(ErrorKind::file, {"snap_007.0 and ", "snap_007.0.hdf5"},
                 [&] { static_cast<void>(io::read_header(folder_ / "snap_007")); });
}

} // namespace
