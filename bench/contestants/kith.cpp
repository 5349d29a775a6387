// kith, through its public interface: a tree, then neighbors into the caller's memory, or groups.
#include "contestant.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <span>

namespace bench {
namespace {

kith::PointsView view(const PointsFile& points) {
    return points.type == npy_type<float>() ? kith::PointsView(points.rows<float>(), points.count, points.dimension)
                                            : kith::PointsView(points.rows<double>(), points.count, points.dimension);
}

/// The tree is the same for neighbors and groups; so is the account of the stages.
class Kith : public Contestant {
public:
    explicit Kith(const Workload& workload) : workload_(workload), where_(kith::cpu(workload.threads)) {}

    void build() override {
        tree_.emplace(view(workload_.points),
                      kith::TreeOptions{.box = kith::Box::periodic(workload_.period), .execution = where_});
    }
    void forget() override { tree_.reset(); }

    [[nodiscard]] Stages stages() const override {
        Stages stages;
        const auto add = [&](const kith::StageReports& reports) {
            for (const kith::StageReport& report : reports) { // separate queries are ordered too
                const auto same = std::find_if(stages.begin(), stages.end(),
                                               [&](const auto& stage) { return stage.first == report.name; });
                if (same != stages.end()) {
                    same->second += report.seconds;
                } else {
                    stages.emplace_back(report.name, report.seconds);
                }
            }
        };
        if (tree_ && !workload_.keep_tree) {
            add(tree_->stages());
        }
        add(searched_);
        return stages;
    }

protected:
    const Workload& workload_;
    kith::Execution where_;
    std::optional<kith::Tree> tree_;
    kith::StageReports searched_;
};

template <class T>
class Neighbors final : public Kith {
public:
    explicit Neighbors(const Workload& workload) : Kith(workload), rows_(workload) {}

    // One call does it all, unless the tree is kept.
    void build() override {
        if (workload_.keep_tree) {
            Kith::build();
        }
    }
    void search() override {
        const kith::NeighborRows rows{std::span(rows_.indices), std::span(rows_.distances)};
        const bool keeps_tree = workload_.keep_tree;
        const kith::PointsOrTree points = keeps_tree ? kith::PointsOrTree(*tree_) : view(workload_.points);
        const kith::KnnOptions options{.box = keeps_tree ? kith::Box() : kith::Box::periodic(workload_.period),
                                       .execution = where_};
        const std::int64_t k = workload_.k;
        searched_ = (workload_.queries ? kith::knn_into(rows, points, view(*workload_.queries), k, options)
                                       : kith::knn_into(rows, points, k, options))
                        .stages;
    }
    void write_answer(const std::string& prefix) const override { rows_.write(prefix); }

private:
    Rows<T> rows_;
};

/// Of rows that are nowhere stored.
class Visits final : public Kith {
public:
    using Kith::Kith;

    void build() override {} // one call does it all
    void search() override {
        std::atomic<std::int64_t> sum = 0;
        const auto visitor = [&](const kith::NeighborBlock& block) {
            const std::span<const std::int32_t> indices = block.indices();
            sum += std::accumulate(indices.begin(), indices.end(), std::int64_t{0});
        };
        searched_ = kith::knn_visit(visitor, view(workload_.points), workload_.k,
                                    {.box = kith::Box::periodic(workload_.period), .execution = where_})
                        .stages;
        sum_ = {static_cast<double>(sum)};
    }
    void write_answer(const std::string& prefix) const override { write_npy<double>(prefix + ".sum.npy", sum_); }

private:
    std::vector<double> sum_; ///< exact below 2^53
};

class Groups final : public Kith {
public:
    using Kith::Kith;

    void search() override { group(workload_.linking_length); }
    void forget() override {
        Kith::forget();
        groups_ = {};
    }
    void regroup(double factor) override { group(factor * workload_.linking_length); }
    void write_answer(const std::string& prefix) const override {
        write_npy<std::int32_t>(prefix + ".labels.npy", groups_.labels());
    }

private:
    void group(double length) {
        groups_ = kith::fof(*tree_, kith::LinkingLength::absolute(length), {.execution = where_});
        searched_ = groups_.stages;
    }

    kith::FofResult groups_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    using namespace bench;
    return serve(argc, argv, {"kith", KITH_VERSION, "defaults"},
                 [](const Workload& workload) -> std::unique_ptr<Contestant> {
                     if (workload.k == 0) {
                         return std::make_unique<Groups>(workload);
                     }
                     if (workload.visit) {
                         return std::make_unique<Visits>(workload);
                     }
                     if (workload.points.type == npy_type<float>()) {
                         return std::make_unique<Neighbors<float>>(workload);
                     }
                     return std::make_unique<Neighbors<double>>(workload);
                 });
}
