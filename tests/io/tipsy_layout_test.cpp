// The decision about a Tipsy file's layout, from header bytes and a claimed length: no file is needed, so files of more
// than 2^32 particles are covered too.
#include "io/files.hpp"
#include "io/tipsy_layout.hpp"

#include <bit>
#include <limits>

using namespace kith;
using namespace kith::test;
using io::TipsyLayout;

namespace {

struct Words {
    std::endian order = std::endian::big;
    std::uint32_t total = 6, dimension = 3, gas = 1, dark = 2, star = 3, last = 0;
};

std::string header(const Words& w) {
    Bytes bytes(w.order);
    bytes.add(0.25).add(w.total).add(w.dimension).add(w.gas).add(w.dark).add(w.star).add(w.last);
    return bytes.text();
}

TipsyLayout decide(const Words& words, std::int64_t length) {
    const std::string text = header(words);
    return io::decide_tipsy_layout(std::as_bytes(std::span(text)), length, "a.std");
}

bool recognized(const Words& words, std::int64_t length) {
    const std::string text = header(words);
    return io::is_tipsy(std::as_bytes(std::span(text)), length);
}

constexpr std::int64_t body = 48 + 2 * 36 + 3 * 44; // of one gas, two dark, three star particles

TEST(TipsyLayout, StandardAndNative) {
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        const TipsyLayout layout = decide({.order = order}, 32 + body);
        EXPECT_EQ(layout.order, order);
        EXPECT_EQ(layout.time, 0.25);
        EXPECT_EQ(layout.header_bytes, 32);
        EXPECT_EQ(layout.counts, (std::array<std::int64_t, 3>{1, 2, 3}));
        EXPECT_FALSE(layout.wide_positions || layout.wide_velocities);
        EXPECT_EQ(layout.offset(TipsyLayout::dark), 32 + 48);
        EXPECT_EQ(layout.offset(TipsyLayout::star), 32 + 48 + 2 * 36);
        EXPECT_TRUE(layout.warnings.empty());
    }
}

TEST(TipsyLayout, GarbageInThePaddingIsNotRead) {
    for (const std::uint32_t garbage : {1U, 0x7ffeU, 0x7f26U, 0xffffffffU, std::bit_cast<std::uint32_t>(0.5F)}) {
        const TipsyLayout layout = decide({.last = garbage}, 32 + body);
        EXPECT_EQ(layout.counts, (std::array<std::int64_t, 3>{1, 2, 3})) << garbage;
        EXPECT_EQ(layout.header_bytes, 32);
    }
}

TEST(TipsyLayout, WideRecordsAreToldByTheLength) {
    const TipsyLayout positions = decide({}, 32 + body + 6 * 12);
    EXPECT_TRUE(positions.wide_positions);
    EXPECT_FALSE(positions.wide_velocities);
    EXPECT_EQ(positions.record_bytes(TipsyLayout::gas), 60);
    EXPECT_EQ(positions.record_bytes(TipsyLayout::dark), 48);
    EXPECT_EQ(positions.record_bytes(TipsyLayout::star), 56);
    const TipsyLayout both = decide({}, 32 + body + 6 * 24);
    EXPECT_TRUE(both.wide_positions && both.wide_velocities);
    EXPECT_EQ(both.record_bytes(TipsyLayout::dark), 60);
}

TEST(TipsyLayout, HeadersOf28Bytes) {
    const std::uint32_t mass = std::bit_cast<std::uint32_t>(1.5e-5F);
    EXPECT_EQ(decide({.last = mass}, 28 + body).header_bytes, 28);
    EXPECT_TRUE(decide({.last = mass}, 28 + body + 6 * 12).wide_positions);
    EXPECT_EQ(decide({.total = 0, .gas = 0, .dark = 0, .star = 0}, 28).header_bytes, 28);
}

TEST(TipsyLayout, ALostTailIsNotAShortHeader) {
    for (const std::uint32_t padding : {0U, 1U, 0x7ffeU}) {
        expect_error(ErrorKind::file, {"too short", "byte 284", "byte 280"},
                     [&] { static_cast<void>(decide({.last = padding}, 28 + body)); });
    }
}

TEST(TipsyLayout, HighBitsOfTheCounts) {
    // 2^32 + 5 dark and 3 star particles: byte 0 belongs to the total, 1 to gas, 2 to dark, 3 to star.
    const Words words{.total = 8, .gas = 0, .dark = 5, .star = 3, .last = 0x00010001};
    const std::int64_t dark = (std::int64_t{1} << 32) + 5;
    const std::int64_t length = 32 + dark * 36 + 3 * 44;
    EXPECT_TRUE(recognized(words, length));
    const TipsyLayout layout = decide(words, length);
    EXPECT_EQ(layout.counts, (std::array<std::int64_t, 3>{0, dark, 3}));
    EXPECT_TRUE(layout.warnings.empty());
    EXPECT_TRUE(decide(words, length + (dark + 3) * 12).wide_positions);

    const Words all{.total = 6, .gas = 1, .dark = 2, .star = 3, .last = 0x03020106};
    const TipsyLayout each = decide(all, 32 + (1 + (1LL << 32)) * 48 + (2 + (2LL << 32)) * 36 + (3 + (3LL << 32)) * 44);
    EXPECT_EQ(each.counts, (std::array<std::int64_t, 3>{1 + (1LL << 32), 2 + (2LL << 32), 3 + (3LL << 32)}));
    EXPECT_TRUE(each.warnings.empty());
}

TEST(TipsyLayout, CountsBeyondTheSignedRange) {
    const std::int64_t dark = 3000000000;
    const TipsyLayout layout = decide(
        {.total = static_cast<std::uint32_t>(dark), .gas = 0, .dark = static_cast<std::uint32_t>(dark), .star = 0},
        32 + dark * 36);
    EXPECT_EQ(layout.counts[1], dark);
}

TEST(TipsyLayout, TooShortAndTooLong) {
    expect_error(ErrorKind::file, {"a.std", "1 gas, 2 dark and 3 star", "byte 284", "byte 283"},
                 [] { static_cast<void>(decide({}, 32 + body - 1)); });
    const TipsyLayout longer = decide({}, 32 + body + 10);
    EXPECT_FALSE(longer.wide_positions);
    ASSERT_EQ(longer.warnings.size(), 1U);
    EXPECT_NE(longer.warnings[0].find("10 bytes longer"), std::string::npos);
    // Ten bytes short of wide positions: not silently read as narrow ones.
    expect_error(ErrorKind::file, {"284", "356", "428", "ends at byte 346"},
                 [] { static_cast<void>(decide({}, 32 + body + 6 * 12 - 10)); });
    EXPECT_EQ(decide({}, 32 + body + 1000).warnings.size(), 1U);
}

TEST(TipsyLayout, ATotalThatDisagreesIsOnlyAWarning) {
    const TipsyLayout layout = decide({.total = 99}, 32 + body);
    EXPECT_EQ(layout.counts, (std::array<std::int64_t, 3>{1, 2, 3}));
    ASSERT_EQ(layout.warnings.size(), 1U);
    EXPECT_NE(layout.warnings[0].find("announces 99"), std::string::npos);
    EXPECT_EQ(decide({.dimension = 2}, 32 + body).warnings.size(), 1U);
}

TEST(TipsyLayout, Recognition) {
    EXPECT_TRUE(recognized({}, 32 + body));
    EXPECT_TRUE(recognized({}, 40));                   // a truncated one is still Tipsy, and refused as such
    EXPECT_TRUE(recognized({.total = 99}, 32 + body)); // the length confirms the counts
    EXPECT_FALSE(recognized({.total = 99}, 4000));
    EXPECT_FALSE(recognized({.dimension = 0}, 32 + body));
    EXPECT_FALSE(recognized({.dimension = 4}, 32 + body));
    const std::string text = header({});
    EXPECT_FALSE(io::is_tipsy(std::as_bytes(std::span(text).first(27)), 27));
}

TEST(TipsyLayout, ATimeThatIsNotANumberIsUnknown) {
    for (const double time : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        std::string text = header({});
        text.replace(0, 8, Bytes(std::endian::big).add(time).text());
        const auto bytes = std::as_bytes(std::span(text));
        EXPECT_TRUE(io::is_tipsy(bytes, 32 + body));
        EXPECT_FALSE(io::is_tipsy(bytes, 32 + body + 1)); // no other sign of Tipsy is left
        const TipsyLayout layout = io::decide_tipsy_layout(bytes, 32 + body, "a.std");
        ASSERT_EQ(layout.warnings.size(), 1U);
        EXPECT_NE(layout.warnings.front().find("the time is taken as unknown"), std::string::npos);
        const TemporaryFolder folder;
        write_bytes(folder / "a.std", text + std::string(body, '\0'));
        EXPECT_FALSE(io::read_header(folder / "a.std").time);
    }
}

} // namespace
