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
//     own_kernels                    those that tests/emulation writes as users do; K means nothing
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
//     results    the memory is saved before and after every launch
//     counts     it is never saved
#include "recorded_call.hpp"

#include "calls/device_calls.hpp"
#include "cuda/instances.hpp"
#include "cuda_emulation/cuda_runtime.hpp"
#include "emulation/own_kernels.hpp"
#include "engines/clover/build_device.hpp"
#include "engines/clover/device_entry.hpp"
#include "engines/kdtree/order_device.hpp"
#include "halos/describe_device.hpp"
#include "halos/device_entry.hpp"
#include "neighbors/device_entry.hpp"
#include "support/context.hpp"
#include "tree/device_entry.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <numbers>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kith::bench::record;
using kith::bench::Saved;

std::vector<char> contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.empty()) {
        throw std::runtime_error("cannot read " + path);
    }
    return bytes;
}

/// Memory of the emulated device with these bytes.
std::shared_ptr<void> on_device(const void* from, std::size_t bytes, const kith::Execution& execution) {
    std::shared_ptr<void> memory = kith::detail::on_gpu().result_memory(static_cast<std::int64_t>(bytes), execution);
    if (from != nullptr) {
        (void)cudaMemcpyAsync(memory.get(), from, bytes, cudaMemcpyDefault, nullptr);
    }
    return memory;
}

/// The radius of a ball that so many of all points in the unit box would be in.
double length_around(double points, std::int64_t count, int dimension) {
    const double unit_ball = std::pow(std::numbers::pi, dimension / 2.0) / std::tgamma(dimension / 2.0 + 1);
    return std::pow(points / (static_cast<double>(count) * unit_ball), 1.0 / dimension);
}

/// A call on points that the device holds, as the words of the command line say.
template <class T>
class RecordedCall {
public:
    RecordedCall(const std::filesystem::path& folder, const std::string& path, int dimension,
                 const std::set<std::string>& words)
        : folder_(folder), words_(words) {
        execution_.threads = 1; // of the host: kernels run on the thread that calls
        const std::vector<char> bytes = contents(path);
        memory_ = on_device(bytes.data(), bytes.size(), execution_);
        count_ = static_cast<std::int64_t>(bytes.size() / sizeof(T)) / dimension;
        points_ = kith::PointsView(static_cast<const T*>(memory_.get()), kith::dtype_of<T>, count_, dimension,
                                   dimension, 1, execution_.device);
        queries_ = kith::PointsView(static_cast<const T*>(memory_.get()), kith::dtype_of<T>,
                                    std::min<std::int64_t>(count_, 16), dimension, dimension, 1, execution_.device);
        box_ = has("periodic") ? kith::Box::periodic(1) : kith::Box();
    }

    void run(const std::string& call, double parameter) {
        const double length = length_around(parameter, count_, points_.dimension());
        if (const std::optional<kith::Engine> engine = kith::engine_named(call)) {
            search(*engine, static_cast<std::int64_t>(parameter));
        } else if (call == "fof" || call == "pairs" || call == "ranges" || call == "catalog") {
            label(call == "pairs"    ? kith::Engine::brute_force
                  : call == "ranges" ? kith::Engine::kdtree
                                     : kith::Engine::tree,
                  parameter, call == "catalog");
        } else if (call == "phase") {
            label_in_phase_space(parameter);
        } else if (call == "cells") {
            make_cells(static_cast<std::int64_t>(parameter));
        } else if (call == "order" && points_.dimension() == 4) {
            order();
        } else if (call == "spheres" && points_.dimension() == 3) {
            describe_halos(parameter);
        } else if (call == "group_order") {
            order_by_group(parameter);
        } else if (call == "unbind" || call == "potentials") {
            find_bound(static_cast<std::size_t>(parameter), call == "unbind");
        } else if (call == "radius" || call == "rows") {
            search_radius(length, call == "rows");
        } else if (call == "dbscan") {
            cluster(length);
        } else if (call == "spanning_tree") {
            record_as(Saved::all, [&] {
                (void)kith::detail::on_gpu().spanning_tree(points_, {.box = box_, .execution = execution_},
                                                           kith::Engine::tree);
            });
        } else if (call == "hdbscan") {
            span_by_density(static_cast<std::int64_t>(parameter));
        } else if (call == "pair_counts") {
            count_pairs(length);
        } else if (call == "sums" || call == "sums_within") {
            sum(call == "sums" ? kith::Neighborhood(kith::Nearest{static_cast<std::int64_t>(parameter)})
                               : kith::Within{length});
        } else if (call == "own_kernels" && points_.dimension() == 3) {
            record_as(Saved::largest, [&] {
                kith::detail::DeviceContext context(execution_);
                kith::test::use_own_kernels<T, 3>(context, static_cast<const T*>(memory_.get()), count_,
                                                  has("periodic") ? T(1) : T(0));
            });
        } else {
            throw std::runtime_error(
                "CALL is '" + call +
                "'; it must be an engine, fof, pairs, ranges, phase, catalog, group_order, unbind, potentials, radius, "
                "rows, dbscan, spanning_tree, hdbscan, pair_counts, sums, sums_within, cells, in four dimensions "
                "order, or in "
                "three spheres and own_kernels");
        }
    }

private:
    [[nodiscard]] bool has(const char* word) const { return words_.contains(word); }

    template <class Call>
    void record_as(Saved saved, const Call& call) const {
        record(folder_, count_, has("results") ? Saved::results : has("counts") ? Saved::none : saved, call);
    }

    template <class Item>
    std::span<Item> take(std::int64_t items) {
        taken_.push_back(on_device(nullptr, static_cast<std::size_t>(items) * sizeof(Item), execution_));
        return {static_cast<Item*>(taken_.back().get()), static_cast<std::size_t>(items)};
    }

    void span_by_density(std::int64_t min_samples) {
        kith::detail::Context host(kith::cpu(1));
        record_as(Saved::all, [&] {
            kith::HdbscanResult found;
            found.min_samples = min_samples;
            kith::detail::on_gpu().density_tree(points_, {.box = box_, .execution = execution_}, host, found);
        });
    }

    void search(kith::Engine engine, std::int64_t k) {
        const std::int64_t size_of_rows = (has("queries") ? queries_ : points_).count() * k;
        const kith::NeighborRows rows(take<std::int32_t>(size_of_rows), take<T>(size_of_rows));
        const kith::KnnOptions options{.box = box_, .engine = engine, .execution = execution_};
        if (has("many")) {
            search_many({k, options, &rows, nullptr});
            return;
        }
        if (has("flat")) {
            search_flat({k, options, &rows, nullptr});
            return;
        }
        if (!has("async")) {
            record_as(Saved::largest, [&] {
                (void)kith::detail::on_gpu().knn(points_, queries(), {k, options, &rows, nullptr}, engine);
            });
            return;
        }
        kith::KnnSize size{kith::dtype_of<T>, points_.dimension(), count_, {}, k, engine};
        kith::detail::DeviceKnnAsync call{
            points_, {}, {k, options, &rows, nullptr}, false, take<kith::DeviceStatus>(1).data()};
        if (has("queries")) {
            size.queries = queries_.count();
            call.queries = queries_;
        }
        const auto scratch = take<std::byte>(kith::detail::knn_async_bytes_on_device(size, execution_));
        record_as(Saved::largest, [&] { kith::detail::knn_async_on_device(call, scratch); });
    }

    void search_flat(const kith::detail::DeviceKnnCall& call) {
        kith::detail::with_instance(points_.dtype(), points_.dimension(), [&]<class, int D>() {
            record_as(Saved::largest, [&] {
                kith::detail::DeviceContext context(execution_);
                const auto cells = kith::detail::build_cells_on_device<T, D>(
                    context, points_, box_, {.form = kith::CloverForm::flat, .hubs = 8});
                (void)kith::detail::search_cells_on_device<T, D>(context, cells, queries(), call);
                (void)context.take_stages();
            });
        });
    }

    void search_many(const kith::detail::DeviceKnnCall& call) {
        kith::detail::with_instance(points_.dtype(), points_.dimension(), [&]<class, int D>() {
            record_as(Saved::largest, [&] {
                kith::detail::DeviceContext context(execution_);
                const auto tree = kith::detail::build_tree_on_device<T, D>(context, points_, box_, {});
                (void)kith::detail::search_tree_on_device<T, D>(context, tree, {}, queries(), call);
                (void)context.take_stages();
            });
        });
    }

    void label(kith::Engine engine, double parameter, bool with_catalog) {
        const auto labels = take<std::int32_t>(count_);
        const auto length = kith::LinkingLength::relative(parameter);
        const kith::FofOptions options{.box = box_, .engine = engine, .execution = execution_};
        if (has("async")) {
            const auto scratch = take<std::byte>(kith::detail::fof_async_bytes_on_device(
                {kith::dtype_of<T>, points_.dimension(), count_, engine}, execution_));
            const kith::detail::DeviceFofAsync call{points_,
                                                    length,
                                                    options,
                                                    labels.data(),
                                                    false,
                                                    take<kith::DeviceFofSummary>(1).data(),
                                                    take<kith::DeviceStatus>(1).data()};
            record_as(Saved::largest, [&] { kith::detail::fof_async_on_device(call, scratch); });
            return;
        }
        kith::Particles particles{points_};
        particles.velocities = points_; // any numbers do
        if (has("masses")) {
            particles.masses = std::span(static_cast<const T*>(memory_.get()), static_cast<std::size_t>(count_));
        }
        record_as(Saved::largest, [&] {
            kith::FofSummary found;
            found.engine = engine;
            kith::detail::on_gpu().fof(points_, length, options, labels, found);
            if (with_catalog) {
                (void)kith::detail::catalog_on_device({labels, found.sizes}, particles, found,
                                                      {.execution = execution_});
            }
        });
    }

    /// Of whole groups, whose members the CPU brings into order.
    void describe_halos(double parameter) {
        std::vector<T> positions(static_cast<std::size_t>(3 * count_));
        (void)cudaMemcpy(positions.data(), memory_.get(), positions.size() * sizeof(T), cudaMemcpyDefault);
        std::vector<std::uint8_t> types(static_cast<std::size_t>(count_));
        for (std::size_t i = 0; i < types.size(); ++i) {
            types[i] = static_cast<std::uint8_t>(i % 6);
        }
        const std::span<const T> masses(positions.data(), static_cast<std::size_t>(count_)); // any numbers do
        kith::Particles particles{kith::PointsView(positions, 3)};
        if (has("masses")) {
            particles.masses = masses;
            particles.types = types;
        }
        kith::HaloOptions options{.unbind = false, .min_members = 5};
        const double density = static_cast<double>(count_) * (has("masses") ? 0.5 : 1);
        options.universe.omega_matter = 0.3;
        options.universe.hubble = std::sqrt(8 * std::numbers::pi * density / (3 * options.universe.omega_matter));
        options.outermost = has("outermost");
        options.bound_only = has("bound_only");
        const kith::Halos halos =
            kith::halos(kith::fof(particles.positions, kith::LinkingLength::relative(parameter), {.box = box_}),
                        particles, options);
        kith::detail::halos::BoundMembers bound;
        bound.rows.assign(halos.members().begin(), halos.members().end());
        for (const std::int64_t halo : halos.first_of_group) {
            bound.count.push_back(halo < 0 ? 0 : halos.count[halo]);
            bound.deepest.push_back(halo < 0 ? -1 : static_cast<std::int32_t>(halos.center_row[halo]));
        }
        const auto rows = on_device(bound.rows.data(), 4 * bound.rows.size(), execution_);
        const auto types_there = on_device(types.data(), types.size(), execution_);
        kith::detail::DeviceContext context(execution_);
        const kith::detail::DeviceTreeHandle tree =
            kith::detail::build_tree_on_device<T, 3>(context, points_, box_, kith::TreeShape());
        kith::detail::DeviceParticleTree<T> there{&tree.as<kith::detail::DevicePlaneTree<T>>(), points_};
        if (has("masses")) {
            there.masses = kith::ScalarsView(static_cast<const T*>(memory_.get()), count_);
            there.types = static_cast<const std::uint8_t*>(types_there.get());
        }
        record_as(Saved::largest, [&] {
            kith::Halos found;
            found.options = halos.options;
            context.stage("spheres", [&] {
                kith::detail::Context host(kith::cpu(1));
                kith::detail::describe_halos_on_device<T>(context, host, there,
                                                          static_cast<const std::int32_t*>(rows.get()),
                                                          halos.group_offset, bound, found);
            });
        });
        (void)context.take_stages();
    }

    void label_in_phase_space(double parameter) {
        const int dimension = points_.dimension() / 2;
        const auto half = [&](int first) {
            return kith::PointsView(static_cast<const T*>(memory_.get()) + first, kith::dtype_of<T>, count_, dimension,
                                    2 * dimension, 1, execution_.device);
        };
        const auto labels = take<std::int32_t>(count_);
        const kith::FofOptions options{.execution = execution_,
                                       .phase_space =
                                           kith::PhaseSpace{half(dimension), kith::VelocityLength::absolute(0.5)}};
        record_as(Saved::largest, [&] {
            kith::FofSummary found;
            found.engine = kith::Engine::tree;
            kith::detail::on_gpu().fof(half(0), kith::LinkingLength::relative(parameter), options, labels, found);
        });
    }

    void make_cells(std::int64_t hubs) {
        kith::detail::with_instance(points_.dtype(), points_.dimension(), [&]<class, int D>() {
            kith::detail::DeviceContext context(execution_);
            const auto normalized = kith::detail::normalize_sources_on_device<T, D>(context, points_, box_);
            record_as(Saved::largest, [&] {
                (void)kith::detail::make_cells_on_device<T, D>(context, normalized,
                                                               {.form = kith::CloverForm::flat, .hubs = hubs});
            });
            (void)context.take_stages();
        });
    }

    /// Of float4: its instances are here alone.
    void order() {
        const auto indices = take<std::int32_t>(count_);
        const auto axes = take<std::uint8_t>(count_);
        record_as(Saved::largest, [&] {
            kith::detail::DeviceContext context(execution_);
            kith::KdTreeSummary summary;
            kith::detail::order_kd_tree_on_device<T, 4>(context, points_, kith::kdtree::Split::widest, indices, axes,
                                                        summary);
            (void)context.take_stages();
        });
    }

    void order_by_group(double parameter) {
        const auto labels = take<std::int32_t>(count_);
        kith::FofSummary found;
        kith::detail::on_gpu().fof(points_, kith::LinkingLength::relative(parameter),
                                   {.box = box_, .execution = execution_}, labels, found);
        const std::int64_t groups = found.groups_of_at_least(2);
        const auto indices = take<std::int32_t>(count_);
        const auto offsets = take<std::int64_t>(groups + 1);
        const std::int64_t point_bytes = points_.dimension() * static_cast<std::int64_t>(sizeof(T));
        const auto rows = take<std::byte>(count_ * point_bytes);
        record_as(Saved::largest, [&] {
            kith::GroupOrderSummary order;
            kith::detail::on_gpu().group_order(labels, groups, indices, offsets, execution_, order);
            for (const std::int64_t bytes : {point_bytes, std::int64_t{3}}) {
                kith::detail::on_gpu().gather_rows(indices, memory_.get(), bytes, rows.data(), execution_);
            }
        });
    }

    void find_bound(std::size_t size, bool unbind) {
        std::vector<std::int32_t> labels(static_cast<std::size_t>(count_));
        for (std::size_t i = 0; i < labels.size(); ++i) {
            labels[i] = static_cast<std::int32_t>(i / size);
        }
        kith::Particles particles{points_};
        kith::detail::halos::Columns columns;
        columns.positions = kith::detail::halos::VectorColumn(points_, 1);
        std::fill_n(columns.box.period.begin(), 3, has("periodic") ? 1.0 : 0.0);
        if (unbind) {
            particles.velocities = points_; // any numbers do
            columns.velocities.emplace(points_, 1);
        }
        if (has("masses")) {
            const std::vector<double> column = numbers();
            masses_ = on_device(column.data(), column.size() * sizeof(double), execution_);
            particles.masses = kith::ScalarsView(static_cast<const double*>(masses_.get()), count_);
            particles.internal_energies = particles.masses;
        }
        kith::HaloOptions options{
            .softening =
                kith::Softening{has("periodic") ? kith::SofteningKernel::plummer : kith::SofteningKernel::spline, 0.01},
            .unbind = unbind,
            .execution = execution_};
        options.universe.gravity = 1e-3; // some are not bound
        record_as(Saved::largest, [&] {
            std::vector<std::int64_t> offsets(static_cast<std::size_t>(labels.back()) + 2);
            kith::detail::DeviceContext context(execution_);
            const kith::detail::ParticlesOnDevice there(context, particles);
            (void)kith::detail::find_bound_on_device(context, labels, there, columns, options, offsets);
        });
    }

    void search_radius(double length, bool with_rows) {
        const kith::Radii radii(length);
        const kith::RadiusOptions options{.box = box_, .execution = execution_};
        record_as(Saved::largest, [&] {
            std::vector<std::int64_t> counts;
            kith::RadiusResult result;
            const kith::RadiusResultAccess rows(result);
            rows.index_type = kith::IndexType::int32;
            rows.dtype = kith::dtype_of<T>;
            (void)kith::detail::on_gpu().radius(
                points_, queries(), {radii, -1, options, with_rows ? nullptr : &counts, with_rows ? &rows : nullptr},
                has("kdtree") ? kith::Engine::kdtree : kith::Engine::tree);
        });
    }

    void cluster(double length) {
        const auto labels = take<std::int32_t>(count_);
        const auto is_core = take<std::uint8_t>(count_);
        record_as(Saved::largest, [&] {
            kith::DbscanSummary found;
            kith::detail::on_gpu().dbscan(points_, {.box = box_, .execution = execution_},
                                          {length, 5, false, labels, is_core}, found);
        });
    }

    void count_pairs(double length) {
        const std::vector<double> edges{0, length / 2, length};
        const std::vector<double> mu{0, 0.5, 1};
        const std::vector<double> weights = numbers();
        kith::PairCountOptions options{.box = box_, .separations = has("means"), .execution = execution_};
        if (has("masses")) {
            options.weights = weights;
        }
        if (has("mu")) {
            options.binning = kith::PairBinning::s_mu;
            options.second_edges = mu;
        }
        record_as(Saved::largest, [&] {
            kith::PairCounts found;
            kith::detail::on_gpu().pair_counts(points_, queries(), edges, options, found);
        });
    }

    void sum(const kith::Neighborhood& neighborhood) {
        const std::vector<double> column = numbers();
        const auto rows = static_cast<std::size_t>(count_);
        const std::size_t vectors = rows * static_cast<std::size_t>(points_.dimension());
        const kith::SumOptions options{.box = box_,
                                       .masses = column,
                                       .fields = {column},
                                       .statistics = {true, true, true, true, true, true},
                                       .density_gradient = true,
                                       .execution = execution_};
        kith::NeighborSums sums;
        sums.density.resize(rows);
        sums.reach.resize(rows);
        sums.counts.resize(rows);
        sums.density_gradient.resize(vectors);
        const std::vector<double> of_field(rows);
        sums.fields.push_back({of_field, of_field, of_field, of_field, of_field, std::vector<double>(vectors)});
        record_as(Saved::largest, [&] {
            kith::detail::on_gpu().sum_neighbors(points_, nullptr, {neighborhood, 0, options}, kith::Engine::tree,
                                                 sums);
        });
    }

    /// One for each point.
    [[nodiscard]] std::vector<double> numbers() const {
        std::vector<double> numbers(static_cast<std::size_t>(count_));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = static_cast<double>(i % 7) / 4;
        }
        return numbers;
    }

    [[nodiscard]] const kith::PointsView* queries() const { return has("queries") ? &queries_ : nullptr; }

    std::filesystem::path folder_;
    std::set<std::string> words_;
    kith::Execution execution_ = kith::cuda();
    std::shared_ptr<void> memory_;
    std::int64_t count_ = 0;
    kith::PointsView points_;
    kith::PointsView queries_; ///< for the word
    kith::Box box_;
    std::shared_ptr<void> masses_;
    std::vector<std::shared_ptr<void>> taken_;
};

template <class T>
void record_call(const std::filesystem::path& folder, const std::string& path, int dimension, const std::string& call,
                 double parameter, const std::set<std::string>& words) {
    RecordedCall<T>(folder, path, dimension, words).run(call, parameter);
}

} // namespace

int main(int argc, char** argv) {
    const std::set<std::string> words(argv + std::min(argc, 6), argv + argc);
    const std::set<std::string> known{"async", "counts",   "flat",    "kdtree",  "many",      "masses",    "means",
                                      "mu",    "periodic", "queries", "results", "outermost", "bound_only"};
    if (argc < 6 || !std::includes(known.begin(), known.end(), words.begin(), words.end())) {
        std::fprintf(stderr, "usage: record_launches FOLDER NAME.D.f32 CALL K MULTIPROCESSORS "
                             "[periodic] [queries] [masses] [means] [mu] [flat] [many] [async] [results] [counts] "
                             "[kdtree] [outermost] [bound_only]\n");
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
