// Groups by the route of the halo-finding thesis (section 3.3.1) on CGAL: a Delaunay triangulation of the positions
// holds their minimum spanning tree, Kruskal's method finds it among the edges, and what is longer than the linking
// length is deleted. On one thread, in open space.
//
// Points of six dimensions are positions and scaled velocities. As in the thesis the triangulation is that of the
// positions, and only its edges are weighed in six dimensions: the tree is then no minimum one, and groups fall apart.
#include "contestant.hpp"

#include <CGAL/Delaunay_triangulation_3.h>
#include <CGAL/Delaunay_triangulation_cell_base_3.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Triangulation_vertex_base_with_info_3.h>
#include <CGAL/version.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace bench {
namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Vertex = CGAL::Triangulation_vertex_base_with_info_3<std::int32_t, Kernel>;
using Cell = CGAL::Delaunay_triangulation_cell_base_3<Kernel>;
using Triangulation = CGAL::Delaunay_triangulation_3<Kernel, CGAL::Triangulation_data_structure_3<Vertex, Cell>>;
using Position = Kernel::Point_3;

struct Edge {
    double squared;
    std::array<std::int32_t, 2> ends;
};

class Components {
public:
    explicit Components(std::size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0); }

    std::int32_t root(std::int32_t point) {
        while (parents_[static_cast<std::size_t>(point)] != point) {
            std::int32_t& parent = parents_[static_cast<std::size_t>(point)];
            parent = parents_[static_cast<std::size_t>(parent)];
            point = parent;
        }
        return point;
    }
    /// Whether they were apart.
    bool join(const std::array<std::int32_t, 2>& ends) {
        const std::int32_t first = root(ends[0]);
        const std::int32_t second = root(ends[1]);
        parents_[static_cast<std::size_t>(std::max(first, second))] = std::min(first, second);
        return first != second;
    }

private:
    std::vector<std::int32_t> parents_;
};

template <class T, int D>
class Delaunay final : public Contestant {
public:
    explicit Delaunay(const Workload& workload) : workload_(workload) {
        if (workload.k != 0) {
            throw Unsupported("finds no neighbors");
        }
        if (workload.period != 0) {
            throw Unsupported("knows no periodic space");
        }
    }

    void build() override {
        const auto count = static_cast<std::size_t>(workload_.points.count);
        std::vector<std::pair<Position, std::int32_t>> points(count);
        for (std::size_t i = 0; i < count; ++i) {
            const T* at = row(static_cast<std::int32_t>(i));
            points[i] = {Position(at[0], at[1], at[2]), static_cast<std::int32_t>(i)};
        }
        // Of points at one position the triangulation keeps one; a chain joins them.
        std::sort(points.begin(), points.end());
        for (std::size_t i = 1; i < count; ++i) {
            if (points[i].first == points[i - 1].first) {
                add_edge(points[i - 1].second, points[i].second);
            }
        }
        points.erase(
            std::unique(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
            points.end());
        const Triangulation triangulation(points.begin(), points.end());
        for (const auto& edge : triangulation.finite_edges()) {
            add_edge(edge.first->vertex(edge.second)->info(), edge.first->vertex(edge.third)->info());
        }
    }

    void search() override {
        std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.squared < b.squared; });
        Components components(static_cast<std::size_t>(workload_.points.count));
        std::erase_if(edges_, [&](const Edge& edge) { return !components.join(edge.ends); });
        cut(workload_.linking_length);
    }

    void forget() override {
        edges_ = {};
        labels_ = {};
    }
    void regroup(double factor) override { cut(factor * workload_.linking_length); }
    void write_answer(const std::string& prefix) const override {
        write_npy<std::int32_t>(prefix + ".labels.npy", labels_);
    }

private:
    [[nodiscard]] const T* row(std::int32_t point) const {
        return workload_.points.rows<T>() + static_cast<std::ptrdiff_t>(point) * D;
    }

    void add_edge(std::int32_t first, std::int32_t second) {
        double squared = 0;
        for (int axis = 0; axis < D; ++axis) {
            const double apart = static_cast<double>(row(first)[axis]) - static_cast<double>(row(second)[axis]);
            squared += apart * apart;
        }
        edges_.push_back({squared, {first, second}});
    }

    void cut(double length) {
        Components groups(static_cast<std::size_t>(workload_.points.count));
        for (const Edge& edge : edges_) {
            if (edge.squared <= length * length) {
                groups.join(edge.ends);
            }
        }
        labels_.resize(static_cast<std::size_t>(workload_.points.count));
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            labels_[i] = groups.root(static_cast<std::int32_t>(i));
        }
    }

    const Workload& workload_;
    std::vector<Edge> edges_; ///< of the triangulation, then of the tree
    std::vector<std::int32_t> labels_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    using namespace bench;
    return serve(argc, argv, {"CGAL, Delaunay", CGAL_VERSION_STR, "Delaunay_triangulation_3, Kruskal; one thread"},
                 [](const Workload& workload) {
                     return for_type_and_dimension(workload, [&]<class T, int D>() -> std::unique_ptr<Contestant> {
                         if constexpr (D == 3 || D == 6) {
                             return std::make_unique<Delaunay<T, D>>(workload);
                         } else {
                             throw Unsupported("triangulates positions of three dimensions");
                         }
                     });
                 });
}
