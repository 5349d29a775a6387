// Sorted snapshots that cannot be written: what is refused, over ranks by all of them, and that nothing is left behind.
#include "io/file_length_limit.hpp"
#include "io/hdf5_sorted_files.hpp"

#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

class SortedFailure : public testing::Test {
protected:
    SortedFailure() {
        Hdf5Maker file(input());
        add_header(file, {0, 3}, {0, 3});
        add_type(file, "PartType1", {11, 12, 13});
    }
    [[nodiscard]] std::filesystem::path input() const { return folder_ / "in.hdf5"; }
    [[nodiscard]] std::filesystem::path output() const { return folder_ / "out.hdf5"; }
    static void sort(const std::filesystem::path& to, const Catalog& catalog, const io::Snapshot& snapshot) {
        try {
            static_cast<void>(io::write_sorted_snapshot(to, catalog, snapshot, sorted_provenance));
        } catch (const Error& alone) {
            for (const int ranks : {2, 3}) {
                expect_error(alone.kind(), {alone.what()}, [&] {
                    static_cast<void>(write_sorted_over(ranks, to, catalog, snapshot, sorted_provenance));
                });
            }
            throw;
        }
    }
    /// The input, read and grouped now, cannot be written.
    void refused(ErrorKind kind, std::initializer_list<std::string_view> words) const {
        const io::Snapshot snapshot = io::read_snapshot(input());
        expect_error(kind, words, [&] { sort(output(), groups_of(snapshot, {{12}}), snapshot); });
        EXPECT_EQ(folder_.entries(), 1U);
    }
    TemporaryFolder folder_;
};

TEST_F(SortedFailure, InputsAreNotOverwritten) {
    const std::string before = read_bytes(input());
    const io::Snapshot snapshot = io::read_snapshot(input());
    expect_error(ErrorKind::invalid_argument, {"in.hdf5", "a file of the input"},
                 [&] { sort(input(), groups_of(snapshot, {{12}}), snapshot); });
    std::filesystem::create_symlink(input(), folder_ / "link.hdf5");
    expect_error(ErrorKind::invalid_argument, {"link.hdf5", "a file of the input"},
                 [&] { sort(folder_ / "link.hdf5", groups_of(snapshot, {{12}}), snapshot); });
    EXPECT_EQ(read_bytes(input()), before);
}

TEST_F(SortedFailure, WhatIsNoSnapshotIsRefused) {
    const std::vector<float> values(6, 1.5F);
    io::write_npy(folder_ / "a.npy", std::span<const float>(values), 3);
    const io::Snapshot array = io::read_snapshot(folder_ / "a.npy");
    expect_error(ErrorKind::invalid_argument, {"a.npy", "no particle types", "/Members/Index"},
                 [&] { sort(output(), Catalog{}, array); });
    expect_error(ErrorKind::invalid_argument, {"names no files"}, [&] { sort(output(), Catalog{}, io::Snapshot{}); });
}

TEST_F(SortedFailure, ACatalogOfOtherParticlesIsRefused) {
    const io::Snapshot snapshot = io::read_snapshot(input());
    const auto with = [&](const auto& change, std::initializer_list<std::string_view> words) {
        Catalog catalog = groups_of(snapshot, {{11, 12}});
        change(catalog);
        expect_error(ErrorKind::invalid_argument, words, [&] { sort(output(), catalog, snapshot); });
    };
    with([](Catalog& c) { c.member_array.vector<std::int32_t>()[0] = 3; }, {"row 3", "3 rows"});
    with([](Catalog& c) { c.member_array.vector<std::int32_t>()[0] = -1; }, {"row -1"});
    with([](Catalog& c) { c.member_array.vector<std::int32_t>()[0] = 1; }, {"row 1 ", "twice"});
    with([](Catalog& c) { c.member_array.vector<std::int32_t>().pop_back(); },
         {"counts 2 members of type 1, but lists 1"});
    with([](Catalog& c) { c.count_by_type.pop_back(); }, {"count_by_type"});
    EXPECT_EQ(folder_.entries(), 1U);
}

TEST_F(SortedFailure, AnInputThatHasChangedIsRefused) {
    const io::Snapshot snapshot = io::read_snapshot(input());
    {
        Hdf5Maker file(input());
        add_header(file, {0, 2}, {0, 2});
        add_type(file, "PartType1", {11, 12});
    }
    expect_error(ErrorKind::file, {"in.hdf5", "changed"},
                 [&] { sort(output(), groups_of(snapshot, {{12}}), snapshot); });
    EXPECT_EQ(folder_.entries(), 1U);
}

// A filter that was there when the file was written.
TEST_F(SortedFailure, AFilterThatIsMissingIsNamed) {
    constexpr H5Z_filter_t filter = 300;
    const H5Z_class2_t known = {H5Z_CLASS_T_VERS,
                                filter,
                                1,
                                1,
                                "odd one",
                                nullptr,
                                nullptr,
                                [](unsigned, size_t, const unsigned*, size_t bytes, size_t*, void**) { return bytes; }};
    H5Zregister(&known);
    {
        const hid_t file = H5Fopen(input().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        const hsize_t rows = 3;
        H5Pset_chunk(creation, 1, &rows);
        H5Pset_filter(creation, filter, H5Z_FLAG_MANDATORY, 0, nullptr);
        const hid_t space = H5Screate_simple(1, &rows, nullptr);
        const hid_t made =
            H5Dcreate2(file, "PartType1/Odd", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        const std::vector<float> values(rows, 1);
        EXPECT_GE(H5Dwrite(made, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(made);
        H5Sclose(space);
        H5Pclose(creation);
        H5Fclose(file);
    }
    H5Zunregister(filter);
    refused(ErrorKind::file,
            {"in.hdf5", "PartType1/Odd", "compressed with odd one", "HDF5 filter 300", "HDF5_PLUGIN_PATH"});
}

TEST_F(SortedFailure, VirtualDatasetsAreRefused) {
    {
        const hid_t file = H5Fopen(input().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const hsize_t rows = 3;
        const hid_t space = H5Screate_simple(1, &rows, nullptr);
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_virtual(creation, space, "nowhere.hdf5", "Values", space);
        H5Dclose(H5Dcreate2(file, "PartType1/Far", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT));
        H5Pclose(creation);
        H5Sclose(space);
        H5Fclose(file);
    }
    refused(ErrorKind::unsupported, {"in.hdf5", "PartType1/Far", "virtual"});
}

TEST_F(SortedFailure, FilesThatDifferInTypeCannotBeJoined) {
    for (int i = 0; i < 2; ++i) {
        Hdf5Maker file(folder_ / ("set." + std::to_string(i) + ".hdf5"));
        add_header(file, {0, 1}, {0, 2}, 2);
        add_type(file, "PartType1", {11 + i});
        if (i == 0) {
            file.dataset("PartType1/Level", std::vector<float>{1});
        } else {
            file.dataset("PartType1/Level", std::vector<double>{1});
        }
    }
    const io::Snapshot snapshot = io::read_snapshot(folder_ / "set");
    expect_error(ErrorKind::file, {"set.1.hdf5", "PartType1/Level", "another type", "set.0.hdf5"},
                 [&] { sort(output(), groups_of(snapshot, {{12}}), snapshot); });
    EXPECT_EQ(folder_.entries(), 3U);
}

TEST_F(SortedFailure, AFullDiskLeavesTheOldFile) {
    std::vector<int> numbers(20000);
    std::iota(numbers.begin(), numbers.end(), 1);
    {
        Hdf5Maker file(input());
        add_header(file, {0, 20000}, {0, 20000});
        add_type(file, "PartType1", numbers);
        file.dataset("PartType1/Packed", per_id<float>(numbers, 1), 0, 100);
        file.group("Other").dataset("Other/Table", per_id<double>(numbers, 1));
    }
    write_bytes(output(), "old");
    const io::Snapshot snapshot = io::read_snapshot(input());
    const Catalog catalog = groups_of(snapshot, {{12, 19999}});
    for (const rlim_t bytes : {0U, 100U, 3000U, 100000U, 400000U, 600000U, 800000U, 900000U}) {
        expect_error(ErrorKind::file, {"out.hdf5", "could not be written"}, [&] {
            const FileLengthLimit limit(bytes);
            sort(output(), catalog, snapshot);
        });
        EXPECT_EQ(folder_.entries(), 2U);
        EXPECT_EQ(read_bytes(output()), "old");
    }
    EXPECT_NO_THROW(sort(output(), catalog, snapshot)); // the library still works afterwards
}

TEST_F(SortedFailure, TheCallerCanStopIt) {
    const io::Snapshot snapshot = io::read_snapshot(input());
    double last = -1;
    int calls = 0;
    const auto stop_at = [&](int most) {
        return [&, most](std::string_view, double fraction) {
            EXPECT_GE(fraction, last);
            EXPECT_LE(fraction, 1);
            last = fraction;
            return ++calls < most;
        };
    };
    expect_error(ErrorKind::canceled, {"sorted snapshot"}, [&] {
        static_cast<void>(
            io::write_sorted_snapshot(output(), groups_of(snapshot, {{12}}), snapshot, sorted_provenance, stop_at(3)));
    });
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(folder_.entries(), 1U);
    last = -1;
    calls = 0;
    expect_error(ErrorKind::canceled, {"sorted snapshot"}, [&] {
        static_cast<void>(
            write_sorted_over(3, output(), groups_of(snapshot, {{12}}), snapshot, sorted_provenance, stop_at(3)));
    });
    EXPECT_EQ(calls, 3); // rank 0 alone says how far it is
    EXPECT_EQ(folder_.entries(), 1U);
}

} // namespace
