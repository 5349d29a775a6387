// Records what a call puts on the stream of an emulated GPU, for gpu_cost.py, gpu_counts.py and
// tests/gpu_kernels/compiled_results.py:
//     record_launches FOLDER POINTS CALL K MULTIPROCESSORS [WORD...]
//
// POINTS, a file NAME.D.f32 or NAME.D.f64, holds rows of D coordinates of that type in the unit box. What FOLDER gets
// is in recorded_call.hpp: the memory before the largest launch of each kernel; of spanning_tree before every launch.
// CALL:
//     tree, brute, kdtree, clover    engines, which search K neighbors
//     fof, pairs, ranges             labels, by the tree, by all pairs or by range queries in a k-d tree; K is the
//                                    relative linking length
//     phase                          fof in phase space: half of the coordinates are velocities, psi is 0.5
//     catalog                        fof's groups and their catalog, with velocities
//     spheres                        fof's groups described as halos, on the GPU alone; in three dimensions
//     group_order                    the order of fof's groups, and points in it
//     unbind, potentials             the bound members of groups of K points, with velocities; all of them by potential
//     radius, rows                   counts or neighbors; K points would lie within the radius if all were uniform
//     dbscan                         labels and flags, min_samples 5; K as for radius
//     spanning_tree                  K means nothing
//     hdbscan                        the tree that HDBSCAN* cuts, with K for min_samples
//     pair_counts                    two bins of distance, which K points would lie within if all were uniform
//     sums, sums_within              over K neighbors, or as for radius, with masses, a field and all gradients
//     cells                          CLOVER's flat cells and their edges, around K hubs
//     order                          the order of a k-d tree of four axes; K means nothing
//     own_kernels, own_walks         kernels that tests/emulation writes as users do; K means nothing
// WORDs change the call:
//     periodic   in a periodic box
//     queries    neighbors of queries, which are the first 16 points once more (engines, radius and rows); pairs with
//                them (pair_counts)
//     masses     particles have masses (catalog, unbind, potentials; spheres, types too), points weights
//                (pair_counts)
//     outermost, bound_only          as of halos (spheres)
//     mu         bins of (s, mu) (pair_counts)
//     means      and mean separations (pair_counts)
//     flat       the flat form, around 8 hubs (clover)
//     many       the search of as many points as take the tree whose cells decide its counts (tree)
//     kdtree     by k-d tree (radius and rows)
//     async      the call that only puts work on the stream (tree, brute, fof and pairs)
//     kept, in_memory
//                in a tree that is kept, or that is built into memory of the caller (fof async)
//     results    the memory is saved before and after every launch
//     counts     it is never saved
#include "recorded_calls.hpp"

#include "emulation/own_kernels.hpp"
#include "emulation/own_walk_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kith::bench::RecordedPoints;

template <class T>
void record_own_kernels(const RecordedPoints<T>& points) {
    points.record_as(kith::bench::Saved::largest, [&] {
        kith::detail::DeviceContext context(points.execution());
        kith::test::use_own_kernels<T, 3>(context, points.data(), points.count(), points.has("periodic") ? T(1) : T(0));
    });
}

/// In planes that the host built.
template <class T>
void record_own_walks(RecordedPoints<T>& points) {
    std::vector<T> rows(static_cast<std::size_t>(3 * points.count()));
    (void)cudaMemcpy(rows.data(), points.data(), rows.size() * sizeof(T), cudaMemcpyDefault);
    const kith::Tree tree(kith::PointsView(rows, 3),
                          {.box = points.box(), .shape = {3, 3, 8, 0}, .execution = kith::cpu(1)});
    const kith::walk::Planes<T, 3> planes(tree);
    const auto memory = kith::bench::on_device(planes.bytes().data(), planes.bytes().size(), points.execution());
    const kith::walk::TreeView<T, 3> view = planes.view_at(memory.get());
    const kith::test::OwnWalks<T, 3> job{view,
                                         static_cast<T>(0.01),
                                         view.plane_count / 2,
                                         points.template take<std::int64_t>(view.count).data(),
                                         points.template take<std::int64_t>(view.count).data(),
                                         points.template take<std::int64_t>(view.nodes()).data()};
    points.record_as(kith::bench::Saved::largest, [&] {
        kith::detail::DeviceContext context(points.execution());
        kith::test::walk_in_own_kernels(context, job);
        context.wait();
    });
}

template <class T>
void record_call(const std::filesystem::path& folder, const std::string& path, int dimension, const std::string& call,
                 double parameter, const std::set<std::string>& words) {
    RecordedPoints<T> points(folder, path, dimension, words);
    if (call == "own_kernels" && dimension == 3) {
        record_own_kernels(points);
    } else if (call == "own_walks" && dimension == 3) {
        record_own_walks(points);
    } else if (!record_neighbors(points, call, parameter) && !record_groups(points, call, parameter) &&
               !record_halos(points, call, parameter)) {
        throw std::runtime_error("CALL is '" + call +
                                 "'; it must be an engine, fof, pairs, ranges, phase, catalog, group_order, unbind, "
                                 "potentials, radius, rows, "
                                 "dbscan, spanning_tree, hdbscan, pair_counts, sums, sums_within, cells, in four "
                                 "dimensions order, or in three "
                                 "spheres, own_kernels and own_walks");
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::set<std::string> words(argv + std::min(argc, 6), argv + argc);
    const std::set<std::string> known{"async",    "counts",  "flat",    "in_memory", "kdtree",
                                      "kept",     "many",    "masses",  "means",     "mu",
                                      "periodic", "queries", "results", "outermost", "bound_only"};
    if (argc < 6 || !std::includes(known.begin(), known.end(), words.begin(), words.end())) {
        std::fprintf(stderr, "usage: record_launches FOLDER NAME.D.f32 CALL K MULTIPROCESSORS "
                             "[periodic] [queries] [masses] [means] [mu] [flat] [many] [async] [results] [counts] "
                             "[kdtree] [outermost] [bound_only] [kept] [in_memory]\n");
        return 2;
    }
    try {
        const std::filesystem::path path(argv[2]);
        const int dimension = std::atoi(path.stem().extension().string().substr(1).c_str());
        const auto run = path.extension() == ".f64" ? record_call<double> : record_call<float>;
        kith::emulation::set_multiprocessors(std::atoi(argv[5]));
        run(argv[1], path.string(), dimension, argv[3], std::atof(argv[4]), words);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "record_launches: %s\n", error.what());
        return 1;
    }
    return 0;
}
