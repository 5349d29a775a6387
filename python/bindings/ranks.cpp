// Calls over ranks. The ranks communicate through an object of Python's (kith/mpi.py), so this needs no MPI: whatever
// mpi4py was built with is what is used.
//
// Every function here converts its arguments and returns a call, a function of the ranks: what is wrong with an
// argument on one rank is found, and agreed on, before any of them waits for another.
#include "arrays.hpp"
#include "bindings.hpp"
#include "phase_space.hpp"
#include "unlocked.hpp"

#include <kith/catalog.hpp>
#include <kith/distributed.hpp>
#include <kith/error.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>
#include <kith/radius.hpp>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

/// Calls `ranks`, an object with the functions of Communicator, with Python's lock taken. Bytes are memoryviews.
class PythonCommunicator final : public Communicator {
public:
    PythonCommunicator(const nb::object& ranks, Unlocked& unlocked, int rank, int size)
        : ranks_(ranks), unlocked_(unlocked), rank_(rank), size_(size) {}

    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int size() const noexcept override { return size_; }

    void all_reduce(std::span<std::int64_t> values, Reduction reduction) override {
        call([&] { ranks_.attr("all_reduce")(writable(std::as_writable_bytes(values)), static_cast<int>(reduction)); });
    }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                    std::span<const std::int64_t> counts) override {
        call([&] {
            nb::list lengths;
            for (const std::int64_t count : counts) {
                lengths.append(count);
            }
            ranks_.attr("all_gather")(readable(mine), writable(all), lengths);
        });
    }
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) override {
        std::vector<RankMessage> received;
        call([&] {
            nb::list given;
            for (const RankMessage& message : messages) {
                given.append(nb::make_tuple(message.rank, readable(message.bytes)));
            }
            for (const nb::handle each : nb::cast<nb::list>(ranks_.attr("exchange")(given))) {
                const auto pair = nb::cast<nb::tuple>(each);
                const auto bytes = nb::cast<nb::bytes>(pair[1]);
                const auto* const first = static_cast<const std::byte*>(bytes.data());
                received.push_back({nb::cast<int>(pair[0]), {first, first + bytes.size()}});
            }
        });
        return received;
    }
    void abort(const std::string& reason) noexcept override {
        try {
            call([&] { ranks_.attr("abort")(reason.c_str()); });
        } catch (const std::exception&) { // there is nobody left to tell
        }
    }

private:
    static nb::object readable(std::span<const std::byte> bytes) {
        return view(const_cast<std::byte*>(bytes.data()), bytes.size(), PyBUF_READ);
    }
    static nb::object writable(std::span<std::byte> bytes) { return view(bytes.data(), bytes.size(), PyBUF_WRITE); }
    static nb::object view(std::byte* bytes, std::size_t count, int access) {
        static char nothing = 0; // memoryviews of no bytes need a place, too
        PyObject* const made = PyMemoryView_FromMemory(count == 0 ? &nothing : reinterpret_cast<char*>(bytes),
                                                       static_cast<Py_ssize_t>(count), access);
        if (made == nullptr) {
            nb::raise_python_error();
        }
        return nb::steal(made);
    }

    template <class Body>
    void call(const Body& body) {
        const std::exception_ptr thrown = unlocked_.locked([&] {
            try {
                body();
            } catch (const nb::python_error& error) {
                throw Error(ErrorKind::device, std::string("communication between ranks failed: ") + error.what());
            }
        });
        if (thrown) {
            std::rethrow_exception(thrown);
        }
    }

    const nb::object& ranks_;
    Unlocked& unlocked_;
    int rank_;
    int size_;
};

/// Runs work(execution over these ranks) without Python's lock.
template <class Work>
void run_over(const nb::object& ranks, int threads, const RankOptions& of_ranks, const Work& work) {
    const auto rank = nb::cast<int>(ranks.attr("rank"));
    const auto size = nb::cast<int>(ranks.attr("size"));
    Unlocked unlocked;
    PythonCommunicator communicator(ranks, unlocked, rank, size);
    work(over(communicator, cpu(threads), of_ranks));
}

nb::dict report_of(const StageReports& stages, const Distribution& distribution) {
    nb::dict seconds;
    for (const StageReport& stage : stages) { // one can occur twice: for own points, and for fetched ones
        const char* const name = stage.name.c_str();
        seconds[name] = stage.seconds + (seconds.contains(name) ? nb::cast<double>(seconds[name]) : 0.0);
    }
    const Traffic& traffic = distribution.traffic;
    nb::dict report;
    report["seconds"] = seconds;
    report["bytes_sent"] = traffic.bytes_sent;
    report["bytes_received"] = traffic.bytes_received;
    report["messages_sent"] = traffic.messages_sent;
    return report;
}

template <class T>
nb::object rows_of(std::span<const T> values, std::int64_t columns, nb::handle owner) {
    const auto width = static_cast<std::size_t>(columns);
    return nb::cast(nb::ndarray<nb::numpy, T>(const_cast<T*>(values.data()), {values.size() / width, width}, owner));
}

/// A call that keeps its arrays.
template <class Run, class... Arrays>
nb::object call_of(const Run& run, const Arrays&... arrays) {
    return nb::cpp_function([run, kept = std::tuple(arrays...)](const nb::object& ranks) { return run(ranks); });
}

constexpr const char* search_runs = "search over ranks runs";
constexpr const char* fof_runs = "fof over ranks runs";

using IdArray = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

RankOptions rank_options(const std::optional<IdArray>& ids, bool rebalance, const std::optional<InputArray>& weights,
                         const char* runs) {
    RankOptions options{.rebalance = rebalance};
    if (ids) {
        options.ids = std::span(ids->data(), ids->size());
    }
    if (weights) {
        require_host(device_of(*weights), "weights is", runs);
        options.weights = scalars_of(*weights, "weights");
    }
    return options;
}

/// What each point cost, if it was measured.
void report_work(nb::dict& report, const std::vector<float>& work, bool rebalance, const nb::capsule& owner) {
    if (rebalance) {
        report["work"] = array_of(std::span<const float>(work), owner);
    }
}

std::optional<PointsView> queries_of(const std::optional<InputArray>& queries) {
    return queries ? std::optional(host_points(*queries, "queries", search_runs)) : std::nullopt;
}

nb::object search(const InputArray& points, const std::optional<InputArray>& queries, nb::handle box, std::int64_t k,
                  bool exclude_self, double max_distance, const std::optional<IdArray>& ids, bool rebalance,
                  const std::optional<InputArray>& weights, int threads) {
    const PointsView view = host_points(points, "points", search_runs);
    const std::optional<PointsView> centers = queries_of(queries);
    const KnnOptions options{.box = box_of(box), .exclude_self = exclude_self, .max_distance = max_distance};
    const RankOptions of_ranks = rank_options(ids, rebalance, weights, search_runs);
    const auto run = [view, centers, k, options, of_ranks, threads](const nb::object& ranks) {
        std::optional<KnnResult> made;
        run_over(ranks, threads, of_ranks, [&](const Execution& execution) {
            KnnOptions over_ranks = options;
            over_ranks.execution = execution;
            made.emplace(centers ? knn(view, *centers, k, over_ranks) : knn(view, k, over_ranks));
        });
        auto* const found = new KnnResult(std::move(*made));
        const nb::capsule owner = owner_of(found);
        const KnnResult& rows = *found;
        nb::dict report = report_of(rows.stages, *rows.distribution);
        report["first_query"] = rows.distribution->first;
        report["warning"] = rows.unresolved.warning().c_str();
        report_work(report, rows.distribution->work, of_ranks.rebalance, owner);
        return nb::make_tuple(rows.dtype() == DType::float64 ? rows_of(rows.distances<double>(), k, owner)
                                                             : rows_of(rows.distances<float>(), k, owner),
                              rows_of(rows.indices64(), k, owner), report);
    };
    return call_of(run, points, queries, ids, weights);
}

nb::object search_within(const InputArray& points, const std::optional<InputArray>& queries, nb::handle box,
                         double radius, const std::optional<InputArray>& radii, bool exclude_self,
                         const std::optional<IdArray>& ids, bool only_counts, int threads) {
    const PointsView view = host_points(points, "points", search_runs);
    const std::optional<PointsView> centers = queries_of(queries);
    Radii within = radius;
    if (radii) {
        require_host(device_of(*radii), "r is", search_runs);
        const ScalarsView each = scalars_of(*radii, "r");
        within = std::span(static_cast<const double*>(each.data()), static_cast<std::size_t>(each.count()));
    }
    const RadiusOptions options{.box = box_of(box), .exclude_self = exclude_self};
    const RankOptions of_ranks = rank_options(ids, false, std::nullopt, search_runs);
    const auto count = [view, centers, within, options, of_ranks, threads](const nb::object& ranks) {
        auto* const found = new RadiusCounts();
        const nb::capsule owner = owner_of(found);
        run_over(ranks, threads, of_ranks, [&](const Execution& execution) {
            RadiusOptions over_ranks = options;
            over_ranks.execution = execution;
            *found =
                centers ? radius_count(view, *centers, within, over_ranks) : radius_count(view, within, over_ranks);
        });
        return nb::make_tuple(array_of(std::span<const std::int64_t>(found->counts), owner),
                              report_of(found->stages, *found->distribution));
    };
    const auto run = [view, centers, within, options, of_ranks, threads](const nb::object& ranks) {
        auto* const found = new RadiusResult();
        const nb::capsule owner = owner_of(found);
        run_over(ranks, threads, of_ranks, [&](const Execution& execution) {
            RadiusOptions over_ranks = options;
            over_ranks.execution = execution;
            *found =
                centers ? radius_search(view, *centers, within, over_ranks) : radius_search(view, within, over_ranks);
        });
        const RadiusResult& rows = *found;
        nb::dict report = report_of(rows.stages, *rows.distribution);
        report["first_query"] = rows.distribution->first;
        report["warning"] = rows.unresolved.warning().c_str();
        return nb::make_tuple(array_of(rows.offsets(), owner), array_of(rows.indices64(), owner),
                              rows.dtype() == DType::float64 ? array_of(rows.distances<double>(), owner)
                                                             : array_of(rows.distances<float>(), owner),
                              report);
    };
    return only_counts ? call_of(count, points, queries, radii, ids) : call_of(run, points, queries, radii, ids);
}

/// Labels of groups of at least `labeled` members, -1 for others; with `listed` above 0 also this rank's part of the
/// catalog of those of at least so many.
nb::object label(const InputArray& points, double length, bool is_relative, bool in_phase_space, double psi,
                 bool psi_is_relative, const std::optional<InputArray>& velocities,
                 const std::optional<InputArray>& masses, const std::optional<InputArray>& types, nb::handle box,
                 std::int64_t labeled, std::int64_t listed, const std::optional<IdArray>& ids, bool rebalance,
                 const std::optional<InputArray>& weights, int threads) {
    Particles particles;
    particles.positions = host_points(points, "points", fof_runs);
    if (velocities) {
        particles.velocities = host_points(*velocities, "velocities", fof_runs);
    }
    if (masses) {
        require_host(device_of(*masses), "masses is", fof_runs);
        particles.masses = scalars_of(*masses, "masses");
    }
    if (types) {
        require_host(device_of(*types), "types is", fof_runs);
        particles.types = types_of(*types);
    }
    const LinkingLength linking_length = length_of(length, is_relative);
    FofOptions options{.box = box_of(box)};
    if (in_phase_space) {
        options.phase_space = phase_space_of(velocities, psi, psi_is_relative, masses, Device{});
    }
    const RankOptions of_ranks = rank_options(ids, rebalance, weights, fof_runs);
    const auto run = [=](const nb::object& ranks) {
        auto* const found = new FofResult();
        const nb::capsule owner = owner_of(found);
        std::optional<Catalog> part;
        run_over(ranks, threads, of_ranks, [&](const Execution& execution) {
            FofOptions over_ranks = options;
            over_ranks.execution = execution;
            *found = fof(particles.positions, linking_length, over_ranks);
            if (listed > 0) {
                part = catalog(*found, particles, {.min_members = listed, .execution = execution});
            }
        });
        if (labeled > 1) {
            const std::int64_t groups = found->groups_of_at_least(labeled);
            std::vector<std::int64_t>& labels = found->label_array.vector<std::int64_t>();
            std::replace_if(
                labels.begin(), labels.end(), [&](std::int64_t of) { return of >= groups; }, -1);
        }
        nb::dict report = report_of(found->stages, *found->distribution);
        report["groups"] = found->groups;
        report["linking_length"] = found->linking_length;
        report["psi"] = found->velocity_length;
        report_work(report, found->distribution->work, of_ranks.rebalance, owner);
        nb::object of_catalog = nb::none();
        if (part) {
            const Distribution place = *part->distribution;
            const std::int64_t first_member = part->first_member;
            of_catalog = nb::make_tuple(nb::cast(std::move(*part)), place.total, place.first, first_member,
                                        nb::cast(found->box));
        }
        return nb::make_tuple(array_of(found->labels64(), owner), of_catalog, report);
    };
    return call_of(run, points, velocities, masses, types, ids, weights);
}

} // namespace

void bind_ranks(nb::module_& module) {
    module.def("search_over_ranks", search, nb::arg("points"), nb::arg("queries").none(), nb::arg("box").none(),
               nb::arg("k"), nb::arg("exclude_self"), nb::arg("max_distance"), nb::arg("ids").none(),
               nb::arg("rebalance"), nb::arg("weights").none(), nb::arg("threads"));
    module.def("search_within_over_ranks", search_within, nb::arg("points"), nb::arg("queries").none(),
               nb::arg("box").none(), nb::arg("radius"), nb::arg("radii").none(), nb::arg("exclude_self"),
               nb::arg("ids").none(), nb::arg("only_counts"), nb::arg("threads"));
    module.def("label_over_ranks", label, nb::arg("points"), nb::arg("length"), nb::arg("is_relative"),
               nb::arg("in_phase_space"), nb::arg("psi"), nb::arg("psi_is_relative"), nb::arg("velocities").none(),
               nb::arg("masses").none(), nb::arg("types").none(), nb::arg("box").none(), nb::arg("labeled"),
               nb::arg("listed"), nb::arg("ids").none(), nb::arg("rebalance"), nb::arg("weights").none(),
               nb::arg("threads"));
}

} // namespace kith::python
