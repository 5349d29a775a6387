// What every call over ranks answers, in one form for all of them, so that one loop holds each against one process.
//
// An answer has some bytes for each of the points, or for each item of an order that the ranks divide among them, such as
// edges or groups, and bytes that are the same on all ranks. calls_over_ranks() has every task of the table of engines
// that runs over ranks, and the calls that continue from their results.
#pragma once

#include "calls/answers.hpp"
#include "support/cases.hpp"

#include <kith/catalog.hpp>
#include <kith/dbscan.hpp>
#include <kith/distributed.hpp>
#include <kith/halos.hpp>
#include <kith/hdbscan.hpp>
#include <kith/hierarchy.hpp>
#include <kith/pair_counts.hpp>
#include <kith/radius.hpp>
#include <kith/sum_neighbors.hpp>
#include <kith/z_order.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::test {

/// The points of one process or of one rank.
template <class T>
struct Problem {
    int dimension = 0;
    std::vector<T> points;
    std::vector<T> velocities;
    std::vector<double> masses;
    std::vector<std::int64_t> ids; ///< of each point: its number among those of all ranks
    std::int64_t first_id = 0;     ///< added to these in the call
    Box box;
    double length = 0;
    Execution execution = cpu(1);

    [[nodiscard]] PointsView view() const { return {points, dimension}; }
    [[nodiscard]] Particles particles() const {
        Particles all{view()};
        all.velocities = PointsView(velocities, dimension);
        all.masses = masses;
        return all;
    }
    [[nodiscard]] PhaseSpace phase_space() const {
        return {PointsView(velocities, dimension), VelocityLength::absolute(1.5)};
    }
    /// The number of a point that a result names.
    [[nodiscard]] std::int64_t number(std::int64_t named) const { return named < 0 ? -1 : named - first_id; }

    [[nodiscard]] Problem part(std::span<const std::int64_t> rows) const {
        Problem mine = *this;
        mine.points.clear();
        mine.velocities.clear();
        mine.masses.clear();
        mine.ids.clear();
        for (const std::int64_t row : rows) {
            const auto first = static_cast<std::size_t>(row * dimension);
            for (std::size_t axis = first; axis < first + static_cast<std::size_t>(dimension); ++axis) {
                mine.points.push_back(points[axis]);
                mine.velocities.push_back(velocities[axis]);
            }
            mine.masses.push_back(masses[static_cast<std::size_t>(row)]);
            mine.ids.push_back(ids[static_cast<std::size_t>(row)]);
        }
        return mine;
    }
};

/// The bytes of numbers.
class Bytes {
public:
    template <class Number>
        requires(std::is_arithmetic_v<Number>)
    Bytes& operator<<(Number number) {
        bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
        return *this;
    }
    template <std::ranges::range Numbers>
    Bytes& operator<<(const Numbers& numbers) {
        for (const auto number : numbers) {
            *this << number;
        }
        return *this;
    }
    /// Row i of a column of rows.size() / count numbers each, of which there may be none.
    template <class Number>
    Bytes& row(const std::vector<Number>& column, std::int64_t i, std::int64_t count) {
        const std::size_t width = count > 0 ? column.size() / static_cast<std::size_t>(count) : 0;
        return *this << std::span(column).subspan(static_cast<std::size_t>(i) * width, width);
    }

    friend bool operator==(const Bytes&, const Bytes&) = default;

private:
    std::string bytes_;
};

struct Answer {
    /// By the number of the point, or by the position in an order that ranks divide among them.
    std::map<std::int64_t, Bytes> items;
    bool is_divided = false;
    Bytes of_all;
};

/// Position of a result's first item.
template <class Result>
std::int64_t first_of(const Result& result) {
    return result.distribution ? result.distribution->first : 0;
}

template <class T>
Answer answer_of_knn(const Problem<T>& of) {
    constexpr std::int64_t k = 6;
    const KnnResult found =
        knn(of.view(), k, {.box = of.box, .index_type = IndexType::int64, .execution = of.execution});
    Answer answer;
    for (std::int64_t i = 0; i < found.rows() * k; ++i) {
        const auto at = static_cast<std::size_t>(i);
        answer.items[of.ids[at / k]] << of.number(found.indices64()[at]) << found.template distances<T>()[at];
    }
    return answer;
}

template <class T>
Answer answer_of_knn_visit(const Problem<T>& of) {
    Answer answer;
    const auto visit = [&](const NeighborBlock& block) {
        for (std::int64_t i = 0; i < block.rows() * block.k; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const std::int64_t index =
                block.index_type == IndexType::int32 ? block.indices()[at] : block.indices64()[at];
            const auto row = static_cast<std::size_t>(block.query_indices[at / static_cast<std::size_t>(block.k)]);
            answer.items[of.ids[row]] << of.number(index) << block.distances<T>()[at];
        }
    };
    knn_visit(visit, of.view(), 3, {.box = of.box, .execution = of.execution});
    return answer;
}

template <class T>
Answer answer_of_radius_search(const Problem<T>& of) {
    const RadiusOptions options{.box = of.box, .index_type = IndexType::int64, .execution = of.execution};
    const RadiusResult found = radius_search(of.view(), of.length, options);
    const RadiusCounts counted = radius_count(of.view(), of.length, options);
    Answer answer;
    for (std::size_t row = 0; row < of.ids.size(); ++row) {
        Bytes& bytes = answer.items[of.ids[row]] << counted.counts[row];
        for (std::int64_t i = found.offsets()[row]; i < found.offsets()[row + 1]; ++i) {
            const auto at = static_cast<std::size_t>(i);
            bytes << of.number(found.indices64()[at]) << found.template distances<T>()[at];
        }
    }
    return answer;
}

template <class T>
Answer answer_of_sums(const Problem<T>& of, const Neighborhood& neighborhood) {
    const SumOptions options{.box = of.box,
                             .masses = ScalarsView(of.masses),
                             .fields = {ScalarsView(of.masses)},
                             .statistics = {.sum = true, .variance = true, .least = true, .gradient = true},
                             .density_gradient = true,
                             .execution = of.execution};
    const NeighborSums found = sum_neighbors(of.view(), neighborhood, options);
    const auto rows = std::ssize(of.ids);
    Answer answer;
    for (std::int64_t row = 0; row < rows; ++row) {
        Bytes& bytes = answer.items[of.ids[static_cast<std::size_t>(row)]];
        bytes.row(found.density, row, rows).row(found.reach, row, rows).row(found.counts, row, rows);
        bytes.row(found.density_gradient, row, rows);
        for (const FieldSums& field : found.fields) {
            bytes.row(field.sum, row, rows).row(field.mean, row, rows).row(field.variance, row, rows);
            bytes.row(field.least, row, rows).row(field.gradient, row, rows);
        }
    }
    return answer;
}

template <class T>
FofResult groups_of(const Problem<T>& of, bool in_phase_space) {
    FofOptions options{.box = of.box, .execution = of.execution};
    if (in_phase_space) {
        options.phase_space = of.phase_space();
    }
    return fof(of.view(), LinkingLength::absolute(of.length), options);
}

template <class T>
Answer answer_of_fof(const Problem<T>& of, bool in_phase_space) {
    const FofResult found = groups_of(of, in_phase_space);
    Answer answer;
    for (std::size_t row = 0; row < of.ids.size(); ++row) {
        answer.items[of.ids[row]] << found.label_array[static_cast<std::int64_t>(row)];
    }
    answer.of_all << found.groups << found.sizes << found.linking_length << found.wrapped_points;
    return answer;
}

template <class T>
Answer answer_of_dbscan(const Problem<T>& of) {
    const DbscanResult found = dbscan(of.view(), of.length, 4, {.box = of.box, .execution = of.execution});
    Answer answer;
    for (std::size_t row = 0; row < of.ids.size(); ++row) {
        answer.items[of.ids[row]] << found.label_array[static_cast<std::int64_t>(row)] << found.is_core[row];
    }
    answer.of_all << found.sizes << found.core_points << found.noise_points;
    return answer;
}

template <class T>
SpanningTree tree_of(const Problem<T>& of, bool in_phase_space) {
    SpanningTreeOptions options{.box = of.box, .execution = of.execution};
    if (in_phase_space) {
        options.phase_space = PhaseSpaceAt{of.phase_space(), LinkingLength::absolute(of.length)};
    }
    return spanning_tree(of.view(), options);
}

/// The edges, by the number of the larger end or by position.
template <class T>
Answer answer_of_edges(const Problem<T>& of, const SpanningTree& tree, bool is_divided) {
    Answer answer;
    answer.is_divided = is_divided;
    const auto add = [&](const auto& edges) {
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const std::int64_t larger = of.number(edges[i].larger);
            answer.items[is_divided ? first_of(tree) + static_cast<std::int64_t>(i) : larger]
                << of.number(edges[i].smaller) << larger << tree.weights<T>()[i] << tree.heights<T>()[i];
        }
    };
    if (tree.distribution) {
        add(tree.edges64());
    } else {
        add(tree.edges());
    }
    answer.of_all << tree.points() << tree.mean_separation() << tree.velocity_scale();
    return answer;
}

template <class T>
HdbscanResult density_clusters_of(const Problem<T>& of) {
    return hdbscan(of.view(), 6, {.min_samples = 4, .box = of.box, .execution = of.execution});
}

template <class T>
Answer answer_of_hdbscan(const Problem<T>& of) {
    const HdbscanResult found = density_clusters_of(of);
    Answer answer;
    for (std::size_t row = 0; row < of.ids.size(); ++row) {
        answer.items[of.ids[row]] << found.labels[row] << found.probabilities[row] << found.outlier_scores[row]
                                  << found.core_distances[row] << found.condensed_tree.last_clusters[row]
                                  << found.condensed_tree.lambdas[row];
    }
    answer.of_all << found.sizes << found.noise_points;
    for (const CondensedCluster& cluster : found.condensed_tree.clusters) {
        answer.of_all << cluster.parent << cluster.size << cluster.label << cluster.birth << cluster.death
                      << cluster.stability;
    }
    return answer;
}

/// The edges and their heights, which rank 0 has, with positions in the order of ids.
template <class T>
Answer answer_of_density_edges(const Problem<T>& of) {
    const HdbscanResult found = density_clusters_of(of);
    Answer answer;
    answer.is_divided = true;
    for (std::size_t i = 0; i < found.edges.size(); ++i) {
        answer.items[static_cast<std::int64_t>(i)] << found.edges[i].smaller << found.edges[i].larger
                                                   << found.heights[i];
    }
    return answer;
}

template <class T>
Answer answer_of_pair_counts(const Problem<T>& of) {
    const std::array edges{0.0, of.length / 2, of.length, 2 * of.length};
    const PairCounts found = pair_counts(
        of.view(), edges,
        {.box = of.box, .weights = std::span<const double>(of.masses), .separations = true, .execution = of.execution});
    Answer answer;
    answer.of_all << found.counts << found.weighted << found.separations;
    return answer;
}

template <class T>
Answer answer_of_catalog(const Problem<T>& of) {
    const Catalog found = catalog(groups_of(of, false), of.particles(), {.min_members = 2, .execution = of.execution});
    Answer answer;
    answer.is_divided = true;
    for (std::int64_t group = 0; group < found.groups; ++group) {
        const auto at = static_cast<std::size_t>(group);
        Bytes& bytes = answer.items[first_of(found) + group];
        bytes << found.count[at] << found.mass[at] << found.max_radius[at] << found.velocity_dispersion[at];
        bytes.row(found.center, group, found.groups).row(found.velocity, group, found.groups);
        for (std::int64_t i = found.offset[at]; i < found.offset[at] + found.count[at]; ++i) {
            bytes << of.number(found.member_array[i]);
        }
    }
    return answer;
}

template <class T>
Answer answer_of_halos(const Problem<T>& of) {
    HaloOptions options{.min_members = 2, .execution = of.execution};
    options.universe = {.gravity = 100, .scale_factor = 1, .hubble = 10, .omega_matter = 0.3};
    options.softening = {.length = of.length / 10}; // coincident points have no mean separation
    const Halos found = halos(groups_of(of, false), of.particles(), options);
    Answer answer;
    answer.is_divided = true;
    for (std::int64_t halo = 0; halo < found.halos; ++halo) {
        const auto at = static_cast<std::size_t>(halo);
        Bytes& bytes = answer.items[first_of(found) + halo];
        bytes << found.group[at] << found.count[at] << found.mass[at] << found.max_velocity[at];
        bytes.row(found.center, halo, found.halos).row(found.sphere_radius, halo, found.halos);
        for (std::int64_t i = found.offset[at]; i < found.offset[at] + found.count[at]; ++i) {
            bytes << of.number(found.member_array[i]);
        }
    }
    return answer;
}

template <class T>
Answer answer_of_hierarchy(const Problem<T>& of) {
    const Hierarchy found = hierarchy(of.view(), {.box = of.box, .execution = of.execution});
    Answer answer;
    answer.is_divided = true;
    const auto add = [&](const auto& merges) {
        for (std::size_t i = 0; i < merges.size(); ++i) {
            answer.items[first_of(found) + static_cast<std::int64_t>(i)]
                << std::int64_t{merges[i].left} << std::int64_t{merges[i].right} << std::int64_t{merges[i].count};
        }
    };
    if (found.distribution) {
        add(found.merges64());
    } else {
        add(found.merges());
    }
    return answer;
}

/// The groups of the last level but one.
template <class T>
Answer answer_of_ladder(const Problem<T>& of) {
    const std::array lengths{LinkingLength::absolute(of.length), LinkingLength::absolute(2 * of.length)};
    const FofLadder found = fof_ladder(of.view(), lengths, {.box = of.box, .execution = of.execution});
    Answer answer;
    answer.is_divided = true;
    const auto add = [&](const auto& level, std::int64_t first) {
        for (std::size_t i = 0; i < level.sizes.size(); ++i) {
            answer.items[first + static_cast<std::int64_t>(i)]
                << std::int64_t{level.sizes[i]} << of.number(level.first_members[i]) << std::int64_t{level.parents[i]};
        }
        answer.of_all << level.groups;
    };
    if (found.distribution) {
        add(found.levels64().front(), found.levels64().front().first_group);
    } else {
        add(found.levels().front(), 0);
    }
    return answer;
}

template <class T>
Answer answer_of_z_order(const Problem<T>& of) {
    const ZOrder found = z_order(of.view(), {.box = of.box, .execution = of.execution});
    Answer answer;
    answer.is_divided = true;
    for (std::int64_t i = 0; i < found.index_array.size(); ++i) {
        answer.items[first_of(found) + i] << of.number(found.index_array[i]);
    }
    return answer;
}

template <class T>
struct CallOverRanks {
    std::string name;
    std::optional<detail::Task> task; ///< of the table of engines; absent: a call that it does not list
    std::function<Answer(const Problem<T>&)> answer;
};

/// Those that points of a dimension have.
template <class T>
std::vector<CallOverRanks<T>> calls_over_ranks(int dimension) {
    using detail::Task;
    using Of = const Problem<T>&;
    std::vector<CallOverRanks<T>> calls;
    const auto add = [&](Task task, std::function<Answer(Of)> answer) {
        calls.push_back({std::string(detail::task_names[static_cast<std::size_t>(task)]), task, std::move(answer)});
    };
    add(Task::neighbors, answer_of_knn<T>);
    add(Task::neighbor_visits, answer_of_knn_visit<T>);
    add(Task::neighbor_sums, [](Of of) { return answer_of_sums(of, Nearest{6}); });
    add(Task::radius, answer_of_radius_search<T>);
    add(Task::radius_sums, [](Of of) { return answer_of_sums(of, Within{of.length}); });
    add(Task::groups, [](Of of) { return answer_of_fof(of, false); });
    add(Task::clusters, answer_of_dbscan<T>);
    add(Task::spanning_tree, [](Of of) { return answer_of_edges(of, tree_of(of, false), false); });
    add(Task::density_clusters, answer_of_hdbscan<T>);
    add(Task::pair_counts, answer_of_pair_counts<T>);
    if (dimension <= 4 && is_built(2 * dimension)) {
        add(Task::groups_in_phase_space, [](Of of) { return answer_of_fof(of, true); });
        add(Task::spanning_tree_in_phase_space, [](Of of) { return answer_of_edges(of, tree_of(of, true), false); });
    }
    calls.push_back({"edges in order", {}, [](Of of) {
                         SpanningTree tree = tree_of(of, false);
                         return answer_of_edges(of, tree.distribution ? edges_in_order(tree, of.execution) : tree,
                                                true);
                     }});
    calls.push_back({"edges of density clusters", {}, answer_of_density_edges<T>});
    calls.push_back({"hierarchy", {}, answer_of_hierarchy<T>});
    calls.push_back({"ladder", {}, answer_of_ladder<T>});
    calls.push_back({"z-order", {}, answer_of_z_order<T>});
    calls.push_back({"catalog", {}, answer_of_catalog<T>});
    if (dimension == 3) {
        calls.push_back({"halos", {}, answer_of_halos<T>});
    }
    return calls;
}

} // namespace kith::test
