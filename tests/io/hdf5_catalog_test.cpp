// Catalogs as HDF5, read back with the C library.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"

#include <kith/catalog_file.hpp>

#include <cmath>

using namespace kith;
using namespace kith::test;

namespace {

// Six of the file's particles were selected: rows 10 to 15, types 0, 0, 1, 1, 1, 4. Group 0: rows 0, 1, 3, 5; group 1:
// row 4.
io::Snapshot snapshot() {
    io::Snapshot s;
    s.header.counts = {12, 3, 0, 0, 1, 0, 0};
    s.header.time = 0.5;
    s.header.redshift = 1.0;
    s.header.parameters = {{"HubbleParam", 0.7}, {"Omega0", 0.3}};
    s.positions.values = std::vector<float>(18);
    s.positions.columns = 3;
    s.types = {0, 0, 1, 1, 1, 4};
    s.ids = {100, 101, 102, 103, 104, 0xffffffffffffffffU};
    s.file_rows = {10, 11, 12, 13, 14, 15};
    return s;
}

Catalog catalog() {
    Catalog c;
    c.groups = 2;
    c.dimension = 3;
    c.member_array = std::vector{0, 1, 3, 5, 4};
    c.offset = {0, 4};
    c.count = {4, 1};
    c.count_by_type = {2, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0};
    c.mass = {4.5, 1.25};
    c.mass_by_type = {2, 1.5, 0, 0, 1, 0, 0, 0, 1.25, 0, 0, 0, 0, 0};
    c.center = {0.1, 0.2, 0.3, 4, 5, 6};
    c.velocity = {-1, -2, -3, 7, 8, 9};
    c.rms_radius = {0.5, 0};
    c.velocity_dispersion = {2.5, 0};
    c.max_radius = {0.75, 0};
    c.lower = {-1, -2, -3, 0, 0, 0};
    c.upper = {1, 2, 3, 0, 0, 0};
    c.is_ambiguous = {1, 0};
    return c;
}

const io::Provenance provenance = {
    "kith 0.1.0", "kith fof a.hdf5", "a.hdf5", {{"linking_length", "0.25"}, {"types", "all"}}};

TEST(Hdf5Catalog, EveryColumn) {
    const TemporaryFolder folder;
    Catalog written = catalog();
    written.box = Box::periodic(8);
    io::write_catalog_hdf5(folder / "fof_tab", written, snapshot(), provenance);
    EXPECT_EQ(folder.entries(), 1U);
    const Hdf5Checker file(folder / "fof_tab");
    for (const auto& [name, value] : std::map<std::string, double>{{"Ngroups_ThisFile", 2},
                                                                   {"Ngroups_Total", 2},
                                                                   {"Nsubhalos_ThisFile", 0},
                                                                   {"Nsubhalos_Total", 0},
                                                                   {"Nsubgroups_ThisFile", 0},
                                                                   {"Nsubgroups_Total", 0},
                                                                   {"Nids_ThisFile", 5},
                                                                   {"Nids_Total", 5},
                                                                   {"NumFiles", 1},
                                                                   {"Time", 0.5},
                                                                   {"Redshift", 1},
                                                                   {"Omega0", 0.3},
                                                                   {"OmegaLambda", 0},
                                                                   {"HubbleParam", 0.7},
                                                                   {"BoxSize", 8},
                                                                   {"Dimension", 3}}) {
        EXPECT_EQ(file.numbers("Header", name), std::vector<double>{value}) << name;
    }
    EXPECT_EQ(file.numbers("Group", "NTask"), std::vector<double>{1});
    EXPECT_EQ(file.text("Header", "Cosmology"), "not in the input, set as for a run without cosmology: OmegaLambda");
    EXPECT_EQ(file.text("Header", "Program"), "kith 0.1.0");
    EXPECT_EQ(file.text("Header", "Command"), "kith fof a.hdf5");
    EXPECT_EQ(file.text("Header", "Input"), "a.hdf5");
    EXPECT_EQ(file.text("Header", "linking_length"), "0.25");
    EXPECT_EQ(file.text("Header", "types"), "all");
    EXPECT_EQ(file.numbers("Parameters", "HubbleParam"), std::vector<double>{0.7});
    EXPECT_EQ(file.numbers("Parameters", "Omega0"), std::vector<double>{0.3});

    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupLen"), (std::vector<std::int32_t>{4, 1}));
    EXPECT_EQ(file.shape("Group/MembersLenType"), (std::vector<hsize_t>{2, 7}));
    EXPECT_EQ(file.dataset<std::int32_t>("Group/MembersLenType"),
              (std::vector<std::int32_t>{2, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
    EXPECT_EQ(file.dataset<std::int64_t>("Group/MembersOffset"), (std::vector<std::int64_t>{0, 4}));
    EXPECT_EQ(file.dataset<std::int64_t>("Group/MembersOffsetType"),
              (std::vector<std::int64_t>{0, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5}));
    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupNsubs"), (std::vector<std::int32_t>{0, 0}));
    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupFirstSub"), (std::vector<std::int32_t>{-1, -1}));
    EXPECT_TRUE(file.has("Subhalo"));
    EXPECT_EQ(file.dataset<double>("Group/GroupMass"), (std::vector<double>{4.5, 1.25}));
    EXPECT_EQ(file.dataset<double>("Group/GroupMassType"), catalog().mass_by_type);
    EXPECT_EQ(file.shape("Group/GroupPos"), (std::vector<hsize_t>{2, 3}));
    EXPECT_EQ(file.dataset<float>("Group/GroupPos"), (std::vector<float>{0.1F, 0.2F, 0.3F, 4, 5, 6}));
    EXPECT_EQ(file.dataset<float>("Group/GroupVel"), (std::vector<float>{-1, -2, -3, 7, 8, 9}));
    EXPECT_EQ(file.dataset<float>("Group/GroupVelStored"), (std::vector<float>{-1, -2, -3, 7, 8, 9}));
    EXPECT_EQ(file.dataset<float>("Group/GroupVelDisp"), (std::vector<float>{2.5, 0}));
    EXPECT_EQ(file.dataset<float>("Group/GroupRmsRadius"), (std::vector<float>{0.5, 0}));
    EXPECT_EQ(file.dataset<float>("Group/GroupMaxRadius"), (std::vector<float>{0.75, 0}));
    EXPECT_EQ(file.dataset<float>("Group/GroupLower"), (std::vector<float>{-1, -2, -3, 0, 0, 0}));
    EXPECT_EQ(file.dataset<float>("Group/GroupUpper"), (std::vector<float>{1, 2, 3, 0, 0, 0}));
    EXPECT_EQ(file.dataset<std::uint8_t>("Group/GroupIsAmbiguous"), (std::vector<std::uint8_t>{1, 0}));

    EXPECT_EQ(file.dataset<std::int64_t>("Members/Index"), (std::vector<std::int64_t>{10, 11, 13, 15, 14}));
    EXPECT_EQ(file.dataset<std::uint64_t>("IDs/ID"),
              (std::vector<std::uint64_t>{100, 101, 103, 0xffffffffffffffffU, 104}));
}

// pynbody takes GroupLenType rows per group one after the other if there are no offsets, so the lengths must go, too.
TEST(Hdf5Catalog, NothingPointsIntoASnapshotThatIsNotInGroupOrder) {
    const TemporaryFolder folder;
    io::write_catalog_hdf5(folder / "a", catalog(), snapshot(), provenance);
    const Hdf5Checker file(folder / "a");
    for (const char* column : {"GroupOffsetType", "GroupLenType", "GroupOffset"}) {
        EXPECT_FALSE(file.has(std::string("Group/") + column)) << column;
    }
    EXPECT_LE(H5Aexists_by_name(file.id(), "Header", "SortedSnapshot", H5P_DEFAULT), 0);
}

TEST(Hdf5Catalog, OffsetsCountRowsOfTheSortedSnapshotTypeByType) {
    const TemporaryFolder folder;
    io::write_catalog_hdf5(folder / "a", catalog(), snapshot(), provenance, {"sorted.hdf5"});
    const Hdf5Checker file(folder / "a");
    EXPECT_EQ(file.text("Header", "SortedSnapshot"), "sorted.hdf5");
    EXPECT_EQ(file.dataset<std::int32_t>("Group/GroupLenType"), file.dataset<std::int32_t>("Group/MembersLenType"));
    EXPECT_EQ(file.shape("Group/GroupOffsetType"), (std::vector<hsize_t>{2, 7}));
    EXPECT_EQ(file.dataset<std::int64_t>("Group/GroupOffsetType"),
              (std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0, 0}));
    EXPECT_TRUE(file.has("Group/MembersOffset"));
    EXPECT_TRUE(file.has("Group/MembersOffsetType"));
}

TEST(Hdf5Catalog, AnInputWithoutCosmologyIsDescribedAsGadgetDescribesIt) {
    const TemporaryFolder folder;
    io::Snapshot plain = snapshot();
    plain.header.redshift.reset();
    plain.header.parameters = {{"UnitLength_in_cm", 3e21}};
    io::write_catalog_hdf5(folder / "a", catalog(), plain, provenance);
    const Hdf5Checker file(folder / "a");
    EXPECT_EQ(file.numbers("Header", "Redshift"), std::vector<double>{0});
    EXPECT_EQ(file.numbers("Header", "Omega0"), std::vector<double>{0});
    EXPECT_EQ(file.numbers("Header", "OmegaLambda"), std::vector<double>{0});
    EXPECT_EQ(file.numbers("Header", "HubbleParam"), std::vector<double>{1});
    EXPECT_EQ(file.numbers("Header", "UnitLength_in_cm"), std::vector<double>{3e21});
    EXPECT_NE(file.text("Header", "Cosmology").find("Redshift, Omega0, OmegaLambda, HubbleParam"), std::string::npos);
}

TEST(Hdf5Catalog, GroupVelIsTheScaleFactorTimesThePeculiarVelocity) {
    const TemporaryFolder folder;
    io::Snapshot framed = snapshot();
    const auto first_velocity = [&](const char* column) {
        io::write_catalog_hdf5(folder / "a", catalog(), framed, provenance);
        return Hdf5Checker(folder / "a").dataset<float>(std::string("Group/") + column)[0];
    };
    EXPECT_EQ(first_velocity("GroupVel"), -1);
    framed.header.frame = io::swift_frame(0.25);
    EXPECT_EQ(first_velocity("GroupVel"), -0.25F);
    EXPECT_EQ(first_velocity("GroupVelStored"), -1);
    framed.header.frame = io::gadget_frame(0.25);
    EXPECT_EQ(first_velocity("GroupVel"), -0.125F);
    EXPECT_EQ(first_velocity("GroupVelStored"), -1);
    EXPECT_EQ(first_velocity("GroupVelDisp"), 2.5F);
}

TEST(Hdf5Catalog, EveryColumnIsDescribed) {
    const TemporaryFolder folder;
    io::Snapshot framed = snapshot();
    framed.header.frame = io::gadget_frame(0.25);
    framed.header.frame->length.to_cgs = 3e21;
    io::write_catalog_hdf5(folder / "known", catalog(), framed, provenance, {"sorted.hdf5"});
    io::write_catalog_hdf5(folder / "unknown", catalog(), snapshot(), provenance);
    const Hdf5Checker known(folder / "known");
    const Hdf5Checker unknown(folder / "unknown");
    for (const CatalogColumn& column : catalog_columns) {
        const std::string dataset = "Group/" + std::string(column.name);
        EXPECT_NE(known.text(dataset, "description"), "") << dataset;
        EXPECT_EQ(known.text(dataset, "unit"), io::unit_of(column.kind)) << dataset;
        EXPECT_EQ(known.text(dataset, "frame"), io::frame_of(column.kind, framed.header.frame)) << dataset;
        const bool has_unit = io::unit_of(column.kind) != "none";
        EXPECT_EQ(H5Aexists_by_name(known.id(), dataset.c_str(), "a_scaling", H5P_DEFAULT) > 0, has_unit) << dataset;
        if (unknown.has(dataset)) {
            EXPECT_EQ(unknown.text(dataset, "frame"), has_unit ? "as in the input" : "none") << dataset;
            EXPECT_LE(H5Aexists_by_name(unknown.id(), dataset.c_str(), "a_scaling", H5P_DEFAULT), 0) << dataset;
        }
    }
    const auto attributes = [&](const std::string& dataset) {
        std::vector<double> values;
        for (const char* name : {"a_scaling", "h_scaling", "length_scaling", "mass_scaling", "velocity_scaling"}) {
            values.push_back(known.numbers(dataset, name).front());
        }
        return values;
    };
    EXPECT_EQ(attributes("Group/GroupPos"), (std::vector<double>{1, -1, 1, 0, 0}));
    EXPECT_EQ(attributes("Group/GroupMass"), (std::vector<double>{0, -1, 0, 1, 0}));
    EXPECT_EQ(attributes("Group/GroupVel"), (std::vector<double>{-1, 0, 0, 0, 1}));
    EXPECT_EQ(attributes("Group/GroupVelStored"), (std::vector<double>{0.5, 0, 0, 0, 1}));
    EXPECT_EQ(known.text("Group/GroupPos", "frame"), "comoving");
    EXPECT_EQ(known.text("Group/GroupMass", "frame"), "physical");
    EXPECT_EQ(known.numbers("Group/GroupPos", "to_cgs"), std::vector<double>{3e21});
    EXPECT_LE(H5Aexists_by_name(known.id(), "Group/GroupMass", "to_cgs", H5P_DEFAULT), 0);
}

TEST(Hdf5Catalog, PrecisionFollowsTheSnapshot) {
    const TemporaryFolder folder;
    io::Snapshot wide = snapshot();
    wide.positions.values = std::vector<double>(18);
    wide.velocities = io::RealArray{std::vector<float>(18), 3};
    io::write_catalog_hdf5(folder / "wide", catalog(), wide, provenance);
    const Hdf5Checker file(folder / "wide");
    EXPECT_EQ(file.dataset<double>("Group/GroupPos"), catalog().center);
    EXPECT_EQ(file.dataset<double>("Group/GroupUpper"), catalog().upper);
    EXPECT_EQ(file.dataset<float>("Group/GroupVel"), (std::vector<float>{-1, -2, -3, 7, 8, 9}));
    EXPECT_EQ(file.numbers("Header", "BoxSize"), std::vector<double>{0});
}

TEST(Hdf5Catalog, MassesThatWereNeverGivenAreCalledCounts) {
    const TemporaryFolder folder;
    io::Snapshot without = snapshot();
    without.masses.reset();
    without.uniform_mass.reset();
    Catalog counted = catalog();
    counted.mass.assign(counted.count.begin(), counted.count.end());
    io::write_catalog_hdf5(folder / "counted", counted, without, provenance);
    const Hdf5Checker file(folder / "counted");
    EXPECT_NE(file.text("Group/GroupMass", "description").find("each particle counts as mass 1"), std::string::npos);
    EXPECT_NE(file.text("Header", "Masses").find("each particle counts as mass 1"), std::string::npos);

    without.uniform_mass = 1; // the input names it
    io::write_catalog_hdf5(folder / "given", counted, without, provenance);
    const Hdf5Checker given(folder / "given");
    EXPECT_EQ(given.text("Group/GroupMass", "description").find("counts as"), std::string::npos);
    EXPECT_LE(H5Aexists_by_name(given.id(), "Header", "Masses", H5P_DEFAULT), 0);
}

TEST(Hdf5Catalog, NoGroupsIsAValidCatalog) {
    const TemporaryFolder folder;
    Catalog none;
    none.dimension = 3;
    none.box = Box::periodic(8);
    io::write_catalog_hdf5(folder / "none", none, snapshot(), provenance);
    const Hdf5Checker file(folder / "none");
    EXPECT_EQ(file.numbers("Header", "Ngroups_Total"), std::vector<double>{0});
    EXPECT_EQ(file.shape("Group/GroupLen"), std::vector<hsize_t>{0});
    EXPECT_TRUE(file.has("Subhalo"));
    EXPECT_EQ(file.shape("Group/GroupPos"), (std::vector<hsize_t>{0, 3}));
    EXPECT_EQ(file.shape("Members/Index"), std::vector<hsize_t>{0});
    EXPECT_EQ(file.shape("IDs/ID"), std::vector<hsize_t>{0});
    EXPECT_FALSE(file.has("Group/GroupVel"));
}

TEST(Hdf5Catalog, TwoDimensionsWithoutTypesIdsVelocitiesOrTime) {
    const TemporaryFolder folder;
    io::Snapshot plane;
    plane.header.dimension = 2;
    plane.header.has_types = false;
    plane.header.counts[1] = 3;
    plane.positions.values = std::vector<double>(6);
    plane.positions.columns = 2;
    plane.file_rows = {0, 1, 2};
    Catalog c;
    c.groups = 1;
    c.dimension = 2;
    c.member_array = std::vector{0, 2};
    c.offset = {0};
    c.count = {2};
    c.count_by_type = {0, 2, 0, 0, 0, 0, 0};
    c.mass = {2};
    c.mass_by_type = {0, 2, 0, 0, 0, 0, 0};
    c.center = {0.5, 0.25};
    c.rms_radius = c.max_radius = {1};
    c.lower = {-1, -1};
    c.upper = {1, 1};
    c.is_ambiguous = {0};
    c.box = Box::periodic({2.0, 0.0});
    io::write_catalog_hdf5(folder / "plane", c, plane, provenance);
    const Hdf5Checker file(folder / "plane");
    EXPECT_EQ(file.shape("Group/GroupPos"), (std::vector<hsize_t>{1, 2}));
    EXPECT_EQ(file.dataset<double>("Group/GroupPos"), (std::vector<double>{0.5, 0.25}));
    EXPECT_EQ(file.numbers("Header", "BoxSize"), (std::vector<double>{2, 0}));
    EXPECT_EQ(file.numbers("Header", "Dimension"), std::vector<double>{2});
    EXPECT_TRUE(std::isnan(file.numbers("Header", "Time").front()));
    EXPECT_EQ(file.dataset<std::int64_t>("Members/Index"), (std::vector<std::int64_t>{0, 2}));
    EXPECT_FALSE(file.has("IDs"));
    EXPECT_FALSE(file.has("Parameters"));
    EXPECT_FALSE(file.has("Group/GroupVel"));
}

TEST(Hdf5Catalog, ManyMembersGoThroughBlocks) {
    const TemporaryFolder folder;
    constexpr std::int32_t n = 150001;
    io::Snapshot s;
    s.positions.values = std::vector<float>(3 * static_cast<std::size_t>(n));
    s.positions.columns = 3;
    Catalog c = catalog();
    c.member_array = {};
    std::vector<std::int64_t> expected;
    for (std::int32_t i = 0; i < n; ++i) {
        s.file_rows.push_back(std::int64_t{i} * 10);
        c.member_array.vector<std::int32_t>().push_back(n - 1 - i);
        expected.push_back(std::int64_t{n - 1 - i} * 10);
    }
    c.offset = {0, n - 1};
    c.count = {n - 1, 1};
    io::write_catalog_hdf5(folder / "many", c, s, provenance);
    EXPECT_EQ(Hdf5Checker(folder / "many").dataset<std::int64_t>("Members/Index"), expected);
}

TEST(Hdf5Catalog, WhatDoesNotFitTogetherIsRefusedAndNothingIsLeft) {
    const TemporaryFolder folder;
    const auto refused = [&](const Catalog& c, const io::Snapshot& s, std::initializer_list<std::string_view> words) {
        expect_error(ErrorKind::invalid_argument, words,
                     [&] { io::write_catalog_hdf5(folder / "a", c, s, provenance); });
    };
    io::Snapshot short_snapshot = snapshot();
    short_snapshot.file_rows.pop_back();
    refused(catalog(), short_snapshot, {"member 3", "row 5", "5 rows"});
    io::Snapshot few_ids = snapshot();
    few_ids.ids.pop_back();
    refused(catalog(), few_ids, {"5 ids for 6 rows"});
    Catalog missing = catalog();
    missing.center.pop_back();
    refused(missing, snapshot(), {"center has 5 entries where 6"});
    io::Provenance clash = provenance;
    clash.parameters["BoxSize"] = "8";
    expect_error(ErrorKind::invalid_argument, {"'BoxSize'"},
                 [&] { io::write_catalog_hdf5(folder / "a", catalog(), snapshot(), clash); });
    EXPECT_EQ(folder.entries(), 0U);
}

TEST(Hdf5Catalog, TheSameCatalogMakesTheSameBytesAndIsNoSnapshot) {
    const TemporaryFolder folder;
    io::write_catalog_hdf5(folder / "a", catalog(), snapshot(), provenance);
    io::write_catalog_hdf5(folder / "b", catalog(), snapshot(), provenance);
    EXPECT_EQ(read_bytes(folder / "a"), read_bytes(folder / "b"));
    expect_error(ErrorKind::file, {"halo catalog"}, [&] { static_cast<void>(io::read_header(folder / "a")); });
}

} // namespace
