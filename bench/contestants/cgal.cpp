// CGAL at its best: points along a space-filling curve, a cache of coordinates, the tree built by its own threads where
// TBB is linked, queries in the tree's order on threads of ours.
#include "contestant.hpp"
#include "curve.hpp"

#include <CGAL/Kd_tree.h>
#include <CGAL/Orthogonal_k_neighbor_search.h>
#include <CGAL/Search_traits.h>
#include <CGAL/version.h>

#include <oneapi/tbb/global_control.h>

#include <array>
#include <cmath>
#include <optional>

namespace bench {
namespace {

template <class T, int D>
struct Point {
    std::array<T, D> at;
    std::int32_t index;
};

template <class T, int D>
struct Coordinates {
    using result_type = const T*;
    const T* operator()(const Point<T, D>& point) const { return point.at.data(); }
    const T* operator()(const Point<T, D>& point, int /*past_the_end*/) const { return point.at.data() + D; }
};

template <class T, int D>
class Cgal final : public Contestant {
    using Traits = CGAL::Search_traits<T, Point<T, D>, const T*, Coordinates<T, D>, CGAL::Dimension_tag<D>>;
    using Distance = CGAL::Euclidean_distance<Traits>;
    using Splitter = CGAL::Sliding_midpoint<Traits>;
    using Tree = CGAL::Kd_tree<Traits, Splitter, CGAL::Tag_true, CGAL::Tag_true>;
    using Search = CGAL::Orthogonal_k_neighbor_search<Traits, Distance, Splitter, Tree>;

public:
    explicit Cgal(const Workload& workload)
        : workload_(workload), rows_(workload),
          threads_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workload.threads)) {
        if (workload.k == 0) {
            throw Unsupported("finds no groups");
        }
        if (workload.period != 0) {
            throw Unsupported("knows no periodic space");
        }
    }

    void build() override {
        const std::vector<Point<T, D>> points = along_curve(workload_.points);
        tree_.emplace(points.begin(), points.end(), Splitter(16));
        tree_->template build<CGAL::Parallel_if_available_tag>();
    }

    void search() override {
        if (workload_.queries) {
            const std::vector<Point<T, D>> queries = along_curve(*workload_.queries);
            ask(queries.data(), queries.size());
        } else { // a built tree holds its points leaf after leaf
            ask(&*tree_->begin(), tree_->size());
        }
    }

    void forget() override { tree_.reset(); }
    void write_answer(const std::string& prefix) const override { rows_.write(prefix); }

private:
    static std::vector<Point<T, D>> along_curve(const PointsFile& file) {
        const std::vector<std::uint32_t> order =
            curve_order<T, D>(file.rows<T>(), static_cast<std::size_t>(file.count));
        std::vector<Point<T, D>> points(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            std::copy_n(file.rows<T>() + order[i] * std::size_t{D}, D, points[i].at.data());
            points[i].index = static_cast<std::int32_t>(order[i]);
        }
        return points;
    }

    void ask(const Point<T, D>* queries, std::size_t count) {
        in_blocks(count, workload_.threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const Search found(*tree_, queries[i], static_cast<unsigned>(rows_.k));
                std::size_t row = static_cast<std::size_t>(queries[i].index) * rows_.k;
                for (const auto& [point, squared] : found) {
                    rows_.indices[row] = point.index;
                    rows_.distances[row++] = std::sqrt(squared);
                }
            }
        });
    }

    const Workload& workload_;
    Rows<T> rows_;
    tbb::global_control threads_;
    std::optional<Tree> tree_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    using namespace bench;
    return serve(argc, argv,
                 {"CGAL", CGAL_VERSION_STR,
                  "Orthogonal_k_neighbor_search, cached coordinates, leaves of 16, threads build and query"},
                 [](const Workload& workload) {
                     return for_type_and_dimension(workload, [&]<class T, int D>() -> std::unique_ptr<Contestant> {
                         return std::make_unique<Cgal<T, D>>(workload);
                     });
                 });
}
