#include "group_case.hpp"

#include "points_of.hpp"

#include <kith/catalog.hpp>
#include <kith/fof.hpp>

#include <algorithm>
#include <cmath>

namespace bench {

namespace {

constexpr int spoiled = 0x80; // as a label below 0
constexpr std::int64_t walked_halos = 20;
constexpr std::int64_t largest_walked = 1'000'000;

class Groups {
public:
    Groups(Bench& bench, const GroupCase& wanted)
        : bench_(bench), wanted_(wanted), points_(points_of<float>(wanted.points, wanted.file, bench.stream)),
          labels_(points_.size() / 3) {
        if (wanted.catalog) {
            velocities_ = generate<float>({Kind::uniform, count(), 3, wanted.points.seed + 7}, bench.stream);
        }
    }

    Measurement measured() {
        Task task;
        task.spoil = [this] {
            check(cudaMemsetAsync(labels_.data(), spoiled, labels_.bytes(), bench_.stream.handle()),
                  "overwriting a result");
        };
        task.run = [this](const kith::Execution& where) { return find(where); };
        task.checksum = [this] {
            return checksum(labels_.data(), static_cast<std::int64_t>(labels_.bytes()), bench_.stream);
        };
        task.memory_budget = static_cast<std::int64_t>(wanted_.budget_bytes_per_point * static_cast<double>(count()));
        Measurement measured = measure(bench_, task);
        const NormalizedPoints<float> normalized{points_.data(), count(), 3, static_cast<float>(wanted_.period)};
        Flaw flaw = check_groups(labels_, {summary_.sizes.begin(), summary_.sizes.end()}, summary_.groups,
                                 summary_.linking_length, normalized);
        if (!flaw && wanted_.catalog) {
            flaw = check_catalog(normalized);
        }
        if (flaw) {
            measured.flaw = flaw;
        }
        return measured;
    }

    [[nodiscard]] std::int64_t count() const { return labels_.size(); }
    [[nodiscard]] const kith::FofSummary& summary() const { return summary_; }
    [[nodiscard]] const kith::Catalog& catalog() const { return catalog_; }

private:
    [[nodiscard]] kith::PointsView view(const DeviceArray<float>& rows) const {
        return {rows.data(), count(), 3, kith::cuda().device};
    }

    kith::StageReports find(const kith::Execution& where) {
        summary_ = kith::fof_into(labels_.span(), view(points_), kith::LinkingLength::relative(wanted_.b),
                                  {.box = kith::Box::periodic(wanted_.period), .execution = where});
        kith::StageReports stages = summary_.stages;
        if (wanted_.catalog) {
            kith::Particles particles;
            particles.positions = view(points_);
            particles.velocities = view(velocities_);
            catalog_ = kith::catalog(labels_.span(), summary_, particles, {.execution = where});
            stages.insert(stages.end(), catalog_.stages.begin(), catalog_.stages.end());
        }
        return stages;
    }

    /// Counts of all halos; members, center and mean velocity of a few, computed anew in float64.
    [[nodiscard]] Flaw check_catalog(const NormalizedPoints<float>& normalized) const {
        const kith::GroupSizes& sizes = summary_.sizes;
        const std::int64_t halos = summary_.groups_of_at_least(20);
        if (catalog_.groups != halos) {
            return std::to_string(catalog_.groups) + " groups in the catalog, not " + std::to_string(halos);
        }
        if (!std::equal(catalog_.count.begin(), catalog_.count.end(), sizes.begin())) {
            return "the catalog's counts are not the groups' sizes";
        }
        const std::int64_t stride = std::max<std::int64_t>(1, halos / walked_halos);
        for (std::int64_t halo = 0; halo < halos; halo += stride) {
            if (sizes[halo] <= largest_walked) {
                if (const Flaw flaw = check_halo(normalized, static_cast<std::size_t>(halo))) {
                    return flaw;
                }
            }
        }
        return {};
    }

    [[nodiscard]] Flaw check_halo(const NormalizedPoints<float>& normalized, std::size_t g) const {
        const std::string halo = "group " + std::to_string(g) + ": ";
        const std::vector<std::int32_t> rows =
            rows_with(labels_, static_cast<std::int32_t>(g), summary_.sizes[static_cast<std::int64_t>(g)]);
        if (!std::equal(rows.begin(), rows.end(), catalog_.members().begin() + catalog_.offset[g])) {
            return halo + "the members are others";
        }
        const auto members = static_cast<double>(rows.size());
        const std::vector<float> places = gathered(normalized, rows);
        const std::vector<float> velocities =
            gathered(NormalizedPoints<float>{velocities_.data(), count(), 3, 0}, rows);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            double offset = 0;
            double velocity = 0;
            for (std::size_t row = 0; row < rows.size(); ++row) {
                double apart = static_cast<double>(places[3 * row + axis]) - static_cast<double>(places[axis]);
                if (wanted_.period > 0) {
                    apart -= wanted_.period * std::round(apart / wanted_.period);
                }
                offset += apart;
                velocity += static_cast<double>(velocities[3 * row + axis]);
            }
            const double scale = wanted_.period > 0 ? wanted_.period : 1;
            const double apart = static_cast<double>(places[axis]) + offset / members - catalog_.center[3 * g + axis];
            if (!(std::abs(apart - scale * std::round(apart / scale)) < 1e-6 * scale)) {
                return halo + "the center is off by " + std::to_string(apart);
            }
            if (!(std::abs(velocity / members - catalog_.velocity[3 * g + axis]) < 1e-6)) {
                return halo + "the mean velocity is off";
            }
        }
        return {};
    }

    Bench& bench_;
    const GroupCase& wanted_;
    DeviceArray<float> points_;
    DeviceArray<float> velocities_;
    DeviceArray<std::int32_t> labels_;
    kith::FofSummary summary_;
    kith::Catalog catalog_;
};

} // namespace

Outcome run_groups(Bench& bench, const std::string& name, const GroupCase& wanted) {
    Groups task(bench, wanted);
    const Measurement measured = task.measured();
    Described what;
    what.points = wanted.file.empty() ? name_of(wanted.points.kind) : wanted.file;
    what.count = task.count();
    what.b = wanted.b;
    what.linking_length = task.summary().linking_length;
    what.period = wanted.period;
    what.variant = wanted.catalog ? "with the catalog" : wanted.budget_bytes_per_point != 0 ? "within a budget" : "";
    Work work = group_work(task.count(), 3);
    JsonObject more;
    more.add("groups", task.summary().groups)
        .add("groups_of_two_and_more", task.summary().groups_of_at_least(2))
        .add("largest", task.summary().sizes.front())
        .add("budget_bytes_per_point", wanted.budget_bytes_per_point);
    if (wanted.catalog) {
        work.push_back(catalog_work(task.count()));
        more.add("groups_in_catalog", task.catalog().groups);
    }
    more.add("verified", "sizes of all groups, friends of sampled points, sampled groups hang together; to a million "
                         "points, labels of the CPU");
    return outcome(bench, name, what, wanted.goal, measured, work, more);
}

} // namespace bench
