#include "cli/canvas.hpp"

#include "cli/stroke_font.hpp"

#include <algorithm>
#include <cmath>

namespace kith::cli {

namespace {

double distance_to_segment(Point p, Point a, Point b) {
    const double along_x = b.x - a.x;
    const double along_y = b.y - a.y;
    const double length2 = along_x * along_x + along_y * along_y;
    const double t =
        length2 > 0 ? std::clamp(((p.x - a.x) * along_x + (p.y - a.y) * along_y) / length2, 0.0, 1.0) : 0.0;
    return std::hypot(p.x - a.x - t * along_x, p.y - a.y - t * along_y);
}

/// The part of a pixel that a stroke covers, from the distance of the pixel's center to the stroke's axis.
double coverage(double distance, double width) {
    return std::clamp(width / 2 + 0.5 - distance, 0.0, 1.0) * std::min(width, 1.0);
}

Rectangle reach(Point low, Point high, double margin, const Rectangle& clip) {
    const auto pixel = [](double x) { return static_cast<int>(std::clamp(x, -1e6, 1e6)); };
    return {std::max(clip.left, pixel(std::floor(low.x - margin))),
            std::max(clip.top, pixel(std::floor(low.y - margin))),
            std::min(clip.right, pixel(std::ceil(high.x + margin))),
            std::min(clip.bottom, pixel(std::ceil(high.y + margin)))};
}

} // namespace

Canvas::Canvas(int width, int height, Color background)
    : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * height, background) {}

Color Canvas::pixel(int x, int y) const {
    return pixels_[static_cast<std::size_t>(y) * width_ + x];
}

void Canvas::set(int x, int y, Color color) {
    pixels_[static_cast<std::size_t>(y) * width_ + x] = color;
}

void Canvas::blend(int x, int y, Color color, double opacity) {
    Color& pixel = pixels_[static_cast<std::size_t>(y) * width_ + x];
    const auto part = static_cast<float>(opacity);
    pixel.red += part * (color.red - pixel.red);
    pixel.green += part * (color.green - pixel.green);
    pixel.blue += part * (color.blue - pixel.blue);
}

void Canvas::fill(const Rectangle& area, Color color) {
    for (int y = std::max(0, area.top); y < std::min(height_, area.bottom); ++y) {
        for (int x = std::max(0, area.left); x < std::min(width_, area.right); ++x) {
            set(x, y, color);
        }
    }
}

void Canvas::frame(const Rectangle& area, Color color) {
    fill({area.left - 1, area.top - 1, area.right + 1, area.top}, color);
    fill({area.left - 1, area.bottom, area.right + 1, area.bottom + 1}, color);
    fill({area.left - 1, area.top, area.left, area.bottom}, color);
    fill({area.right, area.top, area.right + 1, area.bottom}, color);
}

void Canvas::stroke(const std::vector<Polyline>& lines, const Pen& pen) {
    const double margin = pen.width / 2 + 1;
    const Rectangle all{0, 0, width_, height_};
    Point low{1e9, 1e9};
    Point high{-1e9, -1e9};
    for (const Polyline& line : lines) {
        for (const Point& p : line) {
            low = {std::min(low.x, p.x), std::min(low.y, p.y)};
            high = {std::max(high.x, p.x), std::max(high.y, p.y)};
        }
    }
    const Rectangle area = reach(low, high, margin, all);
    if (area.right <= area.left || area.bottom <= area.top) {
        return;
    }
    const int columns = area.right - area.left;
    std::vector<double> covered(static_cast<std::size_t>(columns) * (area.bottom - area.top), 0.0);
    for (const Polyline& line : lines) {
        for (std::size_t i = 0; i + 1 < line.size(); ++i) {
            const Point a = line[i];
            const Point b = line[i + 1];
            const Rectangle part =
                reach({std::min(a.x, b.x), std::min(a.y, b.y)}, {std::max(a.x, b.x), std::max(a.y, b.y)}, margin, area);
            for (int y = part.top; y < part.bottom; ++y) {
                for (int x = part.left; x < part.right; ++x) {
                    double& most = covered[static_cast<std::size_t>(y - area.top) * columns + (x - area.left)];
                    most = std::max(most, coverage(distance_to_segment({x + 0.5, y + 0.5}, a, b), pen.width));
                }
            }
        }
    }
    for (int y = area.top; y < area.bottom; ++y) {
        for (int x = area.left; x < area.right; ++x) {
            const double part = covered[static_cast<std::size_t>(y - area.top) * columns + (x - area.left)];
            if (part > 0) {
                blend(x, y, pen.color, part * pen.opacity);
            }
        }
    }
}

void Canvas::ring(Point center, double radius_x, double radius_y, const Pen& pen, const Rectangle& clip) {
    const Rectangle area = reach({center.x - radius_x, center.y - radius_y}, {center.x + radius_x, center.y + radius_y},
                                 pen.width / 2 + 1, clip);
    const double radius = std::max(radius_x, radius_y);
    const double stretch_x = radius / radius_x;
    const double stretch_y = radius / radius_y;
    for (int y = area.top; y < area.bottom; ++y) {
        for (int x = area.left; x < area.right; ++x) {
            const double from_center = std::hypot((x + 0.5 - center.x) * stretch_x, (y + 0.5 - center.y) * stretch_y);
            const double part = coverage(std::abs(from_center - radius), pen.width);
            if (part > 0) {
                blend(x, y, pen.color, part * pen.opacity);
            }
        }
    }
}

double Canvas::text(std::string_view words, Point position, double size, const Pen& pen, Align align) {
    Lettering lettering = lettering_of(words, size);
    const double shift = align == Align::left ? 0 : align == Align::center ? -lettering.width / 2 : -lettering.width;
    for (Polyline& line : lettering.lines) {
        for (Point& p : line) {
            p = {p.x + position.x + shift, p.y + position.y};
        }
    }
    stroke(lettering.lines, pen);
    return lettering.width;
}

void Canvas::heading(std::string_view title, std::string_view subtitle, Point left, double right, const Color& ink,
                     const Color& faint_ink) {
    constexpr double title_size = 15;
    constexpr double gap = 24;
    const double taken = text(subtitle, {right, left.y}, 12, {faint_ink, 1.4, 1}, Align::right);
    text(shortened(title, title_size, right - left.x - taken - gap), left, title_size, {ink, 1.8, 1});
}

} // namespace kith::cli
