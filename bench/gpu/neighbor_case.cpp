#include "neighbor_case.hpp"

#include "graph.hpp"
#include "points_of.hpp"

#include <kith/async.hpp>
#include <kith/tree.hpp>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace bench {

namespace {

constexpr int spoiled = 0x7f; // as an index no point's, as a distance no distance that occurs

template <class T>
class Neighbors {
public:
    Neighbors(Bench& bench, const NeighborCase& wanted)
        : bench_(bench), wanted_(wanted), points_(points_of<T>(wanted.points, wanted.file, bench.stream)),
          asked_(wanted.queries.count == 0 ? DeviceArray<T>() : generate<T>(wanted.queries, bench.stream)),
          sample_(queries(), wanted.k) {
        const std::int64_t entries = queries() * wanted.k;
        if (wanted.on_host) {
            host_points_ = points_.to_host();
            host_asked_ = asked_.to_host();
            host_indices_.resize(static_cast<std::size_t>(entries));
            host_distances_.resize(static_cast<std::size_t>(entries));
        } else if (!wanted.visit) {
            indices_ = DeviceArray<std::int32_t>(entries);
            distances_ = DeviceArray<T>(entries);
        }
        if (wanted.calling != Calling::waits) {
            scratch_ = DeviceArray<std::byte>(kith::knn_async_bytes(size(), kith::cuda(0, bench.stream.handle())));
            status_ = DeviceArray<kith::DeviceStatus>(1);
        }
    }

    Measurement measured() {
        Task task;
        task.spoil = [this] { spoil(); };
        task.run = [this](const kith::Execution& where) {
            return wanted_.visit                       ? visit(where)
                   : wanted_.calling == Calling::waits ? search(where)
                                                       : search_without_wait(where);
        };
        task.checksum = [this] { return checksum(); };
        task.memory_budget = static_cast<std::int64_t>(wanted_.budget_bytes_per_point * static_cast<double>(count()));
        Measurement measured = measure(bench_, task);
        if (wanted_.calling != Calling::waits) {
            measured.peak_bytes = static_cast<std::int64_t>(scratch_.bytes());
            kith::check(status_.to_host().front());
        }
        take_sample();
        const NormalizedPoints<T> sources{points_.data(), count(), dimension(), static_cast<T>(wanted_.period)};
        const NormalizedPoints<T> asked{wanted_.queries.count == 0 ? points_.data() : asked_.data(), queries(),
                                        dimension(), static_cast<T>(wanted_.period)};
        if (const Flaw flaw = check_rows(sample_, sources, asked)) {
            measured.flaw = flaw;
        }
        return measured;
    }

    [[nodiscard]] std::int64_t count() const { return points_.size() / dimension(); }
    [[nodiscard]] std::int64_t queries() const { return wanted_.queries.count == 0 ? count() : wanted_.queries.count; }
    [[nodiscard]] int dimension() const { return wanted_.points.dimension; }

private:
    [[nodiscard]] kith::PointsView view(const DeviceArray<T>& device, const std::vector<T>& host,
                                        std::int64_t rows) const {
        return wanted_.on_host ? kith::PointsView(host.data(), rows, dimension())
                               : kith::PointsView(device.data(), rows, dimension(), kith::cuda().device);
    }
    [[nodiscard]] kith::KnnOptions options(const kith::Execution& where) const {
        return {.box = kith::Box::periodic(wanted_.period), .engine = wanted_.engine, .execution = where};
    }

    kith::StageReports search(const kith::Execution& where) {
        const kith::NeighborRows rows = wanted_.on_host
                                            ? kith::NeighborRows(std::span(host_indices_), std::span(host_distances_))
                                            : kith::NeighborRows(indices_.span(), distances_.span());
        const kith::PointsView sources = view(points_, host_points_, count());
        if (wanted_.queries.count == 0) {
            return kith::knn_into(rows, sources, wanted_.k, options(where)).stages;
        }
        return kith::knn_into(rows, sources, view(asked_, host_asked_, queries()), wanted_.k, options(where)).stages;
    }

    [[nodiscard]] kith::KnnSize size() const {
        kith::KnnSize size{kith::dtype_of<T>, dimension(), count(), {}, wanted_.k, wanted_.engine};
        if (wanted_.queries.count != 0) {
            size.queries = queries();
        }
        return size;
    }

    /// Stages are not told apart.
    kith::StageReports search_without_wait(const kith::Execution& where) {
        const auto enqueue = [&] {
            const kith::NeighborRows rows(indices_.span(), distances_.span());
            const kith::PointsView sources = view(points_, host_points_, count());
            if (wanted_.queries.count == 0) {
                kith::knn_async(rows, sources, wanted_.k, options(where), scratch_.span(), status_.data());
            } else {
                kith::knn_async(rows, sources, view(asked_, host_asked_, queries()), wanted_.k, options(where),
                                scratch_.span(), status_.data());
            }
        };
        if (wanted_.calling == Calling::enqueues) {
            enqueue();
            return {};
        }
        if (graph_ == nullptr) { // in the first run, which is not timed
            enqueue();           // so that no kernel is loaded while the graph is recorded, which CUDA does not allow
            bench_.stream.wait();
            graph_ = std::make_unique<Graph>(bench_.stream, enqueue);
        }
        graph_->replay(bench_.stream);
        return {};
    }

    /// The visitor takes the sampled rows and counts all.
    kith::StageReports visit(const kith::Execution& where) {
        const kith::Tree tree(view(points_, host_points_, count()),
                              {.box = kith::Box::periodic(wanted_.period), .execution = where});
        std::atomic<std::int64_t> handed_out = 0;
        const auto visitor = [&](const kith::NeighborBlock& block) {
            const auto rows = static_cast<std::int64_t>(block.query_indices.size());
            const std::int32_t* numbers = block.query_indices.data();
            scatter_rows(numbers, block.indices().data(), rows, sample_.stride, wanted_.k, sample_.indices.data(),
                         block.stream);
            scatter_rows(numbers, block.distances<T>().data(), rows, sample_.stride, wanted_.k,
                         sample_.distances.data(), block.stream);
            handed_out += rows;
        };
        kith::StageReports stages = tree.stages();
        kith::SearchSummary found =
            kith::knn_visit(visitor, tree, wanted_.k, {.engine = wanted_.engine, .execution = where});
        for (kith::StageReport& stage : found.stages) {
            stages.push_back(std::move(stage));
        }
        if (handed_out != count()) {
            throw std::runtime_error(std::to_string(handed_out) + " rows were handed out for " +
                                     std::to_string(count()) + " points");
        }
        return stages;
    }

    void spoil() {
        if (wanted_.on_host) {
            std::memset(host_indices_.data(), spoiled, host_indices_.size() * sizeof(std::int32_t));
            std::memset(host_distances_.data(), spoiled, host_distances_.size() * sizeof(T));
            return;
        }
        const auto fill = [this](void* memory, std::size_t bytes) {
            if (bytes > 0) {
                check(cudaMemsetAsync(memory, spoiled, bytes, bench_.stream.handle()), "overwriting a result");
            }
        };
        fill(indices_.data(), indices_.bytes());
        fill(distances_.data(), distances_.bytes());
        fill(sample_.indices.data(), sample_.indices.bytes());
        fill(sample_.distances.data(), sample_.distances.bytes());
    }

    [[nodiscard]] std::uint64_t checksum() const {
        const auto sum = [this](const auto& indices, const auto& distances) {
            return bench::checksum(indices.data(), static_cast<std::int64_t>(indices.bytes()), bench_.stream) +
                   3 * bench::checksum(distances.data(), static_cast<std::int64_t>(distances.bytes()), bench_.stream);
        };
        if (wanted_.on_host) {
            return sum(DeviceArray<std::int32_t>(host_indices_), DeviceArray<T>(host_distances_));
        }
        return wanted_.visit ? sum(sample_.indices, sample_.distances) : sum(indices_, distances_);
    }

    void take_sample() {
        if (wanted_.visit) {
            return;
        }
        const auto copy = [this](const auto& indices, const auto& distances) {
            copy_rows(indices.data(), sample_.rows, sample_.stride, wanted_.k, sample_.indices.data(),
                      bench_.stream.handle());
            copy_rows(distances.data(), sample_.rows, sample_.stride, wanted_.k, sample_.distances.data(),
                      bench_.stream.handle());
            bench_.stream.wait();
        };
        if (wanted_.on_host) {
            copy(DeviceArray<std::int32_t>(host_indices_), DeviceArray<T>(host_distances_));
        } else {
            copy(indices_, distances_);
        }
    }

    Bench& bench_;
    const NeighborCase& wanted_;
    DeviceArray<T> points_;
    DeviceArray<T> asked_;
    RowSample<T> sample_;
    DeviceArray<std::int32_t> indices_;
    DeviceArray<T> distances_;
    std::vector<T> host_points_;
    std::vector<T> host_asked_;
    std::vector<std::int32_t> host_indices_;
    std::vector<T> host_distances_;
    DeviceArray<std::byte> scratch_;
    DeviceArray<kith::DeviceStatus> status_;
    std::unique_ptr<Graph> graph_;
};

Work work_of(const NeighborCase& wanted, std::int64_t points) {
    const int dimension = wanted.points.dimension;
    const int bytes = wanted.doubles ? 8 : 4;
    const std::int64_t queries = wanted.queries.count == 0 ? points : wanted.queries.count;
    if (wanted.engine == kith::Engine::brute_force) {
        return {search_work(queries, wanted.k, dimension, bytes, static_cast<double>(points))};
    }
    const double compared = std::min(points_compared(wanted.k, dimension), static_cast<double>(points));
    Work work{ordering_work(points, dimension, bytes), tree_work(points, dimension, bytes)};
    if (wanted.queries.count != 0) {
        work.push_back(ordering_work(queries, dimension, bytes));
        work.back().name = "order of queries";
    }
    work.push_back(search_work(queries, wanted.k, dimension, bytes, compared));
    return work;
}

/// What sets the row apart from the plain search among the same points.
std::string variant_of(const NeighborCase& wanted) {
    std::string text = wanted.engine == kith::Engine::automatic ? "" : kith::name_of(wanted.engine);
    const auto add = [&text](bool so, const std::string& words) {
        if (so) {
            text += (text.empty() ? "" : ", ") + words;
        }
    };
    add(wanted.calling == Calling::enqueues, "without a wait");
    add(wanted.calling == Calling::replays, "from a graph");
    add(wanted.visit, "rows to a visitor");
    add(wanted.on_host, "in the host's memory");
    add(wanted.budget_bytes_per_point != 0, "within a budget");
    return text;
}

template <class T>
Outcome run_as(Bench& bench, const std::string& name, const NeighborCase& wanted) {
    Goal goal = wanted.goal;
    JsonObject more;
    std::int64_t count = 0;
    const Measurement measured = [&] {
        Neighbors<T> task(bench, wanted);
        count = task.count();
        return task.measured();
    }();
    if (wanted.goal_over_uniform != 0) { // afterwards: a profiler sees the first kernels
        NeighborCase uniform = wanted;
        uniform.points.kind = Kind::uniform;
        const double seconds = Neighbors<T>(bench, uniform).measured().median();
        goal.seconds = wanted.goal_over_uniform * seconds;
        more.add("uniform_seconds", seconds).add("goal_over_uniform", wanted.goal_over_uniform);
    }
    more.add("engine", kith::name_of(wanted.engine))
        .add("rows_go_to", wanted.visit ? "a visitor" : "input order")
        .add("memory_of", wanted.on_host ? "the host" : "the device")
        .add("budget_bytes_per_point", wanted.budget_bytes_per_point)
        .add("verified", std::to_string(sampled_rows) + " rows against all points, all runs bit for bit");
    Described what;
    what.points = wanted.file.empty() ? name_of(wanted.points.kind) : wanted.file;
    what.count = count;
    what.dimension = wanted.points.dimension;
    what.dtype = wanted.doubles ? "float64" : "float32";
    what.k = wanted.k;
    what.queries = wanted.queries.count;
    what.period = wanted.period;
    what.variant = variant_of(wanted);
    return outcome(bench, name, what, goal, measured, work_of(wanted, count), more);
}

} // namespace

Outcome run_neighbors(Bench& bench, const std::string& name, const NeighborCase& wanted) {
    return wanted.doubles ? run_as<double>(bench, name, wanted) : run_as<float>(bench, name, wanted);
}

} // namespace bench
