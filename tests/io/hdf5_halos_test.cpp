// Files of halos, made from columns given here and read back with the C library.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"

#include <kith/catalog_file.hpp>
#include <kith/error.hpp>
#include <kith/halo_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kith {
namespace {

using test::Hdf5Checker;
using test::Hdf5Maker;
using test::read_bytes;
using test::TemporaryFolder;

/// Rows 0 to 5 of types 1, 0, 1, 0, 1, 1. Group 0: rows 0 to 3, of which 3, 2 and 1 are bound, in this order of energy;
/// group 1: rows 4 and 5, of which nothing is.
io::Snapshot snapshot() {
    io::Snapshot s;
    s.header.counts = {2, 4};
    s.header.frame = io::gadget_frame(0.25);
    s.positions.values = std::vector<double>(18);
    s.positions.columns = 3;
    s.velocities = io::RealArray{std::vector<double>(18), 3};
    s.masses = io::RealArray{std::vector<double>{1, 1, 1, 2, 1, 1}, 1};
    s.types = {1, 0, 1, 0, 1, 1};
    s.ids = {10, 11, 12, 13, 14, 15};
    s.file_rows = {20, 21, 22, 23, 24, 25};
    return s;
}

Catalog groups() {
    Catalog c;
    c.groups = 2;
    c.dimension = 3;
    c.member_array = std::vector{1, 3, 0, 2, 4, 5};
    c.offset = {0, 4};
    c.count = {4, 2};
    c.count_by_type = {2, 2, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0};
    c.mass = {5, 2};
    c.mass_by_type = {3, 2, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0};
    c.center = {1, 2, 3, 4, 5, 6};
    c.velocity = std::vector<double>(6);
    c.rms_radius = c.velocity_dispersion = c.max_radius = std::vector<double>(2);
    c.lower = c.upper = std::vector<double>(6);
    c.is_ambiguous = {0, 0};
    return c;
}

Halos halos() {
    Halos h;
    h.groups = 2;
    h.halos = 1;
    h.options.overdensities = {overdensities::critical_200, overdensities::virial};
    h.options.least_radius = 0.5;
    h.member_array = std::vector<std::int32_t>{3, 2, 1, 0, 4, 5};
    h.group_offset = {0, 4, 6};
    h.first_of_group = {0, -1};
    h.group = {0};
    h.parent = {-1};
    h.offset = {0};
    h.count = {3};
    h.count_by_type = {2, 1, 0, 0, 0, 0, 0};
    h.center_row = {2};
    h.center = {7, 8, 9};
    h.center_of_mass = {6, 8, 9};
    h.center_offset = {1};
    h.velocity = {2.75, 0, 0};
    h.velocity_dispersion = {5};
    h.spin = {0, 0, 12};
    h.bullock_spin = {0.03};
    h.peebles_spin = {0.04};
    h.b_to_a = {0.75};
    h.c_to_a = {0.5};
    h.major_axis = {1, 0, 0};
    h.mass = {4};
    h.group_mass = {5};
    h.unbound_fraction = {0.2};
    h.half_mass_radius = {0.75};
    h.sphere_radius = {3, 2};
    h.sphere_mass = {30, 20};
    h.sphere_concentration = {6, 7};
    h.peak_concentration = {8, 9};
    h.max_velocity = {100};
    h.max_velocity_radius = {1.5};
    h.is_wide = {0};
    h.is_bridge = {1};
    return h;
}

const io::Provenance made_by = {"kith 0.1.0", "kith halos a.hdf5", "a.hdf5", {{"G", "43"}}};

TEST(HaloFile, MembersAreByTypeThenByEnergy) {
    Catalog ordered = groups();
    io::order_members(ordered, halos(), snapshot());
    EXPECT_EQ(ordered.member_array, IndexArray(std::vector<std::int32_t>{3, 1, 2, 0, 4, 5}));
    Catalog other = groups();
    other.groups = 1;
    EXPECT_THROW(io::order_members(other, halos(), snapshot()), Error);
}

TEST(HaloFile, GroupsAndSubhalosReferToEachOther) {
    const TemporaryFolder folder;
    Catalog ordered = groups();
    io::order_members(ordered, halos(), snapshot());
    io::write_halos_hdf5(folder / "halos.hdf5", halos(), ordered, snapshot(), made_by);
    const Hdf5Checker file(folder / "halos.hdf5");
    using Ints = std::vector<std::int32_t>;
    using Reals = std::vector<double>;
    EXPECT_EQ(file.numbers("Header", "Nsubhalos_Total"), Reals{1});
    EXPECT_EQ(file.numbers("Header", "Nsubgroups_ThisFile"), Reals{1});
    EXPECT_EQ(file.text("Header", "G"), "43");
    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupNsubs"), (Ints{1, 0}));
    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupFirstSub"), (Ints{0, -1}));
    EXPECT_EQ(file.dataset<double>("Group/GroupPos"), (Reals{7, 8, 9, 4, 5, 6})); // the second has its center of mass
    EXPECT_EQ(file.dataset<double>("Group/GroupCM"), (Reals{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(file.dataset<double>("Group/Group_R_Crit200"), (Reals{3, 0}));
    EXPECT_EQ(file.dataset<double>("Group/Group_M_TopHat200"), (Reals{20, 0}));
    EXPECT_EQ(file.dataset<std::int64_t>("Members/Index"), (std::vector<std::int64_t>{23, 21, 22, 20, 24, 25}));
    for (const char* name : {"Subhalo/SubhaloGroupNr", "Subhalo/SubhaloGrNr"}) {
        EXPECT_EQ(file.dataset<std::int32_t>(name), Ints{0});
    }
    EXPECT_EQ(file.dataset<std::int32_t>("Subhalo/SubhaloLenType"), (Ints{2, 1, 0, 0, 0, 0, 0}));
    EXPECT_EQ(file.dataset<std::int64_t>("Subhalo/SubhaloIDMostbound"), std::vector<std::int64_t>{13});
    EXPECT_EQ(file.dataset<double>("Subhalo/SubhaloVel"), (Reals{2.75, 0, 0}));
    EXPECT_EQ(file.text("Subhalo/SubhaloVel", "frame"), "physical");
    EXPECT_EQ(file.numbers("Subhalo/SubhaloVmaxRad", "h_scaling"), Reals{-1});
    EXPECT_EQ(file.numbers("Subhalo/SubhaloSpin", "h_scaling"), Reals{-1});
    EXPECT_EQ(file.numbers("Subhalo/SubhaloSpin", "length_scaling"), Reals{1});
    EXPECT_TRUE(std::isnan(file.dataset<double>("Group/Group_C_Crit200")[1]));
    EXPECT_EQ(file.numbers("Subhalo/SubhaloVmax", "a_scaling"), Reals{0});
}

TEST(HaloFile, EveryColumnIsDescribed) {
    const TemporaryFolder folder;
    Catalog ordered = groups();
    io::order_members(ordered, halos(), snapshot());
    io::write_halos_hdf5(folder / "halos.hdf5", halos(), ordered, snapshot(), made_by);
    const Hdf5Checker file(folder / "halos.hdf5");
    for (const HaloColumn& column : halo_columns) {
        if (column.presence == ColumnPresence::not_in_files) {
            continue;
        }
        const bool is_sphere = column.shape == ColumnShape::by_overdensity;
        const std::string dataset = std::string(column.name.starts_with("Group") ? "Group/" : "Subhalo/") +
                                    std::string(column.name) + (is_sphere ? "Crit200" : "");
        EXPECT_TRUE(file.text(dataset, "description").starts_with(column.description)) << dataset;
        EXPECT_EQ(file.text(dataset, "unit"), io::unit_of(column.kind)) << dataset;
        EXPECT_EQ(file.text(dataset, "frame"), io::frame_of(column.kind, io::gadget_frame(0.25))) << dataset;
    }
    EXPECT_EQ(
        file.text("Group/Group_M_Crit200", "description"),
        "mass of the sphere of a mean density, about the center: 200 times the critical one; first crossing, of all "
        "particles; 0 if there is none");
    EXPECT_TRUE(file.text("Subhalo/SubhaloVmax", "description").ends_with("of all particles, with r at least 0.5"));
}

TEST(HaloFile, WithoutHalosThereAreNoSubhalos) {
    const TemporaryFolder folder;
    Halos none;
    none.groups = 2;
    none.options = halos().options;
    none.member_array = halos().member_array;
    none.group_offset = halos().group_offset;
    none.first_of_group = {-1, -1};
    Catalog ordered = groups();
    io::order_members(ordered, none, snapshot());
    io::write_halos_hdf5(folder / "halos.hdf5", none, ordered, snapshot(), made_by, {"", false});
    const Hdf5Checker file(folder / "halos.hdf5");
    EXPECT_TRUE(file.has("Subhalo"));
    EXPECT_FALSE(file.has("Subhalo/SubhaloLen"));
    EXPECT_EQ(file.dataset<double>("Group/Group_M_Crit200"), (std::vector<double>{0, 0}));
    EXPECT_EQ(io::read_catalog(folder / "halos.hdf5").catalog.center, groups().center); // GroupCM
    io::write_halos_table(folder / "halos.csv", io::TableFormat::csv, none, ordered, snapshot(), made_by);
    EXPECT_NE(read_bytes(folder / "halos.csv").find("SubhaloVel_x"), std::string::npos); // as if there were any
}

TEST(HaloFile, IsReadBack) {
    const TemporaryFolder folder;
    Catalog ordered = groups();
    io::order_members(ordered, halos(), snapshot());
    const io::Provenance with_overdensities{"kith 0.1.0", "", "", {{"overdensities", "vir,200c"}}};
    io::write_halos_hdf5(folder / "halos.hdf5", halos(), ordered, snapshot(), with_overdensities);
    const io::CatalogFile file = io::read_catalog(folder / "halos.hdf5");
    ASSERT_TRUE(file.halos);
    const Halos& read = *file.halos;
    const Halos written = halos();
    EXPECT_EQ(read.halos, 1);
    EXPECT_EQ(read.groups, 2);
    EXPECT_EQ(read.options.overdensities, (std::vector{overdensities::virial, overdensities::critical_200}));
    EXPECT_EQ(read.sphere_mass, (std::vector<double>{20, 30}));
    EXPECT_EQ(read.sphere_radius, (std::vector<double>{2, 3}));
    EXPECT_EQ(read.sphere_concentration, (std::vector<double>{7, 6}));
    EXPECT_EQ(read.peak_concentration, (std::vector<double>{9, 8}));
    EXPECT_EQ(read.first_of_group, written.first_of_group);
    EXPECT_EQ(read.group_offset, written.group_offset);
    for_each_field(read, [&]<class T>(const HaloColumn& column, const std::vector<T>& values) {
        if (column.shape != ColumnShape::by_overdensity) {
            const bool is_stored = column.presence != ColumnPresence::not_in_files;
            EXPECT_EQ(values, is_stored ? written.*std::get<std::vector<T> Halos::*>(column.values) : std::vector<T>())
                << column.field;
        }
    });
    const auto listed = std::find_if(file.halo_columns.begin(), file.halo_columns.end(),
                                     [](const io::CatalogFileColumn& column) { return column.name == "SubhaloVel"; });
    ASSERT_NE(listed, file.halo_columns.end());
    EXPECT_EQ(listed->field, "velocity");
    EXPECT_EQ(listed->columns, 3);
    EXPECT_EQ(listed->a_scaling, 0);

    Halos none = halos();
    none.halos = 0;
    none.group.clear();
    none.first_of_group = {-1, -1};
    io::write_halos_hdf5(folder / "none.hdf5", none, ordered, snapshot(), with_overdensities);
    EXPECT_EQ(io::read_catalog(folder / "none.hdf5").halos->halos, 0);
    io::write_catalog_hdf5(folder / "groups.hdf5", ordered, snapshot(), made_by);
    EXPECT_FALSE(io::read_catalog(folder / "groups.hdf5").halos);
}

// AREPO's: subhalos within groups, the parent counted within the group, and spheres of groups.
TEST(HaloFile, OfAnotherCodeIsReadAsFarAsItGoes) {
    const TemporaryFolder folder;
    const auto make = [&](const std::vector<std::int32_t>& group_of_halos) {
        Hdf5Maker(folder / "other.hdf5")
            .group("Header")
            .attribute<std::int32_t>("Header", "Ngroups_ThisFile", {2})
            .attribute<double>("Header", "BoxSize", {50})
            .group("Group")
            .dataset<std::int32_t>("Group/GroupLen", {50, 40})
            .dataset<float>("Group/GroupPos", {1, 2, 3, 4, 5, 6}, 3)
            .dataset<float>("Group/Group_M_Crit200", {10, 20})
            .dataset<float>("Group/Group_R_Crit200", {1, 2})
            .dataset<float>("Group/Group_M_Mean200", {11, 21}) // without a radius
            .group("Subhalo")
            .dataset<std::int32_t>("Subhalo/SubhaloLen", {30, 10, 25})
            .dataset<std::int32_t>("Subhalo/SubhaloGrNr", group_of_halos)
            .dataset<std::int32_t>("Subhalo/SubhaloParent", {0, 0, 0})
            .dataset<float>("Subhalo/SubhaloMass", {3, 1, 2})
            .dataset<float>("Subhalo/SubhaloVmax", {9, 8, 7});
    };
    make({0, 0, 1});
    const Halos read = *io::read_catalog(folder / "other.hdf5").halos;
    EXPECT_EQ(read.halos, 3);
    EXPECT_EQ(read.count, (std::vector<std::int64_t>{30, 10, 25}));
    EXPECT_EQ(read.group, (std::vector<std::int64_t>{0, 0, 1}));
    EXPECT_EQ(read.first_of_group, (std::vector<std::int64_t>{0, 2}));
    EXPECT_TRUE(read.parent.empty());
    EXPECT_EQ(read.mass, (std::vector<double>{3, 1, 2}));
    EXPECT_EQ(read.max_velocity, (std::vector<double>{9, 8, 7}));
    EXPECT_EQ(read.options.overdensities, std::vector{overdensities::critical_200});
    EXPECT_EQ(read.sphere_mass, (std::vector<double>{10, 0, 20}));
    EXPECT_EQ(read.sphere_radius, (std::vector<double>{1, 0, 2}));
    make({0, 0, 2});
    test::expect_error(ErrorKind::file, {"halo 2 is of group 2, but there are 2 groups"},
                       [&] { static_cast<void>(io::read_catalog(folder / "other.hdf5")); });
}

TEST(HaloFile, AsATable) {
    const TemporaryFolder folder;
    Catalog ordered = groups();
    io::order_members(ordered, halos(), snapshot());
    io::write_halos_table(folder / "halos.csv", io::TableFormat::csv, halos(), ordered, snapshot(), made_by);
    EXPECT_EQ(read_bytes(folder / "halos.csv"),
              "Halo,SubhaloGroupNr,SubhaloParent,SubhaloLen,SubhaloLenType_0,SubhaloLenType_1,SubhaloIDMostbound,"
              "SubhaloPos_x,SubhaloPos_y,SubhaloPos_z,SubhaloCM_x,SubhaloCM_y,SubhaloCM_z,SubhaloCMOffset,SubhaloVel_x,"
              "SubhaloVel_y,SubhaloVel_z,SubhaloVelDisp,SubhaloSpin_x,SubhaloSpin_y,SubhaloSpin_z,SubhaloSpinBullock,"
              "SubhaloSpinPeebles,SubhaloMass,SubhaloGroupMass,SubhaloUnboundFraction,SubhaloHalfmassRad,SubhaloBToA,"
              "SubhaloCToA,SubhaloMajorAxis_x,SubhaloMajorAxis_y,SubhaloMajorAxis_z,SubhaloVmax,SubhaloVmaxRad,"
              "SubhaloIsWide,SubhaloIsBridge,Group_M_Crit200,Group_M_TopHat200,Group_R_Crit200,Group_R_TopHat200,"
              "Group_C_Crit200,Group_C_TopHat200,Group_CVmax_Crit200,Group_CVmax_TopHat200\r\n"
              "0,0,-1,3,2,1,13,7,8,9,6,8,9,1,2.75,0,0,5,0,0,12,0.03,0.04,4,5,0.2,0.75,0.75,0.5,1,0,0,100,1.5,0,1,30,20,"
              "3,2,6,7,8,9\r\n");
    EXPECT_EQ(io::describe_result(folder / "halos.csv")->kind, "a table of halos");
}

TEST(HaloFile, OverdensitiesHaveTheNamesOfTheConvention) {
    EXPECT_EQ(io::column_name(overdensities::mean_200), "Mean200");
    EXPECT_EQ(io::column_name(overdensities::critical_2500), "Crit2500");
    EXPECT_EQ(io::column_name(overdensities::virial), "TopHat200");
    EXPECT_EQ(io::short_name({DensityReference::critical, 177.5}), "177.5c");
    EXPECT_EQ(io::short_name(overdensities::virial), "vir");
    for (const Overdensity& each : HaloOptions().overdensities) {
        EXPECT_EQ(io::overdensity_named(io::short_name(each)), each);
        EXPECT_EQ(io::overdensity_named(io::column_name(each)), each);
    }
    for (const char* wrong : {"", "200", "c", "0c", "-1c", "200x", "infc", "200 c", "Crit", "Crit2x", "2vir"}) {
        EXPECT_FALSE(io::overdensity_named(wrong)) << wrong;
    }
}

} // namespace
} // namespace kith
