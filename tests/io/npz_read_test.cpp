// Points from .npz: by name, the only ones without, compressed or not; and archives that are refused, with what they
// hold.
#include "io/files.hpp"

#include <zip.h>

#include <random>

using namespace kith;
using namespace kith::test;

namespace {

class NpzRead : public testing::Test {
protected:
    /// The bytes of a .npy file of floats 0, 1, 2, ... ; columns = 0 makes it one-dimensional.
    [[nodiscard]] std::string npy(std::size_t values, std::int64_t columns) const {
        std::vector<float> numbers(values);
        for (std::size_t i = 0; i < values; ++i) {
            numbers[i] = static_cast<float>(i);
        }
        io::write_npy(folder_ / "member", std::span<const float>(numbers), columns);
        return read_bytes(folder_ / "member");
    }
    void write(const std::vector<std::pair<std::string, std::string>>& members, int method = ZIP_CM_STORE) const {
        std::filesystem::remove(path_);
        zip_t* const archive = zip_open(path_.c_str(), ZIP_CREATE | ZIP_EXCL, nullptr);
        ASSERT_NE(archive, nullptr);
        for (const auto& [name, bytes] : members) {
            zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
            const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
            ASSERT_GE(index, 0);
            ASSERT_EQ(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0), 0);
        }
        ASSERT_EQ(zip_close(archive), 0);
    }
    [[nodiscard]] std::string named(std::string_view name) const { return path_.string() + ":" + std::string(name); }
    static void refused(const std::filesystem::path& path, std::initializer_list<std::string_view> words) {
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_snapshot(path)); });
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(io::read_header(path)); });
    }
    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "points.npz";
};

TEST_F(NpzRead, ResultsOfOurOwnAreNoPointsUnlessNamed) {
    write({{"edges.npy", npy(12, 2)}, {"provenance.json", "{}"}});
    refused(path_, {"a result of kith (edges (6 x 2))", "kith info", "give the file that it was made from"});
    write({{"indices.npy", npy(12, 2)}, {"offsets.npy", npy(4, 0)}, {"provenance.json", R"({"input": "a.npy"})"}});
    refused(path_, {"neighbors within a radius", "indices (6 x 2), offsets (4)", "'a.npy'"});
    write({{"edges.npy", npy(12, 2)}, {"provenance.json", "no JSON"}});
    EXPECT_EQ(io::read_snapshot(named("edges")).positions.rows(), 6);
}

TEST_F(NpzRead, TheOnlyPointsNeedNoName) {
    for (const int method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
        write({{"masses.npy", npy(4, 0)}, {"positions.npy", npy(12, 3)}, {"notes.txt", "by hand"}}, method);
        for (const std::string& name : {path_.string(), named("positions"), named("positions.npy")}) {
            const io::Snapshot s = io::read_snapshot(name);
            EXPECT_EQ(s.positions.columns, 3);
            EXPECT_EQ(s.positions.rows(), 4);
            EXPECT_EQ(at(s.positions, 11), 11);
            EXPECT_EQ(s.positions.dtype(), DType::float32);
            EXPECT_EQ(s.header.format, "npz");
            EXPECT_FALSE(s.header.has_types);
            EXPECT_EQ(s.header.files, std::vector<std::filesystem::path>{path_});
            EXPECT_EQ(io::read_header(name).counts[1], 4);
        }
    }
}

TEST_F(NpzRead, LargeArraysComeInPieces) {
    const std::string large = npy(3'000'000, 3);
    write({{"a.npy", large}}, ZIP_CM_DEFLATE);
    const io::Snapshot s = io::read_snapshot(path_);
    EXPECT_EQ(at(s.positions, 2'999'999), 2'999'999);
}

TEST_F(NpzRead, SeveralArraysAreListed) {
    write({{"a.npy", npy(6, 2)}, {"b.npy", npy(12, 3)}, {"c.npy", npy(5, 0)}});
    refused(path_, {"2 of its arrays", "points.npz:a", "a (3 x 2), b (4 x 3), c (5)"});
    EXPECT_EQ(io::read_snapshot(named("b")).positions.rows(), 4);
    refused(named("d"), {"no array 'd'", "a (3 x 2), b (4 x 3), c (5)"});
    refused(named(""), {"no array ''", "b (4 x 3)"});
    refused(named("c"), {"points.npz:c", "1 axis", "two-dimensional"});
}

TEST_F(NpzRead, ArchivesWithoutPointsSayWhatTheyHold) {
    write({{"a.npy", npy(5, 0)}, {"b.npy", npy(18, 9)}});
    refused(path_, {"none of its arrays", "n x 2 to 8", "a (5), b (2 x 9)"});
    write({{"a.npy", npy(30, 10)}});
    refused(path_, {"3 x 10", "save the transposed array"});
    write({{"readme.txt", "nothing"}});
    refused(path_, {"holds no .npy arrays", "numpy.savez"});
    write({{"a.npy", "not an array"}, {"b.npy", npy(5, 0)}});
    refused(path_, {"a (unreadable), b (5)"});
}

TEST_F(NpzRead, BrokenArchivesAreErrors) {
    using std::string_view_literals::operator""sv;
    write_bytes(path_, "PK\x03\x04...."sv);
    refused(path_, {"points.npz", "zip archive", "cut off"});
    write({{"a.npy", npy(300, 3)}}, ZIP_CM_DEFLATE);
    const std::string whole = read_bytes(path_);
    std::mt19937 random(3);
    for (int trial = 0; trial < 400; ++trial) {
        std::string content = whole;
        if (trial % 2 == 0) {
            content.resize(random() % whole.size());
        } else {
            content[random() % whole.size()] = static_cast<char>(random());
        }
        write_bytes(path_, content);
        try {
            static_cast<void>(io::read_snapshot(path_));
        } catch (const Error&) { // an error of ours or points, and nothing else
        }
    }
}

// The directory says 2^40 bytes; nothing of that size is asked for.
TEST_F(NpzRead, SizesThatCannotBeAreRefused) {
    write({{"a.npy", npy(12, 3)}});
    std::string content = read_bytes(path_);
    const std::size_t directory = content.rfind("PK\x01\x02");
    ASSERT_NE(directory, std::string::npos);
    const std::string huge("\xf0\xff\xff\x7f", 4);
    content.replace(directory + 24, 4, huge); // uncompressed size
    write_bytes(path_, content);
    refused(path_, {"points.npz"});
}

} // namespace
