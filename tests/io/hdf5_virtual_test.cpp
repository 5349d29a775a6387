// SWIFT's virtual file, which maps the datasets of the pieces of a snapshot, is read as these pieces.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"

using namespace kith;
using namespace kith::test;

namespace {

struct Mapped {
    std::string file;
    hsize_t rows = 0;
    std::string dataset = "PartType1/Coordinates";
};

class Hdf5Virtual : public testing::Test {
protected:
    Hdf5Virtual() {
        write_piece("swift.0.hdf5", {1, 2});
        write_piece("swift.1.hdf5", {5, 6, 7});
        write_virtual({{"swift.0.hdf5", 2}, {"swift.1.hdf5", 3}});
    }
    void write_piece(const char* name, const std::vector<double>& numbers, int files = 2) const {
        std::vector<double> coordinates;
        for (const double number : numbers) {
            coordinates.insert(coordinates.end(), 3, number);
        }
        Hdf5Maker file(folder_ / name);
        file.group("Header").text("Header", "Code", "SWIFT").group("PartType1");
        file.attribute<std::int32_t>("Header", "NumFilesPerSnapshot", {files})
            .attribute<std::int64_t>("Header", "NumPart_ThisFile", {0, static_cast<std::int64_t>(numbers.size())})
            .attribute<double>("Header", "BoxSize", {10, 10, 10})
            .dataset("PartType1/Coordinates", coordinates, 3)
            .dataset("PartType1/ParticleIDs", numbers);
    }
    void write_virtual(const std::vector<Mapped>& mapped, hsize_t rows = 5) const {
        Hdf5Maker file(folder_ / "swift.hdf5");
        start_virtual(file);
        map(file, "PartType1/Coordinates", 3, rows, mapped);
    }
    static void start_virtual(Hdf5Maker& file) {
        file.group("Header").text("Header", "Code", "SWIFT").group("PartType1");
        file.attribute<std::int32_t>("Header", "Virtual", {1})
            .attribute<std::int32_t>("Header", "NumFilesPerSnapshot", {1});
    }
    static void map(const Hdf5Maker& file, const char* name, hsize_t columns, hsize_t rows,
                    const std::vector<Mapped>& mapped) {
        const int rank = columns == 1 ? 1 : 2;
        const hsize_t shape[2] = {rows, columns};
        const hid_t space = H5Screate_simple(rank, shape, nullptr);
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        hsize_t begin[2] = {0, 0};
        for (const Mapped& each : mapped) {
            const hsize_t part[2] = {each.rows, columns};
            const hid_t source = H5Screate_simple(rank, part, nullptr);
            H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, part, nullptr);
            EXPECT_GE(H5Pset_virtual(creation, space, each.file.c_str(), each.dataset.c_str(), source), 0);
            H5Sclose(source);
            begin[0] += each.rows;
        }
        H5Sselect_all(space);
        H5Dclose(H5Dcreate2(file.id(), name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
        H5Pclose(creation);
        H5Sclose(space);
    }
    void refused(ErrorKind kind, std::initializer_list<std::string_view> words) const {
        expect_error(kind, words, [&] { static_cast<void>(io::read_snapshot(folder_ / "swift.hdf5")); });
    }
    TemporaryFolder folder_;
};

TEST_F(Hdf5Virtual, IsReadAsItsPieces) {
    const io::Snapshot s = io::read_snapshot(folder_ / "swift.hdf5");
    EXPECT_EQ(s.header.format, "HDF5 (SWIFT), 2 files");
    EXPECT_EQ(s.header.files.size(), 2U);
    ASSERT_EQ(s.positions.rows(), 5);
    for (const auto& [row, number] : {std::pair(0, 1), std::pair(1, 2), std::pair(2, 5), std::pair(4, 7)}) {
        EXPECT_EQ(at(s.positions, static_cast<std::size_t>(3 * row)), number);
    }
}

TEST_F(Hdf5Virtual, MapsAllColumnsAlike) {
    const auto ids = [&](const std::vector<Mapped>& mapped) {
        Hdf5Maker file(folder_ / "swift.hdf5");
        start_virtual(file);
        map(file, "PartType1/Coordinates", 3, 5, {{"swift.0.hdf5", 2}, {"swift.1.hdf5", 3}});
        map(file, "PartType1/ParticleIDs", 1, 5, mapped);
    };
    constexpr const char* name = "PartType1/ParticleIDs";
    ids({{"swift.0.hdf5", 2, name}, {"swift.1.hdf5", 3, name}});
    EXPECT_EQ(io::read_snapshot(folder_ / "swift.hdf5").ids, (std::vector<std::uint64_t>{1, 2, 5, 6, 7}));
    ids({{"swift.1.hdf5", 3, name}, {"swift.0.hdf5", 2, name}});
    refused(ErrorKind::unsupported, {"PartType1/ParticleIDs maps other rows than PartType1/Coordinates"});
    {
        Hdf5Maker file(folder_ / "swift.hdf5");
        start_virtual(file);
        map(file, "PartType1/Coordinates", 3, 5, {{"swift.0.hdf5", 2}, {"swift.1.hdf5", 3}});
        file.dataset(name, std::vector<double>{1, 2, 3, 4, 5});
    }
    refused(ErrorKind::unsupported, {"lies in other files, but PartType1/ParticleIDs in this one"});
}

TEST_F(Hdf5Virtual, ItsDatasetsAreReadFromThePieces) {
    const std::string points = (folder_ / "swift.hdf5").string() + ":/PartType1/Coordinates";
    EXPECT_EQ(io::read_header(points).counts[1], 5);
    io::ReadOptions options;
    options.share = {1, 2};
    EXPECT_EQ(std::get<std::vector<double>>(io::read_snapshot(points, options).positions.values),
              (std::vector<double>{6, 6, 6, 7, 7, 7}));
    write_virtual({{"swift.1.hdf5", 3}, {"swift.0.hdf5", 2}});
    EXPECT_EQ(at(io::read_snapshot(points).positions, 0), 5);
    write_virtual({{"swift.1.hdf5", 2}, {"swift.0.hdf5", 2}}, 4);
    expect_error(ErrorKind::unsupported, {"takes 2 x 3 values of PartType1/Coordinates", "which is 3 x 3"},
                 [&] { static_cast<void>(io::read_snapshot(points)); });
    std::filesystem::remove(folder_ / "swift.1.hdf5");
    expect_error(ErrorKind::file, {"swift.1.hdf5 is missing"}, [&] { static_cast<void>(io::read_snapshot(points)); });
}

TEST_F(Hdf5Virtual, StandsForThePiecesBesideIt) {
    const auto here = [&](const char* name) { return folder_ / name; };
    for (const auto& files : {std::vector{here("swift.hdf5"), here("swift.0.hdf5"), here("swift.1.hdf5")},
                              std::vector{here("swift.0.hdf5"), here("swift.1.hdf5"), here("swift.hdf5")}}) {
        EXPECT_EQ(io::one_snapshot(files), here("swift.0.hdf5"));
    }
    expect_error(ErrorKind::invalid_argument, {"swift.1.hdf5 is left out"}, [&] {
        static_cast<void>(io::one_snapshot({here("swift.hdf5"), here("swift.0.hdf5")}));
    });
}

TEST_F(Hdf5Virtual, MissingPiecesAreNeverZeros) {
    std::filesystem::remove(folder_ / "swift.1.hdf5");
    refused(ErrorKind::file, {"swift.hdf5", "swift.1.hdf5 is missing"});
    write_piece("swift.1.hdf5", {5, 6});
    refused(ErrorKind::file, {"swift.hdf5", "do not list all 2 particles of type 1 of", "swift.1.hdf5"});
}

TEST_F(Hdf5Virtual, MappingsOfOtherRowsAreRefused) {
    write_virtual({{"swift.1.hdf5", 3}, {"swift.0.hdf5", 2}});
    refused(ErrorKind::file, {"do not list all 2 particles", "swift.0.hdf5 in their place"});
    write_virtual({{"swift.0.hdf5", 2}});
    refused(ErrorKind::unsupported, {"PartType1/Coordinates has 5 rows, of which 2 are mapped"});
    write_virtual({{"swift.0.hdf5", 2}, {"swift.1.hdf5", 3, "PartType1/Velocities"}});
    refused(ErrorKind::unsupported, {"maps PartType1/Velocities of 'swift.1.hdf5'"});
    write_piece("swift.0.hdf5", {1, 2}, 1);
    write_virtual({{"swift.0.hdf5", 2}, {"swift.1.hdf5", 3}});
    refused(ErrorKind::file, {"3 particles of type 1", "swift.1.hdf5, which is not one of the 1 files"});
}

} // namespace
