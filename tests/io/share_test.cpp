// Shares of the rows: one after the other they are the whole snapshot, in every format.
#include "io/files.hpp"
#include "support/cases.hpp"

#include <kith/spanning_tree.hpp>

#include <algorithm>

using namespace kith;
using namespace kith::test;

namespace {

template <class T>
void append(std::vector<T>& all, const std::vector<T>& some) {
    all.insert(all.end(), some.begin(), some.end());
}

void append(io::RealArray& all, const io::RealArray& some) {
    std::visit([&]<class T>(std::vector<T>& values) { append(values, std::get<std::vector<T>>(some.values)); },
               all.values);
}

void append(std::optional<io::RealArray>& all, const std::optional<io::RealArray>& some) {
    ASSERT_EQ(all.has_value(), some.has_value());
    if (all) {
        append(*all, *some);
    }
}

void expect_same(const std::optional<io::RealArray>& a, const std::optional<io::RealArray>& b) {
    ASSERT_EQ(a.has_value(), b.has_value());
    if (a) {
        EXPECT_TRUE(a->columns == b->columns && a->values == b->values);
    }
}

void expect_shares_make_the_whole(const std::filesystem::path& path, std::initializer_list<int> counts) {
    const io::Snapshot whole = io::read_snapshot(path, all_types());
    for (const int count : counts) {
        SCOPED_TRACE(path.string() + ", " + std::to_string(count) + " shares");
        io::Snapshot all;
        std::size_t least = whole.file_rows.size();
        std::size_t most = 0;
        for (int index = 0; index < count; ++index) {
            io::ReadOptions options = all_types();
            options.share = {index, count};
            io::Snapshot share = io::read_snapshot(path, options);
            EXPECT_EQ(share.header.counts, whole.header.counts);
            EXPECT_EQ(static_cast<std::size_t>(share.positions.rows()), share.file_rows.size());
            least = std::min(least, share.file_rows.size());
            most = std::max(most, share.file_rows.size());
            if (index == 0) {
                all = std::move(share);
                continue;
            }
            EXPECT_EQ(share.uniform_mass, all.uniform_mass);
            append(all.positions, share.positions);
            append(all.velocities, share.velocities);
            append(all.masses, share.masses);
            append(all.types, share.types);
            append(all.ids, share.ids);
            append(all.file_rows, share.file_rows);
        }
        EXPECT_LE(most - least, 1U);
        expect_same(all.positions, whole.positions);
        expect_same(all.velocities, whole.velocities);
        expect_same(all.masses, whole.masses);
        EXPECT_EQ(all.uniform_mass, whole.uniform_mass);
        EXPECT_EQ(all.types, whole.types);
        EXPECT_EQ(all.ids, whole.ids);
        EXPECT_EQ(all.file_rows, whole.file_rows);
    }
}

/// Eleven rows of two float64, in the order that is asked for.
std::string npy_of_eleven(bool fortran, std::endian order) {
    std::string header = std::string("{'descr': '") + (order == std::endian::big ? ">f8" : "<f8") +
                         "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (11, 2), }";
    header.resize(117, ' ');
    header += '\n';
    Bytes numbers(order);
    for (int i = 0; i < 22; ++i) {
        numbers.add(0.5 * i * i);
    }
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + numbers.text();
}

TEST(Shares, OfArraysAndTables) {
    const TemporaryFolder folder;
    write_bytes(folder / "c.npy", npy_of_eleven(false, std::endian::little));
    write_bytes(folder / "fortran.npy", npy_of_eleven(true, std::endian::little));
    write_bytes(folder / "big.npy", npy_of_eleven(true, std::endian::big));
    std::string table = "x,y,z,mass,id\n";
    for (int i = 0; i < 11; ++i) {
        table += std::to_string(i) + ",2," + std::to_string(3 * i) + ",1.5," + std::to_string(100 - i) + "\n";
    }
    write_bytes(folder / "table.csv", table);
    for (const char* name : {"c.npy", "fortran.npy", "big.npy", "table.csv"}) {
        expect_shares_make_the_whole(folder / name, {1, 2, 3, 11, 13});
    }
    if (is_built(2)) {
        const std::vector<float> points{0, 0, 1, 1, 2, 4, 3, 9, 5, 1, 6, 6};
        io::write_spanning_tree_npz(folder / "tree.npz", spanning_tree(PointsView(points, 2)), {});
        expect_shares_make_the_whole((folder / "tree.npz").string() + ":edges", {2, 3, 7});
    }
}

TEST(Shares, OfRealSnapshots) {
    const std::filesystem::path data = KITH_SHARED_DATA;
    if (!std::filesystem::exists(data)) {
        GTEST_SKIP() << data << " is not there";
    }
    int read = 0;
    for (const char* folder : {"gadget_bin", "hdf5", "tipsy"}) {
        for (const auto& entry : std::filesystem::directory_iterator(data / folder)) {
            try {
                static_cast<void>(io::read_snapshot(entry.path(), all_types()));
            } catch (const Error&) {
                continue; // no snapshot, or one that this build does not read
            }
            ++read;
            expect_shares_make_the_whole(entry.path(), {3});
        }
    }
    EXPECT_GT(read, 10);
}

TEST(Shares, ThatDoNotExist) {
    const TemporaryFolder folder;
    write_bytes(folder / "c.npy", npy_of_eleven(false, std::endian::little));
    for (const io::RowShare share : {io::RowShare{0, 0}, io::RowShare{-1, 2}, io::RowShare{2, 2}}) {
        io::ReadOptions options;
        options.share = share;
        expect_error(ErrorKind::invalid_argument, {"share", "does not exist"},
                     [&] { static_cast<void>(io::read_snapshot(folder / "c.npy", options)); });
    }
}

} // namespace
