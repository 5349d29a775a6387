// HDF5 snapshots made with every trap that real ones set.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"
#include "io/memory.hpp"

#include <cmath>
#include <limits>

using namespace kith;
using namespace kith::test;
using Counts = std::array<std::int64_t, max_types>;

namespace {

std::vector<float> ramp(std::size_t count, float first = 0) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = first + static_cast<float>(i);
    }
    return values;
}

class Hdf5Snapshot : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path path() const { return folder_ / "snapshot.bin"; }
    [[nodiscard]] io::Snapshot read(const io::ReadOptions& options = all_types()) const {
        return io::read_snapshot(path(), options);
    }
    void refused(ErrorKind kind, std::initializer_list<std::string_view> words) const {
        expect_error(kind, words, [&] { static_cast<void>(read()); });
    }
    TemporaryFolder folder_;
};

TEST_F(Hdf5Snapshot, TwoTypesWithEverything) {
    Hdf5Maker(path())
        .group("Header")
        .attribute<std::uint32_t>("Header", "NumPart_ThisFile", {2, 0, 0, 0, 1, 0})
        .attribute<std::int32_t>("Header", "NumFilesPerSnapshot", {1})
        .attribute<double>("Header", "MassTable", {0, 0, 0, 0, 0, 0})
        .attribute<double>("Header", "BoxSize", {12.5})
        .attribute<double>("Header", "Time", {0.5})
        .attribute<double>("Header", "Redshift", {1})
        .attribute<double>("Header", "HubbleParam", {0.7})
        .group("PartType0")
        .dataset("PartType0/Coordinates", ramp(6), 3)
        .dataset("PartType0/Velocities", ramp(6, 10), 3)
        .dataset("PartType0/Masses", ramp(2, 1))
        .dataset<std::uint64_t>("PartType0/ParticleIDs", {std::numeric_limits<std::uint64_t>::max(), 7})
        .group("PartType4")
        .dataset("PartType4/Coordinates", ramp(3, 6), 3)
        .dataset("PartType4/Velocities", ramp(3, 16), 3)
        .dataset("PartType4/Masses", ramp(1, 3))
        .dataset<std::int32_t>("PartType4/ParticleIDs", {9});
    const io::Snapshot s = read();
    EXPECT_EQ(s.header.format, "HDF5 (Gadget-like)");
    EXPECT_EQ(s.header.counts, (Counts{2, 0, 0, 0, 1, 0, 0}));
    EXPECT_EQ(s.header.box_size, (std::array<double, 3>{12.5, 12.5, 12.5}));
    EXPECT_EQ(s.header.time, 0.5);
    EXPECT_EQ(s.header.redshift, 1);
    EXPECT_EQ(s.header.parameters, (std::map<std::string, double>{{"HubbleParam", 0.7}}));
    EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), ramp(9));
    EXPECT_EQ(std::get<std::vector<float>>(s.velocities->values), ramp(9, 10));
    EXPECT_EQ(std::get<std::vector<float>>(s.masses->values), ramp(3, 1));
    EXPECT_EQ(s.ids, (std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max(), 7, 9}));
    EXPECT_EQ(s.types, (std::vector<std::uint8_t>{0, 0, 4}));
    EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_FALSE(s.uniform_mass);
    ASSERT_EQ(s.header.warnings.size(), 1U);
    EXPECT_TRUE(warns(s.header, "the redshift is 1, but there is no cosmology"));

    const io::Snapshot star = read(only_types({4}));
    EXPECT_EQ(star.file_rows, (std::vector<std::int64_t>{2}));
    EXPECT_EQ(star.ids, (std::vector<std::uint64_t>{9}));
    const io::Snapshot automatic = read({});
    EXPECT_EQ(automatic.positions.rows(), 3);
    EXPECT_TRUE(warns(automatic.header, "no particles of type 1; all types"));
}

TEST_F(Hdf5Snapshot, InternalEnergiesAreOfGasAndReadOnRequest) {
    const auto make = [&](const char* name) {
        Hdf5Maker made(path());
        made.group("Header")
            .group("PartType0")
            .dataset("PartType0/Coordinates", ramp(6), 3)
            .group("PartType1")
            .dataset("PartType1/Coordinates", ramp(3, 6), 3);
        if (name != nullptr) {
            made.dataset(std::string("PartType0/") + name, ramp(2, 5));
        }
    };
    io::ReadOptions options = all_types();
    for (const char* name : {"InternalEnergy", "InternalEnergies"}) {
        make(name);
        EXPECT_FALSE(read(options).internal_energies);
        options.internal_energies = true;
        EXPECT_EQ(std::get<std::vector<float>>(read(options).internal_energies->values), (std::vector<float>{5, 6, 0}));
        options.share = {1, 3};
        EXPECT_EQ(std::get<std::vector<float>>(read(options).internal_energies->values), std::vector<float>{6});
        options = all_types();
    }
    options.internal_energies = true;
    options.types = only_types({1}).types;
    EXPECT_FALSE(read(options).internal_energies);
    make(nullptr);
    options.types = all_types().types;
    EXPECT_FALSE(read(options).internal_energies);
}

TEST_F(Hdf5Snapshot, TheShapesWinOverTheHeader) {
    Hdf5Maker(path())
        .group("Header")
        .attribute<double>("Header", "NumPart_ThisFile", {0, 500, 0, 7, 0, 0})
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(6), 3)
        .group("PartType5");
    const io::Snapshot s = read();
    EXPECT_EQ(s.header.counts, (Counts{0, 2, 0, 0, 0, 0, 0}));
    EXPECT_EQ(s.positions.rows(), 2);
    EXPECT_TRUE(warns(s.header, "announces 500 particles of type 1, but PartType1/Coordinates has 2 rows"));
    EXPECT_TRUE(warns(s.header, "announces 7 particles of type 3, but there is no group PartType3"));
    EXPECT_TRUE(warns(s.header, "PartType5 has no Coordinates"));
    EXPECT_TRUE(warns(s.header, "no velocities"));
    EXPECT_TRUE(warns(s.header, "no masses"));
    EXPECT_TRUE(warns(s.header, "no ids"));
    EXPECT_FALSE(s.velocities || s.masses || s.uniform_mass || s.header.time || s.header.box_size);
    EXPECT_TRUE(s.ids.empty());
}

TEST_F(Hdf5Snapshot, MassesFromTheTable) {
    Hdf5Maker(path())
        .group("Header")
        .attribute<double>("Header", "MassTable", {0, 0.25, 0.25, 8, 0, 0})
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(6), 3)
        .group("PartType2")
        .dataset("PartType2/Coordinates", ramp(3), 3)
        .group("PartType3")
        .dataset("PartType3/Coordinates", ramp(3), 3)
        .group("PartType4")
        .dataset("PartType4/Coordinates", ramp(3), 3)
        .dataset("PartType4/Masses", ramp(1, 5));
    const io::Snapshot same = read(only_types({1, 2}));
    EXPECT_EQ(same.uniform_mass, 0.25);
    EXPECT_FALSE(same.masses);
    const io::Snapshot different = read(only_types({1, 3}));
    EXPECT_EQ(std::get<std::vector<double>>(different.masses->values), (std::vector<double>{0.25, 0.25, 8}));
    EXPECT_FALSE(different.uniform_mass);
    const io::Snapshot mixed = read(only_types({1, 4}));
    EXPECT_EQ(std::get<std::vector<float>>(mixed.masses->values), (std::vector<float>{0.25F, 0.25F, 5}));
}

TEST_F(Hdf5Snapshot, MassesOfItsOwnWinOverTheTable) {
    Hdf5Maker(path())
        .group("Header")
        .attribute<double>("Header", "MassTable", {0, 0.25})
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(6), 3)
        .dataset("PartType1/Mass", ramp(2, 5));
    const io::Snapshot s = read();
    EXPECT_EQ(std::get<std::vector<float>>(s.masses->values), (std::vector<float>{5, 6}));
    EXPECT_TRUE(warns(s.header, "mass table has 0.25 for type 1"));
}

TEST_F(Hdf5Snapshot, AColumnThatOneTypeLacksIsLeftOutForAll) {
    Hdf5Maker(path())
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(3), 3)
        .dataset("PartType1/Velocity", ramp(3), 3)
        .dataset("PartType1/Masses", ramp(1))
        .group("PartType3")
        .dataset("PartType3/Coordinates", ramp(3), 3);
    const io::Snapshot both = read();
    EXPECT_FALSE(both.velocities || both.masses || both.uniform_mass);
    EXPECT_TRUE(warns(both.header, "PartType3 has no velocities"));
    EXPECT_TRUE(warns(both.header, "type 3 has no masses"));
    EXPECT_TRUE(read(only_types({1})).velocities);
}

TEST_F(Hdf5Snapshot, TheWidestPrecisionWins) {
    Hdf5Maker(path())
        .group("PartType0")
        .dataset("PartType0/Coordinates", ramp(3), 3)
        .group("PartType1")
        .dataset<double>("PartType1/Coordinates", {0.1, 0.2, 0.3}, 3);
    const io::Snapshot s = read();
    EXPECT_EQ(std::get<std::vector<double>>(s.positions.values), (std::vector<double>{0, 1, 2, 0.1, 0.2, 0.3}));
    EXPECT_EQ(s.header.dtype, DType::float64);
    EXPECT_TRUE(warns(s.header, "coordinates of some types are float32"));
    const io::Snapshot narrow = read(only_types({0}));
    EXPECT_EQ(narrow.positions.dtype(), DType::float32);
    EXPECT_EQ(narrow.header.dtype, DType::float32);
    EXPECT_EQ(io::read_header(path()).dtype, DType::float64);
}

TEST_F(Hdf5Snapshot, SwiftHasSevenTypesAndAVectorBox) {
    Hdf5Maker(path())
        .group("Header")
        .text("Header", "Code", "SWIFT")
        .attribute<std::int64_t>("Header", "NumPart_ThisFile", {0, 0, 0, 0, 0, 0, 1})
        .attribute<double>("Header", "BoxSize", {4, 5, 6})
        .attribute<double>("Header", "Scale-factor", {0.25})
        .attribute<double>("Header", "InitialMassTable", {1, 1, 1, 1, 1, 1, 1})
        .group("Cosmology")
        .attribute<double>("Cosmology", "h", {0.681})
        .group("Units")
        .attribute<double>("Units", "Unit length in cgs (U_L)", {3e24})
        .group("PartType6")
        .dataset<double>("PartType6/Coordinates", {1, 2, 3}, 3);
    const io::Snapshot s = read();
    EXPECT_EQ(s.header.format, "HDF5 (SWIFT)");
    EXPECT_EQ(s.header.counts, (Counts{0, 0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(s.header.box_size, (std::array<double, 3>{4, 5, 6}));
    EXPECT_EQ(s.header.time, 0.25);
    EXPECT_TRUE(warns(s.header, "no Time"));
    EXPECT_EQ(s.header.parameters.at("h"), 0.681);
    EXPECT_EQ(s.header.parameters.at("Unit length in cgs (U_L)"), 3e24);
    EXPECT_EQ(s.types, (std::vector<std::uint8_t>{6}));
    EXPECT_FALSE(s.masses || s.uniform_mass); // InitialMassTable is not a mass table
}

TEST_F(Hdf5Snapshot, SwiftIsGivenGadgetsNamesAndTheScaleFactorAsTime) {
    const auto write = [&](double cosmological) {
        Hdf5Maker(path())
            .group("Header")
            .text("Header", "Code", "SWIFT")
            .attribute<double>("Header", "Time", {0.0137})
            .attribute<double>("Header", "Scale-factor", {0.25})
            .attribute<double>("Header", "Redshift", {3})
            .group("Cosmology")
            .attribute<double>("Cosmology", "Cosmological run", {cosmological})
            .attribute<double>("Cosmology", "Omega_m", {0.3})
            .attribute<double>("Cosmology", "Omega_lambda", {0.7})
            .attribute<double>("Cosmology", "Omega_b", {0.05})
            .attribute<double>("Cosmology", "h", {0.68})
            .group("Units")
            .attribute<double>("Units", "Unit length in cgs (U_L)", {3e24})
            .attribute<double>("Units", "Unit mass in cgs (U_M)", {2e43})
            .attribute<double>("Units", "Unit time in cgs (U_t)", {3e19})
            .group("PartType1")
            .dataset("PartType1/Coordinates", ramp(3), 3);
        return io::read_header(path());
    };
    const io::SnapshotHeader header = write(1);
    EXPECT_EQ(header.time, 0.25);
    EXPECT_EQ(header.redshift, 3);
    EXPECT_EQ(header.warnings, std::vector<std::string>{});
    for (const auto& [name, value] : std::map<std::string, double>{{"Omega0", 0.3},
                                                                   {"Omega_m", 0.3},
                                                                   {"OmegaLambda", 0.7},
                                                                   {"OmegaBaryon", 0.05},
                                                                   {"HubbleParam", 0.68},
                                                                   {"UnitLength_in_cm", 3e24},
                                                                   {"UnitMass_in_g", 2e43},
                                                                   {"UnitVelocity_in_cm_per_s", 1e5}}) {
        ASSERT_TRUE(header.parameters.contains(name)) << name;
        EXPECT_EQ(header.parameters.at(name), value) << name;
    }
    ASSERT_TRUE(header.frame);
    EXPECT_EQ(header.frame->scale_factor, 0.25);
    EXPECT_EQ(header.frame->length.a_power, 1);
    EXPECT_EQ(header.frame->length.h_power, 0);
    EXPECT_EQ(header.frame->length.to_cgs, 3e24);
    EXPECT_EQ(header.frame->mass.h_power, 0);
    EXPECT_EQ(header.frame->velocity.a_power, 0);

    const io::SnapshotHeader isolated = write(0);
    EXPECT_EQ(isolated.time, 0.0137);
    EXPECT_FALSE(isolated.frame);
}

TEST_F(Hdf5Snapshot, FramesOfGadgetAreKnownIfTheRunIsCosmological) {
    const auto write = [&](double time, double omega, std::optional<double> comoving) {
        Hdf5Maker file(path());
        file.group("Header")
            .attribute<double>("Header", "Time", {time})
            .attribute<double>("Header", "Redshift", {1})
            .attribute<double>("Header", "Omega0", {omega})
            .attribute<double>("Header", "HubbleParam", {0.7})
            .attribute<double>("Header", "UnitMass_in_g", {2e43})
            .group("Parameters")
            .group("PartType1")
            .dataset("PartType1/Coordinates", ramp(3), 3);
        if (comoving) {
            file.attribute<double>("Parameters", "ComovingIntegrationOn", {*comoving});
        }
    };
    const auto known = [&](double time, double omega, std::optional<double> comoving = {}) {
        write(time, omega, comoving);
        return io::read_header(path()).frame.has_value();
    };
    EXPECT_TRUE(known(0.5, 0.3));
    EXPECT_FALSE(known(0.6, 0.3));
    EXPECT_FALSE(known(0.5, 0));
    EXPECT_FALSE(known(0.5, 0.3, 0));
    EXPECT_TRUE(known(0.6, 0, 1));
    const io::Frame found = io::read_header(path()).frame.value();
    EXPECT_EQ(found.scale_factor, 0.6);
    EXPECT_EQ(found.length.h_power, -1);
    EXPECT_EQ(found.mass.h_power, -1);
    EXPECT_EQ(found.mass.to_cgs, 2e43);
    EXPECT_EQ(found.velocity.a_power, 0.5);
    EXPECT_FALSE(found.velocity.to_cgs);
}

TEST_F(Hdf5Snapshot, WhatColumnsSayOfThemselvesComesBeforeTheConvention) {
    Hdf5Maker(path())
        .group("Header")
        .attribute<double>("Header", "ExpansionFactor", {0.5})
        .attribute<double>("Header", "Redshift", {1})
        .attribute<double>("Header", "Omega0", {0.3})
        .attribute<double>("Header", "HubbleParam", {0.7})
        .attribute<double>("Header", "UnitVelocity_in_cm_per_s", {7})
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(3), 3)
        .attribute<double>("PartType1/Coordinates", "aexp-scale-exponent", {0})
        .attribute<double>("PartType1/Coordinates", "h-scale-exponent", {0})
        .attribute<double>("PartType1/Coordinates", "CGSConversionFactor", {3e21})
        .dataset("PartType1/Velocity", ramp(3), 3)
        .attribute<double>("PartType1/Velocity", "a_scaling", {0})
        .attribute<double>("PartType1/Velocity", "h_scaling", {0})
        .attribute<double>("PartType1/Velocity", "to_cgs", {0});
    const io::Frame frame = io::read_header(path()).frame.value();
    EXPECT_EQ(frame.length.a_power, 0);
    EXPECT_EQ(frame.length.h_power, 0);
    EXPECT_EQ(frame.length.to_cgs, 3e21);
    EXPECT_EQ(frame.velocity.a_power, 0);
    EXPECT_EQ(frame.velocity.to_cgs, 7);
    EXPECT_EQ(frame.mass.h_power, -1);
}

// Gadget-4 names classes, AREPO types of softening; both bound them by a physical length, as SWIFT does in texts.
TEST_F(Hdf5Snapshot, SofteningsAreThoseOfTheTime) {
    const auto begin = [&](const char* type_or_class, const std::string& comoving, const std::string& physical) {
        Hdf5Maker(path())
            .group("Header")
            .attribute<double>("Header", "Time", {0.5})
            .attribute<double>("Header", "ComovingIntegrationOn", {1})
            .group("Parameters")
            .attribute<std::int32_t>("Parameters", type_or_class, {3})
            .attribute<double>("Parameters", comoving.c_str(), {0.25})
            .attribute<double>("Parameters", physical.c_str(), {0.0625})
            .group("PartType1")
            .dataset("PartType1/Coordinates", ramp(3), 3);
        return io::read_header(path()).softening;
    };
    EXPECT_EQ(begin("SofteningClassOfPartType1", "SofteningComovingClass3", "SofteningMaxPhysClass3")[1], 0.125);
    EXPECT_EQ(begin("SofteningTypeOfPartType0", "SofteningComovingType3", "SofteningMaxPhysType2")[0], 0.25);
    EXPECT_EQ(begin("SofteningClassOfPartType1", "SofteningComovingClass2", "SofteningMaxPhysClass3")[1], 0);

    for (const double power : {0, 1}) { // of positions that are physical, and comoving
        Hdf5Maker(path())
            .group("Header")
            .attribute<double>("Header", "Time", {0.5})
            .attribute<double>("Header", "ComovingIntegrationOn", {1})
            .group("Parameters")
            .text("Parameters", "Gravity:comoving_DM_softening", "0.25")
            .text("Parameters", "Gravity:max_physical_DM_softening", "0.0625")
            .group("PartType1")
            .dataset("PartType1/Coordinates", ramp(3), 3)
            .attribute<double>("PartType1/Coordinates", "a_scaling", {power});
        EXPECT_EQ(io::read_header(path()).softening[1], power == 0 ? 0.0625 : 0.125);
    }
}

// One type may state what another does not, and one power without the other.
TEST_F(Hdf5Snapshot, AnyTypeStatesThePowersOfAColumn) {
    const auto with = [&](double power_of_type_4) {
        Hdf5Maker file(path());
        file.group("Header")
            .attribute<double>("Header", "Time", {0.5})
            .attribute<double>("Header", "ComovingIntegrationOn", {1});
        for (const char* group : {"PartType0", "PartType1", "PartType4"}) {
            const std::string velocities = std::string(group) + "/Velocities";
            file.group(group).dataset(std::string(group) + "/Coordinates", ramp(3), 3).dataset(velocities, ramp(3), 3);
        }
        file.attribute<double>("PartType1/Velocities", "a_scaling", {0})
            .attribute<double>("PartType4/Velocities", "a_scaling", {power_of_type_4});
    };
    with(0);
    EXPECT_EQ(io::read_header(path()).frame.value().velocity.a_power, 0);
    EXPECT_FALSE(warns(io::read_header(path()), "powers"));
    with(0.5);
    EXPECT_TRUE(warns(io::read_header(path()), "PartType4/Velocities states other powers of a and h (0.5, 0) than "
                                               "PartType1/Velocities (0, 0), which are taken for all types"));
}

TEST_F(Hdf5Snapshot, CodesAreToldApart) {
    Hdf5Maker(path())
        .group("Header")
        .group("Config")
        .text("Config", "PERIODIC", "")
        .group("Parameters")
        .attribute<double>("Parameters", "Omega0", {0.3})
        .attribute<double>("Parameters", "BoxSize", {9})
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(3), 3);
    EXPECT_EQ(io::read_header(path()).format, "HDF5 (Gadget-4)");
    EXPECT_EQ(io::read_header(path()).parameters.at("Omega0"), 0.3);
    EXPECT_EQ(io::read_header(path()).box_size->front(), 9);
    Hdf5Maker(path())
        .group("Header")
        .attribute<std::uint32_t>("Header", "NumPart_Total_HighWord", {0, 0})
        .group("Config")
        .group("Parameters")
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(3), 3);
    EXPECT_EQ(io::read_header(path()).format, "HDF5 (AREPO)");
}

TEST_F(Hdf5Snapshot, CompressedDataMayBeLargerThanTheFile) {
    const std::vector<double> zeros(300000, 0.0);
    Hdf5Maker(path()).group("PartType1").dataset("PartType1/Coordinates", zeros, 3, 10000);
    ASSERT_LT(std::filesystem::file_size(path()), 100000U);
    EXPECT_EQ(read().positions.rows(), 100000);
}

TEST_F(Hdf5Snapshot, IdsOfEveryKind) {
    Hdf5Maker(path())
        .group("PartType0")
        .dataset("PartType0/Coordinates", ramp(6), 3)
        .dataset<double>("PartType0/ParticleIDs", {7146780717465.0, 9007199254740992.0})
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(3), 3)
        .dataset<std::int64_t>("PartType1/ParticleIDs", {-2});
    const io::Snapshot s = read();
    EXPECT_EQ(s.ids, (std::vector<std::uint64_t>{7146780717465U, 9007199254740992U, 0xfffffffffffffffeU}));
    EXPECT_TRUE(warns(s.header, "not exact"));
}

TEST_F(Hdf5Snapshot, ABoxInOtherUnitsDrawsAWarning) {
    Hdf5Maker(path())
        .group("Header")
        .attribute<double>("Header", "BoxSize", {100})
        .group("PartType1")
        .dataset<float>("PartType1/Coordinates", {12348, 72311, 32454}, 3);
    EXPECT_TRUE(warns(read().header, "different units"));
}

TEST_F(Hdf5Snapshot, ABoxWithoutMeaningIsNotTakenForOpenSpace) {
    const auto make = [&](auto&& add_box) {
        Hdf5Maker maker(path());
        maker.group("Header").group("Parameters").group("PartType1").dataset("PartType1/Coordinates", ramp(3), 3);
        add_box(maker);
    };
    const auto expect_invalid = [&](std::string_view value) {
        const io::SnapshotHeader header = io::read_header(path());
        EXPECT_FALSE(header.box_size);
        for (const std::string_view word : {std::string_view("snapshot.bin"), std::string_view("BoxSize"), value}) {
            EXPECT_NE(header.invalid_box.find(word), std::string::npos) << word << ": " << header.invalid_box;
        }
        EXPECT_TRUE(warns(header, header.invalid_box));
        EXPECT_EQ(read().header.invalid_box, header.invalid_box);
    };
    const double infinity = std::numeric_limits<double>::infinity();
    make([](Hdf5Maker& maker) { maker.attribute<double>("Header", "BoxSize", {-10}); });
    expect_invalid("/Header is -10,");
    make([](Hdf5Maker& maker) { maker.attribute<double>("Header", "BoxSize", {NAN}); });
    expect_invalid("nan");
    make([&](Hdf5Maker& maker) { maker.attribute<double>("Parameters", "BoxSize", {10, infinity, 10}); });
    expect_invalid("/Parameters is [10, inf, 10],");
    make([](Hdf5Maker& maker) { maker.attribute<double>("Header", "BoxSize", {10, 10}); });
    expect_invalid("[10, 10], but it has 2 periods for 3 axes");
    make([](Hdf5Maker& maker) { maker.attribute<double>("Header", "BoxSize", {10, 10, 10, 10}); });
    expect_invalid("[10, 10, 10, 10]");
    // The header's word counts, even if the parameters have a better one.
    make([](Hdf5Maker& maker) {
        maker.text("Header", "BoxSize", "100 Mpc").attribute<double>("Parameters", "BoxSize", {9});
    });
    expect_invalid("'100 Mpc', but a period is a number");

    for (const std::vector<double>& none : {std::vector<double>{0}, {0, 0}, {0, 0, 0}}) {
        make([&](Hdf5Maker& maker) { maker.attribute<double>("Header", "BoxSize", none); });
        EXPECT_EQ(io::read_header(path()).invalid_box, "");
    }
}

TEST_F(Hdf5Snapshot, OtherDimensions) {
    Hdf5Maker(path()).group("PartType1").dataset("PartType1/Coordinates", ramp(10), 2);
    EXPECT_EQ(read().positions.columns, 2);
    EXPECT_EQ(read().header.dimension, 2);
    Hdf5Maker(path()).group("PartType1").dataset("PartType1/Coordinates", ramp(9), 9);
    refused(ErrorKind::file, {"PartType1/Coordinates has 9 columns", "2 to 8"});
    Hdf5Maker(path())
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(6), 3)
        .group("PartType2")
        .dataset("PartType2/Coordinates", ramp(6), 2);
    refused(ErrorKind::file, {"PartType2/Coordinates has 2 columns", "same for every type"});
}

TEST_F(Hdf5Snapshot, WhatIsNoSnapshotIsRefused) {
    Hdf5Maker(path()).group("Group").group("Header");
    refused(ErrorKind::file, {"no snapshot", "halo catalog", "Group, Header"});
    { const Hdf5Maker empty(path()); }
    refused(ErrorKind::file, {"no snapshot", "its root holds nothing"});
    Hdf5Maker(path())
        .group("Header")
        .attribute<std::int32_t>("Header", "NumFilesPerSnapshot", {16})
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(3), 3);
    refused(ErrorKind::file, {"snapshot.bin", "one of 16 files", "snapshot.bin.0 to ", "snapshot.bin.15"});
    Hdf5Maker(path()).group("PartType1").dataset<std::uint32_t>("PartType1/IntCoordinates", {1, 2, 3}, 3);
    refused(ErrorKind::unsupported, {"IntCoordinates"});
    Hdf5Maker(path()).group("PartType1").dataset<std::int32_t>("PartType1/Coordinates", {1, 2, 3}, 3);
    refused(ErrorKind::file, {"PartType1/Coordinates", "whole numbers"});
    Hdf5Maker(path()).dataset<float>("PartType1", {1, 2, 3});
    refused(ErrorKind::file, {"PartType1", "group"});
}

// The library itself crashes on numbers of no bits.
TEST_F(Hdf5Snapshot, DamagedTypesAreRefused) {
    const auto damage = [&](std::string_view type) { // its last byte but one: how many bits are used
        std::string bytes = read_bytes(path());
        ASSERT_NE(bytes.find(type), std::string::npos);
        for (std::size_t at = bytes.find(type); at != std::string::npos; at = bytes.find(type, at + 1)) {
            bytes[at + type.size() - 2] = 0;
        }
        write_bytes(path(), bytes);
    };
    Hdf5Maker(path()).group("PartType1").dataset("PartType1/Coordinates", ramp(6), 3);
    damage(std::string_view("\x04\0\0\0\0\0\x20\0", 8));
    refused(ErrorKind::file, {"PartType1/Coordinates"});
    Hdf5Maker(path())
        .group("Header")
        .attribute<std::int32_t>("Header", "NumPart_Total", {0, 2, 0, 0, 0, 0})
        .attribute<double>("Header", "BoxSize", {1})
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(6), 3);
    damage(std::string_view("\x10\x08\0\0\x04\0\0\0\0\0\x20\0", 12));
    EXPECT_EQ(read().positions.rows(), 2);
}

TEST_F(Hdf5Snapshot, ColumnsOfTheWrongLengthAreRefused) {
    Hdf5Maker(path())
        .group("PartType1")
        .dataset("PartType1/Coordinates", ramp(6), 3)
        .dataset("PartType1/Velocities", ramp(3), 3);
    refused(ErrorKind::file, {"PartType1/Velocities is 1 x 3", "2 x 3 was expected"});
}

// A shape costs nothing to claim: nothing was written, and no memory may be taken for it.
TEST_F(Hdf5Snapshot, DataThatWereNeverWrittenAreRefused) {
    const auto claim = [&](hsize_t rows) {
        const Hdf5Maker maker(path());
        H5Gclose(H5Gcreate2(maker.id(), "PartType1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const hsize_t lengths[2] = {rows, 3};
        const hsize_t chunks[2] = {8, 3};
        const hid_t space = H5Screate_simple(2, lengths, nullptr);
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(creation, 2, chunks);
        const hid_t dataset = H5Dcreate2(maker.id(), "PartType1/Coordinates", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                         creation, H5P_DEFAULT);
        EXPECT_GE(dataset, 0);
        H5Dclose(dataset);
        H5Pclose(creation);
        H5Sclose(space);
    };
    claim(1000);
    refused(ErrorKind::file, {"PartType1/Coordinates", "1000 x 3", "none were ever written"});
    claim(hsize_t{1} << 40);
    refused(ErrorKind::file, {"none were ever written"});
    claim(hsize_t{1} << 61);
    refused(ErrorKind::file, {"PartType1/Coordinates", "more than memory can address"});
}

// One chunk of many is written, so the claim looks real; the memory it would take cannot be had.
TEST_F(Hdf5Snapshot, ClaimsBeyondWhatIsStoredAreRefused) {
    {
        const Hdf5Maker maker(path());
        H5Gclose(H5Gcreate2(maker.id(), "PartType1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const hsize_t lengths[2] = {hsize_t{1} << 52, 3};
        const hsize_t chunks[2] = {8, 3};
        const hid_t space = H5Screate_simple(2, lengths, nullptr);
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(creation, 2, chunks);
        const hid_t dataset = H5Dcreate2(maker.id(), "PartType1/Coordinates", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                         creation, H5P_DEFAULT);
        const hsize_t start[2] = {0, 0};
        const hid_t memory = H5Screate_simple(2, chunks, nullptr);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, chunks, nullptr);
        EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, ramp(24).data()), 0);
        H5Sclose(memory);
        H5Dclose(dataset);
        H5Pclose(creation);
        H5Sclose(space);
    }
    refused(ErrorKind::file, {"PartType1/Coordinates", "4503599627370496 x 3", "holds only 96 bytes"});
}

TEST(Memory, WhatCannotBeHadIsAnErrorWithTheBytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers end the program instead of refusing memory";
#endif
    expect_error(ErrorKind::out_of_memory, {"54043195528445952 bytes", "coordinates"},
                 [] { static_cast<void>(io::allocate<float>(std::int64_t{1} << 52, 3, "coordinates")); });
}

TEST_F(Hdf5Snapshot, TheCallersErrorPrintingIsPutBack) {
    Hdf5Maker(path()).group("PartType1").dataset("PartType1/Coordinates", ramp(3), 3);
    H5E_auto2_t before = nullptr;
    H5E_auto2_t after = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &before, &data);
    testing::internal::CaptureStderr();
    static_cast<void>(read());
    write_bytes(path(), std::string("\x89HDF\r\n\x1a\n", 8).append(200, '\7'));
    refused(ErrorKind::file, {"could not be opened", "HDF5:"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    H5Eget_auto2(H5E_DEFAULT, &after, &data);
    EXPECT_EQ(before, after);
}

} // namespace
