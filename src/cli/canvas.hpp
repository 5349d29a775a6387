// A picture in memory: antialiased lines, rings and text on sRGB pixels, and its way into a PNG file.
//
// Coordinates are pixels from the upper left corner, x to the right and y down; the center of the first pixel is at
// (0.5, 0.5). Shapes are blended by the part of each pixel that they cover, found from the distance to their axis.
#pragma once

#include "cli/color_map.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {

struct Point {
    double x = 0;
    double y = 0;
};

using Polyline = std::vector<Point>;

/// Pixels [left, right) x [top, bottom).
struct Rectangle {
    int left = 0;
    int top = 0;
    int right = 0;
    int bottom = 0;
};

/// A stroke's look: its width in pixels and how much it hides what is below.
struct Pen {
    Color color;
    double width = 1;
    double opacity = 1;
};

enum class Align { left, center, right };

class Canvas {
public:
    Canvas(int width, int height, Color background);

    [[nodiscard]] int width() const noexcept { return width_; }
    [[nodiscard]] int height() const noexcept { return height_; }
    [[nodiscard]] Color pixel(int x, int y) const;

    void set(int x, int y, Color color);
    void fill(const Rectangle& area, Color color);

    /// Outline just outside of an area, one pixel wide.
    void frame(const Rectangle& area, Color color);

    /// Connected segments with round ends, drawn as one shape: where strokes meet nothing is darker.
    void stroke(const std::vector<Polyline>& lines, const Pen& pen);

    /// A circle's outline (an ellipse's, if the two radii differ), cut off at `clip`.
    void ring(Point center, double radius_x, double radius_y, const Pen& pen, const Rectangle& clip);

    /// One line of text; `position` is on its baseline, `size` the height of capitals. Returns its width.
    double text(std::string_view words, Point position, double size, const Pen& pen, Align align = Align::left);

    /// One line with a title at the left and a subtitle at the right; a title that would reach into the subtitle is
    /// shortened.
    void heading(std::string_view title, std::string_view subtitle, Point left, double right, const Color& ink,
                 const Color& faint_ink);

    /// `notes` become the file's texts. Throws Error(file).
    void write_png(const std::filesystem::path& path,
                   const std::vector<std::pair<std::string, std::string>>& notes) const;

private:
    void blend(int x, int y, Color color, double opacity);

    int width_;
    int height_;
    std::vector<Color> pixels_;
};

} // namespace kith::cli
