// Sums over neighbors over ranks against the serial call, which other suites hold against the oracle, bit for bit: every
// type, built dimension, point set and box; by k neighbors and within radii; with ids, and points in no order of ranks.
#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/distributed.hpp>
#include <kith/sum_neighbors.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using Rows = std::vector<std::int64_t>;

Rows rows_of_part(const RankFirsts& firsts, int rank) {
    const auto i = static_cast<std::size_t>(rank);
    Rows rows(static_cast<std::size_t>(firsts[i + 1] - firsts[i]));
    std::iota(rows.begin(), rows.end(), firsts[i]);
    return rows;
}

/// Some rows of a column; nothing of one that is empty.
template <class Value>
std::vector<Value> taken(const std::vector<Value>& from, const Rows& rows, int width = 1) {
    std::vector<Value> part;
    if (from.empty()) {
        return part;
    }
    for (const std::int64_t row : rows) {
        part.insert(part.end(), from.begin() + row * width, from.begin() + (row + 1) * width);
    }
    return part;
}

/// What is summed, by all or by one rank.
template <class T>
struct Problem {
    int dimension = 0;
    std::vector<T> points;
    std::vector<double> masses;
    std::vector<float> field;
    std::vector<double> other_field;
    std::vector<T> queries;
    bool is_separate = false;
    std::int64_t k = 0;        ///< 0: within radii
    std::vector<double> radii; ///< one for each query
    bool one_radius = false;   ///< they are all the same
    SumOptions options;        ///< without columns and execution
    bool has_masses = false;
    bool has_fields = false;

    [[nodiscard]] std::int64_t count() const { return std::ssize(points) / dimension; }
    [[nodiscard]] std::int64_t row_count() const { return is_separate ? std::ssize(queries) / dimension : count(); }

    /// The parts of a rank; rows of radii and sums are those of the points or of the queries.
    [[nodiscard]] Problem part(const Rows& of_points, const Rows& of_queries) const {
        Problem mine = *this;
        mine.points = taken(points, of_points, dimension);
        mine.masses = taken(masses, of_points);
        mine.field = taken(field, of_points);
        mine.other_field = taken(other_field, of_points);
        if (is_separate) {
            mine.queries = taken(queries, of_queries, dimension);
        }
        if (k == 0 && !one_radius) {
            mine.radii = taken(radii, is_separate ? of_queries : of_points);
        }
        return mine;
    }

    [[nodiscard]] NeighborSums sums(const Execution& execution) const {
        SumOptions full = options;
        full.execution = execution;
        if (has_masses) {
            full.masses = masses;
        }
        if (has_fields) {
            full.fields = {field, other_field};
        }
        const Neighborhood neighborhood = k > 0        ? Neighborhood(Nearest{k})
                                          : one_radius ? Neighborhood(Within{radii[0]})
                                                       : Neighborhood(Within{Radii(radii)});
        const PointsView view(points, dimension);
        return is_separate ? sum_neighbors(view, PointsView(queries, dimension), neighborhood, full)
                           : sum_neighbors(view, neighborhood, full);
    }
};

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}
bool same_bits(std::int64_t a, std::int64_t b) {
    return a == b;
}

/// The columns of sums whose rows differ from those of one process.
class Differences {
public:
    Differences(const NeighborSums& found, const NeighborSums& serial, const Rows& rows, int dimension)
        : rows_(rows), dimension_(dimension) {
        compare("density", found.density, serial.density);
        compare("reach", found.reach, serial.reach);
        compare("counts", found.counts, serial.counts);
        compare("density_gradient", found.density_gradient, serial.density_gradient, dimension_);
        if (found.fields.size() != serial.fields.size()) {
            names_ += " fields";
            return;
        }
        for (std::size_t f = 0; f < found.fields.size(); ++f) {
            compare("sum", found.fields[f].sum, serial.fields[f].sum);
            compare("mean", found.fields[f].mean, serial.fields[f].mean);
            compare("variance", found.fields[f].variance, serial.fields[f].variance);
            compare("least", found.fields[f].least, serial.fields[f].least);
            compare("greatest", found.fields[f].greatest, serial.fields[f].greatest);
            compare("gradient", found.fields[f].gradient, serial.fields[f].gradient, dimension_);
        }
    }
    [[nodiscard]] const std::string& names() const { return names_; }

private:
    template <class Value>
    void compare(const char* name, const std::vector<Value>& found, const std::vector<Value>& serial, int width = 1) {
        const std::vector<Value> expected = taken(serial, rows_, width);
        if (!std::ranges::equal(found, expected, [](Value a, Value b) { return same_bits(a, b); })) {
            names_ += std::string(" ") + name;
        }
    }

    const Rows& rows_;
    int dimension_;
    std::string names_;
};

/// Sums over ranks and holds every rank's against those of one process. `order`: of the points, whose places in the
/// problem are then their ids; empty: as they are, without ids. Rebalanced ones also have weights.
template <class T>
testing::AssertionResult same_as_serial(const Problem<T>& problem, const RankFirsts& points, const RankFirsts& queries,
                                        const Rows& order = {}, bool rebalance = false) {
    const NeighborSums serial = problem.sums(cpu(1));
    const int ranks = static_cast<int>(points.size()) - 1;
    std::mutex failing;
    testing::AssertionResult result = testing::AssertionSuccess();
    run_ranks(ranks, [&](Communicator& communicator) {
        const int rank = communicator.rank();
        Rows of_points = rows_of_part(points, rank);
        if (!order.empty()) {
            of_points = taken(order, of_points);
        }
        const Rows of_queries = problem.is_separate ? rows_of_part(queries, rank) : Rows();
        const std::vector<float> weights = weights_for(std::ssize(of_points));
        RankOptions rank_options{.rebalance = rebalance, .weights = weights};
        if (!order.empty()) {
            rank_options.ids = of_points;
        }
        const NeighborSums found =
            problem.part(of_points, of_queries).sums(over(communicator, cpu(1 + rank % 2), rank_options));
        const Rows& rows = problem.is_separate ? of_queries : of_points;
        std::string differences = Differences(found, serial, rows, problem.dimension).names();
        if (found.box != serial.box || found.wrapped_points != serial.wrapped_points) {
            differences += " box";
        }
        if (found.unresolved.warning() != serial.unresolved.warning()) {
            differences += " unresolved rows";
        }
        const auto total = problem.row_count();
        if (!found.distribution || found.distribution->total != total || found.distribution->ranks != ranks ||
            found.distribution->work.size() != (rebalance && ranks > 1 ? of_points.size() : 0)) {
            differences += " distribution";
        }
        if (!differences.empty()) {
            const std::lock_guard lock(failing);
            result = testing::AssertionFailure() << "rank " << rank << " of " << ranks << " differs in" << differences;
        }
    });
    return result;
}

Rows shuffled(std::int64_t count, Random& draw) {
    Rows order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t i = count - 1; i > 0; --i) {
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(draw.integer(i + 1))]);
    }
    return order;
}

/// Columns of very different sizes and both signs, of masses now and then with an infinite sum; every statistic.
template <class T>
void draw_columns(Problem<T>& problem, Random& draw) {
    const int up = draw.integer(4) == 0 ? 1004 : 0;
    for (std::int64_t i = 0; i < problem.count(); ++i) {
        problem.masses.push_back(
            draw.integer(9) == 0 ? 0 : std::ldexp(draw.uniform(), up + static_cast<int>(draw.integer(20))));
        problem.field.push_back(static_cast<float>(draw.normal()));
        problem.other_field.push_back(draw.integer(5) == 0 ? -0.0 : std::ldexp(draw.normal(), 30));
    }
    problem.options.kernel =
        static_cast<SmoothingKernel>(draw.integer(static_cast<std::int64_t>(smoothing_kernel_names.size())));
    const bool has_slope = problem.options.kernel != SmoothingKernel::top_hat;
    problem.has_masses = draw.integer(3) > 0;
    problem.has_fields = draw.integer(3) > 0;
    problem.options.exclude_self = !problem.is_separate && draw.integer(2) == 0;
    problem.options.statistics = {true, true, true, true, true, has_slope && !problem.is_separate};
    problem.options.density_gradient = has_slope && draw.integer(2) == 0;
}

class SumsOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, SumsOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(SumsOverRanks, HaveTheBitsOfOneProcess) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 43 + static_cast<std::uint64_t>(set.dimension));
        for (const NamedBox& named : set.boxes) {
            for (const bool is_separate : {false, true}) {
                Problem<T> problem;
                problem.dimension = set.dimension;
                problem.points =
                    draw.integer(3) == 0 ? set.coordinates : along_the_first_axis(set.coordinates, set.dimension);
                problem.is_separate = is_separate;
                problem.queries = queries_for(set, named.box, 40);
                problem.options.box = named.box;
                draw_columns(problem, draw);
                const auto working = oracle::working_copy<T>(problem.points, set.dimension, named.box);
                const auto drawn_radius = [&] {
                    const double factors[] = {0, 0.02, 0.1, 0.2};
                    const double radius = set.extent() * factors[draw.integer(4)];
                    const bool is_good =
                        std::isfinite(static_cast<T>(radius)) && !oracle::is_refused(working, radius, is_separate);
                    return is_good ? radius : 0;
                };
                problem.k = draw.integer(2) == 0 ? 0 : 1 + draw.integer(30);
                problem.one_radius = draw.integer(2) == 0;
                problem.radii.assign(static_cast<std::size_t>(std::max<std::int64_t>(problem.row_count(), 1)),
                                     drawn_radius());
                if (!problem.one_radius) {
                    problem.radii.resize(static_cast<std::size_t>(problem.row_count()));
                    std::ranges::generate(problem.radii, drawn_radius);
                }
                const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
                EXPECT_TRUE(same_as_serial(problem, drawn_distribution(set.count(), ranks, draw),
                                           drawn_distribution(std::ssize(problem.queries) / set.dimension, ranks, draw),
                                           draw.integer(3) == 0 ? shuffled(set.count(), draw) : Rows(),
                                           draw.integer(3) == 0))
                    << named.name << (is_separate ? ", separate queries" : "") << ", k = " << problem.k;
            }
        }
    });
}

class SumsOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(SumsOverRanksIn3D, OfEveryStatisticOnEveryNumberOfRanks) {
    Random draw(411);
    Problem<float> problem;
    problem.dimension = 3;
    problem.points = along_the_first_axis(uniform_points<float>(600, 3, 0, 1, 412), 3);
    for (std::int64_t i = 0; i < 60; ++i) { // coincident points on both sides of the cuts between ranks
        std::copy_n(problem.points.begin() + 900, 3, problem.points.begin() + 870 + 3 * i);
    }
    problem.options.box = Box::periodic(1);
    draw_columns(problem, draw);
    problem.has_masses = problem.has_fields = true;
    problem.options.kernel = SmoothingKernel::wendland_c4;
    problem.options.statistics = {true, true, true, true, true, true};
    problem.options.density_gradient = true;
    problem.radii.assign(600, 0.15);
    for (const std::int64_t k : {0, 20}) {
        problem.k = k;
        for (const bool exclude_self : {false, true}) {
            problem.options.exclude_self = exclude_self;
            for (const int ranks : rank_counts) {
                EXPECT_TRUE(same_as_serial(problem, evenly(600, ranks), {}));
                EXPECT_TRUE(same_as_serial(problem, unevenly(600, ranks), {}, shuffled(600, draw)));
                EXPECT_TRUE(same_as_serial(problem, all_on(ranks / 2, 600, ranks), {}, {}, true));
            }
        }
    }
}

// More rows than a block of them has, near other ranks or not.
TEST_F(SumsOverRanksIn3D, OfSeveralBlocks) {
    constexpr std::int64_t count = 40'000;
    Problem<float> problem;
    problem.dimension = 3;
    problem.points = along_the_first_axis(uniform_points<float>(count, 3, 0, 1, 414), 3);
    problem.options.box = Box::periodic(1);
    problem.options.exclude_self = true;
    problem.options.density_gradient = true;
    problem.radii.assign(count, 0.03);
    for (std::int64_t i = 0; i < count; i += 7) {
        problem.radii[static_cast<std::size_t>(i)] = 0.02;
    }
    for (const std::int64_t k : {0, 20}) {
        problem.k = k;
        EXPECT_TRUE(same_as_serial(problem, evenly(count, 2), {}));
        Random draw(415);
        EXPECT_TRUE(same_as_serial(problem, evenly(count, 2), {}, shuffled(count, draw)));
    }
}

// More neighbors on the other rank than are kept at a time; of some rows, or of all.
TEST_F(SumsOverRanksIn3D, OfMoreNeighborsThanAreKept) {
    constexpr std::int64_t count = 5'000;
    Problem<float> problem;
    problem.dimension = 3;
    problem.points = uniform_points<float>(count, 3, 0, 1, 416);
    problem.options.exclude_self = true;
    problem.radii.assign(count, 2);
    EXPECT_TRUE(same_as_serial(problem, evenly(count, 2), {}));
    for (std::int64_t i = 0; i < count; i += 4) {
        problem.radii[static_cast<std::size_t>(i)] = 0.05;
    }
    EXPECT_TRUE(same_as_serial(problem, evenly(count, 2), {}));
}

TEST_F(SumsOverRanksIn3D, MoreNeighborsThanPoints) {
    Problem<float> problem;
    problem.dimension = 3;
    problem.points = uniform_points<float>(5, 3, 0, 1, 413);
    problem.k = 40;
    for (const bool exclude_self : {false, true}) {
        problem.options.exclude_self = exclude_self;
        EXPECT_TRUE(same_as_serial(problem, evenly(5, 3), {}));
        EXPECT_TRUE(same_as_serial(problem, all_on(1, 5, 3), {}));
        EXPECT_TRUE(same_as_serial(problem, all_on(1, 5, 7), {}, {}, true));
    }
    problem.points = {1, 2, 3};
    EXPECT_TRUE(same_as_serial(problem, all_on(1, 1, 2), {}));
    EXPECT_TRUE(same_as_serial(problem, all_on(0, 1, 1), {}, {0}));
    problem.options.exclude_self = false;
    problem.points = {};
    problem.queries = {1, 2, 3, 4, 5, 6};
    problem.is_separate = true;
    EXPECT_TRUE(same_as_serial(problem, all_on(0, 0, 2), evenly(2, 2)));
    EXPECT_TRUE(same_as_serial(problem, all_on(0, 0, 2), evenly(2, 2), {}, true));
}

TEST_F(SumsOverRanksIn3D, OnlyPointsNearOtherRanksTravel) {
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(20000, 3, 0, 1, 414), 3);
    const std::vector<double> masses(5000, 2);
    run_ranks(4, [&](Communicator& ranks) {
        const NeighborSums found = sum_neighbors(part_of({points, 3}, evenly(20000, 4), ranks.rank()), Within{0.02},
                                                 {.masses = masses, .execution = over(ranks, cpu(1))});
        EXPECT_LT(found.distribution->traffic.bytes_sent, 120000); // coordinates and masses of the rank are 100,000
    });
}

TEST_F(SumsOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    const std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 415);
    const RankFirsts firsts = evenly(100, 4);
    const std::vector<double> column(25, 1);
    const std::vector<float> narrow(25, 1);
    const auto refuses = [&](const std::vector<std::string>& words, const Neighborhood& neighborhood,
                             const auto& options_of) {
        run_ranks(4, [&](Communicator& ranks) {
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words, [&] {
                SumOptions options = options_of(ranks.rank());
                options.execution = over(ranks, cpu(1));
                (void)sum_neighbors(part_of({points, 3}, firsts, ranks.rank()), neighborhood, options);
            }));
        });
    };
    const auto plain = [](int) { return SumOptions(); };
    refuses({"rank 0", "k is 0"}, Nearest{0}, plain);
    refuses({"kernel: wendland-c2 on rank 3, cubic on rank 0"}, Nearest{3}, [](int rank) {
        return SumOptions{.kernel = rank == 3 ? SmoothingKernel::wendland_c2 : SmoothingKernel::cubic_spline};
    });
    refuses({"masses: given on rank 2, not given on rank 0"}, Nearest{3},
            [&](int rank) { return rank == 2 ? SumOptions{.masses = ScalarsView(column)} : SumOptions(); });
    refuses({"type of the masses", "float32 on rank 1"}, Within{0.1},
            [&](int rank) { return SumOptions{.masses = rank == 1 ? ScalarsView(narrow) : ScalarsView(column)}; });
    std::vector<double> bad = column;
    bad[7] = -2;
    refuses({"rank 3", "masses: row 7 is -2"}, Within{0.1},
            [&](int rank) { return SumOptions{.masses = ScalarsView(rank == 3 ? bad : column)}; });
    refuses({"types of the fields", "rank 1"}, Within{0.1},
            [&](int rank) { return SumOptions{.fields = {rank == 1 ? ScalarsView(narrow) : ScalarsView(column)}}; });
}

} // namespace
} // namespace kith::test
