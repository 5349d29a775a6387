// Real files of many codes: what each holds, or why it is refused. Counts, coordinates, masses and ids were found with
// numpy and h5py, independently of the readers. Skipped where the files are absent.
#include "io/files.hpp"

#include <numeric>

using namespace kith;
using namespace kith::test;

namespace {

constexpr auto std_tipsy = "Tipsy (std, big-endian)";
constexpr auto native_tipsy = "Tipsy (native, little-endian)";
constexpr auto none = std::nullopt;
using Vector = std::array<double, 3>;

struct Readable {
    const char* file;
    const char* format;
    std::array<std::int64_t, max_types> counts;
    DType dtype;
    std::optional<double> time;
    std::optional<double> redshift;
    std::optional<Vector> box;
    Vector first; ///< position of the first particle, types ascending
    Vector last;
    Vector last_velocity;
    double first_mass;
    double total_mass;                                          ///< summed in float64
    std::optional<std::pair<std::uint64_t, std::uint64_t>> ids; ///< first and last
    const char* warning; ///< part of one that must be given; null: no warning at all
};

const Readable readable[] = {
    {"tipsy/cube300.tbin",
     std_tipsy,
     {0, 110592, 0, 0, 0, 0, 0},
     DType::float32,
     0.05,
     none,
     none,
     {-0.4978007376194, -0.49897080659866333, -0.5018122792243958},
     {0.48089835047721863, 0.4795137941837311, 0.4756094217300415},
     {0.24552026391029358, 0.049220550805330276, -0.5043612718582153},
     2.712700052143191e-06,
     0.3000029241666198,
     none,
     nullptr},
    {"tipsy/cube_3d_nx40.std",
     std_tipsy,
     {64000, 0, 0, 0, 0, 0, 0},
     DType::float32,
     1.0,
     none,
     none,
     {-0.48750001192092896, -0.48750001192092896, -0.48750001192092896},
     {0.48750001192092896, 0.48750001192092896, 0.48750001192092896},
     {0.0, 0.0, 0.0},
     1.5625000742147677e-05,
     1.0000000474974513,
     none,
     nullptr},
    {"tipsy/genetic_02e_native_padgarbage.tipsy",
     native_tipsy,
     {0, 32768, 0, 0, 0, 0, 0},
     DType::float32,
     0.01,
     none,
     none,
     {-0.48426201939582825, -0.48438501358032227, -0.48438501358032227},
     {0.4844929873943329, 0.484375, 0.484375},
     {0.18036261200904846, 5.593796319244539e-17, 6.959224679874802e-17},
     8.5144047261565e-06,
     0.27900001406669617,
     none,
     nullptr},
    {"tipsy/genetic_18_native_zoom6.tipsy",
     native_tipsy,
     {0, 10536, 0, 0, 0, 0, 0},
     DType::float32,
     0.01,
     none,
     none,
     {-0.4701313078403473, -0.4680957496166229, -0.46839359402656555},
     {-0.008426167070865631, -0.009412826038897038, -0.008373213931918144},
     {0.5548092126846313, -0.9536347389221191, 0.6357662081718445},
     6.8115237809252e-05,
     0.27900001406669617,
     none,
     nullptr},
    {"tipsy/glass16.std",
     std_tipsy,
     {4096, 0, 0, 0, 0, 0, 0},
     DType::float32,
     0.0,
     none,
     none,
     {-0.24916934967041016, -0.20290470123291016, -0.058513641357421875},
     {-0.015018463134765625, 0.19524860382080078, 0.34966182708740234},
     {0.0, 0.0, 0.0},
     0.000244140625,
     1.0,
     none,
     nullptr},
    {"tipsy/lambs30K_density.std",
     std_tipsy,
     {0, 30000, 0, 0, 0, 0, 0},
     DType::float32,
     1.0000000000000009,
     none,
     none,
     {0.05025991052389145, -0.054038722068071365, 0.46079587936401367},
     {0.4490196108818054, -0.28479450941085815, -0.06274405121803284},
     {-0.001568821375258267, 0.057940054684877396, 0.05626019462943077},
     1.0040000120170589e-07,
     0.0030120000360511767,
     none,
     nullptr},
    {"tipsy/model3_child_compact.tipsy",
     native_tipsy,
     {0, 20000, 0, 0, 2000, 0, 0},
     DType::float32,
     0.0,
     none,
     none,
     {-0.012085864320397377, -0.04102667421102524, -0.004371236078441143},
     {-1.790883183479309, 4.940452575683594, -5.858838081359863},
     {-0.4403996765613556, 2.3908474445343018, 2.146806001663208},
     0.004432917106896639,
     97.27809019386768,
     none,
     nullptr},
    {"tipsy/onestar.tbin",
     std_tipsy,
     {1088, 0, 0, 0, 1, 0, 0},
     DType::float32,
     0.0,
     none,
     none,
     {0.03550310432910919, -0.36768707633018494, -0.34775152802467346},
     {0.0, 0.0, 0.0},
     {0.0, 0.0, 0.0},
     0.0009190000128000975,
     1.000147713930346,
     none,
     nullptr},
    {"tipsy/run99.std",
     std_tipsy,
     {1049, 1021, 0, 0, 6509, 0, 0},
     DType::float32,
     14.9708,
     none,
     none,
     {-0.06846626102924347, 0.1864960938692093, -0.03476943075656891},
     {-0.03991515934467316, 0.16546550393104553, -0.04068341851234436},
     {0.9057329893112183, -0.7543758153915405, -0.6682758927345276},
     2.9349870601436123e-05,
     1.0000000346110482,
     none,
     nullptr},
    {"tipsy/tiny.000640",
     std_tipsy,
     {171, 3078, 0, 0, 49, 0, 0},
     DType::float32,
     0.25228136787231603,
     none,
     none,
     {0.012714956887066364, 0.2251753807067871, -0.05344417691230774},
     {0.049899060279130936, 0.2293684482574463, -0.047409359365701675},
     {-0.6417444348335266, 1.0994292497634888, 0.38456588983535767},
     1.3568338293190596e-11,
     3.156166987338337e-05,
     none,
     nullptr},
    {"tipsy/tiny.000832",
     std_tipsy,
     {161, 3079, 0, 0, 104, 0, 0},
     DType::float32,
     0.30091858277826755,
     none,
     none,
     {0.015164309181272984, 0.23396232724189758, -0.05047580972313881},
     {0.047163523733615875, 0.2374342530965805, -0.043269094079732895},
     {-0.5962511301040649, 1.186064600944519, 0.4238074719905853},
     1.3568338293190596e-11,
     3.1561735596730275e-05,
     none,
     nullptr},
    {"hdf5/SimSpin_example_Colibre.hdf5",
     "HDF5 (Gadget-like)",
     {62, 0, 0, 0, 935, 0, 0},
     DType::float64,
     0.9999999999999997,
     4.440892098500626e-16,
     Vector{50.00000002414381, 50.00000002414381, 50.00000002414381},
     {-0.0016961623260982606, -0.0028518893768776366, -0.003722130709885363},
     {0.012535256503539927, 0.009215529452760052, 0.009493288119752918},
     {9.411809921264648, 39.486717224121094, -12.499725341796875},
     0.002766143996268511,
     1.3558530790614896,
     std::pair{std::uint64_t{678441921U}, std::uint64_t{676194935U}},
     "announces 1157 particles of type 1, but there is no group PartType1"},
    {"hdf5/SimSpin_example_EAGLE.hdf5",
     "HDF5 (Gadget-like)",
     {100, 0, 0, 0, 2000, 0, 0},
     DType::float64,
     0.7868432969306779,
     0.2709010852615823,
     Vector{67.77, 67.77, 67.77},
     {15.777741966299043, 53.043480627878765, 33.304143625378615},
     {15.77750783884208, 53.04250427019036, 33.30352643811676},
     {-594.7457885742188, -188.28204345703125, 210.22601318359375},
     0.00012318645894993097,
     0.22030462274415186,
     std::pair{std::uint64_t{6950480289457U}, std::uint64_t{1650567780383U}},
     nullptr},
    {"hdf5/SimSpin_example_HDF5.hdf5",
     "HDF5 (Gadget-like)",
     {0, 0, 2000, 0, 0, 0, 0},
     DType::float64,
     10.0,
     0.0,
     Vector{0.0, 0.0, 0.0},
     {-0.5405881404876709, 0.49751412868499756, 0.6806204319000244},
     {-0.08269302546977997, -2.0201311111450195, 0.07792021334171295},
     {573.3268432617188, -315.76983642578125, 547.5797119140625},
     0.0030000293627381325,
     6.000058725476265,
     std::pair{std::uint64_t{42283U}, std::uint64_t{26674U}},
     nullptr},
    {"hdf5/SimSpin_example_HorizonAGN.hdf5",
     "HDF5 (Gadget-like)",
     {100, 0, 0, 0, 2000, 0, 0},
     DType::float64,
     0.982333572809032,
     0.017984142739263076,
     Vector{100.00000314400408, 100.00000314400408, 100.00000314400408},
     {12348.54176811038, 72311.81291174462, 32454.11182134825},
     {12341.717687403703, 72309.10106718737, 32434.643413713995},
     {-89.81608993897413, 88.51185720988542, -144.5093490002137},
     50019.82465056804,
     7243250713.131973,
     std::pair{std::uint64_t{0U}, std::uint64_t{179119411U}},
     "different units"},
    {"hdf5/SimSpin_example_IllustrisTNG.hdf5",
     "HDF5 (Gadget-like)",
     {100, 0, 0, 0, 2000, 0, 0},
     DType::float64,
     0.7705836268786364,
     0.2977176845174465,
     Vector{75000.0, 75000.0, 75000.0},
     {10947.640507181291, 51359.1968136382, 47478.226209670174},
     {10875.186704422165, 51453.410809347566, 47611.025628586336},
     {1510.84619140625, -557.1143798828125, -286.4859313964844},
     9.214786405209452e-05,
     0.14792378023230413,
     std::pair{std::uint64_t{113166321371U}, std::uint64_t{115260299473U}},
     "announces 13587 particles of type 0, but PartType0/Coordinates has 100 rows"},
    {"hdf5/SimSpin_example_Magneticum.hdf5",
     "HDF5 (Gadget-like)",
     {100, 0, 0, 0, 2000, 0, 0},
     DType::float64,
     0.773422649146155,
     0.2929541190757503,
     Vector{48000.0, 48000.0, 48000.0},
     {4800.577200317382, 4798.832295894623, 4798.837874794006},
     {4800.597584676742, 4799.869110715389, 4800.046562254429},
     {-76.86392974853516, 352.828369140625, -327.14886474609375},
     0.0007608182495459914,
     0.3424387369341275,
     std::pair{std::uint64_t{107225211U}, std::uint64_t{4611686018526943086U}},
     nullptr},
    {"hdf5/gadget4_glass_32.hdf5",
     "HDF5 (Gadget-4)",
     {0, 32768, 0, 0, 0, 0, 0},
     DType::float32,
     1.0,
     0.0,
     Vector{1.0, 1.0, 1.0},
     {0.025935625657439232, 0.015115505084395409, 0.023905113339424133},
     {0.006262549664825201, 0.0026879068464040756, 0.99765545129776},
     {0.0, 0.0, 0.0},
     0.00847015343606472,
     277.54998779296875,
     std::pair{std::uint64_t{290U}, std::uint64_t{3528U}},
     nullptr},
};

class RealFile : public testing::TestWithParam<Readable> {};

TEST_P(RealFile, HoldsWhatIsKnown) {
    const Readable& known = GetParam();
    const std::filesystem::path path = std::filesystem::path(KITH_SHARED_DATA) / known.file;
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << path << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
#if !KITH_IO_HAS_HDF5
    if (std::string_view(known.file).starts_with("hdf5/")) {
        GTEST_SKIP() << "this build has no HDF5";
    }
#endif
    const io::SnapshotHeader header = io::read_header(path);
    EXPECT_EQ(header.format, known.format);
    EXPECT_EQ(header.counts, known.counts);
    EXPECT_EQ(header.dtype, known.dtype);
    EXPECT_EQ(header.time, known.time);
    EXPECT_EQ(header.redshift, known.redshift);
    EXPECT_EQ(header.box_size, known.box);
    EXPECT_EQ(header.dimension, 3);

    const io::Snapshot s = io::read_snapshot(path, all_types());
    const auto rows =
        static_cast<std::size_t>(std::accumulate(known.counts.begin(), known.counts.end(), std::int64_t{0}));
    ASSERT_EQ(s.positions.rows(), static_cast<std::int64_t>(rows));
    ASSERT_TRUE(s.velocities && s.masses);
    ASSERT_EQ(s.velocities->rows(), static_cast<std::int64_t>(rows));
    ASSERT_EQ(s.masses->rows(), static_cast<std::int64_t>(rows));
    for (std::size_t axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(at(s.positions, axis), known.first[axis]);
        EXPECT_EQ(at(s.positions, 3 * rows - 3 + axis), known.last[axis]);
        EXPECT_EQ(at(*s.velocities, 3 * rows - 3 + axis), known.last_velocity[axis]);
    }
    double total_mass = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        total_mass += at(*s.masses, i);
    }
    EXPECT_EQ(at(*s.masses, 0), known.first_mass);
    EXPECT_NEAR(total_mass, known.total_mass, 1e-9 * known.total_mass);
    ASSERT_EQ(s.ids.size(), known.ids ? rows : 0);
    if (known.ids) {
        EXPECT_EQ(s.ids.front(), known.ids->first);
        EXPECT_EQ(s.ids.back(), known.ids->second);
    }
    ASSERT_EQ(s.types.size(), rows);
    for (std::size_t type = 0; type < known.counts.size(); ++type) {
        EXPECT_EQ(std::count(s.types.begin(), s.types.end(), type), known.counts[type]) << type;
    }
    EXPECT_TRUE(std::is_sorted(s.types.begin(), s.types.end()));
    EXPECT_EQ(s.file_rows.back(), static_cast<std::int64_t>(rows) - 1);
    if (known.warning != nullptr) {
        EXPECT_TRUE(warns(s.header, known.warning)) << known.warning;
    } else {
        EXPECT_TRUE(s.header.warnings.empty()) << s.header.warnings.front();
    }
}

std::string test_name(std::string_view file) {
    std::string name(file);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, RealFile, testing::ValuesIn(readable),
                         [](const auto& parameter) { return test_name(parameter.param.file); });

struct HaloList {
    const char* file;
    std::int64_t rows;
    double box;
    std::array<double, 3> first;
};

constexpr HaloList halo_lists[] = {
    {"halocat/halotools_rockstar_hlist_0.07812.list", 436, 250, {34.06756, 42.10437, 19.55494}},
    {"halocat/rockstar_out_13.list", 4, 50, {10.25137, 4.69690, 33.75423}},
    {"tipsy/tiny.000640.z2.964.AHF_halos", 9, 0, {18494.4, 24530.4, 15219.3}},
};

TEST(HaloLists, ArePoints) {
    for (const HaloList& known : halo_lists) {
        const std::filesystem::path path = std::filesystem::path(KITH_SHARED_DATA) / known.file;
        if (!std::filesystem::exists(path)) {
            GTEST_SKIP() << path << " is absent; set KITH_SHARED_DATA to the folder of real files";
        }
        const io::Snapshot s = io::read_snapshot(path);
        EXPECT_EQ(s.positions.rows(), known.rows);
        EXPECT_EQ(std::ssize(s.ids), known.rows);
        EXPECT_EQ(s.header.box_size ? s.header.box_size->front() : 0, known.box);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            EXPECT_NEAR(at(s.positions, axis), known.first[axis], 1e-5 * known.first[axis]);
        }
    }
}

struct Foreign {
    const char* file;
    const char* reason;
};

constexpr Foreign foreign[] = {
    {"tipsy/tiny.000640.amiga.grp", "binary Tipsy auxiliary array (3298 values of 4 bytes)"},
    {"tipsy/tiny.000640.iord", "binary Tipsy auxiliary array (3298 values of 4 bytes)"},
    {"tipsy/tiny.000832.amiga.grp", "binary Tipsy auxiliary array (3344 values of 4 bytes)"},
    {"tipsy/tiny.000832.iord", "binary Tipsy auxiliary array (3344 values of 4 bytes)"},
    {"tipsy/tiny.param", "parameter file"},
    {"expected/lambs30K_density_NBodyShopFOF_b0.2_m20.grp", "ASCII Tipsy array"},
    {"halocat/rockstar_halos_14.0.bin", "Rockstar binary halo catalog"},
    {"halocat/rockstar_halos_13.1.bin", "Rockstar binary halo catalog"},
    {"particles/amuse_plummer16k.in", "line 1 has 1 number, but line 4 has 8"},
    {"particles/corrfunc_Mr19_rdcz.ff", "Fortran records (little-endian, the first of 20 bytes)"},
    {"particles/hfof_cosmo32768.u16", "no known format"},
    {"pointcloud/autzen_trim_7.las", "LAS"},
    {"pointcloud/simple1_4.las", "LAS"},
    {"pointcloud/bunny.pcd", "PCD"},
    {"pointcloud/office1.pcd", "PCD"},
    {"pointcloud/milk_cartoon_all_small_clorox.pcd", "PCD"},
    {"pointcloud/stanford_bunny.obj", "OBJ"},
};

class ForeignFile : public testing::TestWithParam<Foreign> {};

TEST_P(ForeignFile, IsRefusedWithTheReason) {
    const std::filesystem::path path = std::filesystem::path(KITH_SHARED_DATA) / GetParam().file;
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << path << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    expect_error(ErrorKind::file, {GetParam().file, GetParam().reason, "Formats read"},
                 [&] { static_cast<void>(io::read_snapshot(path)); });
    expect_error(ErrorKind::file, {GetParam().reason}, [&] { static_cast<void>(io::read_header(path)); });
}

INSTANTIATE_TEST_SUITE_P(All, ForeignFile, testing::ValuesIn(foreign),
                         [](const auto& parameter) { return test_name(parameter.param.file); });

// Those that the other tests do not know included.
TEST(RealFiles, EveryFileIsReadOrRefused) {
    const std::filesystem::path folder = KITH_SHARED_DATA;
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << folder << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    int read = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            try {
                read += io::read_snapshot(entry.path(), all_types()).positions.rows() > 0 ? 1 : 0;
            } catch (const Error& error) {
                EXPECT_TRUE(error.kind() == ErrorKind::file || error.kind() == ErrorKind::unsupported) << error.what();
                EXPECT_NE(std::string_view(error.what()).find(entry.path().filename().string()), std::string::npos);
            }
        }
    }
    EXPECT_GE(read, 25); // more with HDF5
}

TEST(RealFiles, GroupCentersOfAnotherGroupFinder) {
    const auto path = std::filesystem::path(KITH_SHARED_DATA) / "expected/lambs30K_density_NBodyShopFOF_b0.2_m20.gtp";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << path << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    const io::Snapshot s = io::read_snapshot(path, all_types());
    EXPECT_EQ(s.header.counts[4], 137);
    EXPECT_EQ(at(s.positions, 0), -0.21793682873249054);
    EXPECT_EQ(at(*s.masses, 0), 2.9015600375714712e-05);
}

TEST(RealFiles, ClusterableData) {
    const auto path = std::filesystem::path(KITH_SHARED_DATA) / "particles/hdbscan_clusterable_data.npy";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << path << " is absent; set KITH_SHARED_DATA to the folder of real files";
    }
    const io::Snapshot s = io::read_snapshot(path);
    EXPECT_EQ(s.positions.rows(), 2309);
    EXPECT_EQ(s.positions.columns, 2);
    EXPECT_EQ(s.positions.dtype(), DType::float64);
    EXPECT_EQ(at(s.positions, 0), -0.12153498770589172);
    EXPECT_EQ(at(s.positions, 2309 * 2 - 1), -0.2092721037767481);
    EXPECT_TRUE(s.header.warnings.empty());
}

} // namespace
