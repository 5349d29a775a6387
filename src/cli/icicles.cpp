#include "cli/icicles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::cli {

namespace {

constexpr Rectangle panel{96, 64, 1144, 784};
constexpr Color ink{0.86F, 0.86F, 0.90F};
constexpr Color faint_ink{0.56F, 0.56F, 0.63F};
constexpr Color page{0.055F, 0.050F, 0.075F};
constexpr Color not_selected{0.34F, 0.33F, 0.40F};

/// 1, 2 or 5 times a power of ten, at least `step`.
double round_step(double step) {
    const double power = std::pow(10.0, std::floor(std::log10(step)));
    const double lead = step / power;
    return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/// Where points coincide, lambda is the largest number; the other ones set the scale.
double densest_of(const CondensedTree& tree) {
    double densest = 0;
    const auto take = [&](double lambda) {
        densest = lambda < std::numeric_limits<double>::max() ? std::max(densest, lambda) : densest;
    };
    std::ranges::for_each(tree.lambdas, take);
    for (const CondensedCluster& cluster : tree.clusters) {
        take(cluster.birth);
        take(cluster.death);
    }
    return densest > 0 ? std::min(1.1 * densest, std::numeric_limits<double>::max()) : 1;
}

class IcicleDrawing {
public:
    explicit IcicleDrawing(const IcicleSubject& subject)
        : subject_(subject), tree_(*subject.tree), densest_(densest_of(tree_)),
          canvas_(panel.right + 56, panel.bottom + 40, page), leaves_(tree_.clusters.size()) {
        for (std::size_t i = 0; i < tree_.lambdas.size(); ++i) {
            leaves_[static_cast<std::size_t>(tree_.last_clusters[i])].push_back(tree_.lambdas[i]);
        }
        std::ranges::for_each(leaves_, [](std::vector<double>& lambdas) { std::ranges::sort(lambdas); });
        for (const CondensedCluster& cluster : tree_.clusters) {
            last_label_ = std::max(last_label_, cluster.label);
        }
        place();
    }

    Canvas draw() && {
        for (std::size_t cluster = 0; cluster < tree_.clusters.size(); ++cluster) {
            fill(cluster);
        }
        frame_selected();
        canvas_.frame(panel, {0.36F, 0.35F, 0.42F});
        draw_axis();
        canvas_.heading(subject_.title, subject_.subtitle, {panel.left * 1.0, panel.top - 22.0}, panel.right, ink,
                        faint_ink);
        return std::move(canvas_);
    }

private:
    /// The part of the axis that belongs to a cluster and all below it, in points.
    struct Part {
        double lower = 0;
        double upper = 0;
    };

    void place() {
        parts_.resize(tree_.clusters.size());
        if (!parts_.empty()) {
            parts_[0].upper = static_cast<double>(tree_.lambdas.size());
        }
        for (std::size_t left = 1; left + 1 < parts_.size(); left += 2) { // clusters are born in pairs
            const Part of_both = parts_[static_cast<std::size_t>(tree_.clusters[left].parent)];
            const double share = tree_.clusters[left].size;
            const double middle =
                of_both.lower + (of_both.upper - of_both.lower) * share / (share + tree_.clusters[left + 1].size);
            parts_[left] = {of_both.lower, middle};
            parts_[left + 1] = {middle, of_both.upper};
        }
    }

    [[nodiscard]] double x_of(double points) const {
        const double all = std::max(1.0, static_cast<double>(tree_.lambdas.size()));
        return panel.left + points / all * (panel.right - panel.left);
    }
    [[nodiscard]] double y_of(double lambda) const {
        return panel.top + std::min(lambda / densest_, 1.0) * (panel.bottom - panel.top);
    }
    [[nodiscard]] Color color_of(std::int32_t label) const {
        return label < 0 ? not_selected : color_at(0.45 + 0.48 * label / std::max(1, last_label_));
    }

    /// Row by row, as wide as the points that have not left.
    void fill(std::size_t cluster) {
        const CondensedCluster& of = tree_.clusters[cluster];
        const double middle = (parts_[cluster].lower + parts_[cluster].upper) / 2;
        const int first = static_cast<int>(std::lround(y_of(of.birth)));
        const int last = std::max(first + 1, static_cast<int>(std::lround(y_of(of.death)))); // at least one row
        const Color color = color_of(of.label);
        const std::vector<double>& leaves = leaves_[cluster];
        for (int y = first; y < std::min(last, panel.bottom); ++y) {
            const double lambda = densest_ * (y - panel.top) / (panel.bottom - panel.top);
            const auto left = std::ranges::lower_bound(leaves, lambda) - leaves.begin();
            const double half = static_cast<double>(of.size - left) / 2;
            const int begin = static_cast<int>(std::lround(x_of(middle - half)));
            const int end = std::max(begin + 1, static_cast<int>(std::lround(x_of(middle + half))));
            canvas_.fill({begin, y, std::min(end, panel.right), y + 1}, color);
        }
    }

    void frame_selected() {
        std::vector<std::size_t> selected;
        for (std::size_t cluster = 0; cluster < tree_.clusters.size(); ++cluster) {
            if (tree_.clusters[cluster].label >= 0) {
                selected.push_back(cluster);
            }
        }
        if (selected.size() > max_frames) {
            return;
        }
        for (const std::size_t cluster : selected) {
            const double left = x_of(parts_[cluster].lower);
            const double right = x_of(parts_[cluster].upper);
            const double top = y_of(tree_.clusters[cluster].birth);
            canvas_.stroke({{{left, panel.bottom - 1.0}, {left, top}, {right, top}, {right, panel.bottom - 1.0}}},
                           {ink, 1.2, 0.8});
            canvas_.text(fmt::format("{}", tree_.clusters[cluster].label), {(left + right) / 2, top - 6}, 11,
                         {ink, 1.5, 1}, Align::center);
        }
    }

    void draw_axis() {
        const double step = round_step(densest_ / 8);
        for (int tick = 0; tick * step <= densest_; ++tick) {
            const double lambda = tick * step;
            const double y = y_of(lambda);
            canvas_.stroke({{{panel.left - 6.0, y}, {panel.left - 2.0, y}}}, {faint_ink, 1.2, 1});
            canvas_.text(fmt::format("{:.4g}", lambda), {panel.left - 12.0, y + 5}, 10, {faint_ink, 1.2, 1},
                         Align::right);
        }
        canvas_.text("downward: lambda = 1 / distance, across: number of points",
                     {panel.left * 1.0, panel.bottom + 26.0}, 12, {faint_ink, 1.4, 1});
    }

    const IcicleSubject& subject_;
    const CondensedTree& tree_;
    double densest_; ///< the largest lambda that is drawn
    Canvas canvas_;
    std::vector<std::vector<double>> leaves_; ///< lambdas at which points leave each cluster, ascending
    std::vector<Part> parts_;
    std::int32_t last_label_ = 0;
};

} // namespace

Canvas draw_icicles(const IcicleSubject& subject) {
    return IcicleDrawing(subject).draw();
}

} // namespace kith::cli
