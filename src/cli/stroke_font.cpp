// Letters are strokes on a grid: capitals are six units high, small letters four. In the table a point is a digit, x,
// and a letter, y, where c is the baseline and i the top of capitals. Strokes are separated by blanks. A stroke is
// straight between its points; after ~ the points are the control polygon of a quadratic B-spline from the first to the
// last, after @ of a closed one. The curves are made by cutting corners (Chaikin 1974).
#include "cli/stroke_font.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace kith::cli {

namespace {

struct Glyph {
    char character;
    std::string_view strokes;
};

constexpr double cap_height = 6;
constexpr double gap = 1.7;
constexpr double blank_width = 2.2;
constexpr std::string_view unknown_glyph = "0c0g3g3c0c";

constexpr std::array glyphs = std::to_array<Glyph>({
    {'0', "@0c4c4i0i"},
    {'1', "0g2i2c"},
    {'2', "~0g0i4i4f0c 0c4c"},
    {'3', "~0h1i4i4f1f ~1f4f4c0c0d"},
    {'4', "3c3i0e4e"},
    {'5', "4i0i0f ~0f1g4g4c0c0d"},
    {'6', "~3i0h0e @0c4c4g0g"},
    {'7', "0i4i1c"},
    {'8', "@0c4c4f0f @0f4f4i0i"},
    {'9', "~1c4d4g @0e4e4i0i"},
    {'A', "0c2i4c 1e3e"},
    {'B', "0c0i ~0i4i4f0f ~0f4f4c0c"},
    {'C', "~4h3i0i0c3c4d"},
    {'D', "0c0i ~0i4i4c0c"},
    {'E', "4i0i0c4c 0f3f"},
    {'F', "4i0i0c 0f3f"},
    {'G', "~4h3i0i0c4c4f 4f2f"},
    {'H', "0c0i 4c4i 0f4f"},
    {'I', "0c0i"},
    {'J', "~0d0c3c3e 3e3i"},
    {'K', "0c0i 4i0e 1f4c"},
    {'L', "0i0c4c"},
    {'M', "0c0i2e4i4c"},
    {'N', "0c0i4c4i"},
    {'O', "@0c5c5i0i"},
    {'P', "0c0i ~0i4i4f0f"},
    {'Q', "@0c5c5i0i 3e5c"},
    {'R', "0c0i ~0i4i4f0f 2f4c"},
    {'S', "~4h4i0i0f4f4c0c0d"},
    {'T', "0i4i 2i2c"},
    {'U', "0i0e ~0e0c4c4e 4e4i"},
    {'V', "0i2c4i"},
    {'W', "0i1c3i5c6i"},
    {'X', "0c4i 0i4c"},
    {'Y', "0i2f4i 2f2c"},
    {'Z', "0i4i0c4c"},
    {'a', "@0c3c3g0g 3g3c"},
    {'b', "0i0c @0c3c3g0g"},
    {'c', "~3f3g0g0c3c3d"},
    {'d', "3i3c @0c3c3g0g"},
    {'e', "0e3e ~3e3g0g0c3c3d"},
    {'f', "~2i1i1g 1g1c 0g2g"},
    {'g', "@0c3c3g0g 3g3c ~3c3a0a0b"},
    {'h', "0i0c ~0e0g3g3e 3e3c"},
    {'i', "0g0c 0i0i"},
    {'j', "~1g1a0a 1i1i"},
    {'k', "0i0c 3g0d 1e3c"},
    {'l', "0i0c"},
    {'m', "0g0c ~0e0g3g3e 3e3c ~3e3g6g6e 6e6c"},
    {'n', "0g0c ~0e0g3g3e 3e3c"},
    {'o', "@0c3c3g0g"},
    {'p', "0g0a @0c3c3g0g"},
    {'q', "3g3a @0c3c3g0g"},
    {'r', "0g0c ~0e0g2g"},
    {'s', "~3f3g0g0e3e3c0c0d"},
    {'t', "1h1d ~1d1c2c 0g2g"},
    {'u', "0g0e ~0e0c3c3e 3g3c"},
    {'v', "0g2c4g"},
    {'w', "0g1c3g5c6g"},
    {'x', "0c3g 0g3c"},
    {'y', "0g2c 4g1a"},
    {'z', "0g3g0c3c"},
    {' ', ""},
    {'.', "0c0c"},
    {',', "1c0b"},
    {':', "0c0c 0f0f"},
    {'-', "0e3e"},
    {'_', "0b4b"},
    {'+', "0e4e 2c2g"},
    {'=', "0d4d 0f4f"},
    {'/', "0b3i"},
    {'(', "~2i0g0d2b"},
    {')', "~0i2g2d0b"},
});

Polyline cut_corners(Polyline line, bool closed) {
    for (int round = 0; round < 4; ++round) {
        Polyline finer;
        const std::size_t edges = closed ? line.size() : line.size() - 1;
        if (!closed) {
            finer.push_back(line.front());
        }
        for (std::size_t i = 0; i < edges; ++i) {
            const Point a = line[i];
            const Point b = line[(i + 1) % line.size()];
            finer.push_back({0.75 * a.x + 0.25 * b.x, 0.75 * a.y + 0.25 * b.y});
            finer.push_back({0.25 * a.x + 0.75 * b.x, 0.25 * a.y + 0.75 * b.y});
        }
        if (!closed) {
            finer.push_back(line.back());
        }
        line = std::move(finer);
    }
    if (closed) {
        line.push_back(line.front());
    }
    return line;
}

/// The strokes of one glyph in grid units, y upwards from the baseline.
std::vector<Polyline> strokes_of(std::string_view table) {
    std::vector<Polyline> strokes;
    for (std::size_t begin = 0; begin < table.size();) {
        const std::size_t end = std::min(table.find(' ', begin), table.size());
        std::string_view stroke = table.substr(begin, end - begin);
        const char kind = stroke.front();
        if (kind == '~' || kind == '@') {
            stroke.remove_prefix(1);
        }
        Polyline line;
        for (std::size_t i = 0; i + 1 < stroke.size(); i += 2) {
            line.push_back({static_cast<double>(stroke[i] - '0'), static_cast<double>(stroke[i + 1] - 'c')});
        }
        strokes.push_back(kind == '~' || kind == '@' ? cut_corners(std::move(line), kind == '@') : std::move(line));
        begin = end + 1;
    }
    return strokes;
}

std::string_view table_of(char character) {
    const auto found = std::find_if(glyphs.begin(), glyphs.end(),
                                    [character](const Glyph& glyph) { return glyph.character == character; });
    return found == glyphs.end() ? unknown_glyph : found->strokes;
}

/// Whether a byte is one of UTF-8 that goes on with the character of the byte before.
bool continues_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

} // namespace

Lettering lettering_of(std::string_view words, double size) {
    const double unit = size / cap_height;
    Lettering lettering;
    double pen = 0;
    for (const char character : words) {
        if (continues_character(character)) {
            continue;
        }
        double right = character == ' ' ? blank_width - gap : 0;
        for (Polyline& stroke : strokes_of(table_of(character))) {
            for (Point& p : stroke) {
                right = std::max(right, p.x);
                p = {(pen + p.x) * unit, -p.y * unit};
            }
            lettering.lines.push_back(std::move(stroke));
        }
        pen += right + gap;
    }
    lettering.width = std::max(0.0, pen - gap) * unit;
    return lettering;
}

std::string shortened(std::string_view words, double size, double width) {
    std::string text(words);
    for (std::size_t kept = words.size(); kept > 0 && lettering_of(text, size).width > width;) {
        do {
            --kept;
        } while (kept > 0 && continues_character(words[kept]));
        text = std::string(words.substr(0, kept)) + "...";
    }
    return text;
}

} // namespace kith::cli
