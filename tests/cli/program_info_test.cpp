// kith info describes a file.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <limits>

namespace {

using kith::test::Outcome;
using Json = nlohmann::json;
using Info = kith::test::ProgramTest;

TEST_F(Info, DescribesAnArray) {
    write_npy("in.npy", std::vector<float>{0.1F, 5, -3, 7}, 2);
    const Outcome people = kith("info in.npy");
    ASSERT_EQ(people.exit_code, 0) << people.err;
    EXPECT_NE(people.out.find("-3 to 0.1"), std::string::npos) << people.out;
    const Json json = Json::parse(kith("info in.npy --json").out);
    EXPECT_EQ(json["n"], 2);
    EXPECT_EQ(json["dimension"], 2);
    EXPECT_EQ(json["dtype"], "float32");
    EXPECT_EQ(json["extents"][1], (std::vector<double>{5, 7}));
    EXPECT_TRUE(json["box_size"].is_null());
    EXPECT_TRUE(json["masses"].is_null());
}

TEST_F(Info, CountsWhatIsNoNumber) {
    write_npy("in.npy", std::vector<double>{1, std::numeric_limits<double>::quiet_NaN(), 2, 3}, 2);
    const Outcome outcome = kith("info in.npy --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["not_finite"], 1);
}

TEST_F(Info, CountsParticlesByType) {
    const std::filesystem::path file = std::filesystem::path(KITH_SHARED_DATA) / "tipsy" / "run99.std";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "the real files are not here: " << file;
    }
    const Outcome outcome = kith("info --json '" + std::filesystem::absolute(file).string() + "'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["counts"], (std::vector<int>{1049, 1021, 0, 0, 6509, 0, 0}));
}

TEST_F(Info, RefusesWhatIsNoSnapshot) {
    const Outcome outcome = kith("info words.txt", "echo 'not a snapshot' > words.txt &&");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("words.txt"), std::string::npos) << outcome.err;
}

} // namespace
