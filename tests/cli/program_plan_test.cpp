// kith plan, and the constants that kith bench --ranks makes for it.
#include "cli/program.hpp"

#include <nlohmann/json.hpp>

namespace {

using kith::test::Outcome;
using Json = nlohmann::json;

class Plan : public kith::test::ProgramTest {};

TEST_F(Plan, ModelsALargeMachineFromConstantsMeasuredHere) {
    const Outcome made = kith("bench --ranks -n 2000 --threads 1 --json > node.json && cp node.json kept.json &&"
                              " '" KITH_PROGRAM "' plan --points 1e12 --ranks 4096 --link 25e9 --constants node.json");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    for (const char* text : {"every number below is modeled", "16 x 16 x 16", "each rank has 2.44e+08 points",
                             "stored in node.json", "search pieces", "link pieces", "receives", "memory"}) {
        EXPECT_NE(made.out.find(text), std::string::npos) << text << "\n" << made.out;
    }
    const Outcome outcome = kith("plan --points 1e12 --ranks 4096 --constants node.json --json");
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["kind"], "model");
    EXPECT_EQ(json["link_bytes_per_second"], 25e9);
    double sum = 0;
    for (const auto& [stage, seconds] : json["knn"]["seconds"].items()) {
        sum += stage == "all" ? 0 : static_cast<double>(seconds);
    }
    EXPECT_NEAR(sum, json["knn"]["seconds"]["all"], 1e-9 * sum);
    EXPECT_GT(json["knn"]["memory_bytes_per_rank"], 2.4e8 * (12 + 16 * 12)); // points and rows
    EXPECT_EQ(json["constants"], Json::parse(read("kept.json")));
    const Json twice = Json::parse(kith("plan --points 1e12 --ranks 4096 --link 5e10 --latency 0 --constants node.json "
                                        "--json")
                                       .out);
    EXPECT_LT(twice["knn"]["seconds"]["exchange"], json["knn"]["seconds"]["exchange"]);
    EXPECT_EQ(twice["knn"]["bytes_received_per_rank"], json["knn"]["bytes_received_per_rank"]);
}

TEST_F(Plan, MeasuresTheConstantsIfNoneAreGiven) {
    const Outcome outcome = kith("plan --points 1e6 --ranks 1 -d 2 -k 4 -b 0.3 --float64");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const char* text :
         {"measured here, just now", "2 dimensions, float64", "k = 4", "b = 0.3", " 0 points of others"}) {
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text << "\n" << outcome.out;
    }
}

TEST_F(Plan, WrongUsage) {
    write_text("no.json", "{\"kind\": 3}");
    write_text("broken.json", "{\"kind\": ");
    for (const auto& [arguments, exit_code, text] :
         {std::tuple("--points 1e12", 2, "--ranks is required"), std::tuple("--ranks 8", 2, "--points is required"),
          std::tuple("--points 1e12 --ranks 0", 2, "--ranks is '0'"),
          std::tuple("--points 1e12 --ranks 100", 2, "give 466 ranks or more"),
          std::tuple("--points 1e6 --ranks 8 --link 0", 2, "--link is '0'"),
          std::tuple("--points 1e6 --ranks 8 --link nan", 2, "--link is 'nan'"),
          std::tuple("--points 1e6 --ranks 8 --constants gone.json", 1, "'gone.json', which cannot be read"),
          std::tuple("--points 1e6 --ranks 8 --constants no.json", 1,
                     "'no.json', which is no JSON of kith bench --ranks"),
          std::tuple("--points 1e6 --ranks 8 --constants broken.json", 1, "'broken.json', which"),
          std::tuple("--points 1e6 --ranks 8 --constants no.json -k 3", 2, "excludes")}) {
        const Outcome outcome = kith(std::string("plan ") + arguments);
        EXPECT_EQ(outcome.exit_code, exit_code) << arguments;
        EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
    }
    EXPECT_NE(kith("bench --ranks --set clustered").err.find("--ranks measures uniform"), std::string::npos);
}

} // namespace
