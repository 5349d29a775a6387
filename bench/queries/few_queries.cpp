// Single queries of a kept tree, one call each, and small batches, beside nanoflann in the same process.
//
//   bench_few_queries [points] [k] [rounds]      default: 200,000 points, k = 8, 15 rounds
//
// Every round times each contestant once, over the same queries, one thread; tables of medians follow, for k neighbors
// and for a radius that holds k on average, with the ratio to nanoflann's single queries (median of the rounds' ratios).
// nanoflann is at its best: points along a space-filling
// curve, leaves of 16; and as most programs use it: points as they are, its default leaves of 10. Its
// answers and kith's are compared first: the distances agree within rounding, kith's queries and batches are those
// of one call with all queries, bit for bit, as are those of the left-balanced k-d trees of kith/device/kdtree.hpp and
// of the tree that Engine::kdtree searches.
#include "../contestants/curve.hpp"

#include <kith/device/kdtree.hpp>

#include <kith/kith.hpp>

#include "engines/kdtree/search.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/sinks.hpp"

#include <nanoflann.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr int dimension = 3;
constexpr std::size_t query_count = 20000;

template <class T>
struct Cloud {
    std::vector<T> rows;
    [[nodiscard]] std::size_t kdtree_get_point_count() const { return rows.size() / dimension; }
    [[nodiscard]] T kdtree_get_pt(std::size_t i, std::size_t axis) const { return rows[i * dimension + axis]; }
    template <class Bounds>
    bool kdtree_get_bbox(Bounds& /*bounds*/) const {
        return false;
    }
};

template <class T>
struct Answer {
    explicit Answer(std::size_t k) : indices(query_count * k), distances(query_count * k) {}
    std::vector<std::int32_t> indices;
    std::vector<T> distances;
};

struct Contestant {
    std::string name;
    std::function<void()> search; ///< all queries
    std::vector<double> seconds = {};
};

/// A left-balanced k-d tree over a copy of the points.
template <class T>
class BalancedTree {
public:
    BalancedTree(const std::vector<T>& rows, kith::kdtree::Split split)
        : nodes_(rows.size() / dimension), indices_(nodes_.size()), least_indices_(nodes_.size()),
          axes_(nodes_.size()) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            std::copy_n(&rows[i * dimension], dimension, nodes_[i].begin());
        }
        std::vector<kith::kdtree::Node> scratch(nodes_.size());
        const auto bounds =
            kith::kdtree::build(std::span(nodes_), std::span(indices_), std::span(scratch), std::span(axes_), split);
        kith::kdtree::find_least_indices(indices_, least_indices_);
        view_ = kith::kdtree::view_of(nodes_.data(), static_cast<kith::kdtree::Node>(nodes_.size()), bounds);
        view_.indices = indices_.data();
        view_.least_indices = least_indices_.data();
        view_.split_axes = split == kith::kdtree::Split::cyclic ? nullptr : axes_.data();
    }
    BalancedTree(const BalancedTree&) = delete;
    BalancedTree& operator=(const BalancedTree&) = delete;

    template <kith::kdtree::Traversal method, class Candidates>
    void search(const T* query, Candidates& candidates) const {
        kith::kdtree::Position<T, dimension> position;
        std::copy_n(query, dimension, position.x);
        kith::kdtree::search<method>(view_, position, candidates);
    }

private:
    std::vector<std::array<T, dimension>> nodes_;
    std::vector<std::int32_t> indices_;
    std::vector<std::int32_t> least_indices_;
    std::vector<std::uint8_t> axes_;
    kith::kdtree::TreeView<kith::kdtree::StructNodes<std::array<T, dimension>>> view_{};
};

/// The tree of Engine::kdtree, searched a query at a time in the order given.
template <class T>
class BucketSearch {
public:
    BucketSearch(const std::vector<T>& points, const std::vector<T>& queries) : context_(kith::cpu(1)) {
        const auto sources = kith::detail::normalize_sources<T>(kith::PointsView(points, dimension), {});
        context_.stage("tree", [&] {
            tree_ = kith::detail::build_bucket_tree<T>(context_, {nullptr, &sources}, sources.frame.dimension,
                                                       kith::detail::bucket_size);
            queries_ = kith::detail::gather_points(
                context_, kith::detail::normalize_queries<T>(kith::PointsView(queries, dimension), sources.frame));
        });
    }

    void search(std::size_t k, Answer<T>& answer) {
        kith::detail::StoredRows<T> sink(
            kith::NeighborRows(std::span<std::int32_t>(answer.indices), std::span<T>(answer.distances)));
        const auto request = kith::detail::make_request(tree_.points.frame, static_cast<std::int64_t>(k), {});
        for (std::int64_t i = 0; i < queries_.count; ++i) {
            kith::detail::find_nearest({&tree_, &queries_, &request, &sink}, i, i + 1, scratch_);
        }
    }

private:
    kith::detail::Context context_;
    kith::detail::BucketTree<T> tree_;
    kith::detail::PointSet<T> queries_;
    kith::detail::CandidateScratch<T> scratch_;
};

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

template <class T>
std::vector<T> uniform(std::size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<T> uniformly(0, 1);
    std::vector<T> numbers(count * dimension);
    std::generate(numbers.begin(), numbers.end(), [&] { return uniformly(random); });
    return numbers;
}

void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "wrong answer: %s\n", what);
        std::exit(1);
    }
}

/// Times the contestants in turn, and prints a table.
void race(std::vector<Contestant>& contestants, const std::string& title, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        for (Contestant& contestant : contestants) {
            const auto start = std::chrono::steady_clock::now();
            contestant.search();
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            contestant.seconds.push_back(took.count());
        }
    }
    std::printf("%s, %d rounds\n", title.c_str(), rounds);
    for (const Contestant& contestant : contestants) {
        std::vector<double> ratios;
        for (std::size_t round = 0; round < contestant.seconds.size(); ++round) {
            ratios.push_back(contestant.seconds[round] / contestants[0].seconds[round]);
        }
        const auto [least, greatest] = std::minmax_element(contestant.seconds.begin(), contestant.seconds.end());
        constexpr double each = 1e6 / query_count;
        std::printf("  %-28s %7.3f us a query (%.3f to %.3f), ratio %.3f\n", contestant.name.c_str(),
                    each * median(contestant.seconds), each * *least, each * *greatest, median(ratios));
    }
}

/// Rows and counts within a radius, one query a call.
template <class T, class Index>
void race_within(const kith::Tree& tree, const std::vector<T>& queries, const Index& index, T radius,
                 const std::string& title, int rounds) {
    const kith::PointsView view(queries, dimension);
    const kith::RadiusOptions options{.execution = kith::cpu(1)};
    const kith::RadiusResult all = kith::radius_search(tree, view, radius, options);
    const auto their_rows = [&](bool sorted, const auto& take) {
        std::vector<std::pair<std::uint32_t, T>> found;
        for (std::size_t i = 0; i < query_count; ++i) {
            // Their radius is exclusive, and squared.
            const T limit = std::nextafter(radius * radius, std::numeric_limits<T>::infinity());
            index.radiusSearch(&queries[i * dimension], limit, found, nanoflann::SearchParams(32, 0, sorted));
            take(i, found);
        }
    };
    const auto each = [&](const auto& search) {
        for (std::size_t i = 0; i < query_count; ++i) {
            search(static_cast<std::int64_t>(i), view.subview(static_cast<std::int64_t>(i), 1));
        }
    };
    const auto same_row = [&](std::int64_t i, std::span<const std::int32_t> indices, std::span<const T> distances) {
        const auto first = static_cast<std::size_t>(all.offsets()[i]);
        return std::ranges::equal(indices, all.indices().subspan(first, indices.size())) &&
               std::ranges::equal(distances, all.template distances<T>().subspan(first, distances.size()));
    };
    std::int64_t wrong = 0;
    their_rows(true, [&](std::size_t i, const auto& found) {
        wrong += std::abs(std::ssize(found) - all.row(static_cast<std::int64_t>(i)).size());
    });
    require(wrong <= all.size() / 100'000, "nanoflann's numbers of neighbors"); // their sum is rounded otherwise
    std::int64_t seen = 0;
    std::vector<Contestant> contestants{
        {"nanoflann, sorted",
         [&] { their_rows(true, [&](std::size_t, const auto& found) { seen += std::ssize(found); }); }},
        {"nanoflann, unsorted",
         [&] { their_rows(false, [&](std::size_t, const auto& found) { seen += std::ssize(found); }); }},
        {"radius_search",
         [&] {
             each([&](std::int64_t i, const kith::PointsView& query) {
                 const kith::RadiusResult found = kith::radius_search(tree, query, radius, options);
                 require(same_row(i, found.indices(), found.template distances<T>()), "radius_search");
             });
         }},
        {"radius_visit",
         [&] {
             each([&](std::int64_t i, const kith::PointsView& query) {
                 kith::radius_visit(
                     [&](const kith::RadiusBlock& block) {
                         require(same_row(i, block.indices(), block.template distances<T>()), "radius_visit");
                     },
                     tree, query, radius, options);
             });
         }},
        {"radius_count", [&] {
             each([&](std::int64_t i, const kith::PointsView& query) {
                 require(kith::radius_count(tree, query, radius, options).counts[0] == all.row(i).size(),
                         "radius_count");
             });
         }}};
    race(contestants, title, rounds);
}

template <class T>
void compare(const char* type, std::size_t count, std::size_t k, int rounds) {
    using Index = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<T, Cloud<T>>, Cloud<T>, dimension,
                                                      std::uint32_t>;
    const std::vector<T> points = uniform<T>(count, 1);
    const std::vector<T> queries = uniform<T>(query_count, 2);
    const kith::Tree tree(kith::PointsView(points, dimension));
    const std::vector<std::uint32_t> order = curve_order<T, dimension>(points.data(), count);
    Cloud<T> cloud{in_order<T, dimension>(points.data(), order)};
    Index index(dimension, cloud, {16});
    index.buildIndex();
    const Cloud<T> plain_cloud{points};
    Index plain_index(dimension, plain_cloud, {});
    plain_index.buildIndex();

    Answer<T> all(k);
    Answer<T> few(k);
    Answer<T> theirs(k);
    const auto batches_of = [&](std::size_t size, Answer<T>& answer) {
        for (std::size_t first = 0; first < query_count; first += size) {
            const std::size_t rows = std::min(size, query_count - first);
            (void)kith::knn_into(
                {std::span(answer.indices).subspan(first * k, rows * k),
                 std::span(answer.distances).subspan(first * k, rows * k)},
                tree, kith::PointsView(queries.data() + first * dimension, static_cast<std::int64_t>(rows), dimension),
                static_cast<std::int64_t>(k), {.execution = kith::cpu(1)});
        }
    };
    const auto owned_results = [&] {
        for (std::size_t i = 0; i < query_count; ++i) {
            const kith::KnnResult found =
                kith::knn(tree, kith::PointsView(queries.data() + i * dimension, 1, dimension),
                          static_cast<std::int64_t>(k), {.execution = kith::cpu(1)});
            std::copy_n(found.indices().data(), k, &few.indices[i * k]);
        }
    };
    const auto nanoflann_search = [&] {
        std::vector<std::uint32_t> positions(k);
        for (std::size_t i = 0; i < query_count; ++i) {
            const std::size_t found =
                index.knnSearch(&queries[i * dimension], k, positions.data(), &theirs.distances[i * k]);
            for (std::size_t j = 0; j < found; ++j) {
                theirs.indices[i * k + j] = static_cast<std::int32_t>(order[positions[j]]);
                theirs.distances[i * k + j] = std::sqrt(theirs.distances[i * k + j]);
            }
        }
    };
    const auto plain_search = [&] {
        std::vector<std::uint32_t> positions(k);
        std::vector<T> squared(k);
        for (std::size_t i = 0; i < query_count; ++i) {
            (void)plain_index.knnSearch(&queries[i * dimension], k, positions.data(), squared.data());
        }
    };
    using kith::kdtree::Split;
    using kith::kdtree::Traversal;
    const BalancedTree<T> cyclic_tree(points, Split::cyclic);
    const BalancedTree<T> widest_tree(points, Split::widest);
    BucketSearch<T> buckets(points, queries);
    const auto write_row = [&](const auto& found, std::size_t row) {
        for (std::size_t j = 0; j < k; ++j) {
            few.indices[row * k + j] = found[j].index;
            few.distances[row * k + j] = std::sqrt(found[j].squared_distance);
        }
    };
    std::vector<kith::kdtree::Neighbor<T>> heap_memory(k);
    const auto balanced = [&]<Traversal method>(const BalancedTree<T>& searched,
                                                std::integral_constant<Traversal, method>) {
        for (std::size_t i = 0; i < query_count; ++i) {
            if (k == 8) {
                kith::kdtree::Nearest<T, 8> found;
                searched.template search<method>(&queries[i * dimension], found);
                write_row(found, i);
            } else {
                kith::kdtree::NearestHeap<T> found(heap_memory.data(), static_cast<std::int64_t>(k));
                searched.template search<method>(&queries[i * dimension], found);
                found.sort();
                write_row(found, i);
            }
        }
    };
    const std::integral_constant<Traversal, Traversal::stack_free> stack_free;
    const std::integral_constant<Traversal, Traversal::stack> stack;
    const std::integral_constant<Traversal, Traversal::closest_corner> closest_corner;
    std::vector<Contestant> contestants{{"nanoflann, one by one", nanoflann_search},
                                        {"nanoflann, points as given", plain_search},
                                        {"knn_into, one by one", [&] { batches_of(1, few); }},
                                        {"knn, one by one", owned_results},
                                        {"knn_into, 10 a call", [&] { batches_of(10, few); }},
                                        {"knn_into, 100 a call", [&] { batches_of(100, few); }},
                                        {"knn_into, 1,000 a call", [&] { batches_of(1000, few); }}};
    const std::vector<Contestant> of_balanced_trees{
        {"stack-free, cyclic", [&] { balanced(cyclic_tree, stack_free); }},
        {"stack, cyclic", [&] { balanced(cyclic_tree, stack); }},
        {"closest corner, cyclic", [&] { balanced(cyclic_tree, closest_corner); }},
        {"stack-free, widest", [&] { balanced(widest_tree, stack_free); }},
        {"closest corner, widest", [&] { balanced(widest_tree, closest_corner); }},
        {"leaves of several points", [&] { buckets.search(k, few); }}};

    batches_of(query_count, all);
    nanoflann_search();
    for (std::size_t i = 0; i < query_count * k; ++i) {
        require(std::abs(all.distances[i] - theirs.distances[i]) <= 1e-5 * theirs.distances[i],
                "nanoflann's distances");
    }
    for (const std::size_t size : {1, 10, 100, 1000}) {
        few = Answer<T>(k);
        batches_of(size, few);
        require(few.indices == all.indices && few.distances == all.distances, "kith's small batches");
    }
    for (const Contestant& contestant : of_balanced_trees) {
        few = Answer<T>(k);
        contestant.search();
        require(few.indices == all.indices && few.distances == all.distances, contestant.name.c_str());
        contestants.push_back(contestant);
    }
    const std::string what = std::string(type) + ", " + std::to_string(count) + " points, ";
    race(contestants, what + "k = " + std::to_string(k), rounds);
    const double volume = static_cast<double>(k) / static_cast<double>(count); // of a cube of volume 1
    const double radius = std::cbrt(volume * 3 / (4 * 3.14159265358979));
    race_within<T>(tree, queries, index, static_cast<T>(radius), what + "radius " + std::to_string(radius), rounds);
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
    const auto points = static_cast<std::size_t>(argument(1, 200000));
    const auto k = static_cast<std::size_t>(argument(2, 8));
    const int rounds = argument(3, 15);
    bench::compare<double>("float64", points, k, rounds);
    bench::compare<float>("float32", points, k, rounds);
}
