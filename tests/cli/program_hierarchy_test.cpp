// kith hierarchy from a file to groups at several linking lengths.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

namespace {

using kith::test::Outcome;
using Json = nlohmann::json;

class HierarchyProgram : public kith::test::ProgramTest {
protected:
    /// Rows 0, 2, 3 are friends at 0.5, rows 1 and 5 too (across the edge of a box of 10), row 4 is alone.
    void write_points() const {
        write_npy("in.npy", std::vector<double>{1, 1, 1, 0.1, 5, 5, 1.5, 1, 1, 1, 1, 1.4, 7, 7, 7, 9.9, 5, 5}, 3);
    }
};

TEST_F(HierarchyProgram, TellsTheGroupsOfEveryLevel) {
    write_points();
    const Outcome outcome = kith("hierarchy in.npy --linking-length 0.3,0.5,20 --box 10 --min-members 2 --with-labels "
                                 "-o out.hdf5 --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(files(), (std::vector<std::string>{"in.npy", "out.hdf5"}));
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["n"], 6);
    EXPECT_EQ(json["volume_kind"], "none");
    ASSERT_EQ(json["levels"].size(), 3);
    EXPECT_EQ(json["levels"][0]["groups"], 1);
    EXPECT_EQ(json["levels"][0]["groups_with_singles"], 5);
    EXPECT_EQ(json["levels"][1]["largest"], (std::vector<int>{3, 2}));
    EXPECT_EQ(json["levels"][1]["linking_length"], 0.5);
    EXPECT_EQ(json["levels"][2]["largest"], std::vector<int>{6});
    for (const char* stage : {"read", "connect", "edges", "levels", "write"}) {
        EXPECT_GT(json["seconds"][stage], 0) << stage;
    }
    const std::string written = read("out.hdf5");
    for (const char* name : {"linking_lengths", "offsets", "parents", "first_rows", "labels"}) {
        EXPECT_NE(written.find(name), std::string::npos) << name;
    }
}

TEST_F(HierarchyProgram, DescribesRelativeLengths) {
    write_points();
    const Outcome outcome = kith("hierarchy in.npy -b 0.1,0.9 --min-members 2 --box 10 -o out.hdf5");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const char* part : {"in mean separations, in the volume 1000 of the box", "(b = 0.1): 2 of 2 or more members",
                             "(b = 0.9)", "out.hdf5"}) {
        EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
    }
}

TEST_F(HierarchyProgram, RefusesWhatMeansNothing) {
    write_points();
    const auto refused = [&](const std::string& options, const std::string& says) {
        const Outcome outcome = kith("hierarchy in.npy " + options);
        EXPECT_EQ(outcome.exit_code, 2) << options;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
        EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});
    };
    refused("-b 0.2,0.1 -o out.hdf5", "-b is '0.2,0.1'; give the linking lengths in ascending order");
    refused("-b 0.2, -o out.hdf5", "-b is '0.2,'; give numbers with one comma between them");
    refused("--linking-length 1,-1 -o out.hdf5", "--linking-length is '-1'");
    refused("-b 0.2 --linking-length 1 -o out.hdf5", "excludes");
    refused("-b 0.2 -o out.npz", ".hdf5 or .h5");
    refused("-b 0.2 --min-members 0 -o out.hdf5", "--min-members is '0'");
}

} // namespace
