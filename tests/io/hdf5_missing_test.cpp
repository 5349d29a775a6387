// A build without HDF5 says so, in reading and in writing.
#include "io/files.hpp"

using namespace kith;
using namespace kith::test;

TEST(Hdf5Missing, EverythingIsRefusedWithTheRemedy) {
    const TemporaryFolder folder;
    write_bytes(folder / "a.hdf5", std::string("\x89HDF\r\n\x1a\n", 8) + std::string(100, '\0'));
    const auto refused = [](const auto& action) { expect_error(ErrorKind::unsupported, {"KITH_HDF5=ON"}, action); };
    refused([&] { static_cast<void>(io::read_header(folder / "a.hdf5")); });
    refused([&] { static_cast<void>(io::read_snapshot(folder / "a.hdf5")); });
    refused([&] { static_cast<void>(io::read_catalog(folder / "a.hdf5")); });
    EXPECT_FALSE(io::is_catalog(folder / "a.hdf5"));
    refused([&] { io::write_neighbors_hdf5(folder / "b", KnnResult(1, 1, IndexType::int32, DType::float32), {}); });
    refused([&] { io::write_radius_neighbors_hdf5(folder / "b", {}, {}); });
    refused([&] { io::write_fof_ladder_hdf5(folder / "b", {}, {}, {}); });
    refused([&] { io::stream_fof_ladder_hdf5(folder / "b", {}, {}); });
    refused([&] { io::write_spanning_tree_hdf5(folder / "b", {}, {}); });
    refused([&] { io::write_radius_counts_hdf5(folder / "b", {}, {}); });
    refused([&] { io::write_catalog_hdf5(folder / "c", {}, {}, {}); });
    refused([&] { static_cast<void>(io::write_sorted_snapshot(folder / "d", {}, {}, {})); });
    EXPECT_EQ(folder.entries(), 1U);
}
