// Help and version; wrong usage is refused with code 2, before any file is read.
#include "cli/program.hpp"

namespace {

using kith::test::Outcome;
using Usage = kith::test::ProgramTest;

TEST_F(Usage, HelpAndVersionGoToStandardOutput) {
    for (const char* arguments : {"--help", "--version", "info --help", "knn --help", "fof --help"}) {
        const Outcome outcome = kith(arguments);
        EXPECT_EQ(outcome.exit_code, 0) << arguments;
        EXPECT_FALSE(outcome.out.empty()) << arguments;
        EXPECT_EQ(outcome.err, "") << arguments;
    }
    const std::string version = kith("--version").out;
    EXPECT_EQ(version.rfind("kith ", 0), 0U);
    for (const char* feature : {"\n  MPI ", "\n  HDF5 ", "\n  CUDA ", "\n  instruction sets ", "\n  dimensions "}) {
        EXPECT_NE(version.find(feature), std::string::npos) << version;
    }
    EXPECT_EQ(kith("help fof").out, kith("fof --help").out);
    EXPECT_EQ(kith("help").out, kith("--help").out);
    EXPECT_NE(kith("fof --help").out.find("--min-members"), std::string::npos);
    EXPECT_NE(kith("fof --help").out.find("Examples"), std::string::npos);
}

TEST_F(Usage, WrongUsageIsCodeTwoAndNamesTheCulprit) {
    struct Case {
        const char* arguments;
        const char* named;
    };
    // None of the files exists: the refusal comes before reading.
    for (const Case& wrong :
         {Case{"", "no subcommand given; choose one of info, fof"},
          Case{"help cluster", "'cluster' is not a subcommand"},
          Case{"cluster points.npy", "'cluster' is not a subcommand"},
          Case{"fofs in.npy", "'fofs' is not a subcommand; did you mean fof?"},
          Case{"fof in.npy -o out.hdf5 -b 0.2 --types 1 -b 0.3", "-b is given more than once"},
          Case{"info", "FILE"},
          Case{"fof in.npy", "--output"},
          Case{"fof in.npy -o out.hdf5 --color red", "--color"},
          Case{"fof in.npy -o out.txt", "out.txt"},
          Case{"fof in.npy -o halos.csv", "add --table halos.csv"},
          Case{"fof 'snap_002.*' -o out.hdf5", "give the stem, snap_002,"},
          Case{"info '*'", "leave them out"},
          Case{"knn in.npy -k 3 --psi-sigma 0.5 -o out.npz",
               "kith knn has no option --psi-sigma; it is one of kith fof, kith halos, kith hierarchy, kith mst"},
          Case{"fof in.npy --linking_length 0.2 -o out.hdf5", "did you mean --linking-length?"},
          Case{"fof in.npy --ll 0.2 -o out.hdf5", "did you mean --linking-length?"},
          Case{"fof in.npy --type 1 -o out.hdf5", "did you mean --types?"},
          Case{"fof in.npy --minmembers 10 -o out.hdf5", "did you mean --min-members?"},
          Case{"fof in.npy --route tree -o out.hdf5", "did you mean --engine?"},
          Case{"fof in.npy -psi 3 -o out.hdf5", "did you mean --psi?"},
          Case{"knn in.npy -k16 --typs=1 -o out.npz", "kith knn has no option --typs; did you mean --types?"},
          Case{"knn in.npy -k 3 --color red -o out.npz", "'kith knn --help' lists those it has"},
          Case{"--verison", "kith has no option --verison; did you mean --version?"},
          Case{"fof in.npy -o out.hdf5 -b -1", "-1"},
          Case{"fof in.npy -o out.hdf5 -b nan", "nan"},
          Case{"fof in.npy -o out.hdf5 -b 0.2 --linking-length 1", "--linking-length"},
          Case{"fof in.npy -o out.hdf5 --min-members 0", "'0'"},
          Case{"fof in.npy -o out.hdf5 --types dark", "dark"},
          Case{"fof in.npy -o out.hdf5 --types 7", "'7'"},
          Case{"fof in.npy -o out.hdf5 --box cube", "cube"},
          Case{"fof in.npy -o out.hdf5 --box -1", "-1"},
          Case{"fof in.npy -o out.hdf5 --threads x", "'x'"},
          Case{"fof in.npy -o out.hdf5 --threads -2", "'-2'"},
          Case{"fof in.npy -o out.hdf5 --device gpu", "'gpu'"},
          Case{"knn in.npy -k 3 -o out.npz --device cuda:x", "'cuda:x'"},
          Case{"knn in.npy -k 3 -o out.npz --hubs 5", "--hub-selection and --seed are options of --engine clover"},
          Case{"knn in.npy -k 3 -o out.npz --engine tree --clover hierarchical", "options of --engine clover"},
          Case{"knn in.npy -k 3 -o out.npz --engine clover --clover round", "--clover is 'round'; give one of: hier"},
          Case{"knn in.npy -k 3 -o out.npz --engine clover --clover flat --hubs 0", "'0'"},
          Case{"knn in.npy -k 3 -o out.npz --engine clover --clover flat --hub-selection best", "random, kmeans++"},
          Case{"knn in.npy -k 3 -o out.npz --engine clover --clover flat --seed -1", "'-1'"},
          Case{"knn in.npy -k 3 -o out.npz --device cuda:-1", "'cuda:-1'"},
          Case{"fof in.npy -o out.hdf5 --labels out.csv", "out.csv"},
          Case{"fof in.npy -o out.hdf5 --map out.jpg", "out.jpg"},
          Case{"fof in.npy -o out.hdf5 --grp x --gtp x", "--grp"},
          Case{"fof in.hdf5 -o in.hdf5", "input"},
          Case{"knn in.npy -o out.npz", "-k"},
          Case{"knn in.npy -k 4", "--output"},
          Case{"knn in.npy -k 0 -o out.npz", "'0'"},
          Case{"knn in.npy -k 2.5 -o out.npz", "2.5"},
          Case{"knn in.npy -k 4000000000 -o out.npz", "4000000000"},
          Case{"knn in.npy -k 1e30 -o out.npz", "1e30; it can be 2147483647 at most"},
          Case{"fof in.npy --labels -o out.hdf5", "expected before '-o'"},
          Case{"fof in.npy -o out.hdf5 --engine clover", "auto, tree, brute, kdtree, spanning-tree"},
          Case{"radius in.npy -r 1 -o out.npz --engine clover", "auto, tree, brute, kdtree"},
          Case{"hierarchy in.npy -b 0.1 0.2 -o out.hdf5", "commas between them"},
          Case{"hierarchy in.npy -b 0.1,,0.2 -o out.hdf5", "'0.1,,0.2'"},
          Case{"knn in.npy -k 4 -o out.csv", ".npz or .hdf5"},
          Case{"knn in.npy -k 4 -o out.npz --engine magic", "brute, k"},
          Case{"knn in.npy -k 4 -o out.npz --max-distance -3", "-3"},
          Case{"knn in.npy -k 4 -o out.npz --queries q.npy --exclude-self", "--exclude-self"}}) {
        const Outcome outcome = kith(wrong.arguments);
        EXPECT_EQ(outcome.exit_code, 2) << wrong.arguments;
        EXPECT_EQ(outcome.out, "") << wrong.arguments;
        EXPECT_NE(outcome.err.find(wrong.named), std::string::npos) << wrong.arguments << ": " << outcome.err;
    }
    EXPECT_TRUE(files().empty());
}

TEST_F(Usage, EmptyFileNamesAreRefusedByOption) {
    write_npy("in.npy", std::vector<double>{0, 0, 0, 1, 1, 1}, 3);
    struct Case {
        const char* arguments;
        const char* named;
    };
    for (const Case& wrong :
         {Case{"info ''", "FILE"}, Case{"knn '' -k 1 -o out.npz", "POINTS"}, Case{"knn in.npy -k 1 -o ''", "--output"},
          Case{"knn in.npy -k 1 -o out.npz --queries ''", "--queries"}, Case{"fof '' -o out.hdf5", "SNAPSHOT"},
          Case{"fof in.npy -o ''", "--output"}, Case{"fof in.npy -o out.hdf5 --labels ''", "--labels"},
          Case{"fof in.npy -o out.hdf5 --grp ''", "--grp"}, Case{"fof in.npy -o out.hdf5 --gtp ''", "--gtp"},
          Case{"fof in.npy -o out.hdf5 --map ''", "--map"}}) {
        const Outcome outcome = kith(wrong.arguments);
        EXPECT_EQ(outcome.exit_code, 2) << wrong.arguments;
        EXPECT_EQ(outcome.out, "") << wrong.arguments;
        EXPECT_NE(outcome.err.find(wrong.named), std::string::npos) << wrong.arguments << ": " << outcome.err;
        EXPECT_NE(outcome.err.find("empty"), std::string::npos) << wrong.arguments << ": " << outcome.err;
    }
    EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});
}

TEST_F(Usage, ANameThatIsTooLongSaysSo) {
    const Outcome outcome = kith("knn in.npy -k 1 -o " + std::string(300, 'x') + ".npz");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("304 characters"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("shorter"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("writable"), std::string::npos) << outcome.err;
}

TEST_F(Usage, ATipsyFileOfGroupsNeedsThreeAxes) {
    write_npy("in.npy", std::vector<double>{0, 0, 1, 1}, 2);
    const Outcome outcome = kith("fof in.npy --linking-length 2 --min-members 2 -o out.hdf5 --gtp out.gtp");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("--gtp"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("leave --gtp out"), std::string::npos) << outcome.err;
    EXPECT_EQ(files(), std::vector<std::string>{"in.npy"});
}

TEST_F(Usage, ABoxForOtherAxesIsWrongUsage) {
    write_npy("in.npy", std::vector<double>{0, 0, 0, 1, 1, 1}, 3);
    const Outcome outcome = kith("knn in.npy -k 1 -o out.npz --box 1,2");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("2 periods"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("3 axes"), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists("out.npz"));
}

TEST_F(Usage, QueriesOfOtherAxesAreWrongUsage) {
    write_npy("in.npy", std::vector<double>{0, 0, 0, 1, 1, 1}, 3);
    write_npy("q.npy", std::vector<double>{0, 0}, 2);
    const Outcome outcome = kith("knn in.npy -k 1 -o out.npz --queries q.npy");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("q.npy"), std::string::npos) << outcome.err;
}

// As under the launcher of an MPI that is not the program's: copies that know nothing of each other must not all write
// the same file.
TEST_F(Usage, CopiesThatALauncherStartedButDoNotKnowOfEachOtherRefuse) {
    write_npy("points.npy", std::vector{0.0, 0.0, 1.0, 0.0, 0.0, 1.0}, 2);
    for (const char* variable : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "MPI_LOCALNRANKS"}) {
        const Outcome outcome =
            kith("knn points.npy -k 1 -o near.npz", std::string("env -u PMI_RANK ") + variable + "=3");
        EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
        EXPECT_NE(outcome.err.find(std::string("3 processes were started together (") + variable + " is 3)"),
                  std::string::npos)
            << outcome.err;
        EXPECT_NE(outcome.err.find("was built with"), std::string::npos) << outcome.err;
        EXPECT_FALSE(exists("near.npz"));
        EXPECT_EQ(kith("knn points.npy -k 1 -o near.npz", std::string(variable) + "=1").exit_code, 0);
        std::filesystem::remove(directory_ / "near.npz");
    }
    for (const char* rank : {"0", "2"}) { // of which one speaks
        const Outcome launched =
            kith("knn points.npy -k 1 -o near.npz", std::string("OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=") + rank);
        EXPECT_EQ(launched.exit_code, 2) << launched.err;
        EXPECT_EQ(launched.err.find("3 processes") != std::string::npos, rank[0] == '0') << launched.err;
        EXPECT_EQ(launched.err.empty(), rank[0] != '0') << launched.err;
        EXPECT_FALSE(exists("near.npz"));
    }
}

} // namespace
