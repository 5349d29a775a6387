// kith halos from a snapshot to a catalog of bound halos, and what it says of snapshots that state less.
#include "cli/program.hpp"

#include "io/hdf5_files.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using kith::test::Hdf5Checker;
using kith::test::Hdf5Maker;
using kith::test::Outcome;
using Json = nlohmann::json;

constexpr int members = 200;
constexpr int background = 27;
constexpr double box = 10; // Mpc/h

class ProgramHalos : public kith::test::ProgramTest {
protected:
    /// A ball of 200 particles across the edge of the box, colder than its escape velocity, three fast interlopers, and
    /// a background of 27.
    /// With gas, the first of the ball are copied as such, all of even rows much too hot to be bound.
    void write_snapshot(double velocity_unit, bool velocities = true, int gas = 0, bool with_heat = true) const {
        std::mt19937_64 random(5);
        std::normal_distribution<double> normal;
        std::vector<double> positions;
        std::vector<double> speeds;
        for (int i = 0; i < members + 3; ++i) {
            for (int axis = 0; axis < 3; ++axis) {
                positions.push_back(std::fmod(box + 0.05 * normal(random), box));
                speeds.push_back(20 * normal(random) + (i < members ? 0 : 3000));
            }
        }
        for (int i = 0; i < background; ++i) {
            for (const int cell : {i % 3, i / 3 % 3, i / 9}) {
                positions.push_back((cell + 0.5) * box / 3);
                speeds.push_back(0);
            }
        }
        std::vector<std::int64_t> ids(positions.size() / 3);
        std::iota(ids.begin(), ids.end(), 1000);
        Hdf5Maker file(directory_ / "snap.hdf5");
        file.group("Header")
            .attribute<std::int32_t>("Header", "NumPart_ThisFile", {gas, members + 3 + background, 0, 0, 0, 0})
            .attribute<double>("Header", "MassTable", {0.5, 0.5, 0, 0, 0, 0})
            .attribute<double>("Header", "BoxSize", {box})
            .attribute<double>("Header", "Time", {1})
            .attribute<double>("Header", "Redshift", {0})
            .group("PartType1")
            .dataset("PartType1/ParticleIDs", ids)
            .dataset("PartType1/Coordinates", positions, 3);
        if (velocities) {
            file.dataset("PartType1/Velocities", speeds, 3);
        }
        if (gas > 0) {
            std::vector<double> heat;
            for (int i = 0; i < gas; ++i) {
                heat.push_back(i % 2 == 0 ? 1e7 : 1);
            }
            positions.resize(3 * gas);
            speeds.resize(3 * gas);
            ids.resize(gas);
            file.group("PartType0")
                .dataset("PartType0/ParticleIDs", ids)
                .dataset("PartType0/Coordinates", positions, 3)
                .dataset("PartType0/Velocities", speeds, 3);
            if (with_heat) {
                file.dataset("PartType0/InternalEnergy", heat);
            }
        }
        if (velocity_unit > 0) {
            file.attribute<double>("Header", "Omega0", {0.3})
                .attribute<double>("Header", "OmegaLambda", {0.7})
                .attribute<double>("Header", "HubbleParam", {0.7})
                .attribute<double>("Header", "UnitLength_in_cm", {3.0856775814913673e24})
                .attribute<double>("Header", "UnitMass_in_g", {1.988409870698051e43})
                .attribute<double>("Header", "UnitVelocity_in_cm_per_s", {velocity_unit});
        }
    }
    [[nodiscard]] Json halos(const std::string& options) const {
        const Outcome outcome = kith("halos snap.hdf5 --linking-length 0.2 -o halos.hdf5 --json " + options);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return Json::parse(outcome.out);
    }
    [[nodiscard]] static std::string warnings_of(const Json& json) { return json["warnings"].dump(); }
};

TEST_F(ProgramHalos, ABoundBallLosesItsInterlopers) {
    write_snapshot(1e5);
    const Json json = halos("");
    EXPECT_EQ(json["halos"], 1);
    EXPECT_EQ(json["bound"], members);
    EXPECT_EQ(json["softening_from"], "1/30 of the mean separation");
    EXPECT_NEAR(json["G"].get<double>(), 43.0091727, 1e-4);
    EXPECT_NEAR(json["H"].get<double>(), 100, 1e-9);
    EXPECT_EQ(json["warnings"], Json::array());

    const Hdf5Checker file(directory_ / "halos.hdf5");
    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupLen"), std::vector<std::int32_t>{members + 3});
    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupNsubs"), std::vector<std::int32_t>{1});
    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupFirstSub"), std::vector<std::int32_t>{0});
    EXPECT_EQ(file.dataset<std::int32_t>("Subhalo/SubhaloLen"), std::vector<std::int32_t>{members});
    EXPECT_EQ(file.dataset<double>("Subhalo/SubhaloMass"), std::vector<double>{0.5 * members});
    EXPECT_EQ(file.dataset<double>("Group/GroupPos"), file.dataset<double>("Subhalo/SubhaloPos"));
    EXPECT_NE(file.dataset<double>("Group/GroupPos"), file.dataset<double>("Group/GroupCM"));
    for (const char* name : {"Crit200", "Crit500", "Crit2500", "Mean200", "TopHat200"}) {
        EXPECT_GT(file.dataset<double>(std::string("Group/Group_M_") + name).front(), 0) << name;
    }
    // M = 200 rho_c 4 pi/3 R^3 with rho_c = 3 H^2/(8 pi G)
    const double radius = file.dataset<double>("Group/Group_R_Crit200").front();
    const double mass = file.dataset<double>("Group/Group_M_Crit200").front();
    EXPECT_NEAR(mass, 100 * 100 * 100 * std::pow(radius, 3) / 43.0091727, 1e-6 * mass);
    EXPECT_NEAR(mass, 0.5 * (members + 3), 0.1 * mass);
    EXPECT_GT(file.dataset<double>("Subhalo/SubhaloVmax").front(), 0);
    EXPECT_EQ(file.text("Subhalo/SubhaloVmax", "frame"), "physical");
    EXPECT_TRUE(file.text("Group/GroupPos", "description").starts_with("position of the member of lowest potential"));
    EXPECT_EQ(file.dataset<std::int64_t>("Subhalo/SubhaloIDMostbound").front(),
              1000 + file.dataset<std::int64_t>("Subhalo/SubhaloRowMostbound").front());
}

TEST_F(ProgramHalos, HotGasIsNotBound) {
    constexpr int gas = 40;
    const std::string all = "--types 0,1 --softening 0.01";
    write_snapshot(1e5, true, gas);
    const Json json = halos(all);
    EXPECT_EQ(json["bound"], members + gas / 2);
    EXPECT_EQ(json["internal_energy"], true);
    EXPECT_EQ(Hdf5Checker(directory_ / "halos.hdf5").dataset<std::int32_t>("Subhalo/SubhaloLenType"),
              (std::vector<std::int32_t>{gas / 2, members, 0, 0, 0, 0, 0}));
    write_snapshot(1e5, true, gas, false);
    EXPECT_EQ(halos(all)["bound"], members + gas);
    const Outcome people = kith("halos snap.hdf5 --linking-length 0.2 -o halos.hdf5 " + all);
    EXPECT_NE(people.out.find("without the internal energy of gas, which the file does not have"), std::string::npos)
        << people.out;
}

TEST_F(ProgramHalos, HalosAreAlsoTablesPicturesAndDescribed) {
    write_snapshot(1e5);
    const Json json = halos("--table t.ecsv --map m.png");
    EXPECT_EQ(json["outputs"], (Json{"halos.hdf5", "t.ecsv", "m.png"})) << json;
    EXPECT_TRUE(read("m.png").starts_with("\x89PNG"));
    const std::string table = read("t.ecsv");
    EXPECT_NE(table.find("# - {name: SubhaloVmax, unit: \"1e+05 cm / s\", datatype: float64"), std::string::npos);
    EXPECT_NE(kith("info t.ecsv").out.find("a table of halos"), std::string::npos);
    const Outcome people = kith("info halos.hdf5");
    EXPECT_NE(people.out.find("halos    1 with 200 bound members\n"), std::string::npos) << people.out;
    EXPECT_NE(people.out.find("G = 43.009"), std::string::npos) << people.out;
    EXPECT_NE(people.out.find(" SubhaloCM x 3, code length, comoving\n"), std::string::npos) << people.out;
    const Json info = Json::parse(kith("info --json halos.hdf5").out);
    EXPECT_EQ(info["halos"]["count"], 1);
    EXPECT_EQ(info["halos"]["overdensities"], json["overdensities"]);
    EXPECT_NE(kith("halos snap.hdf5 -o halos.hdf5 --table t.txt").err.find(".csv or .ecsv"), std::string::npos);
}

// Members that are not bound follow the bound ones.
TEST_F(ProgramHalos, MembersAreInOrderOfEnergy) {
    write_snapshot(1e5);
    (void)halos("--sorted-snapshot sorted.hdf5");
    const Hdf5Checker file(directory_ / "halos.hdf5");
    std::vector<std::int64_t> rows = file.dataset<std::int64_t>("Members/Index");
    ASSERT_EQ(rows.size(), std::size_t{members + 3});
    EXPECT_EQ(std::vector<std::int64_t>(rows.end() - 3, rows.end()),
              (std::vector<std::int64_t>{members, members + 1, members + 2}));
    EXPECT_EQ(file.dataset<std::int64_t>("Subhalo/SubhaloRowMostbound").front(), rows.front());
    const Hdf5Checker sorted(directory_ / "sorted.hdf5");
    const Hdf5Checker snapshot(directory_ / "snap.hdf5");
    const std::vector<double> before = snapshot.dataset<double>("PartType1/Coordinates");
    const std::vector<double> after = sorted.dataset<double>("PartType1/Coordinates");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(after[3 * i], before[3 * rows[i]]) << i;
    }
}

TEST_F(ProgramHalos, WhatIsLeftOutIsNamedWithItsRemedy) {
    write_snapshot(0);
    const Json json = halos("");
    EXPECT_EQ(json["unbind"], false);
    EXPECT_EQ(json["bound"], members + 3);
    EXPECT_EQ(json["overdensities"], Json::array());
    EXPECT_EQ(json["warnings"].size(), 1U);
    EXPECT_NE(
        warnings_of(json).find("left out: unbinding, so that each halo is its whole group, SubhaloVmax, the radii "
                               "and masses of 200m, 200c, 500c, 2500c, vir (the file does not state"),
        std::string::npos)
        << warnings_of(json);
    EXPECT_NE(warnings_of(json).find("pass --G, --hubble and --omega-matter)"), std::string::npos);
    {
        const Hdf5Checker file(directory_ / "halos.hdf5");
        EXPECT_FALSE(file.has("Subhalo/SubhaloVmax"));
        EXPECT_FALSE(file.has("Group/Group_M_Crit200"));
        EXPECT_GT(file.dataset<double>("Subhalo/SubhaloHalfmassRad").front(), 0);
    }
    EXPECT_EQ(json["H"], Json(nullptr));
    const Json with_gravity = halos("--G 43.0091727");
    EXPECT_EQ(with_gravity["bound"], members);
    EXPECT_NE(kith("info halos.hdf5").out.find("G = 43.0091727\n"), std::string::npos); // and no H
    EXPECT_NE(warnings_of(with_gravity).find("left out: the expansion in energies, the radii"), std::string::npos);
    EXPECT_NE(warnings_of(with_gravity).find("pass --hubble"), std::string::npos);
    const Json with_all = halos("--G 43.0091727 --hubble 100 --omega-matter 0.3");
    EXPECT_EQ(with_all["warnings"], Json::array());
    EXPECT_EQ(with_all["overdensities"].size(), 5U);
    EXPECT_EQ(halos("--G 43.0091727 --hubble 100")["overdensities"], (Json{"200c", "500c", "2500c"}));
}

TEST_F(ProgramHalos, WithoutVelocitiesHalosAreWholeGroups) {
    write_snapshot(1e5, false);
    const Json json = halos("");
    EXPECT_EQ(json["bound"], members + 3);
    EXPECT_NE(warnings_of(json).find("the input has no velocities"), std::string::npos);
    EXPECT_EQ(warnings_of(halos("--unbind no")).find("unbound"), std::string::npos);
    const Outcome refused = kith("halos snap.hdf5 --unbind yes -o halos.hdf5");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("--unbind is 'yes'"), std::string::npos) << refused.err;
}

// 230 particles of mass 0.5 in a box of 10, where the mean density of matter is 0.3 times 27.754.
TEST_F(ProgramHalos, TheMeanSeparationIsThatOfTheBoxOrOfTheUniverse) {
    write_snapshot(1e5);
    const double in_universe = std::cbrt(0.5 / (0.3 * 3e4 / (8 * std::acos(-1.0) * 43.0091727)));
    const auto found = [&](const std::string& command) {
        const Outcome outcome = kith(command + " snap.hdf5 --min-members 10 -o out.hdf5 --json");
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return Json::parse(outcome.out);
    };
    for (const std::string command : {"fof", "halos"}) {
        const Json in_box = found(command);
        EXPECT_NEAR(in_box["linking_length"].get<double>(), 0.2 * box / std::cbrt(230.0), 1e-12);
        EXPECT_NE(warnings_of(in_box).find("is 4.17 times that"), std::string::npos) << warnings_of(in_box);
        const Json other = found(command + " -b 0.3 --mean-separation cosmology");
        EXPECT_NEAR(other["linking_length"].get<double>(), 0.3 * in_universe, 1e-6);
        EXPECT_NEAR(other["mean_separation"].get<double>(), in_universe, 1e-6);
        EXPECT_EQ(other["volume"], nullptr);
        EXPECT_EQ(warnings_of(other).find("times that"), std::string::npos);
    }
    write_snapshot(0);
    const Outcome refused = kith("fof snap.hdf5 --mean-separation cosmology -o out.hdf5");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("the file does not state the unit of mass"), std::string::npos) << refused.err;
    EXPECT_EQ(refused.err.find("the unit of length"), refused.err.rfind("the unit of length")) << refused.err;
}

TEST_F(ProgramHalos, SecondaryTypesJoinGroupsOfOthers) {
    const std::vector<double> dark{1, 1, 1, 1.1, 1, 1, 1.2, 1, 1, 5, 5, 5};
    const std::vector<double> gas{1.3, 1, 1, 1.35, 1, 1, 5, 5, 5.1, 5, 5, 5.15, 5, 5, 5.2, 8, 8, 8};
    Hdf5Maker(directory_ / "snap.hdf5")
        .group("Header")
        .attribute<std::int32_t>("Header", "NumPart_ThisFile", {6, 4, 0, 0, 0, 0})
        .attribute<double>("Header", "MassTable", {0.25, 1, 0, 0, 0, 0})
        .attribute<double>("Header", "BoxSize", {box})
        .attribute<double>("Header", "Time", {1})
        .group("PartType0")
        .dataset("PartType0/Coordinates", gas, 3)
        .group("PartType1")
        .dataset("PartType1/Coordinates", dark, 3);
    for (const std::string command : {"fof", "halos"}) {
        const std::string run =
            command + " snap.hdf5 --secondary-types 0 --linking-length 0.1001 --min-members 2 -o out.hdf5 --json";
        const Outcome outcome = kith(run);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        const Hdf5Checker file(directory_ / "out.hdf5");
        EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupLen"), std::vector<std::int32_t>{4}); // 1.35 is too far
        EXPECT_EQ(file.dataset<double>("Group/GroupMass"), std::vector<double>{3.25});
    }
    const auto refused = [&](const std::string& options) {
        const Outcome outcome = kith("fof snap.hdf5 -o out.hdf5 --linking-length 0.1 " + options);
        EXPECT_EQ(outcome.exit_code, 2);
        return outcome.err;
    };
    EXPECT_NE(refused("--secondary-types 0,1").find("lists type 1, which --types links by default"), std::string::npos);
    EXPECT_NE(refused("--secondary-types 9").find("--secondary-types is '9'; give particle types 0 to "),
              std::string::npos);
    const std::string run = "fof snap.hdf5 -o out.hdf5 --linking-length 0.1001 --min-members ";
    const auto singles_of = [&](const std::string& options) {
        return Json::parse(kith(run + "2 --json " + options).out)["groups_with_singles"];
    };
    EXPECT_EQ(singles_of("--secondary-types 0"), nullptr); // groups of one have no secondary particles
    EXPECT_EQ(singles_of("--types 1 --secondary-types 5"), singles_of("--types 1")); // there is no type 5
    EXPECT_NE(kith(run + "50 --secondary-types 0").out.find("no group has 50 linked members"), std::string::npos);
    EXPECT_NE(refused("--secondary-types all").find("takes numbers of types"), std::string::npos);
    EXPECT_NE(refused("--secondary-types 0 --types all").find("links all types alike"), std::string::npos);
    EXPECT_NE(refused("--secondary-types 0 --engine spanning-tree").find("but spanning-tree"), std::string::npos);
}

TEST_F(ProgramHalos, OptionsAreReadAndRefused) {
    write_snapshot(1e5);
    const Json json = halos("--overdensities 178c,vir --softening 0.002,plummer --outermost");
    EXPECT_EQ(json["overdensities"], (Json{"178c", "vir"}));
    EXPECT_EQ(json["softening"], 0.002);
    EXPECT_EQ(json["softening_kernel"], "plummer");
    EXPECT_EQ(json["softening_from"], "--softening");
    EXPECT_TRUE(Hdf5Checker(directory_ / "halos.hdf5").has("Group/Group_M_Crit178"));
    for (const char* wrong : {"--overdensities 200x", "--overdensities 200c,200c", "--softening 0", "--softening 1,box",
                              "--unbind maybe", "--G -1"}) {
        EXPECT_EQ(kith(std::string("halos snap.hdf5 -o halos.hdf5 ") + wrong).exit_code, 2) << wrong;
    }
    write_npy("flat.npy", std::vector<double>{1, 1, 2, 2, 3, 3}, 2);
    EXPECT_NE(kith("halos flat.npy -o halos.hdf5").err.find("halos have 3"), std::string::npos);
}

} // namespace
