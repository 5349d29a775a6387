// kith fof --sorted-snapshot from a file to the same groups of the file it writes.
#include "cli/program.hpp"

#include "io/gadget_files.hpp"

#include <nlohmann/json.hpp>

namespace {

using kith::test::GadgetMaker;
using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;
using Labels = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

// Two gas and eight dark particles in three files. Neighbors of one file are friends at 1.8, others are not; so the
// dark groups are rows 2 to 4 (group 1), 5 to 8 (group 0) and row 9.
class Sorted : public kith::test::ProgramTest {
protected:
    Sorted() {
        for (int file = 0; file < 3; ++file) {
            GadgetMaker maker;
            maker.counts = {file == 0 ? 2U : 0U, std::array{3U, 4U, 1U}[static_cast<std::size_t>(file)]};
            maker.masses[1] = 0.3;
            maker.totals = {2, 8};
            maker.files = 3;
            maker.first = 100 * file;
            maker.box = 0;
            kith::test::write_bytes(directory_ / ("snap." + std::to_string(file)), maker.text());
        }
    }
    [[nodiscard]] Json fof(const std::string& arguments) const {
        const Outcome outcome = kith("fof " + arguments + " --linking-length 1.8 --min-members 2 --json");
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return outcome.exit_code == 0 ? Json::parse(outcome.out) : Json{};
    }
    [[nodiscard]] Labels labels() const { return npy_values<std::int32_t>(read("l.npy"), "<i4"); }
    const Names inputs_{"snap.0", "snap.1", "snap.2"};
};

TEST_F(Sorted, HasTheSameGroupsInOrder) {
    const Json before = fof("snap -o a.hdf5 --labels l.npy --sorted-snapshot sorted.hdf5");
    EXPECT_EQ(labels(), (Labels{-1, -1, 1, 1, 1, 0, 0, 0, 0, -1}));
    EXPECT_EQ(before.at("outputs"), (Names{"a.hdf5", "l.npy", "sorted.hdf5"}));
    EXPECT_NE(before.at("warnings").dump().find("left out"), std::string::npos); // of the binary input

    // The catalog has the columns by which readers find the members in the sorted snapshot, and names it.
    for (const char* text : {"GroupOffsetType", "SortedSnapshot", "sorted.hdf5"}) {
        EXPECT_NE(read("a.hdf5").find(text), std::string::npos) << text;
    }
    static_cast<void>(fof("snap -o alone.hdf5"));
    EXPECT_EQ(read("alone.hdf5").find("GroupOffsetType"), std::string::npos);

    // Now from HDF5, and once more: the order stays, and so does all else that the program tells.
    const Json after = fof("sorted.hdf5 -o b.hdf5 --labels l.npy --sorted-snapshot again.hdf5");
    EXPECT_EQ(labels(), (Labels{-1, -1, 0, 0, 0, 0, 1, 1, 1, -1}));
    EXPECT_EQ(after.at("warnings").dump().find("left out"), std::string::npos);
    for (const char* entry : {"n", "groups", "grouped", "largest", "groups_with_singles", "types"}) {
        EXPECT_EQ(after.at(entry), before.at(entry)) << entry;
    }
    static_cast<void>(fof("again.hdf5 -o c.hdf5 --labels l.npy"));
    EXPECT_EQ(labels(), (Labels{-1, -1, 0, 0, 0, 0, 1, 1, 1, -1}));

    const Json in = Json::parse(kith("info snap --json").out);
    const Json out = Json::parse(kith("info sorted.hdf5 --json").out);
    EXPECT_EQ(out.at("counts"), in.at("counts"));
}

TEST_F(Sorted, AllTypesAndNoGroup) {
    static_cast<void>(fof("snap --types all -o a.hdf5 --sorted-snapshot sorted.h5"));
    static_cast<void>(fof("sorted.h5 --types all -o b.hdf5 --labels l.npy"));
    // Gas and dark particles of the first file are one group, the largest.
    EXPECT_EQ(labels(), (Labels{0, 0, 0, 0, 0, 1, 1, 1, 1, -1}));
    const Outcome none =
        kith("fof sorted.h5 --linking-length 0.1 -o c.hdf5 --labels l.npy --sorted-snapshot none.hdf5");
    EXPECT_EQ(none.exit_code, 0) << none.err;
    EXPECT_EQ(labels(), Labels(10, -1));
    EXPECT_GT(read("none.hdf5").size(), 1000U);
}

TEST_F(Sorted, WhatCannotBeIsRefusedBeforeAnythingIsWritten) {
    write_npy("in.npy", std::vector<double>{1, 1, 1, 2, 2, 2}, 3);
    const auto refused = [&](const std::string& arguments, const std::string& words) {
        const Outcome outcome = kith("fof " + arguments);
        EXPECT_EQ(outcome.exit_code, 2) << arguments;
        EXPECT_NE(outcome.err.find("--sorted-snapshot"), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    };
    refused("in.npy --linking-length 1 -o a.hdf5 --sorted-snapshot b.hdf5", "without particle types");
    refused("snap -o a.hdf5 --sorted-snapshot b.npy", ".hdf5 or .h5 or .std or .tipsy");
    refused("snap -o a.hdf5 --sorted-snapshot b.std", "is Gadget-2");
    refused("snap -o a.hdf5 --sorted-snapshot a.hdf5", "both write");
    static_cast<void>(fof("snap -o a.hdf5 --sorted-snapshot s.hdf5"));
    refused("s.hdf5 --linking-length 1 -o b.hdf5 --sorted-snapshot s.hdf5", "also the input");
    std::filesystem::rename(directory_ / "snap.1", directory_ / "real.hdf5");
    std::filesystem::create_symlink("real.hdf5", directory_ / "snap.1");
    refused("snap.0 --linking-length 1 -o b.hdf5 --sorted-snapshot real.hdf5", "also the input"); // another of the set
    EXPECT_EQ(files(), (Names{"a.hdf5", "in.npy", "real.hdf5", "s.hdf5", "snap.0", "snap.1", "snap.2"}));
}

// A limit on the length of files stands for a full disk: the catalog fits, the snapshot does not, and neither is left.
TEST_F(Sorted, AFullDiskLeavesNothing) {
    static_cast<void>(fof("snap -o a.hdf5 --sorted-snapshot s.hdf5"));
    const std::size_t catalog = read("a.hdf5").size();
    const std::size_t sorted = read("s.hdf5").size();
    for (const char* name : {"a.hdf5", "s.hdf5"}) {
        std::filesystem::remove(directory_ / name);
    }
    const std::size_t blocks = std::min(catalog, sorted) / 512 - 1; // of 512 bytes, as the shell counts them
    const Outcome outcome = kith("fof snap --linking-length 1.8 --min-members 2 -o a.hdf5 --sorted-snapshot s.hdf5",
                                 "ulimit -f " + std::to_string(blocks) + ";");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("could not be written"), std::string::npos) << outcome.err;
    EXPECT_EQ(files(), inputs_);
}

} // namespace
