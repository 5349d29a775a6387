// Times, numbers and the command line as they are reported.
#include "cli/report.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace kith;
using namespace kith::cli;

TEST(Report, StagesThatNeverRanCountZero) {
    StageClock clock({"read", "link", "write"});
    clock.add("link", 2);
    clock.add(StageReports{{"link", 0.5, 10}, {"extra", 1, 10}});
    const Json json = clock.json();
    EXPECT_EQ(json["read"], 0.0);
    EXPECT_EQ(json["link"], 2.5);
    EXPECT_EQ(json["extra"], 1.0);
    EXPECT_TRUE(json.contains("total"));
    EXPECT_EQ(clock.text().find("read"), std::string::npos);
    EXPECT_NE(clock.text().find("link 2.50 s"), std::string::npos);
}

TEST(Report, ThePeakOfAStageIsItsLargest) {
    StageClock clock({"read", "order"});
    EXPECT_EQ(clock.peaks_text(), "");
    clock.add("read", 1);
    clock.add(StageReports{{"order", 0.5, 3 << 19}, {"search", 1, 0}});
    clock.add(StageReports{{"order", 0.5, 1 << 19}, {"tree", 1, 1 << 20}});
    EXPECT_EQ(clock.peaks_json(), (Json{{"order", 3 << 19}, {"search", 0}, {"tree", 1 << 20}}));
    EXPECT_EQ(clock.peaks_text(), "order 1.5 MiB, tree 1.0 MiB");
}

TEST(Report, TimedBodiesReturnTheirValueAndAreBooked) {
    StageClock clock({"read"});
    EXPECT_EQ(clock.time("read", [] { return 7; }), 7);
    EXPECT_GT(clock.json()["read"].get<double>(), 0);
}

TEST(Report, SecondsAreReadable) {
    EXPECT_EQ(format_seconds(0.000234), "234 \u00b5s");
    EXPECT_EQ(format_seconds(0.00421), "4.2 ms");
    EXPECT_EQ(format_seconds(0.4219), "422 ms");
    EXPECT_EQ(format_seconds(12.3), "12.30 s");
}

TEST(Report, CountsHaveCommas) {
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(1000), "1,000");
    EXPECT_EQ(format_count(1234567), "1,234,567");
    EXPECT_EQ(format_count(-123456), "-123,456");
}

TEST(Report, LengthsReadBackToTheSameValue) {
    const float length = 0.006436597F;
    EXPECT_EQ(std::stof(format_length(length, DType::float32)), length);
    EXPECT_EQ(format_length(0.1F, DType::float32), "0.1");
    EXPECT_EQ(std::stod(format_length(1.0 / 3, DType::float64)), 1.0 / 3);
}

TEST(Report, TheCommandLineIsQuotedForAShell) {
    std::array<std::string, 4> words{"/usr/bin/kith", "fof", "my file.npy", "it's"};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), words[3].data()};
    EXPECT_EQ(invocation_of(4, arguments.data()).command, "kith fof 'my file.npy' 'it'\\''s'");
}

TEST(Report, PeakMemoryIsThatOfAProcess) {
    EXPECT_GT(peak_rss_bytes(), 1 << 20);
    EXPECT_EQ(format_bytes(3 << 19), "1.5 MiB");
    EXPECT_EQ(format_bytes(std::int64_t{5} << 29), "2.50 GiB");
}

} // namespace
