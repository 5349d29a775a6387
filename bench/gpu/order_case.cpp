#include "order_case.hpp"

#include "header_build.hpp"
#include "points_of.hpp"

#include <kith/kdtree_order.hpp>

#include <cstdint>
#include <optional>

namespace bench {

namespace {

class Orders {
public:
    Orders(Bench& bench, const OrderCase& wanted)
        : bench_(bench), points_(points_of<float>(wanted.points, "", bench.stream)), indices_(count()),
          split_axes_(count()), split_(wanted.split) {
        if (wanted.builder == OrderBuilder::header) {
            by_header_.emplace(count(), split_);
        }
    }

    Measurement measured() {
        Task task;
        task.spoil = [this] {
            check(cudaMemsetAsync(indices_.data(), 0x80, indices_.bytes(), bench_.stream.handle()),
                  "overwriting a result");
        };
        task.run = [this](const kith::Execution& where) { return order(where); };
        task.checksum = [this] {
            const auto bytes = [](const auto& array) { return static_cast<std::int64_t>(array.bytes()); };
            return checksum(indices_.data(), bytes(indices_), bench_.stream) ^
                   checksum(split_axes_.data(), bytes(split_axes_), bench_.stream);
        };
        Measurement measured = measure(bench_, task);
        const std::vector<float> there = points_.to_host(0, points_.size());
        const kith::KdTreeOrder expected = kith::kdtree_order(kith::PointsView(there, 3), split_);
        if ((indices_.to_host(0, count()) != expected.indices ||
             split_axes_.to_host(0, count()) != expected.split_axes) &&
            !measured.flaw) {
            measured.flaw = "the order is not the CPU's";
        }
        return measured;
    }

    [[nodiscard]] std::int64_t count() const { return points_.size() / 3; }

private:
    kith::StageReports order(const kith::Execution& where) {
        if (by_header_) {
            build_by_header(*by_header_, points_, indices_, split_axes_, bench_.stream.handle());
            return {};
        }
        return kith::kdtree_order_into(indices_.span(), split_axes_.span(),
                                       {points_.data(), count(), 3, kith::cuda().device}, split_, where)
            .stages;
    }

    Bench& bench_;
    DeviceArray<float> points_;
    DeviceArray<std::int32_t> indices_;
    DeviceArray<std::uint8_t> split_axes_;
    kith::kdtree::Split split_;
    std::optional<HeaderBuild> by_header_;
};

} // namespace

Outcome run_order(Bench& bench, const std::string& name, const OrderCase& wanted) {
    Orders task(bench, wanted);
    const Measurement measured = task.measured();
    Described what;
    what.points = name_of(wanted.points.kind);
    what.count = task.count();
    what.variant = std::string("order of a k-d tree") +
                   (wanted.split == kith::kdtree::Split::cyclic ? ", axes by level" : "") +
                   (wanted.builder == OrderBuilder::header ? ", by the header in place" : "");
    JsonObject more;
    more.add("verified", "all of the order, by the CPU's");
    // One sort of all points.
    return outcome(bench, name, what, {}, measured, {ordering_work(task.count(), 3, 4)}, more);
}

} // namespace bench
