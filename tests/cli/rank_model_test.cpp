// The model behind kith plan: its geometry, and its volumes beside those of ranks that are threads.
#include "cli/rank_costs.hpp"
#include "cli/rank_model.hpp"
#include "cli/sample_points.hpp"
#include "support/cases.hpp"

#include <kith/distributed.hpp>
#include <kith/error.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {
namespace {

TEST(RankModel, BlocksAreAsEqualAsTheFactorsOfTheRanksAllow) {
    EXPECT_EQ(blocks_of(1, 3), (std::vector{1, 1, 1}));
    EXPECT_EQ(blocks_of(2, 3), (std::vector{2, 1, 1}));
    EXPECT_EQ(blocks_of(7, 2), (std::vector{7, 1}));
    EXPECT_EQ(blocks_of(8, 3), (std::vector{2, 2, 2}));
    EXPECT_EQ(blocks_of(12, 3), (std::vector{3, 2, 2}));
    EXPECT_EQ(blocks_of(30, 2), (std::vector{6, 5}));
    EXPECT_EQ(blocks_of(4096, 3), (std::vector{16, 16, 16}));
    EXPECT_EQ(blocks_of(2 * 65537, 3), (std::vector{65537, 2, 1}));
}

TEST(RankModel, ALayerIsTheVolumeAroundABlock) {
    EXPECT_EQ(points_in_layer(1000, {1, 1, 1}, 3), 0);
    EXPECT_DOUBLE_EQ(points_in_layer(1000, {4, 4, 4}, 1), 12 * 12 * 12 - 1000); // blocks of 10, by 1 on either side
    EXPECT_DOUBLE_EQ(points_in_layer(1000, {3, 3, 1}, 0), 0);
    EXPECT_DOUBLE_EQ(points_in_layer(100, {2, 2}, 1000), 300); // no more than there are
    for (const double layer : {0.1, 1.0, 2.5}) {
        EXPECT_NEAR(layer_of(points_in_layer(1000, {4, 2, 1}, layer), 1000, {4, 2, 1}), layer, 1e-9);
    }
}

// What the page of ranks and kith plan rely on: within a factor of 1.2. The constants come from 8 ranks of 20,000
// points, the volumes from others of 100, 6,000 and 40,000.
TEST(RankModel, ModeledVolumesAreNearMeasuredOnes) {
    if (!test::is_built(3)) {
        GTEST_SKIP() << "dimension 3 is not built";
    }
    RankConstants wanted;
    wanted.points_per_rank = 20'000;
    const RankConstants constants = measure_rank_constants(wanted, cpu(1));
    for (const std::int64_t per_rank : {100, 6'000, 40'000}) {
        for (int count = 1; count <= (per_rank > 10'000 ? 4 : 8); ++count) {
            const std::vector<int> blocks = blocks_of(count, 3);
            const io::RealArray points = sample_points(SampleSet::uniform, per_rank * count, 3, DType::float32);
            std::vector<Traffic> neighbors(static_cast<std::size_t>(count));
            std::vector<Traffic> groups(static_cast<std::size_t>(count));
            run_ranks(count, [&](Communicator& ranks) {
                const auto rank = static_cast<std::size_t>(ranks.rank());
                const io::RealArray mine = points_of_block(points, ranks.rank(), blocks);
                const Box box = Box::periodic(1);
                neighbors[rank] =
                    knn(mine.view(), 16, {.box = box, .execution = over(ranks, cpu(1))}).distribution->traffic;
                groups[rank] =
                    fof(mine.view(), LinkingLength::relative(0.2), {.box = box, .execution = over(ranks, cpu(1))})
                        .distribution->traffic;
            });
            const auto expect_near = [&](const std::vector<Traffic>& traffic, const CallCost& cost, double factor) {
                double measured = 0;
                for (const Traffic& of_rank : traffic) {
                    measured += static_cast<double>(of_rank.bytes_received) / count;
                }
                const double modeled =
                    plan_of(cost, constants, {static_cast<double>(per_rank * count), count, 1, 0}).bytes;
                if (count == 1) {
                    EXPECT_EQ(measured, 0);
                    EXPECT_EQ(modeled, 0);
                    return;
                }
                EXPECT_LT(modeled, factor * measured) << count << " ranks of " << per_rank;
                EXPECT_GT(factor * modeled, measured) << count << " ranks of " << per_rank;
                RecordProperty("ratio_" + std::to_string(count) + "_" + std::to_string(per_rank) +
                                   (&cost == &constants.knn ? "_knn" : "_fof"),
                               std::to_string(modeled / measured));
            };
            expect_near(neighbors, constants.knn, 1.2);
            expect_near(groups, constants.fof, 1.2);
        }
    }
}

TEST(RankModel, TopPlanesHaveAtMost256Nodes) {
    EXPECT_EQ(top_nodes(0), 0);
    EXPECT_EQ(top_nodes(1), 1);
    for (const double points : {1e2, 1e3, 7e3, 1e4, 1e6, 1e9}) {
        EXPECT_LE(top_nodes(points), 256) << points;
        EXPECT_GE(top_nodes(points), std::min(points / 40, 32.0)) << points;
    }
}

TEST(RankModel, EveryOtherRankCostsAMessageAndBytes) {
    RankConstants constants;
    constants.fof.rank_bytes = 400;
    const auto plan = [&](int ranks, double latency) {
        return plan_of(constants.fof, constants, {1000.0 * ranks, ranks, 1e9, latency});
    };
    const double each = 400 + top_nodes(1000) * constants.node_bytes();
    EXPECT_DOUBLE_EQ(plan(8, 0).bytes, 7 * each);
    EXPECT_DOUBLE_EQ(plan(4096, 0).bytes, 4095 * each);
    EXPECT_NEAR(plan(4096, 1).all_seconds() - plan(4096, 0).all_seconds(), 4095 + plan(4096, 0).messages, 1e-6);
}

TEST(RankModel, ConstantsSurviveJson) {
    RankConstants constants;
    constants.dtype = DType::float64;
    constants.points_per_rank = 1000;
    constants.ranks = 8;
    constants.knn.rank_bytes = 12.5;
    constants.fof.layer = 0.25;
    constants.fof.per_point = {{"order", 1e-9}, {"link", 2e-9}};
    const Json json = json_of(constants);
    EXPECT_EQ(json_of(rank_constants_of(json, "node.json")), json);
    const auto refuses = [](const Json& other, const std::string& says) {
        try {
            static_cast<void>(rank_constants_of(other, "node.json"));
            ADD_FAILURE() << other;
        } catch (const Error& error) {
            const std::string text = error.what();
            EXPECT_EQ(error.kind(), ErrorKind::file);
            EXPECT_NE(text.find("kith bench --ranks --json > node.json"), std::string::npos) << text;
            EXPECT_NE(text.find(says), std::string::npos) << text;
            EXPECT_EQ(text.find("exception"), std::string::npos) << text;
        }
    };
    Json of_another_kind = json;
    of_another_kind["kind"] = "map";
    for (const Json& other : {Json::parse("{}"), Json::parse("[1]"), Json(), Json(3), of_another_kind}) {
        refuses(other, "no JSON of kith bench --ranks");
    }
    for (const auto& [name, value] : {std::pair<const char*, Json>{"dimension", 9},
                                      {"dtype", "int"},
                                      {"k", 0},
                                      {"points_per_rank", 2.5},
                                      {"ranks", -1},
                                      {"threads", 1LL << 40},
                                      {"b", -1}}) {
        Json other = json;
        other[name] = value;
        refuses(other, name);
    }
}

} // namespace
} // namespace kith::cli
