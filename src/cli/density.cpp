#include "cli/density.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

namespace kith::cli {

namespace {

constexpr double enough_neighbors = 8;

template <class Number>
struct Grid {
    Grid(int columns, int rows) : width(columns), height(rows), values(static_cast<std::size_t>(columns) * rows) {}

    Number& at(int x, int y) { return values[static_cast<std::size_t>(y) * width + x]; }
    [[nodiscard]] Number at(int x, int y) const { return values[static_cast<std::size_t>(y) * width + x]; }

    int width;
    int height;
    std::vector<Number> values;
};

/// What is summed over points is whole, so that the sum depends on no order.
using Counts = Grid<std::int64_t>;

std::vector<Counts> make_pyramid(int width, int height) {
    std::vector<Counts> pyramid;
    for (int level = 0; level < density_levels; ++level) {
        pyramid.emplace_back(width >> level, height >> level);
    }
    return pyramid;
}

/// Adds up what the ranks have counted.
void add_over(RankTeam* ranks, Counts& grid) {
    if (ranks != nullptr) {
        ranks->communicator().all_reduce(grid.values, Reduction::sum);
    }
}

/// Units of mass in 1: as many as keep all points together below 2^61, rounding aside. A power of two.
double units_of_mass(std::int64_t points, const std::optional<ScalarsView>& masses, RankTeam* ranks) {
    double largest = masses ? 0 : 1;
    for (std::int64_t i = 0; masses && i < points; ++i) {
        largest = std::max(largest, (*masses)[i]);
    }
    if (ranks != nullptr) {
        points = ranks->sum(points);
        largest = std::bit_cast<double>(ranks->max(std::bit_cast<std::int64_t>(largest))); // they are not negative
    }
    int exponent = 0; // 2^exponent > largest
    static_cast<void>(std::frexp(largest, &exponent));
    const auto digits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(points)));
    return std::ldexp(1.0, std::min(61 - digits - exponent, 1000));
}

/// The index of a cell beside the grid: the one it repeats, or -1 where there is none.
int neighbor_cell(int cell, int cells, bool periodic) {
    if (cell >= 0 && cell < cells) {
        return cell;
    }
    return periodic ? (cell + cells) % cells : -1;
}

/// The four cells around a position, with weights that add up to 1 (cloud in cell).
struct Corners {
    std::array<int, 2> x{};
    std::array<int, 2> y{};
    double right = 0;
    double upper = 0;

    template <class Number>
    Corners(const Grid<Number>& grid, double position_x, double position_y, const View& view) {
        const double cell_x = position_x * grid.width - 0.5;
        const double cell_y = position_y * grid.height - 0.5;
        const auto left = static_cast<int>(std::floor(cell_x));
        const auto lower = static_cast<int>(std::floor(cell_y));
        right = cell_x - left;
        upper = cell_y - lower;
        x = {neighbor_cell(left, grid.width, view.repeats(0)), neighbor_cell(left + 1, grid.width, view.repeats(0))};
        y = {neighbor_cell(lower, grid.height, view.repeats(1)),
             neighbor_cell(lower + 1, grid.height, view.repeats(1))};
    }

    template <class Visit>
    void each(Visit&& visit) const {
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                if (x[i] >= 0 && y[j] >= 0) {
                    visit(x[i], y[j], (i == 1 ? right : 1 - right) * (j == 1 ? upper : 1 - upper));
                }
            }
        }
    }
};

void deposit(Counts& grid, double position_x, double position_y, const View& view, double units) {
    Corners(grid, position_x, position_y, view).each([&](int x, int y, double weight) {
        grid.at(x, y) += static_cast<std::int64_t>(weight * units + 0.5);
    });
}

double interpolate(const Counts& grid, double position_x, double position_y, const View& view) {
    double value = 0;
    Corners(grid, position_x, position_y, view).each([&](int x, int y, double weight) {
        value += weight * static_cast<double>(grid.at(x, y));
    });
    return value;
}

/// Calls visit(position_x, position_y, mass) for every point inside the view, positions in [0, 1).
template <class Visit>
void each_point(const PointsView& points, const std::optional<ScalarsView>& masses, const View& view, Visit&& visit) {
    for (std::int64_t i = 0; i < points.count(); ++i) {
        std::array<double, 2> position{};
        bool inside = true;
        for (std::size_t axis = 0; axis < 2; ++axis) {
            position[axis] = view.position(axis, points.coordinate(i, static_cast<int>(axis)));
            if (view.repeats(axis) && position[axis] >= 1) {
                position[axis] = 0; // rounded up to the upper edge
            }
            inside = inside && position[axis] >= 0 && position[axis] < 1;
        }
        if (inside) {
            visit(position[0], position[1], masses ? (*masses)[i] : 1.0);
        }
    }
}

std::vector<Counts> count_points(const PointsView& points, const View& view, int width, int height, RankTeam* ranks) {
    std::vector<Counts> counts = make_pyramid(width, height);
    each_point(points, std::nullopt, view, [&](double x, double y, double) {
        counts[0].at(static_cast<int>(x * width), static_cast<int>(y * height)) += 1;
    });
    add_over(ranks, counts[0]);
    for (std::size_t level = 1; level < counts.size(); ++level) {
        for (int y = 0; y < counts[level - 1].height; ++y) {
            for (int x = 0; x < counts[level - 1].width; ++x) {
                counts[level].at(x / 2, y / 2) += counts[level - 1].at(x, y);
            }
        }
    }
    return counts;
}

/// For every pixel, the level whose cells hold enough points there, as a number between the two nearest levels.
Grid<float> choose_levels(const std::vector<Counts>& counts, const View& view) {
    Grid<float> levels(counts[0].width, counts[0].height);
    const auto coarsest = static_cast<float>(counts.size() - 1);
    for (int y = 0; y < levels.height; ++y) {
        for (int x = 0; x < levels.width; ++x) {
            const double position_x = (x + 0.5) / levels.width;
            const double position_y = (y + 0.5) / levels.height;
            levels.at(x, y) = coarsest;
            double finer = 0;
            for (std::size_t level = 0; level < counts.size(); ++level) {
                const double count = std::max(1.0, interpolate(counts[level], position_x, position_y, view));
                if (count >= enough_neighbors) {
                    const double beyond =
                        level > 0 ? std::log(count / enough_neighbors) / std::log(count / finer) : 0.0;
                    levels.at(x, y) = static_cast<float>(static_cast<double>(level) - beyond);
                    break;
                }
                finer = count;
            }
        }
    }
    return levels;
}

/// The mass in the cells of each level.
std::vector<Grid<float>> spread(const PointsView& points, const std::optional<ScalarsView>& masses, const View& view,
                                const Grid<float>& levels, RankTeam* ranks) {
    const double units = units_of_mass(points.count(), masses, ranks);
    std::vector<Counts> sums = make_pyramid(levels.width, levels.height);
    each_point(points, masses, view, [&](double x, double y, double mass) {
        const double level = levels.at(static_cast<int>(x * levels.width), static_cast<int>(y * levels.height));
        const auto finer = static_cast<std::size_t>(level);
        const double coarse_share = level - static_cast<double>(finer);
        deposit(sums[finer], x, y, view, units * mass * (1 - coarse_share));
        if (coarse_share > 0) {
            deposit(sums[finer + 1], x, y, view, units * mass * coarse_share);
        }
    });
    std::vector<Grid<float>> grids;
    for (Counts& sum : sums) {
        add_over(ranks, sum);
        Grid<float>& grid = grids.emplace_back(sum.width, sum.height);
        std::ranges::transform(sum.values, grid.values.begin(), [&](std::int64_t value) {
            return static_cast<float>(static_cast<double>(value) / units);
        });
    }
    return grids;
}

/// Shares every coarse cell among the finer ones around it: each fine cell takes 9, 3, 3 and 1 sixteenths of the four
/// coarse cells nearest to it, of each a quarter, which is its part of their area.
void add_coarser(const Grid<float>& coarse, Grid<float>& fine, const View& view) {
    for (int y = 0; y < fine.height; ++y) {
        const int near_y = y / 2;
        const int far_y = neighbor_cell(y % 2 == 0 ? near_y - 1 : near_y + 1, coarse.height, view.repeats(1));
        for (int x = 0; x < fine.width; ++x) {
            const int near_x = x / 2;
            const int far_x = neighbor_cell(x % 2 == 0 ? near_x - 1 : near_x + 1, coarse.width, view.repeats(0));
            float sum = 9 * coarse.at(near_x, near_y);
            sum += far_x >= 0 ? 3 * coarse.at(far_x, near_y) : 0;
            sum += far_y >= 0 ? 3 * coarse.at(near_x, far_y) : 0;
            sum += far_x >= 0 && far_y >= 0 ? coarse.at(far_x, far_y) : 0;
            fine.at(x, y) += sum / 64;
        }
    }
}

} // namespace

Density project(const PointsView& points, const std::optional<ScalarsView>& masses, const View& view, int width,
                int height, RankTeam* ranks) {
    const Grid<float> levels = choose_levels(count_points(points, view, width, height, ranks), view);
    std::vector<Grid<float>> grids = spread(points, masses, view, levels, ranks);
    for (std::size_t level = grids.size() - 1; level > 0; --level) {
        add_coarser(grids[level], grids[level - 1], view);
    }
    Density density{width, height, std::move(grids[0].values), 0};
    density.mean =
        std::accumulate(density.values.begin(), density.values.end(), 0.0) / static_cast<double>(density.values.size());
    return density;
}

} // namespace kith::cli
