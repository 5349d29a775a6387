// Snapshots in group order, read back with the C library: which rows come first, that every column of every kind goes
// with its particle, and what becomes of all else. Ranks write the same bytes.
#include "io/gadget_files.hpp"
#include "io/hdf5_sorted_files.hpp"

#include <algorithm>

using namespace kith;
using namespace kith::test;

namespace {

using Lines = std::vector<std::string>;
using Ids = std::vector<std::uint64_t>;

class SortedSnapshot : public testing::Test {
protected:
    [[nodiscard]] std::filesystem::path input() const { return folder_ / "in.hdf5"; }
    [[nodiscard]] std::filesystem::path output() const { return folder_ / "out.hdf5"; }
    [[nodiscard]] Lines sort(const std::filesystem::path& path, const std::vector<std::vector<int>>& groups,
                             const io::ReadOptions& options = all_types()) const {
        const io::Snapshot snapshot = io::read_snapshot(path, options);
        const Catalog catalog = groups_of(snapshot, groups);
        const Lines left_out = io::write_sorted_snapshot(output(), catalog, snapshot, sorted_provenance);
        for (const int ranks : {1, 2, 3, 5}) {
            const std::filesystem::path over = folder_ / "over_ranks.hdf5";
            EXPECT_EQ(write_sorted_over(ranks, over, catalog, snapshot, sorted_provenance), left_out) << ranks;
            EXPECT_TRUE(read_bytes(over) == read_bytes(output())) << ranks << " ranks";
            std::filesystem::remove(over);
        }
        return left_out;
    }
    void make_input() const {
        Hdf5Maker file(input());
        add_header(file, {5, 6, 0, 0, 2, 0}, {5, 6, 0, 0, 2, 0});
        add_type(file, "PartType0", {1, 2, 3, 4, 5});
        add_type(file, "PartType1", {11, 12, 13, 14, 15, 16});
        add_type(file, "PartType4", {41, 42});
    }
    /// Rows of `name` follow their particles, in the stored type.
    void expect_same_rows(const std::string& group, const std::string& name) const {
        EXPECT_TRUE(same_type(input(), output(), group + "/" + name)) << name;
        EXPECT_EQ(rows_by_id(input(), group, name), rows_by_id(output(), group, name)) << name;
    }
    [[nodiscard]] Ids ids(const std::string& group) const {
        return Hdf5Checker(output()).dataset<std::uint64_t>(group + "/ParticleIDs");
    }
    TemporaryFolder folder_;
};

// Group 0 has members of all types, group 1 none of type 0, group 2 only one of type 4.
const std::vector<std::vector<int>> three_groups = {{5, 2, 13, 42}, {16, 11, 12}, {41}};

TEST_F(SortedSnapshot, GroupsComeFirstInTheirOrder) {
    make_input();
    EXPECT_EQ(sort(input(), three_groups), Lines{});
    EXPECT_EQ(ids("PartType0"), (Ids{2, 5, 1, 3, 4}));
    EXPECT_EQ(ids("PartType1"), (Ids{13, 11, 12, 16, 14, 15}));
    EXPECT_EQ(ids("PartType4"), (Ids{42, 41}));
    for (const char* group : {"PartType0", "PartType1", "PartType4"}) {
        for (const char* name : {"Coordinates", "Velocities", "ParticleIDs", "Masses"}) {
            expect_same_rows(group, name);
        }
    }
    EXPECT_EQ(folder_.entries(), 2U);
}

// The promise to readers, spelled out.
TEST_F(SortedSnapshot, OffsetsAndLengthsFindTheMembers) {
    make_input();
    const io::Snapshot snapshot = io::read_snapshot(input(), all_types());
    const Catalog catalog = groups_of(snapshot, three_groups);
    static_cast<void>(io::write_sorted_snapshot(output(), catalog, snapshot, sorted_provenance));
    for (const std::size_t type : {0U, 1U, 4U}) {
        const Ids sorted = ids("PartType" + std::to_string(type));
        std::size_t offset = 0;
        for (std::size_t group = 0; group < three_groups.size(); ++group) {
            const auto length = static_cast<std::size_t>(catalog.count_by_type[group * max_types + type]);
            for (std::size_t row = offset; row < offset + length; ++row) {
                const auto& members = three_groups[group];
                EXPECT_NE(std::find(members.begin(), members.end(), static_cast<int>(sorted.at(row))), members.end());
            }
            offset += length;
        }
    }
}

TEST_F(SortedSnapshot, RowsOfOtherTypesAndWithoutGroupKeepTheirOrder) {
    make_input();
    EXPECT_EQ(sort(input(), {{15, 16}}, only_types({1})), Lines{});
    EXPECT_EQ(ids("PartType0"), (Ids{1, 2, 3, 4, 5}));
    EXPECT_EQ(ids("PartType1"), (Ids{15, 16, 11, 12, 13, 14}));
    EXPECT_EQ(ids("PartType4"), (Ids{41, 42}));
    EXPECT_EQ(sort(input(), {}), Lines{});
    EXPECT_EQ(ids("PartType1"), (Ids{11, 12, 13, 14, 15, 16}));
}

void make_dataset(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& lengths, const void* values,
                  hid_t creation = H5P_DEFAULT) {
    const hid_t space = H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr);
    const hid_t made = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0) << name;
    H5Dclose(made);
    H5Sclose(space);
}

TEST_F(SortedSnapshot, EveryTypeOfNumberAndShape) {
    make_input();
    {
        const hid_t file = H5Fopen(input().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        std::string bytes(5 * 64, '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<char>(i * 7 + 1);
        }
        make_dataset(file, "PartType0/Byte", H5T_STD_I8LE, {5}, bytes.data());
        make_dataset(file, "PartType0/BigEndian", H5T_IEEE_F64BE, {5, 2}, bytes.data());
        make_dataset(file, "PartType0/Cube", H5T_STD_U16LE, {5, 2, 3}, bytes.data());
        make_dataset(file, "PartType0/NoColumns", H5T_STD_U16LE, {5, 0}, bytes.data());
        const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
        H5Tset_fields(half, 15, 10, 5, 0, 10);
        H5Tset_size(half, 2);
        H5Tset_ebias(half, 15);
        make_dataset(file, "PartType0/Half", half, {5}, bytes.data());
        const hid_t record = H5Tcreate(H5T_COMPOUND, 12);
        H5Tinsert(record, "snap", 0, H5T_STD_I32LE);
        H5Tinsert(record, "value", 4, H5T_IEEE_F64LE);
        H5Tcommit2(file, "RecordType", record, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT); // a type with a name in the file
        make_dataset(file, "PartType0/Record", record, {5}, bytes.data());
        const hid_t word = H5Tcopy(H5T_C_S1);
        H5Tset_size(word, 7);
        make_dataset(file, "PartType0/Word", word, {5}, bytes.data());
        for (const hid_t type : {half, record, word}) {
            H5Tclose(type);
        }
        H5Fclose(file);
    }
    EXPECT_EQ(sort(input(), three_groups), Lines{});
    for (const char* name : {"Byte", "BigEndian", "Cube", "NoColumns", "Half", "Record", "Word"}) {
        expect_same_rows("PartType0", name);
    }
    EXPECT_EQ(Hdf5Checker(output()).shape("PartType0/Cube"), (std::vector<hsize_t>{5, 2, 3}));
    EXPECT_TRUE(Hdf5Checker(output()).has("RecordType"));
}

TEST_F(SortedSnapshot, TextOfAnyLength) {
    make_input();
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    {
        const hid_t file = H5Fopen(input().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const std::array<const char*, 5> words = {"one", "two", "three", "", "five and more"};
        make_dataset(file, "PartType0/Text", text, {5}, words.data());
        H5Fclose(file);
    }
    EXPECT_EQ(sort(input(), three_groups), Lines{});
    const Hdf5Checker file(output());
    const hid_t dataset = H5Dopen2(file.id(), "PartType0/Text", H5P_DEFAULT);
    std::array<char*, 5> words{};
    EXPECT_GE(H5Dread(dataset, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, words.data()), 0);
    EXPECT_EQ(Lines(words.begin(), words.end()), (Lines{"two", "five and more", "one", "three", ""}));
    std::for_each(words.begin(), words.end(), H5free_memory);
    H5Dclose(dataset);
    H5Tclose(text);
}

TEST_F(SortedSnapshot, NestedGroupsAndDatasetsOfOtherLengths) {
    make_input();
    {
        const hid_t id = H5Fopen(input().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        for (const char* group : {"PartType0/ElementAbundance", "PartType0/ElementAbundance/Rare"}) {
            H5Gclose(H5Gcreate2(id, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        }
        const std::vector<float> abundances = per_id<float>({1, 2, 3, 4, 5}, 1, 0.125);
        make_dataset(id, "PartType0/ElementAbundance/Carbon", H5T_NATIVE_FLOAT, {5}, abundances.data());
        make_dataset(id, "PartType0/ElementAbundance/Rare/Europium", H5T_NATIVE_FLOAT, {5}, abundances.data());
        const std::array<std::int32_t, 4> bins = {4, 3, 2, 1};
        make_dataset(id, "PartType0/Bins", H5T_NATIVE_INT32, {4}, bins.data());
        make_dataset(id, "PartType0/Transposed", H5T_NATIVE_INT32, {1, 4}, bins.data());
        make_dataset(id, "PartType0/Scalar", H5T_NATIVE_INT32, {}, bins.data());
        H5Fclose(id);
    }
    EXPECT_EQ(sort(input(), three_groups), Lines{});
    expect_same_rows("PartType0", "ElementAbundance/Carbon");
    expect_same_rows("PartType0", "ElementAbundance/Rare/Europium");
    const Hdf5Checker file(output());
    EXPECT_EQ(file.dataset<float>("PartType0/ElementAbundance/Carbon"), per_id<float>({2, 5, 1, 3, 4}, 1, 0.125));
    EXPECT_EQ(file.dataset<std::int32_t>("PartType0/Bins"), (std::vector<std::int32_t>{4, 3, 2, 1}));
    EXPECT_EQ(file.dataset<std::int32_t>("PartType0/Transposed"), (std::vector<std::int32_t>{4, 3, 2, 1}));
    EXPECT_EQ(file.dataset<std::int32_t>("PartType0/Scalar"), std::vector<std::int32_t>{4});
}

// More rows than a block of 16 MiB holds, in chunks that do not divide them, with a filter that is kept and one that is
// not.
TEST_F(SortedSnapshot, ChunksAndFilters) {
    constexpr int rows = 70001;
    std::vector<int> numbers(rows);
    for (int i = 0; i < rows; ++i) {
        numbers[static_cast<std::size_t>(i)] = i + 1;
    }
    {
        Hdf5Maker file(input());
        add_header(file, {0, rows}, {0, rows});
        add_type(file, "PartType1", numbers);
        const std::vector<std::int32_t> wide = per_id<std::int32_t>(numbers, 64, 4);
        file.dataset("PartType1/Wide", wide, 64, 1000);
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        const hsize_t chunk = 999;
        H5Pset_chunk(creation, 1, &chunk);
        H5Pset_scaleoffset(creation, H5Z_SO_INT, 0);
        H5Pset_shuffle(creation);
        H5Pset_fletcher32(creation);
        make_dataset(file.id(), "PartType1/Offset", H5T_NATIVE_INT32, {rows}, wide.data(), creation);
        H5Pclose(creation);
    }
    EXPECT_EQ(sort(input(), {{rows, 35000, 2}, {1}}), Lines{});
    const Ids sorted = ids("PartType1");
    EXPECT_EQ(Ids(sorted.begin(), sorted.begin() + 6), (Ids{2, 35000, rows, 1, 3, 4}));
    expect_same_rows("PartType1", "Wide");
    expect_same_rows("PartType1", "Offset");
    const Hdf5Checker file(output());
    const auto filters = [&](const char* name) {
        const hid_t dataset = H5Dopen2(file.id(), name, H5P_DEFAULT);
        const hid_t creation = H5Dget_create_plist(dataset);
        std::vector<H5Z_filter_t> found;
        for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
            std::size_t none = 0;
            unsigned flags = 0;
            found.push_back(
                H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &none, nullptr, 0, nullptr, nullptr));
        }
        H5Pclose(creation);
        H5Dclose(dataset);
        return found;
    };
    EXPECT_EQ(filters("PartType1/Wide"), std::vector<H5Z_filter_t>{H5Z_FILTER_DEFLATE});
    EXPECT_EQ(filters("PartType1/Offset"), (std::vector<H5Z_filter_t>{H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32}));
}

TEST_F(SortedSnapshot, AttributesLinksAndOtherGroupsAreKept) {
    make_input();
    {
        const hid_t id = H5Fopen(input().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        H5Lcreate_soft("PartType0", id, "GasParticles", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_hard(id, "PartType1", id, "DarkMatter", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_hard(id, "PartType0/Masses", id, "PartType0/Weights", H5P_DEFAULT, H5P_DEFAULT);
        for (const char* group : {"Cells", "Parameters", "Units", "Units/Deep"}) {
            H5Gclose(H5Gcreate2(id, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        }
        const double value = 0.75;
        const hid_t space = H5Screate(H5S_SCALAR);
        for (const char* object : {"/", "Parameters", "Units/Deep", "PartType0", "PartType0/Masses"}) {
            const hid_t made = H5Acreate_by_name(id, object, "h_scaling", H5T_IEEE_F64BE, space, H5P_DEFAULT,
                                                 H5P_DEFAULT, H5P_DEFAULT);
            H5Awrite(made, H5T_NATIVE_DOUBLE, &value);
            H5Aclose(made);
        }
        H5Sclose(space);
        const std::array<std::int32_t, 2> table = {7, 8};
        make_dataset(id, "Units/Table", H5T_NATIVE_INT32, {2}, table.data());
        H5Fclose(id);
    }
    const Lines left_out = sort(input(), three_groups);
    ASSERT_EQ(left_out.size(), 1U);
    EXPECT_NE(left_out.front().find("/Cells"), std::string::npos);
    const Hdf5Checker file(output());
    EXPECT_FALSE(file.has("Cells"));
    for (const char* object : {"/", "Parameters", "Units/Deep", "PartType0", "PartType0/Masses"}) {
        EXPECT_EQ(file.numbers(object, "h_scaling"), std::vector<double>{0.75}) << object;
    }
    EXPECT_EQ(file.dataset<std::int32_t>("Units/Table"), (std::vector<std::int32_t>{7, 8}));
    H5L_info_t link{};
    H5Lget_info(file.id(), "GasParticles", &link, H5P_DEFAULT);
    EXPECT_EQ(link.type, H5L_TYPE_SOFT);
    EXPECT_EQ(file.dataset<std::uint64_t>("GasParticles/ParticleIDs"), ids("PartType0"));
    EXPECT_EQ(file.dataset<std::uint64_t>("DarkMatter/ParticleIDs"), ids("PartType1"));
    EXPECT_EQ(file.dataset<double>("PartType0/Weights"), file.dataset<double>("PartType0/Masses"));
}

TEST_F(SortedSnapshot, AGroupThatIsALinkIsSorted) {
    {
        Hdf5Maker file(input());
        add_type(file, "Dark", {11, 12, 13});
        H5Lcreate_soft("Dark", file.id(), "PartType1", H5P_DEFAULT, H5P_DEFAULT);
    }
    EXPECT_EQ(sort(input(), {{12}}), Lines{});
    const Hdf5Checker file(output());
    EXPECT_EQ(ids("PartType1"), (Ids{12, 11, 13}));
    EXPECT_EQ(file.dataset<std::uint64_t>("Dark/ParticleIDs"), ids("PartType1"));
    EXPECT_EQ(file.numbers("Header", "NumPart_ThisFile"), (std::vector<double>{0, 3, 0, 0, 0, 0}));
}

TEST_F(SortedSnapshot, TheHeaderSaysWhatMadeIt) {
    make_input();
    {
        const hid_t id = H5Fopen(input().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const hid_t space = H5Screate(H5S_SCALAR);
        const hid_t made =
            H5Acreate_by_name(id, "Header", "types", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        const int value = 6;
        H5Awrite(made, H5T_NATIVE_INT, &value);
        H5Aclose(made);
        H5Sclose(space);
        H5Fclose(id);
    }
    EXPECT_EQ(sort(input(), three_groups), Lines{});
    {
        const Hdf5Checker file(output());
        EXPECT_EQ(file.text("Header", "Program"), "kith 0.1.0");
        EXPECT_EQ(file.text("Header", "Command"), "kith fof a.hdf5");
        EXPECT_EQ(file.text("Header", "linking_length"), "0.25");
        EXPECT_EQ(file.numbers("Header", "types"), std::vector<double>{6}); // the input's
        EXPECT_EQ(file.numbers("Header", "BoxSize"), std::vector<double>{1000});
    }
    io::Provenance again = sorted_provenance;
    again.parameters = {{"linking_length", "0.5"}};
    const io::Snapshot sorted = io::read_snapshot(output(), all_types());
    EXPECT_EQ(io::write_sorted_snapshot(folder_ / "again.hdf5", groups_of(sorted, {}), sorted, again), Lines{});
    const Hdf5Checker file(folder_ / "again.hdf5");
    EXPECT_EQ(file.text("Header", "linking_length"), "0.5");
    EXPECT_EQ(H5Aexists_by_name(file.id(), "Header", "psi", H5P_DEFAULT), 0); // the first call's
    EXPECT_EQ(file.numbers("Header", "types"), std::vector<double>{6});
}

class SortedSet : public SortedSnapshot {
protected:
    // Type 4 begins in the second file, which has no gas; the third has no column Metals.
    void make_set() const {
        const std::vector<std::uint32_t> total = {5, 5, 0, 0, 3, 0};
        make_file("in.0.hdf5", {{2, 1}, {13}, {}}, total, {0, 0.5, 0, 0, 0, 0}, true);
        make_file("in.1.hdf5", {{}, {11, 12}, {43}}, total, {0, 0.5, 0, 0, 0.25, 0}, true);
        make_file("in.2.hdf5", {{5, 4, 3}, {15, 14}, {42, 41}}, total, {0, 0.5, 0, 0, 0.25, 0}, false);
    }
    void make_file(const char* name, const std::vector<std::vector<int>>& types,
                   const std::vector<std::uint32_t>& total, const std::vector<double>& masses, bool metals) const {
        Hdf5Maker file(folder_ / name);
        const auto size = [&](std::size_t i) { return static_cast<std::uint32_t>(types[i].size()); };
        add_header(file, {size(0), size(1), 0, 0, size(2), 0}, total, 3);
        file.attribute<double>("Header", "MassTable", masses);
        const std::array<std::string, 3> groups = {"PartType0", "PartType1", "PartType4"};
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (types[i].empty()) {
                continue;
            }
            add_type(file, groups[i], types[i]);
            H5Ldelete(file.id(), (groups[i] + "/Masses").c_str(), H5P_DEFAULT);
            if (i == 0) {
                file.dataset("PartType0/Masses", per_id<float>(types[i], 1));
            } else if (metals) {
                file.dataset(groups[i] + "/Metals", per_id<float>(types[i], 1));
            }
        }
    }
};

TEST_F(SortedSet, IsJoinedToOneFile) {
    make_set();
    const Lines left_out = sort(folder_ / "in", {{3, 14, 43}, {2, 41, 11}});
    ASSERT_EQ(left_out.size(), 2U);
    EXPECT_NE(left_out[0].find("PartType1/Metals is not in every file (in.2.hdf5 has none)"), std::string::npos);
    EXPECT_NE(left_out[1].find("PartType4/Metals"), std::string::npos);
    EXPECT_EQ(ids("PartType0"), (Ids{3, 2, 1, 5, 4}));
    EXPECT_EQ(ids("PartType1"), (Ids{14, 11, 13, 12, 15}));
    EXPECT_EQ(ids("PartType4"), (Ids{43, 41, 42}));
    const Hdf5Checker file(output());
    EXPECT_EQ(file.dataset<float>("PartType0/Coordinates"), per_id<float>({3, 2, 1, 5, 4}, 3));
    EXPECT_EQ(file.dataset<float>("PartType4/Velocities"), per_id<float>({43, 41, 42}, 3, -1));
    EXPECT_FALSE(file.has("PartType1/Metals"));
    EXPECT_EQ(file.numbers("Header", "NumPart_ThisFile"), (std::vector<double>{5, 5, 0, 0, 3, 0}));
    EXPECT_EQ(file.numbers("Header", "NumPart_Total"), (std::vector<double>{5, 5, 0, 0, 3, 0}));
    EXPECT_EQ(file.numbers("Header", "NumPart_Total_HighWord"), (std::vector<double>(6, 0)));
    EXPECT_EQ(file.numbers("Header", "NumFilesPerSnapshot"), std::vector<double>{1});
    EXPECT_EQ(file.numbers("Header", "MassTable"), (std::vector<double>{0, 0.5, 0, 0, 0.25, 0}));
    EXPECT_TRUE(io::read_header(output()).warnings.empty());
    EXPECT_EQ(io::read_header(output()).counts, io::read_header(folder_ / "in").counts);
}

TEST_F(SortedSet, NamesAndTypesOfCountsFollowTheInput) {
    const std::vector<int> numbers = {11, 12};
    {
        Hdf5Maker file(input());
        add_type(file, "PartType6", numbers);
        file.group("Header")
            .attribute<double>("Header", "NumPart_ThisFile", {0, 1, 0, 0, 0, 0, 3}) // wrong; the rows count
            .attribute<std::int64_t>("Header", "TotalNumberOfParticles", {0, 0, 0, 0, 0, 0, 3})
            .attribute<std::int32_t>("Header", "Virtual", {1})
            .attribute<std::int64_t>("PartType6", "NumberOfParticles", {3});
    }
    EXPECT_EQ(sort(input(), {{12}}), Lines{});
    const Hdf5Checker file(output());
    const std::vector<double> expected = {0, 0, 0, 0, 0, 0, 2};
    for (const char* name : {"NumPart_ThisFile", "NumPart_Total", "TotalNumberOfParticles"}) {
        EXPECT_EQ(file.numbers("Header", name), expected) << name;
    }
    EXPECT_EQ(file.numbers("Header", "Virtual"), std::vector<double>{0});
    EXPECT_EQ(file.numbers("PartType6", "NumberOfParticles"), std::vector<double>{2});
}

TEST_F(SortedSnapshot, GadgetBinaryBecomesHdf5) {
    GadgetMaker maker;
    maker.counts = {2, 3, 0, 0, 1, 0};
    maker.masses = {0, 0.3, 0, 0, 0, 0};
    write_bytes(folder_ / "binary", maker.text());
    const Lines left_out = sort(folder_ / "binary", {{1003, 1004, 1005}, {1001}});
    ASSERT_EQ(left_out.size(), 1U);
    EXPECT_NE(left_out.front().find("left out"), std::string::npos);
    EXPECT_EQ(ids("PartType0"), (Ids{1001, 1000}));
    EXPECT_EQ(ids("PartType1"), (Ids{1003, 1004, 1002}));
    const Hdf5Checker file(output());
    EXPECT_EQ(file.dataset<float>("PartType1/Coordinates"),
              (std::vector<float>{3, 3.25, 3.5, 4, 4.25, 4.5, 2, 2.25, 2.5}));
    EXPECT_EQ(file.dataset<float>("PartType0/Masses"), (std::vector<float>{2, 1}));
    EXPECT_FALSE(file.has("PartType1/Masses"));
    EXPECT_EQ(file.numbers("Header", "MassTable"), (std::vector<double>{0, 0.3, 0, 0, 0, 0}));
    EXPECT_EQ(file.text("Header", "Program"), "kith 0.1.0");
    const io::Snapshot before = io::read_snapshot(folder_ / "binary");
    const io::Snapshot after = io::read_snapshot(output());
    EXPECT_EQ(after.header.counts, before.header.counts);
    EXPECT_EQ(after.header.time, before.header.time);
    EXPECT_EQ(after.header.redshift, before.header.redshift);
    EXPECT_EQ(after.header.box_size, before.header.box_size);
    EXPECT_EQ(after.header.parameters, before.header.parameters);
    EXPECT_EQ(after.uniform_mass, before.uniform_mass);
}

} // namespace
