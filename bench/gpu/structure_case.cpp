#include "structure_case.hpp"

#include "points_of.hpp"

#include <kith/dbscan.hpp>
#include <kith/fof.hpp>
#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace bench {

namespace {

constexpr std::int64_t min_samples = 5;

/// What a call finds; all of it is on the host.
struct Answer {
    std::vector<std::int64_t> counts;
    std::vector<std::int32_t> labels;
    std::vector<kith::SpanningEdge> edges;

    bool operator==(const Answer&) const = default;
};

template <class T>
std::string_view bytes_of(const std::vector<T>& elements) {
    return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

class Structures {
public:
    Structures(Bench& bench, const StructureCase& wanted)
        : bench_(bench), wanted_(wanted), points_(points_of<float>(wanted.points, "", bench.stream)),
          length_(wanted.length / std::cbrt(static_cast<double>(count()))) {}

    Measurement measured() {
        Task task;
        task.spoil = [this] { answer_ = {}; };
        task.run = [this](const kith::Execution& where) {
            return find({points_.data(), count(), 3, kith::cuda().device}, where);
        };
        task.checksum = [this] {
            const std::hash<std::string_view> hash;
            return std::uint64_t{hash(bytes_of(answer_.counts)) ^ hash(bytes_of(answer_.labels)) ^
                                 hash(bytes_of(answer_.edges))};
        };
        Measurement measured = measure(bench_, task);
        const Answer on_device = std::move(answer_);
        const std::vector<float> there = points_.to_host(0, points_.size());
        (void)find({there, 3}, kith::cpu());
        if (!(on_device == answer_) && !measured.flaw) {
            measured.flaw = "the answer is not the CPU's";
        }
        return measured;
    }

    [[nodiscard]] std::int64_t count() const { return points_.size() / 3; }

private:
    kith::StageReports find(const kith::PointsView& points, const kith::Execution& where) {
        switch (wanted_.found) {
        case Structure::counts:
            answer_.counts = kith::radius_count(points, kith::Radii(length_), {.execution = where}).counts;
            return {};
        case Structure::clusters: {
            kith::DbscanResult found = kith::dbscan(points, length_, min_samples, {.execution = where});
            answer_.labels = std::move(found.label_array.vector<std::int32_t>());
            return found.stages;
        }
        case Structure::groups: {
            kith::FofResult found = kith::fof(points, kith::LinkingLength::absolute(length_),
                                              {.engine = kith::Engine::kdtree, .execution = where});
            answer_.labels = std::move(found.label_array.vector<std::int32_t>());
            return found.stages;
        }
        case Structure::tree: {
            const kith::SpanningTree found = kith::spanning_tree(points, {.execution = where});
            answer_.edges.assign(found.edges().begin(), found.edges().end());
            return found.stages;
        }
        }
        return {};
    }

    Bench& bench_;
    const StructureCase& wanted_;
    DeviceArray<float> points_;
    double length_;
    Answer answer_;
};

} // namespace

Outcome run_structure(Bench& bench, const std::string& name, const StructureCase& wanted) {
    Structures task(bench, wanted);
    const Measurement measured = task.measured();
    Described what;
    what.points = name_of(wanted.points.kind);
    what.count = task.count();
    what.variant = wanted.found == Structure::counts     ? "counts within a radius"
                   : wanted.found == Structure::clusters ? "DBSCAN"
                   : wanted.found == Structure::groups   ? "groups by k-d tree"
                                                         : "spanning tree";
    JsonObject more;
    more.add("length_over_mean_separation", wanted.length).add("verified", "all of the answer, by the CPU's");
    // The least that any of them does: the points ordered, and read once.
    const Work work{ordering_work(task.count(), 3, 4), tree_work(task.count(), 3, 4)};
    return outcome(bench, name, what, {}, measured, work, more);
}

} // namespace bench
