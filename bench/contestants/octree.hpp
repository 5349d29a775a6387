// A plain octree for gravity: the peer of examples/gravity.hpp, with the same multipoles and softening.
//
// Cells are halved on all axes until they hold at most leaf_size bodies; each body walks alone, and takes a cell whole if
// the cell's radius about its center of mass is less than `opening` times their distance. Bodies are sorted by cell and
// walk in that order. Softening must be above 0. Source: Barnes, Hut (1986), Nature 324, 446.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace bench {

class Octree {
public:
    using Vector = std::array<float, 3>;

    Octree(std::span<const Vector> positions, std::span<const float> masses, int leaf_size) : leaf_size_(leaf_size) {
        float half = 0; // of the edge of a cube about the origin
        for (std::size_t i = 0; i < positions.size(); ++i) {
            bodies_.push_back({positions[i], masses[i], static_cast<std::int32_t>(i)});
            for (const float x : positions[i]) {
                half = std::max(half, std::abs(x));
            }
        }
        build(0, static_cast<std::int32_t>(bodies_.size()), {}, half, 0);
    }

    std::vector<Vector> accelerations(float opening, float softening, int threads) const {
        std::vector<Vector> result(bodies_.size());
        std::vector<std::jthread> running;
        for (int t = 0; t < threads; ++t) {
            running.emplace_back([&, t] {
                for (std::size_t i = bodies_.size() * t / threads; i < bodies_.size() * (t + 1) / threads; ++i) {
                    result[bodies_[i].index] = acceleration(bodies_[i].x, opening * opening, softening * softening);
                }
            });
        }
        running.clear(); // joins them
        return result;
    }

private:
    struct Body {
        Vector x;
        float mass;
        std::int32_t index;
    };
    struct Cell {
        Vector center{}; // of mass
        float mass = 0;
        float second[6] = {}; // xx, xy, xz, yy, yz, zz about the center
        float radius2 = 0;
        std::int32_t first = 0, end = 0; // bodies of a leaf
        std::int32_t next = 0;           // the cell after all below
    };

    /// The cell of the bodies [first, end) and all below it, in depth-first order.
    void build(std::int32_t first, std::int32_t end, const Vector& middle, float half, int depth) {
        const std::size_t number = cells_.size();
        const bool is_leaf = end - first <= leaf_size_ || depth == 64;
        cells_.push_back(moments(first, end, middle));
        cells_[number].first = is_leaf ? first : end;
        for (int octant = 0; octant < 8 && !is_leaf; ++octant) {
            const auto is_in = [&](const Body& body) {
                return octant == (body.x[0] >= middle[0]) + 2 * (body.x[1] >= middle[1]) + 4 * (body.x[2] >= middle[2]);
            };
            const auto begin = bodies_.begin() + first;
            const auto inside = static_cast<std::int32_t>(std::partition(begin, bodies_.begin() + end, is_in) - begin);
            if (inside > 0) {
                const float h = half / 2;
                const Vector back{octant & 1 ? -h : h, octant & 2 ? -h : h, octant & 4 ? -h : h};
                build(first, first + inside, to(middle, back), h, depth + 1);
            }
            first += inside;
        }
        cells_[number].next = static_cast<std::int32_t>(cells_.size());
    }

    Cell moments(std::int32_t first, std::int32_t end, const Vector& middle) const {
        double sums[10] = {}; // of mass, first and second moments about the middle of the cell
        for (std::int32_t i = first; i < end; ++i) {
            const double m = bodies_[i].mass;
            const double d[3] = {bodies_[i].x[0] - middle[0], bodies_[i].x[1] - middle[1], bodies_[i].x[2] - middle[2]};
            sums[0] += m;
            for (int a = 0, k = 4; a < 3; ++a) {
                sums[1 + a] += m * d[a];
                std::for_each(d + a, d + 3, [&](double x) { sums[k++] += m * d[a] * x; });
            }
        }
        Cell cell{.mass = static_cast<float>(sums[0]), .end = end};
        for (int a = 0, k = 0; a < 3; ++a) {
            cell.center[a] = static_cast<float>(middle[a] + sums[1 + a] / sums[0]);
            for (int b = a; b < 3; ++b, ++k) {
                cell.second[k] = static_cast<float>(sums[4 + k] - sums[1 + a] * sums[1 + b] / sums[0]);
            }
        }
        for (std::int32_t i = first; i < end; ++i) {
            cell.radius2 = std::max(cell.radius2, square(to(cell.center, bodies_[i].x)));
        }
        return cell;
    }

    Vector acceleration(const Vector& x, float opening2, float eps2) const {
        Vector a{};
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(cells_.size());) {
            const Cell& cell = cells_[i];
            const Vector d = to(cell.center, x);
            const float r2 = square(d);
            if (cell.radius2 < opening2 * r2) {
                const auto& s = cell.second;
                const Vector sd{s[0] * d[0] + s[1] * d[1] + s[2] * d[2], s[1] * d[0] + s[3] * d[1] + s[4] * d[2],
                                s[2] * d[0] + s[4] * d[1] + s[5] * d[2]};
                const float in2 = 1 / (r2 + eps2);
                const float in3 = in2 * std::sqrt(in2);
                const float dsd = d[0] * sd[0] + d[1] * sd[1] + d[2] * sd[2];
                add(d, cell.mass * in3 + in3 * in2 * (7.5F * in2 * dsd - 1.5F * (s[0] + s[3] + s[5])), a);
                add(sd, -3 * in3 * in2, a);
                i = cell.next;
            } else {
                for (std::int32_t j = cell.first; j < cell.end; ++j) {
                    const Vector apart = to(bodies_[j].x, x);
                    const float in2 = 1 / (square(apart) + eps2); // softened: of the body itself, too
                    add(apart, bodies_[j].mass * in2 * std::sqrt(in2), a);
                }
                ++i;
            }
        }
        return a;
    }

    static Vector to(const Vector& x, const Vector& from) { return {x[0] - from[0], x[1] - from[1], x[2] - from[2]}; }
    static float square(const Vector& d) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }
    static void add(const Vector& d, float factor, Vector& a) {
        for (int axis = 0; axis < 3; ++axis) {
            a[axis] += factor * d[axis];
        }
    }

    std::int32_t leaf_size_;
    std::vector<Body> bodies_;
    std::vector<Cell> cells_;
};

} // namespace bench
