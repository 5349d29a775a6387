// Neighbors and clusters as HDF5, read back with the C library.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"
#include "support/cases.hpp"

#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>

#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

template <class Index, class T>
void round_trip(IndexType index_type) {
    const TemporaryFolder folder;
    KnnResult result(5, 2, index_type, dtype_of<T>);
    std::vector<Index> indices(10);
    std::vector<T> distances(10);
    std::iota(indices.begin(), indices.end(), Index{-1});
    std::iota(distances.begin(), distances.end(), static_cast<T>(0.5));
    std::copy(indices.begin(), indices.end(), static_cast<Index*>(result.rows_view().indices()));
    std::copy(distances.begin(), distances.end(), static_cast<T*>(result.rows_view().distances()));
    io::write_neighbors_hdf5(folder / "a.hdf5", result,
                             {"kith 0.1.0", "kith knn", "in.npy", {{"k", "2"}, {"box", ""}}});
    const Hdf5Checker file(folder / "a.hdf5");
    EXPECT_EQ(file.shape("indices"), (std::vector<hsize_t>{5, 2}));
    EXPECT_EQ(file.shape("distances"), (std::vector<hsize_t>{5, 2}));
    EXPECT_EQ(file.dataset<Index>("indices"), indices);
    EXPECT_EQ(file.dataset<T>("distances"), distances);
    EXPECT_EQ(file.text("/", "Program"), "kith 0.1.0");
    EXPECT_EQ(file.text("/", "Command"), "kith knn");
    EXPECT_EQ(file.text("/", "Input"), "in.npy");
    EXPECT_EQ(file.text("/", "k"), "2");
    EXPECT_EQ(file.text("/", "box"), "");
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(Hdf5Neighbors, EveryType) {
    round_trip<std::int32_t, float>(IndexType::int32);
    round_trip<std::int64_t, double>(IndexType::int64);
    round_trip<std::int32_t, double>(IndexType::int32);
}

class Hdf5Radius : public NeedsDimension<2> {};

TEST_F(Hdf5Radius, RowsAndCounts) {
    const TemporaryFolder folder;
    const std::vector<double> line = {0, 0, 1, 0, 3, 0};
    const RadiusResult found = radius_search(PointsView(line, 2), 1, {.index_type = IndexType::int64});
    io::write_radius_neighbors_hdf5(folder / "a.hdf5", found, {"kith", "kith radius", "in.npy", {{"radius", "1"}}});
    const Hdf5Checker file(folder / "a.hdf5");
    EXPECT_EQ(file.shape("indices"), std::vector<hsize_t>{5});
    EXPECT_EQ(file.dataset<std::int64_t>("offsets"), (std::vector<std::int64_t>{0, 2, 4, 5}));
    EXPECT_EQ(file.dataset<std::int64_t>("indices"), (std::vector<std::int64_t>{0, 1, 1, 0, 2}));
    EXPECT_EQ(file.dataset<double>("distances"), (std::vector<double>{0, 1, 0, 1, 0}));
    EXPECT_EQ(file.text("/", "radius"), "1");
    const std::vector<std::int64_t> counts = {3, 1};
    io::write_radius_counts_hdf5(folder / "counts.hdf5", counts, {"kith", "", "", {}});
    EXPECT_EQ(Hdf5Checker(folder / "counts.hdf5").dataset<std::int64_t>("counts"), counts);
    io::write_radius_neighbors_hdf5(folder / "none.hdf5", RadiusResult(), {"kith", "", "", {}});
    EXPECT_EQ(Hdf5Checker(folder / "none.hdf5").dataset<std::int64_t>("offsets"), std::vector<std::int64_t>{0});
}

TEST_F(Hdf5Radius, SpanningTrees) {
    const TemporaryFolder folder;
    const std::vector<float> line = {0, 0, 3, 0, 1, 0};
    io::write_spanning_tree_hdf5(folder / "a.hdf5", spanning_tree(PointsView(line, 2)), {"kith", "", "", {}});
    const Hdf5Checker file(folder / "a.hdf5");
    EXPECT_EQ(file.shape("edges"), (std::vector<hsize_t>{2, 2}));
    EXPECT_EQ(file.dataset<std::int32_t>("edges"), (std::vector<std::int32_t>{0, 2, 1, 2}));
    EXPECT_EQ(file.dataset<float>("weights"), (std::vector<float>{1, 2}));
    EXPECT_EQ(file.dataset<float>("heights"), (std::vector<float>{1, 2}));
    io::write_spanning_tree_hdf5(folder / "none.hdf5", SpanningTree(), {"kith", "", "", {}});
    EXPECT_EQ(Hdf5Checker(folder / "none.hdf5").shape("edges"), (std::vector<hsize_t>{0, 2}));
}

TEST(Hdf5Clusters, LabelsAndCorePoints) {
    const TemporaryFolder folder;
    const std::vector<std::int32_t> labels = {1, -1, 0};
    const std::vector<std::uint8_t> is_core = {1, 0, 1};
    io::write_clusters_hdf5(folder / "a.hdf5", labels, is_core, {"kith", "kith dbscan", "in.npy", {{"eps", "1"}}});
    const Hdf5Checker file(folder / "a.hdf5");
    EXPECT_EQ(file.dataset<std::int32_t>("labels"), labels);
    EXPECT_EQ(file.dataset<std::uint8_t>("is_core"), is_core);
    EXPECT_EQ(file.text("/", "eps"), "1");
}

TEST(Hdf5Neighbors, NoRowsAndLongCommands) {
    const TemporaryFolder folder;
    const std::string command(200000, 'x'); // beyond what a compact attribute holds
    io::write_neighbors_hdf5(folder / "a.hdf5", KnnResult(0, 3, IndexType::int32, DType::float32),
                             {"kith", command, "", {}});
    const Hdf5Checker file(folder / "a.hdf5");
    EXPECT_EQ(file.shape("indices"), (std::vector<hsize_t>{0, 3}));
    EXPECT_EQ(file.text("/", "Command"), command);
}

TEST(Hdf5Neighbors, AParameterMayNotTakeAnothersName) {
    const TemporaryFolder folder;
    write_bytes(folder / "a.hdf5", "kept");
    for (const char* name : {"", "Program"}) {
        expect_error(ErrorKind::invalid_argument, {"parameter"}, [&] {
            io::write_neighbors_hdf5(folder / "a.hdf5", KnnResult(0, 3, IndexType::int32, DType::float32),
                                     {"kith", "", "", {{name, "x"}}});
        });
    }
    EXPECT_EQ(folder.entries(), 1U);
    EXPECT_EQ(read_bytes(folder / "a.hdf5"), "kept");
}

} // namespace
