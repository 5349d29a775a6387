// kith fof from a file to a catalog, labels and picture.
#include "cli/program.hpp"

#include "io/gadget_files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace {

using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;

class Fof : public kith::test::ProgramTest {
protected:
    /// Rows 0, 2, 3 are friends at 0.5, rows 1 and 5 too (across the edge of a box of 10), row 4 is alone.
    void write_points() const {
        write_npy("in.npy", std::vector<double>{1, 1, 1, 0.1, 5, 5, 1.5, 1, 1, 1, 1, 1.4, 7, 7, 7, 9.9, 5, 5}, 3);
    }
};

TEST_F(Fof, LabelsCoverEveryRowOfTheFile) {
    write_points();
    const Outcome outcome = kith("fof in.npy --linking-length 0.5 --box 10 --min-members 2 -o out.hdf5 --labels l.npy "
                                 "--grp out.grp --gtp out.gtp --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(npy_values<std::int32_t>(read("l.npy"), "<i4"), (std::vector<std::int32_t>{0, 1, 0, 0, -1, 1}));
    EXPECT_EQ(read("out.grp"), "6\n1\n2\n1\n1\n0\n2\n");
    EXPECT_EQ(files(), (std::vector<std::string>{"in.npy", "l.npy", "out.grp", "out.gtp", "out.hdf5"}));

    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["n"], 6);
    EXPECT_EQ(json["linking_length"], 0.5);
    EXPECT_EQ(json["groups"], 2);
    EXPECT_EQ(json["groups_with_singles"], 3);
    EXPECT_EQ(json["grouped"], 5);
    EXPECT_EQ(json["largest"], (std::vector<int>{3, 2, 1}));
    for (const char* stage : {"read", "order", "tree", "link", "catalog", "map", "write"}) {
        EXPECT_TRUE(json["seconds"].contains(stage)) << stage;
    }
    EXPECT_EQ(json["seconds"]["map"], 0.0);
    EXPECT_GT(json["peak_rss_bytes"], 1000000);
    for (const char* stage : {"link", "catalog"}) {
        EXPECT_TRUE(json["stage_peak_bytes"].contains(stage)) << stage;
    }
    EXPECT_GT(json["stage_peak_bytes"]["link"], 0);
}

TEST_F(Fof, GroupsAsATable) {
    write_points();
    const std::string command = "fof in.npy --linking-length 0.5 --box 10 --min-members 2 -o out.hdf5 --table ";
    const Outcome outcome = kith(command + "t.csv --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["outputs"], (std::vector<std::string>{"out.hdf5", "t.csv"}));
    const std::string table = read("t.csv");
    EXPECT_TRUE(table.starts_with("Group,GroupLen,MembersLenType_1,GroupMass,")) << table;
    EXPECT_NE(table.find("\r\n0,3,3,3,"), std::string::npos) << table;
    EXPECT_NE(table.find("\r\n1,2,2,2,"), std::string::npos) << table;
    ASSERT_EQ(kith(command + "t.ecsv").exit_code, 0);
    EXPECT_TRUE(read("t.ecsv").starts_with("# %ECSV 1.0\n"));
    EXPECT_NE(read("t.ecsv").find("\"linking_length\": \"0.5\""), std::string::npos) << read("t.ecsv");
    EXPECT_NE(kith(command + "t.txt").err.find(".csv or .ecsv"), std::string::npos);
    EXPECT_FALSE(exists("t.txt"));
}

TEST_F(Fof, AnOpenBoxDoesNotLinkAcrossItsEdge) {
    write_points();
    const Outcome outcome =
        kith("fof in.npy --linking-length 0.5 --box none --min-members 1 -o out.hdf5 --labels l.npy --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(npy_values<std::int32_t>(read("l.npy"), "<i4"), (std::vector<std::int32_t>{0, 1, 0, 0, 2, 3}));
    EXPECT_EQ(Json::parse(outcome.out)["box"], "open");
}

TEST_F(Fof, ARelativeLengthSaysWhichVolumeItUsed) {
    write_points();
    const Outcome outcome = kith("fof in.npy -b 0.1 --box 10 -o out.hdf5");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    // 0.1 (1000 / 6)^(1/3)
    EXPECT_NE(outcome.out.find("0.5503212"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("of the box"), std::string::npos) << outcome.out;
    const Outcome open = kith("fof in.npy -b 0.1 -o out.hdf5 --json");
    EXPECT_EQ(Json::parse(open.out)["volume_kind"], "extent");
}

TEST_F(Fof, NoGroupIsAnAnswer) {
    write_points();
    const Outcome outcome =
        kith("fof in.npy --linking-length 0.5 -o out.hdf5 --labels l.npy --grp g --gtp t --map m.png");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("the largest has 3 members"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("--min-members"), std::string::npos) << outcome.out;
    EXPECT_GT(read("out.hdf5").size(), 500U);
    EXPECT_EQ(npy_values<std::int32_t>(read("l.npy"), "<i4"), std::vector<std::int32_t>(6, -1));
    EXPECT_EQ(read("g"), "6\n0\n0\n0\n0\n0\n0\n");
    EXPECT_TRUE(exists("m.png"));
}

TEST_F(Fof, NoPointsGiveAnEmptyCatalog) {
    write_npy("in.npy", std::vector<double>{}, 3);
    const Outcome outcome =
        kith("fof in.npy --linking-length 0.5 -o out.hdf5 --labels l.npy --grp g --gtp t --map m.png");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_GT(read("out.hdf5").size(), 500U);
    EXPECT_TRUE(npy_values<std::int32_t>(read("l.npy"), "<i4").empty());
    EXPECT_EQ(read("g"), "0\n");
    EXPECT_EQ(read("t").size(), 32U);
    EXPECT_TRUE(exists("m.png"));
    EXPECT_EQ(Json::parse(kith("fof in.npy --linking-length 0.5 -o out.hdf5 --json").out)["n"], 0);
    EXPECT_EQ(kith("info in.npy").exit_code, 0);
}

TEST_F(Fof, MapsOfSlices) {
    write_points();
    const std::string fof = "fof in.npy --linking-length 0.5 --min-members 1 -o out.hdf5 ";
    ASSERT_EQ(kith(fof + "--map all.png").exit_code, 0);
    ASSERT_EQ(kith(fof + "--map slice.png --slice 0.5:1.5").exit_code, 0);
    EXPECT_NE(read("all.png"), read("slice.png"));
    const Outcome none = kith(fof + "--map none.png --slice 10:20");
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_NE(none.err.find("--slice is 10:20, but no point has a third coordinate in that range: they are from "),
              std::string::npos)
        << none.err;
    EXPECT_FALSE(exists("none.png"));
    // Below 0.35 with the period 0.3, not with that of float32.
    write_npy("low.npy", std::vector<float>{0, 0, 0.049999992F, 0, 0, 0.049999992F, 0, 0, 0.049999992F}, 3);
    const Outcome images =
        kith("fof low.npy --linking-length 0.1 -o out.hdf5 --map none.png --box 0.3 --slice 0.25:0.35");
    EXPECT_NE(images.err.find("no point has a third coordinate"), std::string::npos) << images.err;
    write_npy("nan.npy", std::vector<float>{0, 0, std::numeric_limits<float>::quiet_NaN()}, 3);
    const Outcome refused = kith("fof nan.npy --linking-length 0.1 -o out.hdf5 --map none.png --slice 1:2");
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.err.find("point 0 has NaN"), std::string::npos) << refused.err;
    EXPECT_FALSE(exists("none.png"));
    const Outcome far =
        kith("fof low.npy --linking-length 0.1 -o out.hdf5 --map none.png --box 0.3 --slice 1e300:1e301");
    EXPECT_EQ(far.exit_code, 2);
    EXPECT_NE(far.err.find("give the range within the box"), std::string::npos) << far.err;
    EXPECT_NE(kith(fof + "--slice 0:1").err.find("--map"), std::string::npos);
    EXPECT_NE(kith(fof + "--map m.png --slice 1:0").err.find("it must be LO:HI"), std::string::npos);
    write_npy("plane.npy", std::vector<float>{0, 0, 1, 1}, 2);
    const Outcome plane = kith("fof plane.npy --linking-length 0.5 -o out.hdf5 --map m.png --slice 0:1");
    EXPECT_NE(plane.err.find("the points have 2 axes"), std::string::npos) << plane.err;
    EXPECT_FALSE(exists("m.png"));
}

TEST_F(Fof, MassesThatWereNotGivenAreNotPassedOff) {
    write_points();
    const Outcome outcome = kith("fof in.npy --linking-length 0.5 -o out.hdf5");
    EXPECT_NE(outcome.out.find("every particle counts 1"), std::string::npos) << outcome.out;
}

TEST_F(Fof, OtherDimensionsWork) {
    for (const std::int64_t dimension : {2, 6}) {
        write_npy("in.npy", std::vector<float>(static_cast<std::size_t>(5 * dimension), 1.0F), dimension);
        const Outcome outcome =
            kith("fof in.npy --linking-length 0.1 --min-members 5 -o out.hdf5 --map m.png --labels l.npy --json");
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(Json::parse(outcome.out)["largest"], std::vector<int>{5});
    }
}

TEST_F(Fof, RealParticlesGiveTheKnownGroups) {
    const std::filesystem::path file = std::filesystem::path(KITH_SHARED_DATA) / "tipsy" / "lambs30K_density.std";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "the real files are not here: " << file;
    }
    const Outcome outcome = kith("fof '" + std::filesystem::absolute(file).string() +
                                 "' -b 0.2 --box 1 -o out.hdf5 --labels l.npy --map m.png --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["n"], 30000);
    EXPECT_EQ(json["groups"], 137);
    EXPECT_EQ(json["groups_with_singles"], 14377);
    const std::vector<int> largest = json["largest"];
    ASSERT_EQ(largest.size(), 10U);
    EXPECT_EQ(std::vector<int>(largest.begin(), largest.begin() + 5), (std::vector<int>{605, 581, 524, 412, 399}));
    EXPECT_NEAR(json["linking_length"].get<double>(), 0.006436595897, 1e-9);
}

TEST_F(Fof, UnequalMassesGetAdviceThatCanBeFollowed) {
    const auto warning = [&](const std::string& arguments) {
        const Outcome outcome = kith("fof " + arguments + " -o out.hdf5");
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return outcome.err;
    };
    write_text("table.csv", "x,y,z,mass\n0,0,0,1\n1,0,1,1\n3,1,0,2\n");
    const std::string no_types = warning("table.csv");
    EXPECT_NE(no_types.find("masses are unequal (1 to 2)"), std::string::npos) << no_types;
    EXPECT_NE(no_types.find("give --linking-length"), std::string::npos) << no_types;
    EXPECT_EQ(no_types.find("--types"), std::string::npos) << no_types;
    EXPECT_EQ(warning("table.csv --linking-length 1"), "");

    write_text("tipsy.ascii", "4 1 0\n3\n0\n5 1 1 2\n0 1 3 7\n0 1 0 0\n0 0 2 0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n"
                              "1\n1\n1\n1\n1\n1\n1\n1\n");
    const std::string one_type = warning("tipsy.ascii --types 1");
    EXPECT_NE(one_type.find("those of this one type differ"), std::string::npos) << one_type;
    EXPECT_NE(one_type.find("--linking-length"), std::string::npos) << one_type;
    EXPECT_EQ(one_type.find("choose"), std::string::npos) << one_type;
    const std::string several = warning("tipsy.ascii --types 0,1");
    EXPECT_NE(several.find("choose one kind of particles with --types"), std::string::npos) << several;
}

TEST_F(Fof, ABoxInOtherUnitsIsToldOf) {
    write_points();
    const Outcome outcome = kith("fof in.npy --box 8 -o out.hdf5 --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("extend over 9.8 on axis 0, but --box is 8"), std::string::npos) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["warnings"].size(), 1U);
    const Outcome knn = kith("knn in.npy -k 1 --box 8 -o out.npz");
    EXPECT_NE(knn.err.find("but --box is 8"), std::string::npos) << knn.err;
}

TEST_F(Fof, ABoxThatContradictsTheFilesIsToldOf) {
    kith::test::GadgetMaker maker;
    maker.counts = maker.totals = {0, 3};
    maker.masses[1] = 1;
    maker.box = 100;
    kith::test::write_bytes(directory_ / "snap", maker.text());
    const auto warnings = [&](const std::string& box) {
        const Outcome outcome = kith("fof snap --types all --linking-length 0.5 -o out.hdf5 --json" + box);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        std::filesystem::remove(directory_ / "out.hdf5");
        return outcome.exit_code == 0 ? Json::parse(outcome.out)["warnings"] : Json{};
    };
    EXPECT_TRUE(warnings("").empty());
    EXPECT_TRUE(warnings(" --box 100").empty());
    const Json told = warnings(" --box 71");
    ASSERT_EQ(told.size(), 1U) << told;
    EXPECT_TRUE(
        std::string(told[0]).starts_with("--box is 71 x 71 x 71, but the file states a box of 100 x 100 x 100; "))
        << told;
}

TEST_F(Fof, MassesWhoseSumIsInfiniteDrawAWarning) {
    write_text("heavy.csv", "x,y,z,mass\n0,0,0,1e308\n1,0,0,1e308\n9,0,0,1\n10,0,0,1\n");
    const Outcome outcome = kith("fof heavy.csv --linking-length 1.5 --min-members 2 -o out.hdf5");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("of 1 group add up to more than float64 can hold"), std::string::npos) << outcome.err;
}

TEST_F(Fof, RowsThatAreNotSelectedHaveNoGroup) {
    const std::filesystem::path file = std::filesystem::path(KITH_SHARED_DATA) / "tipsy" / "onestar.tbin";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "the real files are not here: " << file;
    }
    // 1,088 gas particles, then one star
    const Outcome outcome = kith("fof '" + std::filesystem::absolute(file).string() +
                                 "' --types 4 --linking-length 1 --min-members 1 -o out.hdf5 --labels l.npy --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto labels = npy_values<std::int32_t>(read("l.npy"), "<i4");
    ASSERT_EQ(labels.size(), 1089U);
    EXPECT_EQ(labels.back(), 0);
    EXPECT_EQ(std::count(labels.begin(), labels.end(), -1), 1088);
    EXPECT_EQ(kith("fof '" + std::filesystem::absolute(file).string() + "' --types 1 -o none.hdf5").exit_code, 2);
}

// Particle n is at (n, n + 1/4, n + 1/2), with minus that as stored velocity; peculiar ones are sqrt(1/2) of these. So
// neighbors are sqrt(3) and, in peculiar velocity, sqrt(1.5) apart, and friends at R = 1.8 if V is 4.5 or more.
class FofInPhaseSpace : public Fof {
protected:
    FofInPhaseSpace() {
        kith::test::GadgetMaker maker;
        maker.counts = {0, 4};
        maker.masses[1] = 0.3;
        maker.totals = maker.counts;
        maker.box = 0;
        kith::test::write_bytes(directory_ / "snap", maker.text());
        maker.velocities = false;
        kith::test::write_bytes(directory_ / "still", maker.text());
    }
    [[nodiscard]] Json fof(const std::string& arguments) const {
        const Outcome outcome = kith("fof snap --linking-length 1.8 --min-members 2 -o a.hdf5 --json " + arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return outcome.exit_code == 0 ? Json::parse(outcome.out) : Json{};
    }
};

TEST_F(FofInPhaseSpace, LinksByPeculiarVelocities) {
    EXPECT_EQ(fof("--psi 4.4")["groups_with_singles"], 4);
    const Json linked = fof("--psi 4.6");
    EXPECT_EQ(linked["groups_with_singles"], 1);
    EXPECT_EQ(linked["groups"], 1);
    EXPECT_EQ(linked["psi"], 4.6);
    EXPECT_EQ(linked["psi_sigma"], nullptr);
    EXPECT_NEAR(linked["velocity_scale"].get<double>(), 1.8 / 4.6 * std::sqrt(0.5), 1e-7);
    for (const char* text : {"psi", "velocity_scale", "4.6"}) {
        EXPECT_NE(read("a.hdf5").find(text), std::string::npos) << text;
    }
    const Json without = fof("");
    EXPECT_EQ(without["psi"], nullptr);
    EXPECT_EQ(without["velocity_scale"], nullptr);
}

TEST_F(FofInPhaseSpace, LinksByDispersions) { // of stored velocities sqrt(3 * 5/4)
    const Json found = fof("--psi-sigma 2");
    EXPECT_NEAR(found["psi"].get<double>(), 2 * std::sqrt(3.75) * std::sqrt(0.5), 1e-12);
    EXPECT_EQ(found["psi_sigma"], 2);
    EXPECT_EQ(found["groups_with_singles"], 4);
    EXPECT_EQ(fof("--psi-sigma 4")["groups_with_singles"], 1);
    const Outcome told = kith("fof snap --linking-length 1.8 --min-members 2 -o a.hdf5 --psi-sigma 4");
    EXPECT_NE(told.out.find("psi = 5.47723 = 4 dispersions"), std::string::npos) << told.out;
}

TEST_F(FofInPhaseSpace, LinksByPositionsAtAnInfinitePsi) {
    const Json linked = fof("--psi inf --labels l.npy");
    EXPECT_EQ(linked["psi"], "inf");
    EXPECT_EQ(linked["velocity_scale"], 0);
    const std::string labels = read("l.npy");
    EXPECT_EQ(fof("--labels l.npy")["psi"], nullptr);
    EXPECT_EQ(read("l.npy"), labels);
    EXPECT_NE(kith("info a.hdf5").out.find("1 of 2 or more members"), std::string::npos);
}

TEST_F(FofInPhaseSpace, TreesAndLaddersJoinTheSameGroups) {
    for (const char* psi : {"--psi 4.4", "--psi 4.6", "--psi-sigma 4", "--psi inf"}) {
        const Json groups = fof(psi);
        const auto pieces = groups["groups_with_singles"].get<std::int64_t>();
        const Outcome tree = kith(std::string("mst snap --linking-length 1.8 -o t.npz --json ") + psi);
        ASSERT_EQ(tree.exit_code, 0) << tree.err;
        const std::vector<float> heights = kith::test::npy_values<float>(read("t.npz"), "<f4", 2);
        EXPECT_EQ(std::ranges::count_if(heights, [](float height) { return height <= 1.8F; }), 4 - pieces) << psi;
        const Outcome ladder =
            kith(std::string("hierarchy snap --linking-length 0.9,1.8 --min-members 1 -o h.hdf5 --json ") + psi);
        ASSERT_EQ(ladder.exit_code, 0) << ladder.err;
        EXPECT_EQ(Json::parse(ladder.out)["levels"][1]["groups_with_singles"], pieces) << psi;
        for (const char* fact : {"psi", "psi_sigma", "velocity_scale"}) {
            EXPECT_EQ(Json::parse(tree.out)[fact], groups[fact]) << psi;
            EXPECT_EQ(Json::parse(ladder.out)[fact], groups[fact]) << psi;
        }
        EXPECT_NE(read("h.hdf5").find("velocity_scale"), std::string::npos) << psi;
    }
    const auto refused = [&](const std::string& arguments, const std::string& says) {
        const Outcome outcome = kith(arguments + " -o no.hdf5");
        EXPECT_EQ(outcome.exit_code, 2) << arguments;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    };
    refused("mst still --psi 1", "has no velocities");
    refused("hierarchy still --psi 1", "has no velocities");
    refused("mst snap -b 0.2", "without --psi or --psi-sigma");
    refused("hierarchy snap --psi 1 --psi-sigma 1", "--psi");
}
TEST_F(FofInPhaseSpace, InfoShowsVelocitiesAsPsiTakesThem) {
    const Json velocities = Json::parse(kith("info snap --json").out)["velocities"];
    ASSERT_EQ(velocities["extents"].size(), 3U);
    EXPECT_NEAR(velocities["extents"][0][0].get<double>(), -3 * std::sqrt(0.5), 1e-12);
    EXPECT_EQ(velocities["extents"][0][1], 0);
    EXPECT_NEAR(velocities["dispersion"].get<double>(), fof("--psi-sigma 1")["psi"].get<double>(), 1e-12);
    EXPECT_EQ(velocities["peculiar"], true);
    EXPECT_TRUE(velocities["unit_in_cm_per_s"].is_null());
    const std::string people = kith("info snap").out;
    for (const char* words : {"vx", "-2.12132 to ", "dispersion 1.36931; peculiar velocities, in the file's unit"}) {
        EXPECT_NE(people.find(words), std::string::npos) << words << " is not in:\n" << people;
    }
    EXPECT_TRUE(Json::parse(kith("info still --json").out)["velocities"].is_null());
}

TEST_F(FofInPhaseSpace, HasTheSameGroupsByEveryEngine) {
    for (const char* psi : {"", "--psi 4.4", "--psi 4.6", "--psi inf"}) {
        std::vector<std::vector<std::int32_t>> labels;
        for (const std::string engine : {"tree", "brute", "auto", "kdtree", "spanning-tree"}) {
            const Json json = fof("--labels l.npy --engine " + engine + " " + psi);
            EXPECT_EQ(json["engine"], engine == "auto" ? "brute" : engine);
            labels.push_back(npy_values<std::int32_t>(read("l.npy"), "<i4"));
            EXPECT_EQ(labels.back(), labels.front()) << psi << engine;
        }
    }
}

TEST_F(FofInPhaseSpace, TellsTheSamePsiByEveryEngine) {
    for (const std::string& psi : {std::string("--psi 4.6"), std::string("--psi-sigma 4")}) {
        const Json direct = fof(psi + " --engine tree");
        const Json by_tree = fof(psi + " --engine spanning-tree");
        for (const char* fact : {"psi", "velocity_scale", "linking_length", "groups", "largest", "box"}) {
            EXPECT_EQ(by_tree[fact], direct[fact]) << psi << fact;
        }
        EXPECT_GT(by_tree["seconds"]["connect"], 0.0);
    }
    const Outcome outcome = kith("fof snap --linking-length 1.8 -o b.hdf5 --engine delaunay");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("--engine is 'delaunay'; give one of: auto, tree, brute, kdtree, spanning-tree"),
              std::string::npos)
        << outcome.err;
}

TEST_F(FofInPhaseSpace, NeedsVelocitiesAndOnePsi) {
    const auto refused = [&](const std::string& arguments, const std::string& says) {
        const Outcome outcome = kith("fof " + arguments + " --linking-length 1.8 -o a.hdf5");
        EXPECT_NE(outcome.exit_code, 0) << arguments;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    };
    refused("still --psi 1", "no velocities");
    refused("snap --psi 0", "--psi is '0'; it must be a finite number above 0, or inf");
    refused("snap --psi-sigma -1", "--psi-sigma is '-1'");
    refused("snap --psi-sigma inf", "--psi-sigma is 'inf'; it must be a finite number above 0");
    refused("snap --psi 1 --psi-sigma 1", "--psi");
    EXPECT_FALSE(exists("a.hdf5"));
}

TEST_F(Fof, LengthByOverdensity) {
    write_points();
    const auto length = [&](const std::string& arguments) {
        const Outcome outcome = kith("fof in.npy --box 10 -o out.hdf5 --json " + arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return Json::parse(outcome.out);
    };
    const Json found = length("--min-overdensity 59.6831036594608");
    EXPECT_NEAR(found["b"].get<double>(), 0.2, 1e-13);
    EXPECT_NEAR(found["linking_length"].get<double>(), length("-b 0.2")["linking_length"].get<double>(), 1e-12);
    EXPECT_EQ(found["min_overdensity"], 59.6831036594608);
    const Json zoom = length("--min-overdensity 59.6831036594608 --omega-sim 8");
    EXPECT_NEAR(zoom["b"].get<double>(), 0.4, 1e-13);
    EXPECT_EQ(zoom["omega_sim"], 8);
    EXPECT_NE(read("out.hdf5").find("omega_sim"), std::string::npos); // an attribute
    EXPECT_NE(kith("fof in.npy --omega-sim 8 -o out.hdf5").exit_code, 0);
    EXPECT_NE(read("out.hdf5").size(), 0U);
    EXPECT_NE(kith("fof in.npy --min-overdensity 0 -o out.hdf5").exit_code, 0);
    EXPECT_NE(kith("fof in.npy --min-overdensity 2 -b 0.2 -o out.hdf5").exit_code, 0);
}

TEST_F(Fof, OfARandomSample) {
    std::vector<double> points;
    for (int i = 0; i < 200; ++i) {
        points.insert(points.end(), {static_cast<double>(i), 0, 0});
    }
    write_npy("line.npy", points, 3);
    const auto sampled = [&](const std::string& arguments) {
        const Outcome outcome =
            kith("fof line.npy --linking-length 1000 --min-members 1 -o out.hdf5 --labels l.npy --json " + arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return npy_values<std::int32_t>(read("l.npy"), "<i4");
    };
    const std::vector<std::int32_t> labels = sampled("--sample 50 --seed 7");
    EXPECT_EQ(labels.size(), 200U);
    EXPECT_EQ(std::count(labels.begin(), labels.end(), 0), 50);
    EXPECT_EQ(std::count(labels.begin(), labels.end(), -1), 150);
    const auto in_first_half = std::count(labels.begin(), labels.begin() + 100, 0);
    EXPECT_GT(in_first_half, 10);
    EXPECT_LT(in_first_half, 40);
    EXPECT_EQ(sampled("--sample 50 --seed 7"), labels);
    EXPECT_NE(sampled("--sample 50 --seed 8"), labels);
    EXPECT_EQ(sampled("--sample 1000"), std::vector<std::int32_t>(200, 0));
    EXPECT_NE(kith("fof line.npy --seed 3 -o out.hdf5").exit_code, 0);
}

} // namespace
