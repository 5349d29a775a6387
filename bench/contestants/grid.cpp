// A uniform grid: the rival of CLOVER (ICS 2025) that comes closest to it, there on a GPU, here on the CPU.
//
// Cells are cubes of 3.1 points on average over the bounding box. Points are sorted by cell. A query looks at its own
// cell, then at ring after ring of cells around it, and stops when no point beyond the ring can be nearer than the k-th.
// Sources: N. Ray, D. Sokolov, S. Lefebvre, B. Levy, "Meshless Voronoi on the GPU" (SIGGRAPH Asia 2018), where k is
// small and the rings are limited; CLOVER, section 2.2 and figure 3.
#include "contestant.hpp"
#include "curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bench {
namespace {

constexpr double points_per_cell = 3.1;

template <class T, int D>
class Grid final : public Contestant {
    using Cell = std::array<std::int64_t, D>;

public:
    explicit Grid(const Workload& workload) : workload_(workload), rows_(workload) {
        if (workload.k == 0) {
            throw Unsupported("finds no groups");
        }
        if (workload.period != 0) {
            throw Unsupported("knows no periodic space");
        }
    }

    void build() override {
        const auto count = static_cast<std::size_t>(workload_.points.count);
        const T* const points = workload_.points.rows<T>();
        lay_out(points, count);
        std::vector<std::uint32_t> cell_of(count);
        in_blocks(count, workload_.threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                cell_of[i] = static_cast<std::uint32_t>(number_of(cell_at(points + i * D)));
            }
        });
        std::size_t cells = 1;
        for (const std::int64_t length : lengths_) {
            cells *= static_cast<std::size_t>(length);
        }
        first_.assign(cells + 1, 0);
        for (const std::uint32_t cell : cell_of) {
            ++first_[cell + 1];
        }
        for (std::size_t cell = 0; cell < cells; ++cell) {
            first_[cell + 1] += first_[cell];
        }
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        order_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            order_[next[cell_of[i]]++] = static_cast<std::uint32_t>(i);
        }
        sorted_ = in_order<T, D>(points, order_);
    }

    void search() override {
        if (!workload_.queries) {
            ask(sorted_.data(), order_);
            return;
        }
        const T* const queries = workload_.queries->rows<T>();
        const auto order = curve_order<T, D>(queries, static_cast<std::size_t>(workload_.queries->count));
        ask(in_order<T, D>(queries, order).data(), order);
    }

    void forget() override {
        first_ = {};
        order_ = {};
        sorted_ = {};
    }

    void write_answer(const std::string& prefix) const override { rows_.write(prefix); }

private:
    /// The smallest cells that are no more than wanted. Where the points are flat, the grid is one cell thick.
    void lay_out(const T* points, std::size_t count) {
        std::array<double, D> extents{};
        for (std::size_t axis = 0; axis < D; ++axis) {
            T least = std::numeric_limits<T>::max();
            T greatest = std::numeric_limits<T>::lowest();
            for (std::size_t i = 0; i < count; ++i) {
                least = std::min(least, points[i * D + axis]);
                greatest = std::max(greatest, points[i * D + axis]);
            }
            lower_[axis] = least;
            extents[axis] = static_cast<double>(greatest) - static_cast<double>(least);
        }
        const double extent = *std::max_element(extents.begin(), extents.end());
        slack_ = 1e-12 * extent;
        const double wanted = std::max(1.0, static_cast<double>(count) / points_per_cell);
        double too_small = 0;
        side_ = std::max(2 * extent, std::numeric_limits<double>::min());
        for (int step = 0; step < 100; ++step) {
            const double side = (too_small + side_) / 2;
            double cells = 1;
            for (const double length : extents) {
                cells *= std::floor(length / side) + 1;
            }
            (cells <= wanted ? side_ : too_small) = side;
        }
        for (std::size_t axis = 0; axis < D; ++axis) {
            lengths_[axis] = static_cast<std::int64_t>(extents[axis] / side_) + 1;
        }
    }

    [[nodiscard]] Cell cell_at(const T* point) const {
        Cell cell;
        for (std::size_t axis = 0; axis < D; ++axis) {
            const double place = (static_cast<double>(point[axis]) - lower_[axis]) / side_;
            cell[axis] = static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(lengths_[axis] - 1)));
        }
        return cell;
    }
    [[nodiscard]] std::size_t number_of(const Cell& cell) const {
        std::size_t number = 0;
        for (std::size_t axis = 0; axis < D; ++axis) {
            number = number * static_cast<std::size_t>(lengths_[axis]) + static_cast<std::size_t>(cell[axis]);
        }
        return number;
    }

    /// Calls visit(number) for the cells whose greatest offset from the center on any axis is the radius.
    template <std::size_t Axis, class Visit>
    void ring(const Cell& center, std::int64_t radius, bool is_at_end, Cell& cell, const Visit& visit) const {
        if constexpr (Axis == D) {
            visit(number_of(cell));
        } else {
            const std::int64_t first = center[Axis] - radius;
            const std::int64_t last = center[Axis] + radius;
            const bool takes_ends = Axis == D - 1 && !is_at_end;
            for (std::int64_t at = takes_ends ? first : std::max<std::int64_t>(first, 0);
                 at <= std::min(last, lengths_[Axis] - 1); at += takes_ends ? 2 * radius : 1) {
                if (at >= 0) {
                    cell[Axis] = at;
                    ring<Axis + 1>(center, radius, is_at_end || at == first || at == last, cell, visit);
                }
            }
        }
    }

    /// Least distance from a query in the center to points beyond a ring; infinite if the ring holds all.
    [[nodiscard]] double reach(const Cell& center, std::int64_t radius, const T* query) const {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t axis = 0; axis < D; ++axis) {
            const double place = static_cast<double>(query[axis]) - lower_[axis];
            if (center[axis] - radius > 0) {
                least = std::min(least, place - static_cast<double>(center[axis] - radius) * side_);
            }
            if (center[axis] + radius + 1 < lengths_[axis]) {
                least = std::min(least, static_cast<double>(center[axis] + radius + 1) * side_ - place);
            }
        }
        return std::max(0.0, least - slack_);
    }

    /// Query i is the one of row order[i] of the input.
    void ask(const T* queries, const std::vector<std::uint32_t>& order) {
        in_blocks(order.size(), workload_.threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                find(queries + i * D, order[i] * rows_.k);
            }
        });
    }

    void find(const T* query, std::size_t row) {
        T* const squared = &rows_.distances[row];
        std::int32_t* const indices = &rows_.indices[row];
        std::size_t found = 0;
        const auto look_at = [&](std::size_t cell) {
            for (std::uint32_t i = first_[cell]; i < first_[cell + 1]; ++i) {
                T distance = 0;
                for (std::size_t axis = 0; axis < D; ++axis) {
                    const T offset = query[axis] - sorted_[i * D + axis];
                    distance += offset * offset;
                }
                if (found == rows_.k && !(distance < squared[found - 1])) {
                    continue;
                }
                std::size_t rank = found < rows_.k ? found++ : found - 1;
                for (; rank > 0 && squared[rank - 1] > distance; --rank) {
                    squared[rank] = squared[rank - 1];
                    indices[rank] = indices[rank - 1];
                }
                squared[rank] = distance;
                indices[rank] = static_cast<std::int32_t>(order_[i]);
            }
        };
        const Cell center = cell_at(query);
        Cell cell{};
        double beyond = 0;
        for (std::int64_t radius = 0; beyond < std::numeric_limits<double>::infinity(); ++radius) {
            ring<0>(center, radius, radius == 0, cell, look_at);
            beyond = reach(center, radius, query);
            if (found == rows_.k && beyond * beyond > static_cast<double>(squared[found - 1])) {
                break;
            }
        }
        for (std::size_t rank = 0; rank < found; ++rank) {
            squared[rank] = std::sqrt(squared[rank]);
        }
    }

    const Workload& workload_;
    Rows<T> rows_;
    std::array<double, D> lower_{};
    double side_ = 1;
    double slack_ = 0;                      ///< where faces of cells may be, for rounding
    std::array<std::int64_t, D> lengths_{}; ///< of the grid, in cells
    std::vector<std::uint32_t> first_;      ///< point of each cell; one more at the end
    std::vector<std::uint32_t> order_;
    std::vector<T> sorted_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    using namespace bench;
    return serve(argc, argv, {"grid", "1", "3.1 points in a cell, points and queries by cell, one thread sorts"},
                 [](const Workload& workload) {
                     return for_type_and_dimension(workload, [&]<class T, int D>() -> std::unique_ptr<Contestant> {
                         return std::make_unique<Grid<T, D>>(workload);
                     });
                 });
}
