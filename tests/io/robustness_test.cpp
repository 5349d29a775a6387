// Broken and foreign files: every truncation, random bytes, every kind of file that is refused; and writers that fail.
// Whatever a file holds, reading it gives points or a kith::Error, never anything else.
#include "io/file_length_limit.hpp"
#include "io/files.hpp"

#include <random>
#include <unistd.h>

using namespace kith;
using namespace kith::test;

namespace {

std::string small_tipsy(std::endian order, bool wide) {
    Bytes bytes(order);
    bytes.add(1.0).add(3).add(3).add(1).add(1).add(1).add(0);
    const std::array<int, 3> narrow_words = {12, 9, 11};
    for (const int words : narrow_words) {
        for (int i = 0; i < words + (wide ? 3 : 0); ++i) {
            bytes.add(0.5F);
        }
    }
    return bytes.text();
}

std::string small_npy() {
    const TemporaryFolder folder;
    const std::vector<float> values(12, 1.5F);
    io::write_npy(folder / "a", std::span<const float>(values), 3);
    return read_bytes(folder / "a");
}

void expect_only_errors(const std::string& content, std::size_t first, std::size_t end) {
    const TemporaryFolder folder;
    for (std::size_t length = first; length < end; ++length) {
        write_bytes(folder / "cut", std::string_view(content).substr(0, length));
        EXPECT_THROW(static_cast<void>(io::read_snapshot(folder / "cut", all_types())), Error) << length;
        EXPECT_THROW(static_cast<void>(io::read_header(folder / "cut")), Error) << length;
    }
    write_bytes(folder / "whole", content);
    EXPECT_NO_THROW(static_cast<void>(io::read_snapshot(folder / "whole", all_types())));
}

TEST(Robustness, EveryTruncationOfNpyIsAnError) {
    const std::string content = small_npy();
    expect_only_errors(content, 0, content.size());
}

TEST(Robustness, EveryTruncationOfTipsyIsAnError) {
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        const std::string content = small_tipsy(order, false);
        expect_only_errors(content, 0, content.size());
    }
}

// A file of wide records that was cut down to the length of narrow ones cannot be told from these; from there up to
// half the difference it reads as these with a warning (tipsy_layout.cpp), and otherwise it is refused.
TEST(Robustness, TruncationsOfWideTipsyAreErrorsOrWarnings) {
    const std::string content = small_tipsy(std::endian::big, true);
    const std::size_t narrow = small_tipsy(std::endian::big, false).size();
    expect_only_errors(content, 0, narrow);
    expect_only_errors(content, narrow + 18, content.size());
    const TemporaryFolder folder;
    write_bytes(folder / "cut", std::string_view(content).substr(0, narrow + 1));
    EXPECT_FALSE(io::read_header(folder / "cut").warnings.empty());
}

TEST(Robustness, RandomBytesAreErrors) {
    const TemporaryFolder folder;
    std::mt19937 random(20240229);
    for (int trial = 0; trial < 300; ++trial) {
        std::string content(random() % 300, '\0');
        for (char& byte : content) {
            byte = static_cast<char>(random());
        }
        write_bytes(folder / "noise", content);
        EXPECT_THROW(static_cast<void>(io::read_snapshot(folder / "noise", all_types())), Error);
    }
}

// Random counts behind a right ndim, and random bytes over a right .npy file: points or an Error, nothing else.
TEST(Robustness, RandomHeadersGiveErrorsOrPoints) {
    const TemporaryFolder folder;
    std::mt19937 random(7);
    const std::array<std::string, 3> originals = {small_tipsy(std::endian::big, false),
                                                  small_tipsy(std::endian::little, true), small_npy()};
    int errors = 0;
    for (int trial = 0; trial < 1200; ++trial) {
        std::string content = originals[static_cast<std::size_t>(trial) % 3];
        const int changes = 1 + static_cast<int>(random() % 4);
        for (int change = 0; change < changes; ++change) {
            content[random() % 128] = static_cast<char>(random());
        }
        write_bytes(folder / "noise", content);
        try {
            static_cast<void>(io::read_snapshot(folder / "noise", all_types()));
        } catch (const Error&) {
            ++errors;
        }
    }
    EXPECT_GT(errors, 100);
    EXPECT_LT(errors, 1200);
}

TEST(Robustness, ForeignFilesAreNamed) {
    const TemporaryFolder folder;
    const auto refused = [&](std::string_view content, std::initializer_list<std::string_view> words) {
        write_bytes(folder / "points.npy", content); // the name must not matter
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_header(folder / "points.npy")); });
        expect_error(ErrorKind::file, {"points.npy", "Formats read: HDF5", "numpy", "Tipsy"},
                     [&] { static_cast<void>(io::read_snapshot(folder / "points.npy")); });
    };
    refused("", {"empty"});
    refused("LASF....", {"LAS"});
    refused("# .PCD v0.7\n", {"PCD"});
    refused("hello\nworld\n", {"text"});
    refused("dTheta = 0.7\nnSteps = 5\nbDoGas = 1\n", {"parameter file"});
    refused("#ID(1)\thostHalo(2)\n", {"text"});
    refused("3\n0\n1\n1\n", {"ASCII Tipsy array"});
    refused("2\n0.5\n1 2 3\n4 5 6\n", {"line 1 has 1 number, but line 3 has 3", "keep only the rows"});
    refused("v 1 2 3\nv 2 3 4\nf 1 2 3\n", {"OBJ"});
    refused(Bytes(std::endian::big).add(3).add(1.0F).add(2.0F).add(3.0F).text(), {"auxiliary array", "3 values"});
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        const std::string mark = Bytes(order).add(20).text();
        refused(mark + std::string(20, '\0') + mark,
                {"Fortran records", order == std::endian::big ? "big-endian" : "little-endian"});
    }
    refused(std::string("\x00\x01\x02\x03\x04", 5), {"5 bytes", "no known format"});
}

TEST(Robustness, WhatIsNoFileIsRefused) {
    const TemporaryFolder folder;
    expect_error(ErrorKind::file, {"nowhere", "no such file"},
                 [&] { static_cast<void>(io::read_header(folder / "nowhere")); });
    expect_error(ErrorKind::file, {"a folder"}, [&] { static_cast<void>(io::read_header(folder / "")); });
    expect_error(ErrorKind::file, {"not a regular file"}, [] { static_cast<void>(io::read_header("/dev/zero")); });
}

TEST(Robustness, WritersLeaveNothingBehindWhenTheyFail) {
    const TemporaryFolder folder;
    const std::vector<float> values = {1, 2};
    const KnnResult neighbors(1, 1, IndexType::int32, DType::float32);
    std::filesystem::create_directory(folder / "taken");
    const auto each_writer = [&](const std::filesystem::path& path, std::string_view words) {
        const auto refused = [&](const auto& action) { expect_error(ErrorKind::file, {words}, action); };
        refused([&] { io::write_npy(path, std::span<const float>(values)); });
        refused([&] { io::write_grp(path, {}); });
        refused([&] { io::write_gtp(path, Catalog{}, 0); });
        refused([&] { io::write_neighbors_npz(path, neighbors, {}); });
        refused([&] { io::write_radius_neighbors_npz(path, {}, {}); });
        refused([&] { io::write_radius_counts_npz(path, {}, {}); });
        refused([&] { io::write_spanning_tree_npz(path, {}, {}); });
#if KITH_IO_HAS_HDF5
        refused([&] { io::write_neighbors_hdf5(path, neighbors, {}); });
        refused([&] { io::write_radius_neighbors_hdf5(path, {}, {}); });
        refused([&] { io::write_radius_counts_hdf5(path, {}, {}); });
        refused([&] { io::write_spanning_tree_hdf5(path, {}, {}); });
        refused([&] { io::write_catalog_hdf5(path, {}, {}, {}); });
#endif
    };
    each_writer(folder / "taken", "a folder");
    each_writer(folder / "absent/a.out", "no folder");
    each_writer("/dev/null", "not a regular file");
    EXPECT_EQ(folder.entries(), 1U);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Robustness, AFullDiskLeavesTheOldFile) {
    const TemporaryFolder folder;
    constexpr int rows = 100000;
    write_bytes(folder / "a", "old");
    const std::vector<float> values(rows);
    const std::vector<std::int32_t> labels(rows);
    KnnResult neighbors(rows, 2, IndexType::int32, DType::float32);
    std::fill_n(static_cast<std::int32_t*>(neighbors.rows_view().indices()), 2 * rows, 1);
    std::fill_n(static_cast<float*>(neighbors.rows_view().distances()), 2 * rows, 1.0F);
    Catalog stars;
    stars.groups = rows;
    stars.dimension = 3;
    stars.mass.resize(rows);
    stars.center.resize(3 * std::size_t{rows});
    stars.max_radius.resize(rows);
    const auto refused = [&](const auto& action, rlim_t bytes = 100000) {
        expect_error(ErrorKind::file, {"could not be"}, [&] {
            const FileLengthLimit limit(bytes);
            action();
        });
        EXPECT_EQ(folder.entries(), 1U);
        EXPECT_EQ(read_bytes(folder / "a"), "old");
    };
    refused([&] { io::write_npy(folder / "a", std::span<const float>(values)); });
    refused([&] { io::write_grp(folder / "a", labels); });
    refused([&] { io::write_gtp(folder / "a", stars, 0); });
    refused([&] { io::write_neighbors_npz(folder / "a", neighbors, {}); });
    const std::vector<std::int64_t> counts(rows);
    refused([&] { io::write_radius_counts_npz(folder / "a", counts, {}); });
#if KITH_IO_HAS_HDF5
    refused([&] { io::write_radius_counts_hdf5(folder / "a", counts, {}); });
    for (const rlim_t bytes : {0U, 100U, 1000U, 3000U, 100000U, 1000000U, 1600000U}) {
        refused([&] { io::write_neighbors_hdf5(folder / "a", neighbors, {}); }, bytes);
    }
    EXPECT_NO_THROW(io::write_neighbors_hdf5(folder / "a", neighbors, {})); // the library still works afterwards
#endif
}

TEST(Robustness, WritingThroughALinkKeepsTheLink) {
    const TemporaryFolder folder;
    write_bytes(folder / "real", "old");
    std::filesystem::create_symlink(folder / "real", folder / "link");
    const std::vector<std::int32_t> labels = {0};
    io::write_grp(folder / "link", labels);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
    EXPECT_EQ(read_bytes(folder / "real"), "1\n1\n");
    EXPECT_EQ(folder.entries(), 2U);
    std::filesystem::create_symlink("new", folder / "to nothing");
    io::write_grp(folder / "to nothing", labels);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "to nothing"));
    EXPECT_EQ(read_bytes(folder / "new"), "1\n1\n");
}

TEST(Robustness, AWriteProtectedFileIsNotReplaced) {
    const TemporaryFolder folder;
    write_bytes(folder / "kept", "old");
    std::filesystem::permissions(folder / "kept", std::filesystem::perms::owner_read);
    if (::access((folder / "kept").c_str(), W_OK) == 0) {
        GTEST_SKIP() << "root may write everywhere";
    }
    const std::vector<std::int32_t> labels = {0};
    expect_error(ErrorKind::file, {"kept", "write-protected", "another name"},
                 [&] { io::write_grp(folder / "kept", labels); });
    EXPECT_EQ(read_bytes(folder / "kept"), "old");
}

} // namespace
