// The box of a run that its options, not BoxSize alone, decide: AREPO, Gadget-4, SWIFT; in snapshots, catalogs, and in
// what is written of them.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"

#include <kith/fof.hpp>

#include <cmath>

using namespace kith;
using namespace kith::test;

namespace {

using Periods = std::array<double, 3>;

class Hdf5Box : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path path() const { return folder_ / "snapshot.hdf5"; }
    /// A snapshot with BoxSize 10, whose other attributes `add` makes.
    template <class Add>
    io::SnapshotHeader made(const Add& add, const std::vector<double>& coordinates = {1, 2, 3}) const {
        {
            Hdf5Maker file(path());
            file.group("Header").group("Config").group("PartType1");
            if (has_parameters_) {
                file.group("Parameters");
            }
            file.attribute<double>("Header", "BoxSize", {10}).attribute<double>("Header", "MassTable", {0, 1});
            file.dataset("PartType1/Coordinates", coordinates, 3);
            add(file);
        }
        return io::read_header(path());
    }
    static void periodic(Hdf5Maker& file) { file.text("Config", "PERIODIC", ""); }
    TemporaryFolder folder_;
    bool has_parameters_ = true;
};

TEST_F(Hdf5Box, ArepoStretchesIt) {
    const io::SnapshotHeader header = made([](Hdf5Maker& file) {
        file.attribute<double>("Config", "LONG_X", {2}).attribute<double>("Config", "LONG_Z", {0.25});
    });
    EXPECT_EQ(header.format, "HDF5 (AREPO)");
    EXPECT_EQ(header.box_size, (Periods{20, 10, 2.5}));
    EXPECT_TRUE(header.warnings.empty());
}

TEST_F(Hdf5Box, ArepoHasAxesWithoutImages) {
    const io::SnapshotHeader header = made([](Hdf5Maker& file) {
        file.attribute<double>("Config", "REFLECTIVE_X", {1})
            .attribute<double>("Config", "REFLECTIVE_Y", {2})
            .attribute<double>("Config", "LONG_Z", {3});
    });
    EXPECT_EQ(header.box_size, (Periods{0, 0, 30}));
    EXPECT_TRUE(warns(header, "axis x is taken as open: by REFLECTIVE_X in /Config it has reflecting walls"));
    EXPECT_TRUE(warns(header, "axis y is taken as open: by REFLECTIVE_Y in /Config it has inflow and outflow"));
    EXPECT_EQ(made([](Hdf5Maker& file) { file.text("Config", "ONEDIMS_SPHERICAL", ""); }).box_size,
              (Periods{0, 10, 10}));
    const io::SnapshotHeader gas =
        made([](Hdf5Maker& file) { file.text("Config", "GRAVITY_NOT_PERIODIC", "").text("Config", "VORONOI", ""); });
    EXPECT_EQ(gas.box_size, (Periods{10, 10, 10}));
    EXPECT_TRUE(warns(gas, "repeats for gas, but not for gravity"));
}

TEST_F(Hdf5Box, Gadget4RepeatsOnlyIfItSaysSo) {
    const io::SnapshotHeader open = made([](Hdf5Maker& file) { file.text("Config", "SELFGRAVITY", ""); });
    EXPECT_EQ(open.format, "HDF5 (Gadget-4)");
    EXPECT_EQ(open.box_size, (Periods{0, 0, 0}));
    EXPECT_TRUE(warns(open, "space is taken as open: /Config of this Gadget-4 run has no PERIODIC; BoxSize, 10,"));
    EXPECT_EQ(made(periodic).box_size, (Periods{10, 10, 10}));
    EXPECT_TRUE(made(periodic).warnings.empty());
    const io::SnapshotHeader stretched = made([](Hdf5Maker& file) {
        periodic(file);
        file.attribute<double>("Config", "LONG_X_BITS", {1}).attribute<double>("Config", "LONG_Y_BITS", {3});
    });
    EXPECT_EQ(stretched.box_size, (Periods{5, 1.25, 10}));
    EXPECT_TRUE(stretched.warnings.empty());
    const io::SnapshotHeader tall = made([](Hdf5Maker& file) {
        periodic(file);
        file.attribute<double>("Config", "GRAVITY_TALLBOX", {2}).attribute<double>("Config", "LONG_Z_BITS", {2});
    });
    EXPECT_EQ(tall.box_size, (Periods{10, 10, 0}));
    EXPECT_TRUE(warns(tall, "axis z is taken as open: by GRAVITY_TALLBOX"));
}

// Tools leave /Config empty in files that are to look like those of Gadget-4.
TEST_F(Hdf5Box, AnEmptyConfigSaysNothing) {
    const io::SnapshotHeader header = made([](Hdf5Maker&) {});
    EXPECT_EQ(header.format, "HDF5 (Gadget-4)");
    EXPECT_EQ(header.box_size, (Periods{10, 10, 10}));
    EXPECT_TRUE(header.warnings.empty());
}

// Some tools copy /Config alone.
TEST_F(Hdf5Box, ConfigCountsWithoutParameters) {
    has_parameters_ = false;
    const auto self_gravity = [](Hdf5Maker& file) { file.text("Config", "SELFGRAVITY", ""); };
    EXPECT_EQ(made(self_gravity).format, "HDF5 (Gadget-4)");
    EXPECT_EQ(made(self_gravity).box_size, (Periods{0, 0, 0}));
    EXPECT_EQ(made(periodic).box_size, (Periods{10, 10, 10}));
    EXPECT_EQ(made([](Hdf5Maker& file) { file.text("Config", "VORONOI", ""); }).box_size, (Periods{10, 10, 10}));
    EXPECT_EQ(made([](Hdf5Maker&) {}).format, "HDF5 (Gadget-like)");
    EXPECT_EQ(made([](Hdf5Maker&) {}).box_size, (Periods{10, 10, 10}));
}

TEST_F(Hdf5Box, BoxSizeMayBeText) {
    const auto with = [&](const char* value) {
        Hdf5Maker(path())
            .group("Parameters")
            .text("Parameters", "BoxSize", value)
            .group("PartType1")
            .dataset("PartType1/Coordinates", std::vector<double>{1, 2, 3}, 3);
        return io::read_header(path());
    };
    EXPECT_EQ(with("10.5 ").box_size, (Periods{10.5, 10.5, 10.5}));
    EXPECT_NE(with("10 Mpc").invalid_box.find("is '10 Mpc', but a period is a number"), std::string::npos);
}

// AREPO has no PERIODIC: its absence opens only files that are Gadget-4's beyond doubt.
TEST_F(Hdf5Box, AFileThatMayBeArepoStaysPeriodic) {
    const auto with = [&](const char* group, const char* name) {
        return made(
            [&](Hdf5Maker& file) { file.text("Config", "SELFGRAVITY", "").attribute<double>(group, name, {1}); });
    };
    for (const auto& [group, name] : {std::pair("Header", "NumPart_Total_HighWord"), std::pair("Header", "Omega0"),
                                      std::pair("Parameters", "SofteningTypeOfPartType0"),
                                      std::pair("Parameters", "PeriodicBoundariesOn"), std::pair("Config", "LONG_X")}) {
        EXPECT_EQ(with(group, name).format, "HDF5 (AREPO)") << name;
        EXPECT_EQ(with(group, name).box_size, (Periods{10, 10, 10})) << name;
    }
    const io::SnapshotHeader both = made([](Hdf5Maker& file) {
        file.text("Config", "SELFGRAVITY", "")
            .attribute<double>("Parameters", "SofteningTypeOfPartType0", {1})
            .attribute<double>("Parameters", "SofteningClassOfPartType0", {1});
    });
    EXPECT_EQ(both.box_size, (Periods{10, 10, 10}));
    // Tools add old names to the headers of Gadget-4.
    const io::SnapshotHeader added = made([](Hdf5Maker& file) {
        file.text("Config", "SELFGRAVITY", "")
            .attribute<double>("Header", "Omega0", {0.3})
            .attribute<double>("Parameters", "SofteningClassOfPartType0", {1});
    });
    EXPECT_EQ(added.format, "HDF5 (Gadget-4)");
    EXPECT_EQ(added.box_size, (Periods{0, 0, 0}));
}

TEST_F(Hdf5Box, SwiftSaysItInText) {
    const auto with = [&](const char* value) {
        return made([&](Hdf5Maker& file) {
            file.text("Header", "Code", "SWIFT").text("Parameters", "InitialConditions:periodic", value);
        });
    };
    EXPECT_EQ(with("1").box_size, (Periods{10, 10, 10}));
    EXPECT_EQ(with("0").box_size, (Periods{0, 0, 0}));
    EXPECT_TRUE(warns(with("0"), "InitialConditions:periodic in /Parameters is 0"));
}

TEST_F(Hdf5Box, OptionsWithoutMeaningAreNotTakenForABox) {
    const auto refused = [&](const char* name, double value, std::string_view words) {
        const io::SnapshotHeader header = made([&](Hdf5Maker& file) {
            periodic(file);
            file.attribute<double>("Config", name, {value});
        });
        EXPECT_FALSE(header.box_size) << name;
        EXPECT_NE(header.invalid_box.find(words), std::string::npos) << header.invalid_box;
        EXPECT_TRUE(warns(header, header.invalid_box));
    };
    refused("LONG_X", 0, "snapshot.hdf5: attribute LONG_X of /Config is 0, but a factor of BoxSize");
    refused("LONG_Y", -2, "LONG_Y of /Config is -2");
    refused("LONG_Z", NAN, "LONG_Z of /Config is nan");
    refused("LONG_X_BITS", 1.5, "LONG_X_BITS of /Config is 1.5, but a whole number");
    refused("LONG_X_BITS", 500, "LONG_X_BITS of /Config is 500");
    refused("GRAVITY_TALLBOX", 3, "GRAVITY_TALLBOX of /Config is 3");
    const io::SnapshotHeader words = made([](Hdf5Maker& file) { file.text("Config", "LONG_X", "twice"); });
    EXPECT_NE(words.invalid_box.find("LONG_X of /Config is 'twice'"), std::string::npos) << words.invalid_box;
}

TEST_F(Hdf5Box, PeriodsOfEachAxisAreNotStretchedAgain) {
    {
        Hdf5Maker file(path());
        file.group("Header").group("Config").group("PartType1").attribute<double>("Header", "BoxSize", {20, 10, 10});
        file.attribute<double>("Config", "LONG_X", {2}).dataset<double>("PartType1/Coordinates", {1, 2, 3}, 3);
    }
    EXPECT_EQ(io::read_header(path()).box_size, (Periods{20, 10, 10}));
    EXPECT_TRUE(warns(io::read_header(path()), "BoxSize has an entry for each axis; these count"));
}

TEST_F(Hdf5Box, WhatIsWrittenHasTheSameBox) {
    static_cast<void>(made(
        [](Hdf5Maker& file) {
            file.attribute<double>("Config", "LONG_X", {2})
                .attribute<double>("Config", "REFLECTIVE_Y", {1})
                .attribute<double>("Header", "NumPart_ThisFile", {0, 2});
        },
        {1, 2, 3, 19, 2, 3}));
    const io::Snapshot snapshot = io::read_snapshot(path());
    const Box box = Box::periodic(*snapshot.header.box_size);
    EXPECT_EQ(box, Box::periodic({20, 0, 10}));
    const FofResult groups = fof(snapshot.positions.view(), LinkingLength::absolute(2), {.box = box});
    EXPECT_EQ(groups.groups, 1);
    const Catalog catalog = kith::catalog(groups, {.positions = snapshot.positions.view()}, {.min_members = 1});
    static_cast<void>(io::write_sorted_snapshot(folder_ / "sorted.hdf5", catalog, snapshot, {}));
    EXPECT_EQ(io::read_header(folder_ / "sorted.hdf5").box_size, (Periods{20, 0, 10}));
    io::write_catalog_hdf5(folder_ / "groups.hdf5", catalog, snapshot, {});
    EXPECT_EQ(io::read_catalog(folder_ / "groups.hdf5").catalog.box, box);
}

TEST_F(Hdf5Box, CatalogsOfTheseCodesHaveTheBoxOfTheRun) {
    const auto box_with = [&](const auto& add) {
        {
            Hdf5Maker file(path());
            file.group("Header").group("Config").group("Parameters").group("Group");
            file.attribute<double>("Header", "BoxSize", {10})
                .attribute<std::int32_t>("Header", "Ngroups_ThisFile", {1});
            file.dataset<std::int32_t>("Group/GroupLen", {1}).dataset<double>("Group/GroupPos", {1, 2, 3}, 3);
            add(file);
        }
        return io::read_catalog(path());
    };
    EXPECT_EQ(box_with([](Hdf5Maker& file) { file.attribute<double>("Config", "LONG_X", {2}); }).catalog.box,
              Box::periodic({20, 10, 10}));
    const io::CatalogFile open = box_with([](Hdf5Maker& file) { file.text("Config", "SELFGRAVITY", ""); });
    EXPECT_TRUE(open.catalog.box.is_open());
    EXPECT_EQ(open.warnings.size(), 1U);
    expect_error(ErrorKind::file, {"LONG_X", "is 0"}, [&] {
        static_cast<void>(box_with([](Hdf5Maker& file) { file.attribute<double>("Config", "LONG_X", {0}); }));
    });
}

// Whatever the reason, points that lie far beyond the box are not wrapped into it without a word: here two periods.
TEST_F(Hdf5Box, APointCloudLargerThanTheBoxIsToldOf) {
    for (const double reach : {1.2, 2.0}) {
        static_cast<void>(made(periodic, {0, 5, 5, 10 * reach, 5, 5}));
        const io::Snapshot whole = io::read_snapshot(path());
        EXPECT_TRUE(warns(whole.header, "coordinates on axis 0 are from 0 to")) << reach;
        const io::SnapshotHeader of_share = io::read_snapshot(path(), {.types = {}, .share = {1, 2}}).header;
        EXPECT_FALSE(warns(of_share, "coordinates on axis")) << reach; // its reader knows the extent of all
        EXPECT_EQ(io::box_warning(of_share, whole.positions), whole.header.warnings.back());
    }
    for (const double reach : {1.0, 1.05}) {
        static_cast<void>(made(periodic, {0, 5, 5, 10 * reach, 5, 5}));
        EXPECT_FALSE(warns(io::read_snapshot(path()).header, "coordinates on axis")) << reach;
    }
}

} // namespace
