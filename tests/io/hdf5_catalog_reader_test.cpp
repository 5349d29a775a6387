// Catalogs read back: our own bit for bit, those of other codes as far as they go, and damaged ones not at all.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/fof.hpp>

#include <algorithm>
#include <cstring>
#include <random>

using namespace kith;
using namespace kith::test;

namespace {

/// Points around a few centers in a periodic box, with velocities, masses, types and ids, and their catalog.
struct Example {
    io::Snapshot snapshot;
    Catalog catalog;
    Box box = Box::periodic(10);
};

template <class T>
Example example(bool with_velocities = true) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    Example made;
    std::vector<T> positions;
    std::vector<T> velocities;
    constexpr std::int64_t n = 400;
    for (std::int64_t i = 0; i < n; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            positions.push_back(static_cast<T>(2.5 * static_cast<double>(i % 4) + 0.3 * uniform(random)));
            velocities.push_back(static_cast<T>(100 * uniform(random) - 50));
        }
        made.snapshot.types.push_back(static_cast<std::uint8_t>(i < 100 ? 0 : i < 300 ? 1 : 4));
        made.snapshot.ids.push_back(0xffffffffffffff00U - static_cast<std::uint64_t>(7 * i % n));
        made.snapshot.file_rows.push_back(1000 + i);
    }
    made.snapshot.header.time = 0.5;
    made.snapshot.header.redshift = 1.0;
    made.snapshot.header.parameters = {{"HubbleParam", 0.7}, {"Omega0", 0.3}, {"UnitLength_in_cm", 3.08e24}};
    made.snapshot.positions.values = positions;
    made.snapshot.positions.columns = 3;
    Particles particles;
    particles.positions = made.snapshot.positions.view();
    particles.types = made.snapshot.types;
    particles.uniform_mass = 0.125;
    made.snapshot.uniform_mass = 0.125;
    if (with_velocities) {
        made.snapshot.velocities = io::RealArray{velocities, 3};
        particles.velocities = made.snapshot.velocities->view();
    }
    const FofResult groups = fof(made.snapshot.positions.view(), LinkingLength::absolute(0.2), {.box = made.box});
    made.catalog = catalog(groups, particles);
    return made;
}

const io::Provenance provenance = {
    "kith 0.1.0",
    "kith fof a.hdf5",
    "a.hdf5",
    {{"linking_length", "0.2"}, {"min_members", "20"}, {"psi", "250"}, {"types", "all"}}};

/// Numbers as they are after a detour through the type in which they are stored.
template <class T>
std::vector<double> stored(const std::vector<double>& values) {
    std::vector<double> rounded(values.size());
    std::transform(values.begin(), values.end(), rounded.begin(),
                   [](double value) { return static_cast<double>(static_cast<T>(value)); });
    return rounded;
}

template <class T>
void expect_same_bits(const std::vector<T>& found, const std::vector<T>& expected, std::string_view what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    EXPECT_TRUE(found.empty() || std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)) == 0) << what;
}

template <class T>
void expect_round_trip(bool with_velocities) {
    const Example made = example<T>(with_velocities);
    const Catalog& written = made.catalog;
    ASSERT_GE(written.groups, 4);
    const TemporaryFolder folder;
    io::write_catalog_hdf5(folder / "halos.hdf5", written, made.snapshot, provenance);
    const io::CatalogFile file = io::read_catalog(folder / "halos.hdf5");
    const Catalog& read = file.catalog;
    EXPECT_EQ(file.format, "HDF5 catalog (kith 0.1.0)");
    EXPECT_EQ(read.groups, written.groups);
    EXPECT_EQ(read.dimension, 3);
    EXPECT_EQ(read.min_members, 20);
    EXPECT_EQ(file.dtype, dtype_of<T>);
    EXPECT_TRUE(read.member_array.empty());
    for_each_field(written, [&]<class N>(const CatalogColumn& column, const std::vector<N>& values) {
        const auto& found = read.*std::get<std::vector<N> Catalog::*>(column.values);
        if constexpr (std::is_same_v<N, double>) {
            const bool is_exact = column.type == ColumnType::float64;
            expect_same_bits(found, is_exact ? values : stored<T>(values), column.field);
        } else {
            expect_same_bits(found, values, column.field);
        }
    });
    for (std::size_t i = 0; i < written.members().size(); ++i) {
        const auto row = static_cast<std::size_t>(written.members()[i]);
        ASSERT_EQ(file.file_rows.at(i), made.snapshot.file_rows[row]);
        ASSERT_EQ(file.ids.at(i), made.snapshot.ids[row]);
    }
    EXPECT_EQ(file.catalog.box.period(2), 10);
    EXPECT_EQ(file.linking_length, static_cast<double>(static_cast<T>(0.2)));
    EXPECT_EQ(file.time, 0.5);
    EXPECT_EQ(file.redshift, 1.0);
    EXPECT_EQ(file.parameters, made.snapshot.header.parameters);
    EXPECT_EQ(file.provenance.at("Input"), "a.hdf5");
    EXPECT_EQ(file.provenance.at("types"), "all");
    EXPECT_EQ(file.provenance.at("psi"), "250");
    EXPECT_EQ(file.warnings, std::vector<std::string>{});
}

TEST(Hdf5CatalogReader, OwnCatalogsComeBackBitForBitAsTheyAreStored) {
    expect_round_trip<float>(true);
    expect_round_trip<double>(true);
    expect_round_trip<float>(false);
}

TEST(Hdf5CatalogReader, ColumnsAreDescribed) {
    const Example made = example<float>();
    const TemporaryFolder folder;
    io::write_catalog_hdf5(folder / "halos.hdf5", made.catalog, made.snapshot, provenance);
    const io::CatalogFile file = io::read_catalog(folder / "halos.hdf5", {.members = false});
    EXPECT_TRUE(file.file_rows.empty());
    EXPECT_TRUE(file.ids.empty());
    EXPECT_EQ(file.catalog.offset, made.catalog.offset);
    const auto find = [&](std::string_view name) {
        return *std::find_if(file.columns.begin(), file.columns.end(), [&](const auto& c) { return c.name == name; });
    };
    EXPECT_EQ(find("GroupMass").field, "mass");
    EXPECT_NE(find("GroupMass").description, "");
    EXPECT_EQ(find("GroupPos").columns, 3);
    EXPECT_EQ(find("MembersOffsetType").columns, 7);
    EXPECT_EQ(find("MembersOffsetType").field, "");
}

TEST(Hdf5CatalogReader, CatalogsWithoutGroups) {
    const TemporaryFolder folder;
    io::Snapshot snapshot = example<double>().snapshot;
    snapshot.header.redshift.reset();
    snapshot.header.time.reset();
    snapshot.header.parameters.clear();
    Catalog none;
    none.dimension = 2;
    snapshot.header.dimension = 2;
    none.box = Box::periodic({3.0, 0.0});
    io::write_catalog_hdf5(folder / "none.hdf5", none, snapshot, provenance);
    const io::CatalogFile file = io::read_catalog(folder / "none.hdf5");
    EXPECT_EQ(file.catalog.groups, 0);
    EXPECT_EQ(file.catalog.dimension, 2);
    EXPECT_EQ(file.catalog.box.period(0), 3);
    EXPECT_EQ(file.catalog.box.period(1), 0);
    EXPECT_EQ(file.time, std::nullopt);
    EXPECT_EQ(file.redshift, std::nullopt) << "0 stands there because the input has none";
    EXPECT_TRUE(file.parameters.empty()) << "those of the header are made up";
    EXPECT_TRUE(file.ids.empty());
}

/// A catalog as Gadget-4 and AREPO write it: 6 types, 32-bit numbers, no list of rows.
class Foreign : public testing::Test {
protected:
    void write(const std::string& name, std::int32_t files, std::int32_t total, std::vector<std::int32_t> lengths,
               float first, bool with_group_cm = false) const {
        Hdf5Maker maker(folder_ / name);
        const auto groups = static_cast<std::int32_t>(lengths.size());
        maker.group("Header").group("Group").group("Subhalo");
        maker.attribute<std::int32_t>("Header", "Ngroups_ThisFile", {groups});
        maker.attribute<std::int32_t>("Header", "Ngroups_Total", {total});
        maker.attribute<std::int32_t>("Header", "NumFiles", {files});
        maker.attribute<double>("Header", "BoxSize", {100});
        maker.attribute<double>("Header", "Time", {0.25});
        maker.attribute<double>("Header", "Redshift", {3});
        maker.attribute<double>("Header", "Omega0", {0.25});
        if (lengths.empty()) {
            return;
        }
        std::vector<std::int32_t> by_type;
        std::vector<float> positions;
        std::vector<float> masses;
        std::vector<float> masses_by_type;
        for (const std::int32_t length : lengths) {
            by_type.insert(by_type.end(), {1, length - 1, 0, 0, 0, 0});
            positions.insert(positions.end(), {first, first + 1, first + 2});
            masses.push_back(first);
            masses_by_type.insert(masses_by_type.end(), {0.5F, first - 0.5F, 0, 0, 0, 0});
            first += 10;
        }
        maker.dataset("Group/GroupLen", lengths)
            .dataset("Group/GroupLenType", by_type, 6)
            .dataset("Group/GroupMass", masses)
            .dataset("Group/GroupMassType", masses_by_type, 6)
            .dataset("Group/GroupPos", positions, 3)
            .dataset("Group/GroupVel", positions, 3)
            .dataset("Group/Group_M_Crit200", masses);
        if (with_group_cm) {
            maker.dataset("Group/GroupCM", std::vector<float>(positions.size(), 3), 3);
        }
    }
    [[nodiscard]] std::filesystem::path at(const std::string& name) const { return folder_ / name; }
    void refused(const std::string& name, std::initializer_list<std::string_view> words) const {
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_catalog(at(name))); });
    }

    const TemporaryFolder folder_;
};

TEST_F(Foreign, ColumnsThatAreThereAreRead) {
    write("fof_subhalo_tab_007.hdf5", 1, 2, {40, 30}, 5);
    const io::CatalogFile file = io::read_catalog(at("fof_subhalo_tab_007.hdf5"));
    EXPECT_EQ(file.format, "HDF5 catalog (Gadget-4 or AREPO)");
    EXPECT_EQ(file.catalog.groups, 2);
    EXPECT_EQ(file.catalog.count, (std::vector<std::int64_t>{40, 30}));
    EXPECT_EQ(file.catalog.offset, (std::vector<std::int64_t>{0, 40}));
    EXPECT_EQ(file.catalog.count_by_type, (std::vector<std::int64_t>{1, 39, 0, 0, 0, 0, 0, 1, 29, 0, 0, 0, 0, 0}));
    EXPECT_EQ(file.catalog.mass, (std::vector<double>{5, 15}));
    EXPECT_EQ(file.catalog.mass_by_type[8], 14.5);
    EXPECT_EQ(file.catalog.center, (std::vector<double>{5, 6, 7, 15, 16, 17}));
    EXPECT_EQ(file.catalog.velocity, file.catalog.center);
    EXPECT_TRUE(file.catalog.max_radius.empty());
    EXPECT_EQ(file.catalog.min_members, 30);
    EXPECT_EQ(file.catalog.box.period(0), 100);
    EXPECT_EQ(file.redshift, 3.0);
    EXPECT_EQ(file.parameters.at("Omega0"), 0.25);
    EXPECT_EQ(file.linking_length, std::nullopt);
    EXPECT_TRUE(io::is_catalog(at("fof_subhalo_tab_007.hdf5")));
}

TEST_F(Foreign, TheMeanVelocityIsTakenBeforeThatOfTheConvention) {
    Hdf5Maker(at("a.hdf5"))
        .group("Header")
        .group("Group")
        .attribute<double>("Header", "BoxSize", {1})
        .dataset<std::int32_t>("Group/GroupLen", {2})
        .dataset<float>("Group/GroupPos", {1, 2, 3}, 3)
        .dataset<float>("Group/GroupVel", {10, 20, 30}, 3)
        .dataset<float>("Group/GroupVelStored", {4, 5, 6}, 3);
    EXPECT_EQ(io::read_catalog(at("a.hdf5")).catalog.velocity, (std::vector<double>{4, 5, 6}));
}

TEST_F(Foreign, AttributesOfColumnsAreRead) {
    Hdf5Maker(at("a.hdf5"))
        .group("Header")
        .group("Group")
        .attribute<double>("Header", "BoxSize", {1})
        .dataset<std::int32_t>("Group/GroupLen", {2})
        .text("Group/GroupLen", "description", "members")
        .text("Group/GroupLen", "unit", "none")
        .text("Group/GroupLen", "frame", "comoving")
        .attribute<double>("Group/GroupLen", "a_scaling", {1})
        .attribute<double>("Group/GroupLen", "h_scaling", {-1})
        .attribute<double>("Group/GroupLen", "to_cgs", {3e24});
    const io::CatalogFileColumn column = io::read_catalog(at("a.hdf5")).columns.at(0);
    EXPECT_EQ(column.name, "GroupLen");
    EXPECT_EQ(column.field, "count");
    EXPECT_EQ(column.description, "members");
    EXPECT_EQ(column.unit, "none");
    EXPECT_EQ(column.frame, "comoving");
    EXPECT_EQ(column.a_scaling, 1.0);
    EXPECT_EQ(column.h_scaling, -1.0);
    EXPECT_EQ(column.to_cgs, 3e24);
}

TEST_F(Foreign, TheCenterOfMassIsTakenBeforeThePosition) {
    write("a.hdf5", 1, 1, {40}, 5, true);
    EXPECT_EQ(io::read_catalog(at("a.hdf5")).catalog.center, (std::vector<double>{3, 3, 3}));
}

TEST_F(Foreign, SeveralFilesAreOneCatalogAndSomeMayHoldNoGroups) {
    write("tab.0.hdf5", 3, 3, {}, 0);
    write("tab.1.hdf5", 3, 3, {40, 30}, 5);
    write("tab.2.hdf5", 3, 3, {20}, 50);
    for (const char* name : {"tab", "tab.0.hdf5", "tab.2.hdf5"}) {
        const io::CatalogFile file = io::read_catalog(at(name));
        EXPECT_EQ(file.catalog.count, (std::vector<std::int64_t>{40, 30, 20})) << name;
        EXPECT_EQ(file.catalog.mass, (std::vector<double>{5, 15, 50})) << name;
        EXPECT_EQ(file.catalog.offset, (std::vector<std::int64_t>{0, 40, 70})) << name;
        EXPECT_EQ(file.files.size(), 3U) << name;
        EXPECT_TRUE(file.warnings.empty()) << name;
    }
    EXPECT_TRUE(io::is_catalog(at("tab")));
    std::filesystem::remove(at("tab.1.hdf5"));
    refused("tab.0.hdf5", {"tab.1.hdf5 is missing"});
    write("tab.1.hdf5", 3, 4, {40, 30}, 5);
    write("tab.2.hdf5", 3, 4, {20}, 50, true);
    refused("tab.0.hdf5", {"tab.2.hdf5", "GroupCM", "but GroupPos in tab.0.hdf5"});
}

TEST_F(Foreign, WhatHeadersAnnounceIsComparedWithTheRows) {
    write("a.hdf5", 1, 5, {40, 30}, 5);
    const io::CatalogFile file = io::read_catalog(at("a.hdf5"));
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_NE(file.warnings[0].find("announces 5 groups in all"), std::string::npos);
}

TEST_F(Foreign, IdsThatAreNotThoseOfTheGroupsAreLeftOut) {
    write("a.hdf5", 1, 1, {2}, 5);
    {
        const hid_t file = H5Fopen(at("a.hdf5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        H5Gclose(H5Gcreate2(file, "IDs", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const hsize_t length = 3;
        const hid_t space = H5Screate_simple(1, &length, nullptr);
        const hid_t ids = H5Dcreate2(file, "IDs/ID", H5T_NATIVE_UINT32, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        const std::uint32_t values[3] = {1, 2, 3};
        H5Dwrite(ids, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(ids);
        H5Sclose(space);
        H5Fclose(file);
    }
    const io::CatalogFile file = io::read_catalog(at("a.hdf5"));
    EXPECT_TRUE(file.ids.empty());
    EXPECT_NE(file.warnings.at(0).find("3 entries, but the groups have 2 members"), std::string::npos);
}

TEST_F(Foreign, WhatDoesNotFitTogetherIsRefused) {
    const auto with = [&](auto&& fill) {
        Hdf5Maker maker(at("a.hdf5"));
        maker.group("Header").group("Group").attribute<double>("Header", "BoxSize", {1});
        fill(maker);
    };
    with([](Hdf5Maker& m) { m.attribute<std::int32_t>("Header", "Ngroups_ThisFile", {4}); });
    refused("a.hdf5", {"announces 4 groups", "no dataset Group/GroupLen"});
    with([](Hdf5Maker& m) { m.attribute<double>("Header", "Ngroups_ThisFile", {-1}); });
    refused("a.hdf5", {"Ngroups_ThisFile", "no whole number"});
    with([](Hdf5Maker& m) {
        m.dataset<std::int32_t>("Group/GroupLen", {3, 2}).dataset<float>("Group/GroupMass", {1});
    });
    refused("a.hdf5", {"Group/GroupMass is 1 x 1", "2 groups", "2 x 1 was expected"});
    with([](Hdf5Maker& m) { m.dataset<std::int32_t>("Group/GroupLen", {3, -2}); });
    refused("a.hdf5", {"GroupLen of group 1 is -2"});
    with([](Hdf5Maker& m) { m.dataset<std::int64_t>("Group/GroupLen", {1LL << 62, 1LL << 62}); });
    refused("a.hdf5", {"GroupLen of group 1 is"});
    with([](Hdf5Maker& m) { m.dataset<float>("Group/GroupLen", {3, 2}); });
    refused("a.hdf5", {"Group/GroupLen must hold whole numbers"});
    with([](Hdf5Maker& m) {
        m.dataset<std::int32_t>("Group/GroupLen", {3}).dataset("Group/GroupPos", std::vector<float>(9), 9);
    });
    refused("a.hdf5", {"Group/GroupPos has 9 columns"});
    with([](Hdf5Maker& m) {
        m.dataset<std::int32_t>("Group/GroupLen", {3}).dataset("Group/GroupLenType", std::vector<std::int32_t>(8), 8);
    });
    refused("a.hdf5", {"Group/GroupLenType is 1 x 8", "1 to 7"});
    with([](Hdf5Maker& m) {
        m.dataset<std::int32_t>("Group/GroupLen", {3, 2}).dataset<std::int64_t>("Group/MembersOffset", {0, 2});
    });
    refused("a.hdf5", {"MembersOffset of group 1 is 2", "3 members"});
    with([](Hdf5Maker& m) {
        m.dataset<std::int32_t>("Group/GroupLen", {2})
            .group("Members")
            .dataset<std::int64_t>("Members/Index", {1, 2, 3});
    });
    refused("a.hdf5", {"Members/Index has 3 entries", "2 members"});
    with([](Hdf5Maker& m) {
        m.dataset<std::int32_t>("Group/GroupLen", {2}).group("Members").dataset<std::int64_t>("Members/Index", {1, -2});
    });
    refused("a.hdf5", {"entry 1 of Members/Index is -2"});
    Hdf5Maker(at("a.hdf5"))
        .group("Header")
        .group("Group")
        .attribute<std::int32_t>("Header", "Ngroups_ThisFile", {0})
        .attribute<double>("Header", "BoxSize", {1, -1, 1});
    refused("a.hdf5", {"BoxSize"});
}

TEST_F(Foreign, OtherFilesAreNoCatalogs) {
    refused("missing.hdf5", {"missing.hdf5"});
    EXPECT_FALSE(io::is_catalog(at("missing.hdf5")));
    write_bytes(at("words.txt"), "no catalog");
    refused("words.txt", {"no HDF5 file"});
    EXPECT_FALSE(io::is_catalog(at("words.txt")));
    Hdf5Maker(at("snap.hdf5"))
        .group("Header")
        .group("PartType1")
        .attribute<std::int32_t>("Header", "NumPart_ThisFile", {0});
    refused("snap.hdf5", {"no halo catalog", "it is a snapshot", "kith fof", "Header, PartType1"});
    EXPECT_FALSE(io::is_catalog(at("snap.hdf5")));
}

TEST_F(Foreign, FilesThatAreCutShortAreRefused) {
    write("a.hdf5", 1, 2, {40, 30}, 5);
    const std::string whole = read_bytes(at("a.hdf5"));
    for (std::size_t length = 0; length < whole.size(); length += 97) {
        write_bytes(at("cut.hdf5"), std::string_view(whole).substr(0, length));
        EXPECT_THROW(static_cast<void>(io::read_catalog(at("cut.hdf5"))), Error) << length;
    }
}

TEST_F(Foreign, SizesThatAreClaimedAreComparedWithTheFile) {
    constexpr std::int64_t groups = 12345;
    Hdf5Maker(at("a.hdf5"))
        .group("Header")
        .group("Group")
        .dataset("Group/GroupLen", std::vector<std::int32_t>(groups, 2));
    std::string content = read_bytes(at("a.hdf5"));
    const std::string claim = Bytes(std::endian::little).add(groups).text();
    const std::string larger = Bytes(std::endian::little).add(groups << 30).text();
    for (std::size_t found = content.find(claim); found != std::string::npos; found = content.find(claim)) {
        content.replace(found, claim.size(), larger);
    }
    write_bytes(at("a.hdf5"), content);
    refused("a.hdf5", {"Group/GroupLen claims", "not all in the file"});
}

} // namespace
