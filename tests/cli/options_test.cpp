// Texts of options become values or are refused with the text in the message.
#include "cli/options.hpp"

#include "cli/usage_error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace {

using namespace kith;
using namespace kith::cli;

std::string refusal(void (*parse)(std::string_view), std::string_view text) {
    try {
        parse(text);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

io::SnapshotHeader header_with(int dimension, std::optional<std::array<double, 3>> box_size) {
    io::SnapshotHeader header;
    header.dimension = dimension;
    header.box_size = box_size;
    return header;
}

TEST(Options, WholeNumbersAreDecimalAndBounded) {
    EXPECT_EQ(parse_whole("-k", "16", 1, 100), 16);
    EXPECT_EQ(parse_whole("-k", "010", 1, 100), 10);
    EXPECT_EQ(parse_whole("-n", "1e6", 1, 2'000'000), 1'000'000);
    EXPECT_EQ(parse_whole("-n", "1.5e6", 1, 2'000'000), 1'500'000);
    for (const char* text : {"", "0", "-3", "1.5", "1e3", "1e300", "inf", "nan", "1.5e0", "0x10", "many", " 7", "7 "}) {
        EXPECT_THROW((void)parse_whole("-k", text, 1, 100), UsageError) << text;
    }
    EXPECT_THROW((void)parse_whole("-k", "101", 1, 100), UsageError);
    EXPECT_THROW((void)parse_whole("-k", "99999999999999999999", 1, 100), UsageError);
}

TEST(Options, LengthsAreFiniteAndNotNegative) {
    EXPECT_EQ(parse_length("-b", "0.2"), 0.2);
    EXPECT_EQ(parse_length("-b", "1e-30"), 1e-30);
    EXPECT_EQ(parse_length("-b", "0"), 0);
    for (const char* text : {"", "-0.1", "nan", "inf", "0.2x", "0,2"}) {
        EXPECT_THROW((void)parse_length("-b", text), UsageError) << text;
    }
}

TEST(Options, SomeNumbersAreAboveZeroAndMayBeInfinite) {
    EXPECT_EQ(parse_positive("--psi-sigma", "0.2"), 0.2);
    EXPECT_EQ(parse_positive_or_infinite("--psi", "0.2"), 0.2);
    EXPECT_EQ(parse_positive_or_infinite("--psi", "inf"), std::numeric_limits<double>::infinity());
    for (const char* text : {"", "0", "-1", "-inf", "nan", "inf", "infx", "1,2"}) {
        EXPECT_THROW((void)parse_positive("--psi-sigma", text), UsageError) << text;
        if (text != std::string_view("inf")) {
            EXPECT_THROW((void)parse_positive_or_infinite("--psi", text), UsageError) << text;
        }
    }
}

TEST(Options, BoxesAreParsed) {
    EXPECT_EQ(parse_box("auto").kind, BoxChoice::Kind::automatic);
    EXPECT_EQ(parse_box("none").kind, BoxChoice::Kind::open);
    EXPECT_EQ(parse_box("2.5").periods, std::vector<double>{2.5});
    EXPECT_EQ(parse_box("1,0,3").periods, (std::vector<double>{1, 0, 3}));
    for (const char* text : {"", "1,,2", "1,2,", "-1", "nan", "inf", "periodic", "1;2", "1 2"}) {
        EXPECT_THROW((void)parse_box(text), UsageError) << text;
    }
    EXPECT_THROW((void)parse_box("1,1,1,1,1,1,1,1,1"), UsageError);
}

TEST(Options, DevicesAreParsed) {
    EXPECT_EQ(parse_device("cpu"), Device{});
    EXPECT_EQ(parse_device("cuda"), (Device{DeviceKind::cuda, 0}));
    EXPECT_EQ(parse_device("cuda:3"), (Device{DeviceKind::cuda, 3}));
    EXPECT_EQ(name_of(Device{DeviceKind::cuda, 3}), "cuda:3");
    EXPECT_EQ(execution_of({false, 2, {DeviceKind::cuda, 1}}, {}).device.index, 1);
    EXPECT_EQ(execution_of({false, 2, {}}, {}).threads, 2);
}

TEST(Options, RefusalsNameTheTextAndTheRemedy) {
    const std::string box = refusal([](std::string_view text) { (void)parse_box(text); }, "cube");
    EXPECT_NE(box.find("'cube'"), std::string::npos) << box;
    EXPECT_NE(box.find("none"), std::string::npos) << box;
    const std::string types = refusal([](std::string_view text) { (void)parse_types("--types", text); }, "dark");
    EXPECT_NE(types.find("'dark'"), std::string::npos) << types;
    EXPECT_NE(types.find("all"), std::string::npos) << types;
}

TEST(Options, TheAutomaticBoxIsTheFiles) {
    const ResolvedBox known = resolve_box(parse_box("auto"), header_with(3, {{1, 2, 3}}));
    EXPECT_EQ(known.box.period(0), 1);
    EXPECT_EQ(known.box.period(1), 2);
    EXPECT_EQ(known.box.period(2), 3);
    EXPECT_TRUE(resolve_box(parse_box("auto"), header_with(3, {{0, 0, 0}})).box.is_open());
    EXPECT_TRUE(resolve_box(parse_box("auto"), header_with(3, std::nullopt)).box.is_open());
    EXPECT_TRUE(resolve_box(parse_box("none"), header_with(3, {{1, 2, 3}})).box.is_open());
}

TEST(Options, AnInvalidBoxOfTheFileStopsOnlyWhoWantsIt) {
    io::SnapshotHeader header = header_with(3, std::nullopt);
    header.invalid_box = "a.hdf5: attribute BoxSize of /Header is -1, but a period is a finite number, 0 or more";
    try {
        (void)resolve_box(parse_box("auto"), header);
        FAIL() << "no error";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.kind(), ErrorKind::file);
        EXPECT_NE(text.find("BoxSize of /Header is -1"), std::string::npos) << text;
        EXPECT_NE(text.find("--box"), std::string::npos) << text;
    }
    EXPECT_EQ(resolve_box(parse_box("5"), header).box.period(2), 5);
    EXPECT_TRUE(resolve_box(parse_box("none"), header).box.is_open());
}

// The warnings, joined.
std::string box_warnings(const char* box, std::optional<std::array<double, 3>> stated, std::vector<float> points,
                         int dimension = 3) {
    io::Snapshot snapshot;
    snapshot.header = header_with(dimension, stated);
    snapshot.positions.columns = dimension;
    snapshot.positions.values = std::move(points);
    std::vector<std::string> warnings;
    add_box_warnings(warnings, parse_box(box), snapshot);
    return fmt::format("{}", fmt::join(warnings, "; "));
}

TEST(Options, ABoxThatContradictsTheFilesIsToldOf) {
    const std::array<double, 3> hundred = {100, 100, 100};
    const std::string other = box_warnings("67.74", hundred, {});
    EXPECT_NE(other.find("--box is 67.74 x 67.74 x 67.74"), std::string::npos) << other;
    EXPECT_NE(other.find("a box of 100 x 100 x 100"), std::string::npos) << other;
    EXPECT_NE(other.find("Without --box"), std::string::npos) << other;
    EXPECT_NE(box_warnings("100,100,50", hundred, {}), "");
    EXPECT_EQ(box_warnings("67.74", {{static_cast<double>(67.74F), 67.74, 67.74}}, {}), ""); // a file's float32
    EXPECT_EQ(box_warnings("100", {{100, 100, 7}}, {}, 2), ""); // of an axis that the points do not have
    for (const char* wanted : {"100", "100,100,0", "0", "none", "auto"}) {
        EXPECT_EQ(box_warnings(wanted, hundred, {}), "") << wanted;
    }
    EXPECT_EQ(box_warnings("50", {{0, 0, 0}}, {}), "");
    EXPECT_EQ(box_warnings("50", std::nullopt, {}), "");
}

TEST(Options, PointsWellBeyondAGivenBoxAreToldOf) {
    const auto warnings = [](const char* box) { return box_warnings(box, std::nullopt, {0, 0, 100, 1}, 2); };
    EXPECT_NE(warnings("67.74").find("over 100 on axis 0, but --box is 67.74"), std::string::npos) << warnings("67.74");
    for (const char* wanted : {"100", "95", "0,2", "none"}) { // 95: particles that left a box without being wrapped
        EXPECT_EQ(warnings(wanted), "") << wanted;
    }
}

TEST(Options, AGivenBoxHasOnePeriodOrOnePerAxis) {
    EXPECT_EQ(resolve_box(parse_box("5"), header_with(2, std::nullopt)).box.period(1), 5);
    EXPECT_EQ(resolve_box(parse_box("5,7"), header_with(2, std::nullopt)).box.period(1), 7);
    EXPECT_THROW((void)resolve_box(parse_box("5,7"), header_with(3, std::nullopt)), UsageError);
    EXPECT_TRUE(resolve_box(parse_box("0"), header_with(3, {{1, 2, 3}})).box.is_open());
}

TEST(Options, BoxesAreDescribed) {
    EXPECT_EQ(describe(Box{}, 3), "open");
    EXPECT_EQ(describe(Box::periodic(0.5), 2), "0.5 x 0.5");
    EXPECT_EQ(describe(Box::periodic({1, 0, 2}), 3), "1 x open x 2");
    EXPECT_EQ(describe(Box::periodic(43.3F), 2, DType::float32), "43.3 x 43.3"); // 43.299999 as a float64
}

TEST(Options, TypesAreSortedAndUnique) {
    EXPECT_EQ(parse_types("--types", "all").kind, io::TypeSelection::Kind::all);
    EXPECT_EQ(parse_types("--types", "auto").kind, io::TypeSelection::Kind::automatic);
    EXPECT_EQ(parse_types("--types", "4,0,4").types, (std::vector<int>{0, 4}));
    for (const char* text : {"", "7", "-1", "1,", "gas"}) {
        EXPECT_THROW((void)parse_types("--types", text), UsageError) << text;
    }
}

TEST(Options, TypesReadAreDescribed) {
    io::Snapshot snapshot;
    snapshot.types = {0, 0, 4};
    EXPECT_EQ(describe_types(snapshot), "types 0, 4");
    snapshot.types = {1};
    EXPECT_EQ(describe_types(snapshot), "type 1");
    snapshot.header.has_types = false;
    EXPECT_EQ(describe_types(snapshot), "");
}

} // namespace
