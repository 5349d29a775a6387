// .npz: members, their headers and values, read back with libzip.
#include "io/files.hpp"
#include "support/cases.hpp"

#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

std::string member(const std::filesystem::path& path, const char* name) {
    zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, nullptr);
    if (archive == nullptr) {
        ADD_FAILURE() << path << " is no zip archive";
        return {};
    }
    zip_stat_t facts;
    std::string bytes;
    if (zip_stat(archive, name, 0, &facts) == 0) {
        EXPECT_EQ(facts.comp_method, ZIP_CM_STORE);
        bytes.resize(facts.size);
        zip_file_t* file = zip_fopen(archive, name, 0);
        EXPECT_EQ(zip_fread(file, bytes.data(), bytes.size()), static_cast<zip_int64_t>(bytes.size()));
        zip_fclose(file);
    } else {
        ADD_FAILURE() << name << " is not in " << path;
    }
    zip_discard(archive);
    return bytes;
}

template <class Index, class T>
KnnResult example(IndexType index_type) {
    KnnResult result(4, 3, index_type, dtype_of<T>);
    auto* indices = static_cast<Index*>(result.rows_view().indices());
    auto* distances = static_cast<T*>(result.rows_view().distances());
    std::iota(indices, indices + 12, Index{-1});
    for (int i = 0; i < 12; ++i) {
        distances[i] = static_cast<T>(i) / 4;
    }
    return result;
}

const io::Provenance provenance = {
    "kith 0.1.0", "kith knn \"a b\".npy -k 3", "a \\ b\xff.npy", {{"k", "3"}, {"box", "open"}}};

template <class Index, class T>
void expect_members(const std::filesystem::path& path, std::string_view index_type, std::string_view distance_type) {
    const std::string indices = member(path, "indices.npy");
    ASSERT_EQ(indices.size(), 128 + 12 * sizeof(Index));
    EXPECT_NE(indices.find("'descr': '" + std::string(index_type) + "', 'fortran_order': False, 'shape': (4, 3)"),
              std::string::npos);
    std::vector<Index> index_values(12);
    std::copy_n(indices.begin() + 128, 12 * sizeof(Index), reinterpret_cast<char*>(index_values.data()));
    const std::string distances = member(path, "distances.npy");
    ASSERT_EQ(distances.size(), 128 + 12 * sizeof(T));
    EXPECT_NE(distances.find("'descr': '" + std::string(distance_type) + "'"), std::string::npos);
    std::vector<T> distance_values(12);
    std::copy_n(distances.begin() + 128, 12 * sizeof(T), reinterpret_cast<char*>(distance_values.data()));
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(index_values[static_cast<std::size_t>(i)], static_cast<Index>(i - 1));
        EXPECT_EQ(distance_values[static_cast<std::size_t>(i)], static_cast<T>(i) / 4);
    }
}

TEST(Npz, NarrowAndWideNeighbors) {
    const TemporaryFolder folder;
    io::write_neighbors_npz(folder / "narrow.npz", example<std::int32_t, float>(IndexType::int32), provenance);
    expect_members<std::int32_t, float>(folder / "narrow.npz", "<i4", "<f4");
    io::write_neighbors_npz(folder / "wide.npz", example<std::int64_t, double>(IndexType::int64), provenance);
    expect_members<std::int64_t, double>(folder / "wide.npz", "<i8", "<f8");
    EXPECT_EQ(folder.entries(), 2U);
}

TEST(Npz, TheProvenanceIsJson) {
    const TemporaryFolder folder;
    io::write_neighbors_npz(folder / "a.npz", example<std::int32_t, float>(IndexType::int32), provenance);
    EXPECT_EQ(member(folder / "a.npz", "provenance.json"), R"({
  "command": "kith knn \"a b\".npy -k 3",
  "input": "a \\ b)"
                                                           "\xef\xbf\xbd" // U+FFFD for the stray byte
                                                           R"(.npy",
  "parameters": {
    "box": "open",
    "k": "3"
  },
  "program": "kith 0.1.0"
}
)");
}

TEST(Npz, TheSameResultMakesTheSameBytesAndReplacesTheOldFile) {
    const TemporaryFolder folder;
    write_bytes(folder / "b.npz", "something else");
    io::write_neighbors_npz(folder / "a.npz", example<std::int32_t, float>(IndexType::int32), provenance);
    io::write_neighbors_npz(folder / "b.npz", example<std::int32_t, float>(IndexType::int32), provenance);
    EXPECT_EQ(read_bytes(folder / "a.npz"), read_bytes(folder / "b.npz"));
}

class NpzRadius : public NeedsDimension<2> {};

template <class Index, class T>
void expect_radius_members(IndexType index_type) {
    const TemporaryFolder folder;
    const std::vector<T> line = {0, 0, 1, 0, 3, 0};
    const RadiusResult found = radius_search(PointsView(line, 2), 1, {.index_type = index_type});
    io::write_radius_neighbors_npz(folder / "a.npz", found, provenance);
    const auto expect_values = [&]<class Number>(const char* name, const std::vector<Number>& expected) {
        const std::string bytes = member(folder / "a.npz", name);
        ASSERT_EQ(bytes.size(), 128 + expected.size() * sizeof(Number)) << name;
        EXPECT_NE(bytes.find("'shape': (" + std::to_string(expected.size()) + ",)"), std::string::npos) << bytes;
        EXPECT_EQ(std::memcmp(bytes.data() + 128, expected.data(), expected.size() * sizeof(Number)), 0) << name;
    };
    expect_values("offsets.npy", std::vector<std::int64_t>{0, 2, 4, 5});
    expect_values("indices.npy", std::vector<Index>{0, 1, 1, 0, 2});
    expect_values("distances.npy", std::vector<T>{0, 1, 0, 1, 0});
    EXPECT_NE(member(folder / "a.npz", "provenance.json").find("kith knn"), std::string::npos);
}

TEST_F(NpzRadius, EveryType) {
    expect_radius_members<std::int32_t, float>(IndexType::int32);
    expect_radius_members<std::int64_t, double>(IndexType::int64);
}

TEST_F(NpzRadius, NeighborsInZOrderNameTheirQueries) {
    const TemporaryFolder folder;
    const std::vector<float> line = {3, 0, 0, 0, 1, 0};
    io::write_neighbors_npz(folder / "a.npz", knn(PointsView(line, 2), 1, {.z_order = true}), provenance);
    const std::string queries = member(folder / "a.npz", "query_indices.npy");
    EXPECT_NE(queries.find("'<i4', 'fortran_order': False, 'shape': (3,)"), std::string::npos) << queries;
    EXPECT_EQ(queries.substr(128), std::string("\1\0\0\0\2\0\0\0\0\0\0\0", 12));
    EXPECT_EQ(member(folder / "a.npz", "indices.npy").substr(128), queries.substr(128));
}

TEST_F(NpzRadius, SpanningTrees) {
    const TemporaryFolder folder;
    const std::vector<double> line = {0, 0, 3, 0, 1, 0};
    io::write_spanning_tree_npz(folder / "a.npz", spanning_tree(PointsView(line, 2)), provenance);
    const std::string edges = member(folder / "a.npz", "edges.npy");
    EXPECT_NE(edges.find("'<i4', 'fortran_order': False, 'shape': (2, 2)"), std::string::npos) << edges;
    EXPECT_EQ(edges.substr(128), std::string("\0\0\0\0\2\0\0\0\1\0\0\0\2\0\0\0", 16));
    for (const char* name : {"weights.npy", "heights.npy"}) {
        const std::string lengths = member(folder / "a.npz", name);
        const std::vector<double> expected = {1, 2};
        ASSERT_EQ(lengths.size(), 144U);
        EXPECT_EQ(std::memcmp(lengths.data() + 128, expected.data(), 16), 0) << name;
    }
    io::write_spanning_tree_npz(folder / "none.npz", SpanningTree(), provenance);
    EXPECT_NE(member(folder / "none.npz", "edges.npy").find("'shape': (0, 2)"), std::string::npos);
}

TEST_F(NpzRadius, CountsAndNoRows) {
    const TemporaryFolder folder;
    io::write_radius_counts_npz(folder / "counts.npz", std::vector<std::int64_t>{3, 1}, provenance);
    const std::string counts = member(folder / "counts.npz", "counts.npy");
    EXPECT_NE(counts.find("'<i8', 'fortran_order': False, 'shape': (2,)"), std::string::npos) << counts;
    EXPECT_EQ(counts.substr(128), std::string("\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16));
    io::write_radius_neighbors_npz(folder / "none.npz", RadiusResult(), provenance);
    EXPECT_EQ(member(folder / "none.npz", "offsets.npy").size(), 136U);
    EXPECT_EQ(member(folder / "none.npz", "indices.npy").size(), 128U);
}

TEST(Npz, NoRowsAtAll) {
    const TemporaryFolder folder;
    io::write_neighbors_npz(folder / "none.npz", KnnResult(0, 5, IndexType::int32, DType::float32), provenance);
    EXPECT_NE(member(folder / "none.npz", "indices.npy").find("(0, 5)"), std::string::npos);
    EXPECT_EQ(member(folder / "none.npz", "distances.npy").size(), 128U);
}

} // namespace
