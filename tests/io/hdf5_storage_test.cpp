// Datasets stored in every way: their values, or the error that says which rows or which filter is missing.
#include "io/files.hpp"
#include "io/hdf5_stored_dataset.hpp"

#include <random>

#include <sys/file.h>
#include <unistd.h>

#include <fcntl.h>

using namespace kith;
using namespace kith::test;

namespace {

class Hdf5Storage : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path path() const { return folder_ / "part.hdf5"; }
    void refused(std::initializer_list<std::string_view> words, ErrorKind kind = ErrorKind::file) const {
        expect_error(kind, words, [&] { static_cast<void>(io::read_snapshot(path(), all_types())); });
    }
    TemporaryFolder folder_;
};

std::vector<double> as_doubles(const io::RealArray& array) {
    return std::visit([](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
                      array.values);
}

/// A dataset of PartType1 that is drawn at random, and the values that are in its file.
struct Case {
    StoredDataset stored;
    std::vector<double> values;
    hsize_t rows = 0;
    std::int64_t first_missing = -1; ///< first row of the first chunk that is missing
    bool none_written = false;

    explicit Case(std::mt19937& random);
    void leave_out_chunks(std::mt19937& random);
};

Case::Case(std::mt19937& random) {
    const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
    constexpr std::array names = {"Coordinates", "Velocities", "Masses", "ParticleIDs"};
    const std::size_t which = below(4);
    stored.name = std::string("PartType1/") + names.at(which);
    rows = 1 + below(40);
    stored.lengths = {rows};
    if (which < 2) {
        stored.lengths.push_back(3);
    }
    const std::array real = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    const std::array whole = {H5T_STD_U32LE, H5T_STD_U32BE, H5T_STD_I64LE, H5T_STD_U64BE};
    stored.type = which == 3 ? whole.at(below(4)) : real.at(below(4));
    // Whole numbers below 2^9, in some cases all alike, so that chunks shrink or not.
    const unsigned kinds = 1U << below(10);
    values.resize(rows * (which < 2 ? 3 : 1));
    for (double& value : values) {
        value = 1.0 + below(kinds);
    }
    if (below(8) == 0) {
        return; // in one piece
    }
    stored.chunk = {1 + below(12)};
    if (which < 2) {
        stored.chunk.push_back(1 + below(3));
    }
    stored.is_extendible = below(2) == 0;
    for (std::size_t axis = 0; axis < stored.chunk.size() && !stored.is_extendible; ++axis) {
        stored.chunk[axis] = std::min(stored.chunk[axis], stored.lengths[axis]);
    }
    stored.shuffle = below(2) == 0;
    stored.fletcher32 = below(3) == 0;
    stored.deflate = below(3) == 0;
    stored.lzf = !stored.deflate && below(2) == 0;
    if (below(3) == 0) {
        leave_out_chunks(random);
    }
}

void Case::leave_out_chunks(std::mt19937& random) {
    const hsize_t down = (rows + stored.chunk[0] - 1) / stored.chunk[0];
    const hsize_t across = stored.chunk.size() == 1 ? 1 : (3 + stored.chunk[1] - 1) / stored.chunk[1];
    stored.is_missing.assign(down * across, false);
    for (auto i = 1 + random() % 3; i-- > 0;) {
        stored.is_missing[random() % stored.is_missing.size()] = true;
    }
    const auto first = std::find(stored.is_missing.begin(), stored.is_missing.end(), true) - stored.is_missing.begin();
    first_missing = static_cast<std::int64_t>(static_cast<hsize_t>(first) / across * stored.chunk[0]);
    none_written = std::find(stored.is_missing.begin(), stored.is_missing.end(), false) == stored.is_missing.end();
}

void write_snapshot_with(const Case& drawn, const std::filesystem::path& path) {
    Hdf5Maker file(path);
    file.group("PartType1");
    if (drawn.stored.name != "PartType1/Coordinates") {
        file.dataset("PartType1/Coordinates", std::vector<float>(3 * drawn.rows, 1), 3);
    }
    const WritingFilter writes(lzf, apply_lzf);
    drawn.stored.write(file.id(), drawn.values);
}

std::vector<double> column_of(const io::Snapshot& snapshot, const std::string& name) {
    if (name.ends_with("IDs")) {
        return {snapshot.ids.begin(), snapshot.ids.end()};
    }
    return as_doubles(name.ends_with("Coordinates")  ? snapshot.positions
                      : name.ends_with("Velocities") ? *snapshot.velocities
                                                     : *snapshot.masses);
}

TEST_F(Hdf5Storage, EveryDatasetHasItsValuesOrIsRefused) {
    std::mt19937 random(44);
    int partly_written = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const Case drawn(random);
        write_snapshot_with(drawn, path());
        SCOPED_TRACE("case " + std::to_string(trial) + ": " + drawn.stored.name);
        if (drawn.none_written) {
            refused({"part.hdf5", drawn.stored.name, "none were ever written"});
        } else if (drawn.first_missing >= 0) {
            ++partly_written;
            const auto last = std::min<hsize_t>(drawn.first_missing + drawn.stored.chunk[0], drawn.rows) - 1;
            refused({"part.hdf5", drawn.stored.name, "written only in part", "write the file again",
                     "rows " + std::to_string(drawn.first_missing) + " to " + std::to_string(last) + ","});
        } else {
            EXPECT_EQ(column_of(io::read_snapshot(path(), all_types()), drawn.stored.name), drawn.values);
        }
    }
    EXPECT_GT(partly_written, 50);
}

// The values of a share of the rows alone, from chunks that begin before it.
TEST_F(Hdf5Storage, SharesOfCompressedRows) {
    std::vector<double> values(30);
    std::iota(values.begin(), values.end(), 0.0);
    {
        const Hdf5Maker file(path());
        const WritingFilter writes(lzf, apply_lzf);
        StoredDataset{.name = "a", .lengths = {10, 3}, .chunk = {4, 2}, .shuffle = true, .lzf = true}.write(file.id(),
                                                                                                            values);
    }
    std::vector<double> joined;
    for (int share = 0; share < 3; ++share) {
        io::ReadOptions options;
        options.share = {share, 3};
        const std::vector<double> some = as_doubles(io::read_snapshot(path().string() + ":a", options).positions);
        EXPECT_LT(some.size(), values.size());
        joined.insert(joined.end(), some.begin(), some.end());
    }
    EXPECT_EQ(joined, values);
}

TEST_F(Hdf5Storage, ColumnsOfCatalogsMustBeWhole) {
    {
        Hdf5Maker file(path());
        file.group("Header")
            .attribute<std::int32_t>("Header", "Ngroups_ThisFile", {6})
            .attribute<double>("Header", "BoxSize", {0})
            .group("Group")
            .dataset<std::int32_t>("Group/GroupLen", {6, 5, 4, 3, 2, 1});
        StoredDataset{.name = "Group/GroupMass", .lengths = {6}, .chunk = {2}, .is_missing = {false, true, false}}
            .write(file.id(), {6, 5, 4, 3, 2, 1});
    }
    expect_error(ErrorKind::file, {"Group/GroupMass", "1 of its 3 chunks is not in the file", "rows 2 to 3"},
                 [&] { static_cast<void>(io::read_catalog(path())); });
}

TEST_F(Hdf5Storage, TypesThatAreNotReadNeedNotBeWhole) {
    {
        Hdf5Maker file(path());
        file.group("PartType0").group("PartType1").dataset<float>("PartType1/Coordinates", {1, 2, 3}, 3);
        StoredDataset{
            .name = "PartType0/Coordinates", .lengths = {6, 3}, .chunk = {2, 3}, .is_missing = {false, true, false}}
            .write(file.id(), std::vector<double>(18, 1));
    }
    const io::Snapshot dark = io::read_snapshot(path());
    EXPECT_EQ(as_doubles(dark.positions), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(dark.file_rows, (std::vector<std::int64_t>{6}));
    refused({"PartType0/Coordinates", "written only in part"});
}

TEST_F(Hdf5Storage, DamagedLzfIsRefused) {
    std::vector<double> values(300, 2);
    for (const unsigned stated : {0U, 2399U, 2400U, 2401U}) {
        {
            const Hdf5Maker file(path());
            const WritingFilter writes(lzf, apply_lzf);
            const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
            const hsize_t lengths[2] = {100, 3};
            H5Pset_chunk(creation, 2, lengths);
            const unsigned parameters[3] = {4, 0x0105, stated};
            H5Pset_filter(creation, lzf, H5Z_FLAG_OPTIONAL, stated == 0 ? 2 : 3, parameters);
            const hid_t space = H5Screate_simple(2, lengths, nullptr);
            const hid_t made = H5Dcreate2(file.id(), "a", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
            EXPECT_GE(H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
            H5Dclose(made);
            H5Sclose(space);
            H5Pclose(creation);
        }
        const std::string points = path().string() + ":a";
        if (stated == 2400) {
            EXPECT_EQ(as_doubles(io::read_snapshot(points).positions), values);
            // The chunk is the only place where a stream of these values is; its runs are changed one by one.
            const std::string content = read_bytes(path());
            const std::vector<std::byte> stream = encode_lzf(std::as_bytes(std::span(values)));
            const std::string text(reinterpret_cast<const char*>(stream.data()), stream.size());
            const std::size_t begin = content.find(text);
            ASSERT_NE(begin, std::string::npos);
            for (std::size_t i = 0; i < text.size(); ++i) {
                std::string damaged = content;
                damaged[begin + i] = '\x1f';
                write_bytes(path(), damaged);
                try {
                    EXPECT_EQ(as_doubles(io::read_snapshot(points).positions).size(), values.size());
                } catch (const Error& error) {
                    EXPECT_EQ(error.kind(), ErrorKind::file);
                }
            }
            std::string damaged = content;
            damaged[begin] = '\x20'; // begins with a repeat of nothing
            write_bytes(path(), damaged);
            expect_error(ErrorKind::file, {"dataset /a could not be read"},
                         [&] { static_cast<void>(io::read_snapshot(points)); });
        } else {
            expect_error(ErrorKind::file, {"dataset /a", "LZF", "2400 bytes", "rewrite"},
                         [&] { static_cast<void>(io::read_snapshot(points)); });
        }
    }
}

TEST_F(Hdf5Storage, OtherFiltersAreNamedWithTheRemedy) {
    const auto keep = [](unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
        return bytes;
    };
    for (const auto& [id, name] : {std::pair<H5Z_filter_t, const char*>{32001, "Blosc"},
                                   {32015, "Zstandard"},
                                   {307, "bzip2"},
                                   {32004, "LZ4"},
                                   {32008, "bitshuffle"},
                                   {511, "of the test"}}) {
        {
            Hdf5Maker file(path());
            file.group("PartType1").dataset("PartType1/Coordinates", std::vector<float>(12, 1), 3);
            const WritingFilter writes(id, keep);
            const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
            const hsize_t rows = 4;
            H5Pset_chunk(creation, 1, &rows);
            H5Pset_filter(creation, id, H5Z_FLAG_MANDATORY, 0, nullptr);
            const hid_t space = H5Screate_simple(1, &rows, nullptr);
            const hid_t made =
                H5Dcreate2(file.id(), "PartType1/Masses", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
            const std::vector<float> masses(rows, 1);
            EXPECT_GE(H5Dwrite(made, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, masses.data()), 0);
            H5Dclose(made);
            H5Sclose(space);
            H5Pclose(creation);
        }
        refused({"PartType1/Masses", name, "HDF5 filter " + std::to_string(id), "HDF5_PLUGIN_PATH", "h5repack"});
    }
}

TEST_F(Hdf5Storage, DanglingLinksNameTheirTargets) {
    const std::vector<float> three = {1, 2, 3};
    Hdf5Maker(path()).group("Header").attribute<std::int32_t>("Header", "NumPart_ThisFile", {0, 4});
    const auto add = [&](const auto& change) {
        const hid_t file = H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        change(file);
        H5Fclose(file);
    };
    add([](hid_t f) { H5Lcreate_external("gone.hdf5", "/PartType1", f, "PartType1", H5P_DEFAULT, H5P_DEFAULT); });
    refused({"part.hdf5: PartType1 is a link to /PartType1 of gone.hdf5", "that file is missing", "beside"});
    expect_error(ErrorKind::file, {"/PartType1 is a link to /PartType1 of gone.hdf5"},
                 [&] { static_cast<void>(io::read_snapshot(path().string() + ":/PartType1/Coordinates")); });
    Hdf5Maker(folder_ / "gone.hdf5").group("PartType0");
    refused({"PartType1 is a link to /PartType1 of gone.hdf5", "no such object"});
    Hdf5Maker(folder_ / "gone.hdf5").group("PartType1").dataset("PartType1/Coordinates", three, 3);
    EXPECT_EQ(as_doubles(io::read_snapshot(path()).positions), (std::vector<double>{1, 2, 3}));
    add([](hid_t f) { H5Lcreate_soft("/Stars", f, "PartType4", H5P_DEFAULT, H5P_DEFAULT); });
    // Only types that are read matter.
    const io::Snapshot dark = io::read_snapshot(path());
    EXPECT_EQ(as_doubles(dark.positions), (std::vector<double>{1, 2, 3}));
    EXPECT_TRUE(warns(dark.header, "PartType4 is a link to /Stars, which is missing"));
    for (const io::TypeSelection& types : {io::TypeSelection{io::TypeSelection::Kind::listed, {4}},
                                           io::TypeSelection{io::TypeSelection::Kind::all, {}}}) {
        expect_error(ErrorKind::file, {"PartType4 is a link to /Stars, which is missing"}, [&] {
            io::ReadOptions options;
            options.types = types;
            static_cast<void>(io::read_snapshot(path(), options));
        });
    }
    // Masses that are linked must not be lost.
    Hdf5Maker(path()).group("PartType1").dataset("PartType1/Coordinates", three, 3);
    add([](hid_t f) { H5Lcreate_external("no.hdf5", "/M", f, "PartType1/Masses", H5P_DEFAULT, H5P_DEFAULT); });
    refused({"Masses is a link to /M of no.hdf5"});
}

TEST_F(Hdf5Storage, AFileThatIsOpenForWritingElsewhereIsNamed) {
    Hdf5Maker(path()).group("PartType1").dataset<float>("PartType1/Coordinates", {1, 2, 3}, 3);
    const char* const locking = std::getenv("HDF5_USE_FILE_LOCKING");
    if (locking != nullptr && std::string_view(locking) != "TRUE" && std::string_view(locking) != "1") {
        GTEST_SKIP() << "the environment turns HDF5's locks off";
    }
    const int writer = ::open(path().c_str(), O_RDWR);
    ASSERT_EQ(::flock(writer, LOCK_EX | LOCK_NB), 0);
    refused({"open for writing elsewhere", "close it", "HDF5_USE_FILE_LOCKING=FALSE"});
    ::close(writer);
    EXPECT_NO_THROW(static_cast<void>(io::read_snapshot(path())));
}

} // namespace
