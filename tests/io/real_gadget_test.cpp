// Real Gadget-2 binary files: what each holds was found with an independent script. Skipped where the files are absent.
#include "io/files.hpp"

#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

using Vector = std::array<double, 3>;
constexpr auto none = std::nullopt;

struct Known {
    const char* file;
    const char* format;
    std::array<std::int64_t, max_types> counts;
    double time;
    double redshift;
    double box;
    Vector first; ///< position of the first particle, types ascending
    Vector last;
    std::optional<Vector> last_velocity;
    double total_mass;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> ids; ///< first and last
};

constexpr auto little = "Gadget-2 binary (format 1, little-endian)";
constexpr auto big = "Gadget-2 binary (format 1, big-endian)";

Known lcdm(const char* file, const char* format) {
    return {file,
            format,
            {32768, 32768, 0, 0, 0, 0, 0},
            0.09090909090909091,
            10,
            0,
            {395.23443603515625, 395.7521057128906, 1244.3115234375},
            {48143.86328125, 48246.140625, 48995.7265625},
            Vector{-176.8841094970703, -115.27363586425781, 336.268798828125},
            1040812.3723509993,
            std::pair{1U, 65536U}};
}

Known gas_sphere(const char* file, const char* format) {
    return {file,
            format,
            {1472, 0, 0, 0, 0, 0, 0},
            0,
            0,
            0,
            {-0.07133729010820389, -0.35668644309043884, -0.9273847341537476},
            {0.07133729010820389, 0.35668644309043884, 0.9273847341537476},
            Vector{0, 0, 0},
            1.0000000186264515,
            std::pair{1U, 1472U}};
}

Known four_files(const char* file) {
    return {file,
            "Gadget-2 binary (format 2, little-endian), 4 files",
            {400, 400, 0, 0, 0, 0, 0},
            0,
            0,
            1,
            {0.16716986894607544, 0.28144335746765137, 0.27846598625183105},
            {0.07655930519104004, 0.1971709132194519, 0.9652073383331299},
            none,
            254.5710265636444,
            none};
}

const std::vector<Known> known_files = {
    lcdm("lcdm_gas_littleendian.dat", little),
    lcdm("lcdm_gas_bigendian.dat", big),
    gas_sphere("gassphere_littleendian.dat", little),
    gas_sphere("gassphere_bigendian.dat", big),
    {"galaxy_littleendian.dat",
     little,
     {0, 40000, 20000, 0, 0, 0, 0},
     0,
     0,
     0,
     {-94.13385009765625, -10.240921974182129, -7.942867279052734},
     {92.15531921386719, 41.02614974975586, 6.769761085510254},
     Vector{-84.47198486328125, -73.0508041381836, 92.56161499023438},
     46.50394228519872,
     std::pair{1U, 60000U}},
    {"SimSpin_example_Gadget",
     little,
     {0, 0, 1000, 1500, 0, 0, 0},
     10,
     0,
     0,
     {14.556831359863281, 5.293646812438965, 1.62310791015625},
     {0.6965321898460388, -2.8282577991485596, 0.14649836719036102},
     Vector{-32.39944076538086, -15.352519035339355, 7.716949939727783},
     0.09999370013247244,
     std::pair{191961U, 196548U}},
    {"genetic_22_gadget_ids64.gad",
     little,
     {0, 32768, 0, 0, 0, 0, 0},
     0.01,
     99,
     50,
     {0.721802830696106, 0.7907699346542358, 0.7845909595489502},
     {49.17123031616211, 49.19942855834961, 49.23868942260742},
     Vector{-251.0027313232422, -102.05280303955078, 105.3310546875},
     967605.0615003525,
     std::pair{0U, 32767U}},
    {"amuse_gadget_snapshot",
     little,
     {1000, 10000, 1000, 0, 0, 0, 0},
     0,
     0,
     0,
     {3.6934361818952155e-11, 7.437559595979693e-11, 2.5777075279620476e-05},
     {0.06885044276714325, -0.11815115809440613, -0.024401245638728142},
     Vector{17.05321502685547, 17.323463439941406, -11.352570533752441},
     0.22394167535821907,
     std::pair{1U, 12000U}},
    four_files("snap_002.0"),
    four_files("snap_002.3"),
    four_files("snap_002"),
};

std::filesystem::path folder() {
    return std::filesystem::path(KITH_SHARED_DATA) / "gadget_bin";
}

class RealGadget : public testing::TestWithParam<Known> {};

TEST_P(RealGadget, HoldsWhatIsKnown) {
    const Known& known = GetParam();
    if (!std::filesystem::exists(folder())) {
        GTEST_SKIP() << folder() << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    const io::Snapshot s = io::read_snapshot(folder() / known.file, all_types());
    const io::SnapshotHeader header = io::read_header(folder() / known.file);
    EXPECT_EQ(header.format, known.format);
    EXPECT_EQ(header.counts, known.counts);
    EXPECT_EQ(header.time, known.time);
    EXPECT_EQ(header.redshift, known.redshift);
    EXPECT_EQ(header.box_size, (Vector{known.box, known.box, known.box}));
    EXPECT_EQ(header.dtype, DType::float32);
    const bool lacks_cosmology = known.redshift > 0 && !header.frame;
    EXPECT_EQ(header.warnings.size(), lacks_cosmology ? 1U : 0U);
    EXPECT_EQ(warns(header, "there is no cosmology"), lacks_cosmology);

    const auto rows =
        static_cast<std::size_t>(std::accumulate(known.counts.begin(), known.counts.end(), std::int64_t{0}));
    ASSERT_EQ(s.positions.rows(), static_cast<std::int64_t>(rows));
    ASSERT_EQ(s.velocities.has_value(), known.last_velocity.has_value());
    for (std::size_t axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(at(s.positions, axis), known.first[axis]);
        EXPECT_EQ(at(s.positions, 3 * rows - 3 + axis), known.last[axis]);
        if (known.last_velocity) {
            EXPECT_EQ(at(*s.velocities, 3 * rows - 3 + axis), (*known.last_velocity)[axis]);
        }
    }
    double total_mass = s.uniform_mass.value_or(0) * static_cast<double>(rows);
    for (std::size_t i = 0; s.masses && i < rows; ++i) {
        total_mass += at(*s.masses, i);
    }
    EXPECT_NEAR(total_mass, known.total_mass, 1e-9 * known.total_mass);
    ASSERT_EQ(s.ids.size(), known.ids ? rows : 0);
    if (known.ids) {
        EXPECT_EQ(s.ids.front(), known.ids->first);
        EXPECT_EQ(s.ids.back(), known.ids->second);
    }
}

INSTANTIATE_TEST_SUITE_P(All, RealGadget, testing::ValuesIn(known_files));

TEST(RealGadgetFiles, BothByteOrdersHoldTheSame) {
    if (!std::filesystem::exists(folder())) {
        GTEST_SKIP() << folder() << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    for (const std::string name : {"lcdm_gas", "gassphere"}) {
        const io::Snapshot one = io::read_snapshot(folder() / (name + "_littleendian.dat"), all_types());
        const io::Snapshot other = io::read_snapshot(folder() / (name + "_bigendian.dat"), all_types());
        EXPECT_EQ(one.positions.values, other.positions.values);
        EXPECT_EQ(one.velocities->values, other.velocities->values);
        EXPECT_EQ(one.masses->values, other.masses->values);
        EXPECT_EQ(one.ids, other.ids);
    }
}

TEST(RealGadgetFiles, ASubfindCatalogIsNoSnapshot) {
    for (const char* name : {"sub_002.0", "sub_002.1", "sub_002.2", "sub_002.3", "sub_002"}) {
        if (!std::filesystem::exists(folder())) {
            GTEST_SKIP() << folder() << " is absent; set KITH_SHARED_DATA to the folder of real files";
        }
        expect_error(ErrorKind::file, {name, "no block of positions (POS)", "Subfind catalog"},
                     [&] { static_cast<void>(io::read_snapshot(folder() / name)); });
    }
}

} // namespace
