// Any dataset of an HDF5 file as points, and the errors that say what a file holds.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"

using namespace kith;
using namespace kith::test;

namespace {

class Hdf5Table : public testing::Test {
protected:
    [[nodiscard]] std::string named(std::string_view name) const { return path_.string() + ":" + std::string(name); }
    static void refused(const std::filesystem::path& path, std::initializer_list<std::string_view> words,
                        ErrorKind kind = ErrorKind::file) {
        expect_error(kind, words, [&] { static_cast<void>(io::read_snapshot(path)); });
        expect_error(kind, words, [&] { static_cast<void>(io::read_header(path)); });
    }
    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "halo.h5";
};

TEST_F(Hdf5Table, ADatasetIsPoints) {
    {
        Hdf5Maker file(path_);
        file.dataset<float>("Coordinates", {1, 2, 3, 4, 5, 6}, 3)
            .group("Group")
            .dataset<double>("Group/GroupPos", {1, 2, 3, 4}, 2, 2)
            .dataset<std::int32_t>("cells", {1, -2, 3, 4}, 2);
    }
    for (const char* name : {"/Coordinates", "Coordinates"}) {
        const io::Snapshot s = io::read_snapshot(named(name));
        EXPECT_EQ(std::get<std::vector<float>>(s.positions.values), (std::vector<float>{1, 2, 3, 4, 5, 6}));
        EXPECT_EQ(s.positions.columns, 3);
        EXPECT_EQ(s.header.format, "HDF5 dataset");
        EXPECT_EQ(s.header.files, std::vector<std::filesystem::path>{path_});
        EXPECT_FALSE(s.header.has_types || s.masses || s.velocities || s.uniform_mass);
        EXPECT_TRUE(s.header.warnings.empty());
        EXPECT_EQ(io::read_header(named(name)).counts[1], 2);
    }
    EXPECT_EQ(std::get<std::vector<double>>(io::read_snapshot(named("/Group/GroupPos")).positions.values),
              (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(std::get<std::vector<double>>(io::read_snapshot(named("/cells")).positions.values),
              (std::vector<double>{1, -2, 3, 4}));
}

TEST_F(Hdf5Table, WholeNumbersBeyondFloat64AreToldOf) {
    Hdf5Maker(path_).dataset<std::int64_t>("a", {1, 2, 3, (std::int64_t{1} << 53) + 1}, 2);
    EXPECT_TRUE(warns(io::read_snapshot(named("a")).header, "2^53"));
}

TEST_F(Hdf5Table, WhatTheFileHoldsIsListed) {
    {
        Hdf5Maker file(path_);
        file.group("Group")
            .dataset<float>("Group/Mass", {1, 2})
            .dataset<float>("Group/Pos", {1, 2, 3, 4, 5, 6}, 3)
            .dataset<float>("wide", std::vector<float>(20), 10)
            .dataset<float>("long", std::vector<float>(60), 20);
    }
    refused(named("/Coordinates"), {"halo.h5", "no dataset /Coordinates", "/Group/Pos (2 x 3), /Group/Mass (2)"});
    refused(named("/Group"), {"/Group is a group", "/Group/Pos (2 x 3)"});
    refused(named("/"), {"/ is a group", "/Group/Pos (2 x 3)"});
    refused(named(""), {"is a group", "/Group/Pos (2 x 3)"});
    refused(named("/Group/Mass"), {"one-dimensional", "/Group/Pos (2 x 3)"});
    refused(named("/wide"), {"2 x 10", "transposed"});
    refused(named("/long"), {"3 x 20", "2 to 8 columns", "transposed"});
    refused(path_, {"no snapshot", "halo.h5:/Group/Pos"});
}

// Fields of several types and names beside the coordinates, in another order than the axes.
template <class X>
void make_table(const std::filesystem::path& path, const std::vector<std::string>& names, hid_t type_of_x) {
    struct Row {
        double z;
        std::int32_t id;
        X x;
        float y;
    };
    const std::vector<Row> rows = {{3, 7, 1, 2}, {6, 8, 4, 5}};
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Row));
    H5Tinsert(type, names[0].c_str(), HOFFSET(Row, z), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, names[1].c_str(), HOFFSET(Row, id), H5T_NATIVE_INT32);
    H5Tinsert(type, names[2].c_str(), HOFFSET(Row, x), type_of_x);
    H5Tinsert(type, names[3].c_str(), HOFFSET(Row, y), H5T_NATIVE_FLOAT);
    const Hdf5Maker file(path);
    const hsize_t count = rows.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t made = H5Dcreate2(file.id(), "halos", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()), 0);
    H5Dclose(made);
    H5Sclose(space);
    H5Tclose(type);
}

TEST_F(Hdf5Table, TheFieldsXyzOfATableArePoints) {
    const std::vector<double> expected = {1, 2, 3, 4, 5, 6};
    for (const std::vector<std::string>& names : {std::vector<std::string>{"z", "id", "x", "y"},
                                                  {"Z", "x", "X", "Y"},
                                                  {"halo_z", "halo_id", "halo_x", "halo_y"}}) {
        make_table<std::int64_t>(path_, names, H5T_NATIVE_INT64);
        EXPECT_EQ(std::get<std::vector<double>>(io::read_snapshot(named("halos")).positions.values), expected);
        io::ReadOptions second_half;
        second_half.share = {1, 2};
        EXPECT_EQ(std::get<std::vector<double>>(io::read_snapshot(named("halos"), second_half).positions.values),
                  (std::vector<double>{4, 5, 6}));
        refused(path_, {"no snapshot", "halo.h5:/halos"});
    }
    make_table<float>(path_, {"mass", "id", "x", "y"}, H5T_NATIVE_FLOAT);
    const io::Snapshot plane = io::read_snapshot(named("halos"));
    EXPECT_EQ(std::get<std::vector<float>>(plane.positions.values), (std::vector<float>{1, 2, 4, 5}));
    EXPECT_EQ(plane.header.dimension, 2);
    make_table<float>(path_, {"mass", "id", "lon", "lat"}, H5T_NATIVE_FLOAT);
    refused(named("halos"), {"/halos is a table with the fields mass, id, lon, lat", "need the fields x, y and z"});
    refused(named("other"), {"/halos (table of 2 with the fields mass, id, lon, lat)"});
}

TEST_F(Hdf5Table, ADatasetForEachAxisIsRefusedInWords) {
    {
        Hdf5Maker file(path_);
        file.group("position");
        for (const char* axis : {"position/x", "position/y", "position/z"}) {
            file.dataset<float>(axis, {1, 2});
        }
    }
    refused(named("position"), {"datasets of one axis each are not read", "n x 3", "/position/x (2)"});
}

TEST_F(Hdf5Table, TheDatasetThatIsCalledPositionsIsAdvised) {
    {
        Hdf5Maker file(path_);
        file.group("Group")
            .dataset<float>("Group/GroupLower", {1, 2, 3}, 3)
            .dataset<float>("Group/GroupPos", {1, 2, 3}, 3);
    }
    refused(path_, {"as in", "halo.h5:/Group/GroupPos"});
}

TEST_F(Hdf5Table, ABoxThatIsNotTakenIsToldOf) {
    {
        Hdf5Maker file(path_);
        file.group("Header")
            .attribute<double>("Header", "BoxSize", {100})
            .attribute<std::int32_t>("Header", "NumFilesPerSnapshot", {4})
            .group("PartType1")
            .dataset<float>("PartType1/Velocities", {1, 2, 3, 4, 5, 6}, 3);
    }
    const io::SnapshotHeader header = io::read_snapshot(named("/PartType1/Velocities")).header;
    EXPECT_FALSE(header.box_size);
    EXPECT_TRUE(warns(header, "BoxSize 100"));
    EXPECT_TRUE(warns(header, "one of 4 files"));
}

TEST_F(Hdf5Table, NamesWithColonsAreFilesFirst) {
    const std::filesystem::path odd = folder_ / "run:1.h5";
    Hdf5Maker(odd).dataset<float>("a:b", {1, 2, 3, 4}, 2);
    EXPECT_EQ(io::read_snapshot(odd.string() + ":/a:b").positions.rows(), 2);
    refused(odd, {"run:1.h5", "no snapshot"});
    const std::vector<float> values = {1, 2, 3, 4, 5, 6};
    io::write_npy(folder_ / "x:y", std::span<const float>(values), 3);
    EXPECT_EQ(io::read_snapshot(folder_ / "x:y").header.format, "npy");
    refused(folder_ / "x:y:0", {"holds one table", "leave out :0"});
    refused(folder_ / "absent.h5:/a", {"absent.h5:/a", "no such file"});
}

} // namespace
