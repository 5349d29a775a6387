#include "cli/map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace kith::cli {

namespace {

constexpr int panel_size = 17 * density_grain;
constexpr int side_margin = (1200 - panel_size) / 2;
constexpr int top_margin = 64;
constexpr int bottom_margin = 72;

constexpr Color ink{0.86F, 0.86F, 0.90F};
constexpr Color faint_ink{0.56F, 0.56F, 0.63F};
constexpr Color page{0.055F, 0.050F, 0.075F};
constexpr Color circle{0.70F, 1.00F, 0.93F};

/// How a range of coordinates is drawn from their distribution: without this share of the points at either end, widened
/// by this share of the rest on either side, but never beyond the data.
struct Trim {
    double tail;
    double reach;
};
/// In a box only strays are left out: the box is what is shown, if it is not mostly empty.
constexpr Trim boxed{0.001, 0.25};
/// Open points have a middle and thin outskirts, which would take all the room.
constexpr Trim open{0.02, 0.5};

/// Coordinates along one axis of a sample: one of every `step` points, at most two million, wrapped into the box.
/// `unit_view` is the view of that box with lower edges 0 and spans 1.
std::vector<double> sample_of(const PointsView& points, int axis, const View& unit_view, RankTeam* ranks) {
    std::int64_t total = points.count();
    std::int64_t first = 0; // of this rank's points, among all
    if (ranks != nullptr) {
        const std::vector<std::int64_t> counts = ranks->gather_values(total);
        first = std::accumulate(counts.begin(), counts.begin() + ranks->rank(), std::int64_t{0});
        total = std::accumulate(counts.begin() + ranks->rank(), counts.end(), first);
    }
    const std::int64_t step = std::max<std::int64_t>(1, total / 1000000);
    std::vector<double> sample;
    for (std::int64_t i = (step - first % step) % step; i < points.count(); i += step) {
        sample.push_back(unit_view.position(static_cast<std::size_t>(axis), points.coordinate(i, axis)));
    }
    return ranks != nullptr ? ranks->gather_all(std::span<const double>(sample)) : sample;
}

/// The range of one axis that holds the points.
std::pair<double, double> range_of_most(const PointsView& points, int axis, const View& unit_view, RankTeam* ranks) {
    std::vector<double> sample = sample_of(points, axis, unit_view, ranks);
    if (sample.empty()) {
        return {0, 0};
    }
    std::sort(sample.begin(), sample.end());
    const Trim trim = unit_view.period[axis] > 0 ? boxed : open;
    const auto tail = static_cast<std::size_t>(trim.tail * static_cast<double>(sample.size()));
    const double low = sample[tail];
    const double high = sample[sample.size() - 1 - tail];
    const double reach = trim.reach * (high - low);
    return {std::max(sample.front(), low - reach), std::min(sample.back(), high + reach)};
}

/// 1, 2 or 5 times a power of ten, at most `length`.
double round_length(double length) {
    const double power = std::pow(10.0, std::floor(std::log10(length)));
    const double lead = length / power;
    return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

/// Decades of density, in units of the mean, that the colors span: from where all but a two hundredth of the mass is
/// denser to where only a two thousandth of the pixels are, or a twentieth of the mass, whichever is denser. The
/// latter counts where most of the mass is in few pixels, which would otherwise all be white.
struct Scale {
    double low = -1;
    double high = 1;

    explicit Scale(const Density& density) {
        std::vector<float> ascending = density.values;
        std::sort(ascending.begin(), ascending.end());
        double mass = 0;
        std::size_t lightest = 0;
        while (lightest + 1 < ascending.size() && mass < 0.005 * density.mean * static_cast<double>(ascending.size())) {
            mass += ascending[lightest++];
        }
        const double total = density.mean * static_cast<double>(ascending.size());
        std::size_t densest = ascending.size() - 1;
        for (double above = ascending[densest]; densest > 0 && above < 0.05 * total; above += ascending[densest]) {
            --densest;
        }
        densest = std::max(densest, ascending.size() - 1 - ascending.size() / 2000);
        if (density.mean > 0) {
            high = std::max(std::log10(ascending[densest] / density.mean), 0.7);
            low = std::clamp(std::log10(ascending[lightest] / density.mean), high - 4, high - 1.5);
        }
    }

    [[nodiscard]] double operator()(double value_in_means) const {
        return value_in_means > 0 ? (std::log10(value_in_means) - low) / (high - low) : 0;
    }
};

class MapDrawing {
public:
    explicit MapDrawing(const MapSubject& subject)
        : subject_(subject), view_(subject.points->view), density_(subject.points->density), panel_(panel_of(density_)),
          scale_(density_), canvas_(panel_.right + side_margin, panel_.bottom + bottom_margin, page) {}

    Canvas draw() && {
        paint_density();
        draw_circles();
        canvas_.frame(panel_, {0.36F, 0.35F, 0.42F});
        write_words();
        draw_length_bar();
        draw_color_bar();
        return std::move(canvas_);
    }

private:
    /// Slim panels are centered in a page that is wide enough for the words.
    static Rectangle panel_of(const Density& density) {
        const int left = std::max(side_margin, (800 - density.width) / 2);
        return {left, top_margin, left + density.width, top_margin + density.height};
    }

    [[nodiscard]] double scale_x() const { return (panel_.right - panel_.left) / view_.span[0]; }
    [[nodiscard]] double scale_y() const { return (panel_.bottom - panel_.top) / view_.span[1]; }

    void paint_density() {
        std::vector<Color> table;
        table.reserve(1024);
        for (int i = 0; i < 1024; ++i) {
            table.push_back(color_at(i / 1023.0));
        }
        for (int y = 0; y < density_.height; ++y) {
            for (int x = 0; x < density_.width; ++x) {
                const double t = density_.mean > 0 ? scale_(density_.at(x, y) / density_.mean) : 0;
                canvas_.set(panel_.left + x, panel_.bottom - 1 - y, table[std::lround(1023 * std::clamp(t, 0.0, 1.0))]);
            }
        }
    }

    void draw_circles() {
        for (std::size_t i = subject_.circles.size(); i-- > 0;) {
            const MapCircle& each = subject_.circles[i];
            const double radius_x = std::max(each.radius * scale_x(), 5.0);
            const double radius_y = std::max(each.radius * scale_y(), 5.0);
            const double opacity = 0.95 - 0.45 * static_cast<double>(i) / max_circles;
            for (const Point& center : images(each)) {
                canvas_.ring(center, radius_x, radius_y, {{0, 0, 0}, 3.4, 0.30 * opacity}, panel_);
                canvas_.ring(center, radius_x, radius_y, {circle, 1.5, opacity}, panel_);
            }
        }
    }

    /// Where a circle's center is on the page, with its repetitions beyond periodic edges.
    [[nodiscard]] std::vector<Point> images(const MapCircle& of) const {
        std::array<std::vector<double>, 2> positions;
        for (std::size_t axis = 0; axis < 2; ++axis) {
            const double position = view_.position(axis, of.center[axis]);
            const double reach = of.radius / view_.span[axis];
            const int repetitions = view_.repeats(axis) ? 1 : 0;
            for (int image = -repetitions; image <= repetitions; ++image) {
                if (position + image + reach >= 0 && position + image - reach <= 1) {
                    positions[axis].push_back(position + image);
                }
            }
        }
        std::vector<Point> images;
        for (const double x : positions[0]) {
            for (const double y : positions[1]) {
                images.push_back(
                    {panel_.left + x * (panel_.right - panel_.left), panel_.bottom - y * (panel_.bottom - panel_.top)});
            }
        }
        return images;
    }

    void write_words() {
        const double left = std::min(panel_.left, side_margin);
        const double right = canvas_.width() - left;
        canvas_.heading(subject_.title, subject_.subtitle, {left, top_margin - 22.0}, right, ink, faint_ink);
        canvas_.text(subject_.caption, {left, panel_.bottom + 38.0}, 12, {faint_ink, 1.4, 1});
    }

    /// In the lower left corner of the map: a round length, about a fifth of the width.
    void draw_length_bar() {
        const double length = round_length(0.25 * view_.span[0]);
        const double pixels = length * scale_x();
        const Point left{panel_.left + 28.0, panel_.bottom - 28.0};
        const Point right{left.x + pixels, left.y};
        const std::vector<Polyline> bar{{left, right},
                                        {{left.x, left.y - 5}, {left.x, left.y + 5}},
                                        {{right.x, right.y - 5}, {right.x, right.y + 5}}};
        const std::string words = fmt::format("{:.6g}{}{}", length, subject_.unit.empty() ? "" : " ", subject_.unit);
        const Point below{left.x + pixels / 2, left.y - 14};
        canvas_.stroke(bar, {page, 5, 0.55});
        canvas_.text(words, below, 13, {page, 5, 0.55}, Align::center);
        canvas_.stroke(bar, {ink, 1.8, 1});
        canvas_.text(words, below, 13, {ink, 1.7, 1}, Align::center);
    }

    /// At the lower right of the page: the colors, with ticks at whole decades of the mean density.
    void draw_color_bar() {
        const int right = canvas_.width() - std::min(panel_.left, side_margin);
        const Rectangle bar{right - 260, panel_.bottom + 26, right, panel_.bottom + 38};
        for (int x = bar.left; x < bar.right; ++x) {
            canvas_.fill({x, bar.top, x + 1, bar.bottom}, color_at((x - bar.left + 0.5) / (bar.right - bar.left)));
        }
        canvas_.frame(bar, {0.36F, 0.35F, 0.42F});
        for (int decade = static_cast<int>(std::ceil(scale_.low)); decade <= scale_.high; ++decade) {
            const double x = bar.left + (decade - scale_.low) / (scale_.high - scale_.low) * (bar.right - bar.left);
            canvas_.stroke({{{x, bar.bottom + 1.0}, {x, bar.bottom + 5.0}}}, {faint_ink, 1.2, 1});
            canvas_.text(fmt::format("{:g}", std::pow(10.0, decade)), {x, bar.bottom + 19.0}, 10, {faint_ink, 1.2, 1},
                         Align::center);
        }
        canvas_.text("density / mean", {bar.left - 14.0, bar.bottom - 1.0}, 12, {faint_ink, 1.4, 1}, Align::right);
    }

    const MapSubject& subject_;
    const View& view_;
    const Density& density_;
    Rectangle panel_;
    Scale scale_;
    Canvas canvas_;
};

} // namespace

View choose_view(const PointsView& points, const Box& box, RankTeam* ranks) {
    View view;
    for (std::size_t axis = 0; axis < 2; ++axis) {
        view.period[axis] = box.period(static_cast<int>(axis));
        view.origin[axis] = box.origin(static_cast<int>(axis)).value_or(0);
        view.span[axis] = 1;
    }
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const auto [low, high] = range_of_most(points, static_cast<int>(axis), view, ranks);
        if (view.period[axis] > 0 && high - low > view.period[axis] / 2) {
            view.lower[axis] = view.origin[axis];
            view.span[axis] = view.period[axis];
        } else {
            const double margin = 0.04 * (high - low);
            view.lower[axis] = low - margin;
            view.span[axis] = high - low + 2 * margin;
        }
    }
    // A plane much longer than wide would be a thread; points in one place have no width at all.
    const double longer = std::max(view.span[0], view.span[1]);
    const double least = longer > 0 ? longer / 4 : std::max(std::abs(view.lower[0]), std::abs(view.lower[1]));
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const double wanted = least > 0 ? least : 1;
        if (view.span[axis] < wanted) {
            view.lower[axis] -= (wanted - view.span[axis]) / 2;
            view.span[axis] = wanted;
        }
    }
    return view;
}

MapDensity project_map(const PointsView& points, const std::optional<ScalarsView>& masses, const Box& box,
                       RankTeam* ranks) {
    View view = choose_view(points, box, ranks);
    // Widened where it may be widened, so that pixels are square.
    const double longer = std::max(view.span[0], view.span[1]);
    std::array<int, 2> pixels{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const double grains = view.span[axis] / longer * panel_size / density_grain;
        const double whole = std::max(1.0, view.repeats(axis) ? std::round(grains) : std::ceil(grains - 1e-9));
        pixels[axis] = static_cast<int>(whole) * density_grain;
        if (!view.repeats(axis)) {
            const double wanted = longer * (whole * density_grain / panel_size);
            view.lower[axis] -= (wanted - view.span[axis]) / 2;
            view.span[axis] = wanted;
        }
    }
    return {view, project(points, masses, view, pixels[0], pixels[1], ranks)};
}

Canvas draw_map(const MapSubject& subject) {
    return MapDrawing(subject).draw();
}

} // namespace kith::cli
