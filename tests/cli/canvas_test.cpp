// Shapes cover the pixels they should, and files are real PNG files.
#include "cli/canvas.hpp"

#include "cli/stroke_font.hpp"
#include "support/temporary_folder.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <string>
#include <string_view>

namespace {

using namespace kith::cli;

constexpr Color black{0, 0, 0};
constexpr Color white{1, 1, 1};

double ink_on(const Canvas& canvas) {
    double sum = 0;
    for (int y = 0; y < canvas.height(); ++y) {
        for (int x = 0; x < canvas.width(); ++x) {
            sum += canvas.pixel(x, y).green;
        }
    }
    return sum;
}

TEST(CanvasShapes, ARingCoversItsArea) {
    Canvas canvas(200, 200, black);
    canvas.ring({100, 100}, 60, 60, {white, 3, 1}, {0, 0, 200, 200});
    EXPECT_NEAR(ink_on(canvas), 2 * std::numbers::pi * 60 * 3, 15);
    EXPECT_EQ(canvas.pixel(100, 100).green, 0);
    EXPECT_GT(canvas.pixel(160, 100).green, 0.9F);
}

TEST(CanvasShapes, ARingIsCutOffAtItsClip) {
    Canvas canvas(200, 200, black);
    canvas.ring({100, 100}, 60, 60, {white, 3, 1}, {0, 0, 100, 200});
    EXPECT_NEAR(ink_on(canvas), std::numbers::pi * 60 * 3, 15);
    EXPECT_EQ(canvas.pixel(160, 100).green, 0);
    canvas.ring({1e9, -1e9}, 60, 60, {white, 3, 1}, {0, 0, 200, 200}); // far outside: nothing happens
    EXPECT_NEAR(ink_on(canvas), std::numbers::pi * 60 * 3, 15);
}

TEST(CanvasShapes, StrokesDoNotDoubleWhereTheyMeet) {
    Canvas canvas(100, 100, black);
    canvas.stroke({{{10, 50.5}, {50, 50.5}, {90, 50.5}}}, {white, 2, 0.5});
    EXPECT_NEAR(canvas.pixel(50, 50).green, 0.5, 1e-6);
    EXPECT_NEAR(canvas.pixel(30, 50).green, 0.5, 1e-6);
}

TEST(CanvasShapes, TextIsAlignedByItsWidth) {
    const double width = lettering_of("kith 0.1", 12).width;
    EXPECT_GT(width, lettering_of("kith", 12).width);
    EXPECT_NEAR(lettering_of("kith 0.1", 24).width, 2 * width, 1e-9);
    EXPECT_EQ(lettering_of("", 12).width, 0);
    Canvas canvas(200, 40, black);
    EXPECT_EQ(canvas.text("kith 0.1", {199, 30}, 12, {white, 1.4, 1}, Align::right), width);
    EXPECT_GT(ink_on(canvas), 30);
    for (int y = 0; y < 40; ++y) {
        for (int x = 0; x < 195 - width; ++x) {
            ASSERT_EQ(canvas.pixel(x, y).green, 0);
        }
    }
}

TEST(CanvasShapes, WordsAreShortenedByWholeCharacters) {
    EXPECT_EQ(shortened("kith", 12, lettering_of("kith", 12).width), "kith");
    const std::string words = "galaxie\u00e9\u00e9n.hdf5";
    EXPECT_EQ(lettering_of("a\u00e9\u6f22", 12).width, lettering_of("a\x01\x01", 12).width); // a box for each
    for (double width = 20; width < lettering_of(words, 12).width; ++width) {
        const std::string shorter = shortened(words, 12, width);
        EXPECT_LE(lettering_of(shorter, 12).width, width);
        ASSERT_TRUE(shorter.ends_with("..."));
        const std::string beginning = shorter.substr(0, shorter.size() - 3);
        EXPECT_TRUE(words.starts_with(beginning));
        EXPECT_NE(static_cast<unsigned char>(words[beginning.size()]) & 0xC0U, 0x80U) << "within a character";
    }
}

TEST(CanvasShapes, ALongTitleLeavesRoomForTheSubtitle) {
    const auto drawn = [](std::string_view title, std::string_view subtitle) {
        Canvas canvas(400, 40, black);
        canvas.heading(title, subtitle, {10, 30}, 390, white, white);
        return canvas;
    };
    const std::string title(200, 'M');
    const Canvas both = drawn(title, "12 groups");
    const Canvas alone = drawn("", "12 groups");
    const int begin = 390 - static_cast<int>(lettering_of("12 groups", 12).width) - 4;
    for (int x = begin; x < 400; ++x) {
        for (int y = 0; y < 40; ++y) {
            ASSERT_EQ(both.pixel(x, y).green, alone.pixel(x, y).green);
        }
    }
    EXPECT_GT(ink_on(both), 2 * ink_on(alone));
}

TEST(CanvasShapes, EveryPrintableCharacterHasAShape) {
    for (char c = '!'; c <= '~'; ++c) {
        EXPECT_FALSE(lettering_of(std::string(1, c), 12).lines.empty()) << c;
    }
}

TEST(CanvasFile, IsAPngOfThatSize) {
    const kith::test::TemporaryFolder folder;
    const auto path = folder / "canvas.png";
    Canvas(300, 20, black).write_png(path, {{"Software", "kith"}});
    std::ifstream file(path, std::ios::binary);
    std::array<unsigned char, 24> head{};
    file.read(reinterpret_cast<char*>(head.data()), head.size());
    const std::array<unsigned char, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    EXPECT_TRUE(std::equal(signature.begin(), signature.end(), head.begin()));
    EXPECT_EQ(head[18] * 256 + head[19], 300);
    EXPECT_EQ(head[22] * 256 + head[23], 20);
}

TEST(CanvasFile, NotesThatAreNotAsciiAreUtf8) {
    const kith::test::TemporaryFolder folder;
    const auto content_with = [&](const std::string& note) {
        Canvas(8, 8, black).write_png(folder / "canvas.png", {{"Source", note}});
        std::ifstream file(folder / "canvas.png", std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    EXPECT_NE(content_with("galaxies.npy").find("tEXtSource"), std::string::npos);
    const std::string content = content_with("\u00e9toiles.npy");
    EXPECT_NE(content.find("iTXtSource"), std::string::npos);
    EXPECT_NE(content.find("\u00e9toiles.npy"), std::string::npos);
}

TEST(CanvasFile, AFullOrMissingPlaceIsAnError) {
    EXPECT_THROW(Canvas(8, 8, black).write_png("/nowhere/at/all.png", {}), kith::Error);
    if (std::filesystem::exists("/dev/full")) {
        EXPECT_THROW(Canvas(600, 600, black).write_png("/dev/full", {}), kith::Error);
    }
}

} // namespace
