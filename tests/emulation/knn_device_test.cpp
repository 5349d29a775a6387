// Whole searches on a device that is run on the CPU, from a caller's points to rows, held against the oracle: kept trees,
// separate queries, all pairs, visitors; points and rows in memory of the host and of the device.
#include "cuda/device_index.hpp"
#include "knn/device_rows.hpp"

#include "emulation/tested_dimensions.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceBuffer;
using detail::DeviceContext;

/// A search's memory for rows, on either side.
template <class T, class Index>
class RowMemory {
public:
    RowMemory(DeviceContext& context, std::int64_t size, bool on_device)
        : indices_(static_cast<std::size_t>(size), Index(-7)),
          distances_(static_cast<std::size_t>(size), std::numeric_limits<T>::quiet_NaN()) {
        if (on_device) {
            device_indices_ = context.buffer<Index>(size);
            device_distances_ = context.buffer<T>(size);
        }
        rows_ = on_device ? NeighborRows(std::span(device_indices_.data(), indices_.size()),
                                         std::span(device_distances_.data(), distances_.size()))
                          : NeighborRows(std::span(indices_), std::span(distances_));
    }
    [[nodiscard]] const NeighborRows* rows() const { return &rows_; }
    [[nodiscard]] oracle::Rows<T> found(DeviceContext& context) {
        if (device_indices_.size() > 0) {
            indices_ = context.to_host(device_indices_.data(), device_indices_.size());
            distances_ = context.to_host(device_distances_.data(), device_distances_.size());
        }
        return {{indices_.begin(), indices_.end()}, distances_};
    }

private:
    std::vector<Index> indices_;
    std::vector<T> distances_;
    DeviceBuffer<Index> device_indices_;
    DeviceBuffer<T> device_distances_;
    NeighborRows rows_;
};

/// A search of a set in one box with what is drawn for it.
template <class T, int D>
class DeviceSearchTrial {
public:
    DeviceSearchTrial(const PointSet<T>& set, const NamedBox& named, bool self, Random& draw)
        : box_(named.box), self_(self), queries_(queries_for(set, named.box, 7)), context_(cuda(1)) {
        points_ = set.coordinates;
        points_.resize(static_cast<std::size_t>(std::min<std::int64_t>(set.count(), self ? 20 : 150) * D));
        const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points_, D, box_);
        expected_ = self ? oracle::Neighbors<T>(copy) : oracle::Neighbors<T>(copy, std::span<const T>(queries_));
        call_.k = std::vector<std::int64_t>{1, 8, 40, 70}[static_cast<std::size_t>(draw.integer(4))];
        call_.options.exclude_self = self && draw.integer(2) == 0;
        call_.options.squared = draw.integer(2) == 0;
        const oracle::Rows<T> some = expected_->rows(5);
        if (draw.integer(3) == 0 && !some.distances.empty()) {
            call_.options.max_distance = static_cast<double>(some.distances[some.distances.size() / 2]);
        }
        points_on_device_ = draw.integer(2) == 0;
        rows_on_device_ = draw.integer(2) == 0;
    }

    template <class Index>
    void run_kept_tree(const TreeOptions& options, bool visits) {
        const Given points(context_, points_, points_on_device_);
        const auto index = detail::build_device_index<T, D>(context_, points.view(), box_, options);
        EXPECT_EQ(index->size(), static_cast<std::int64_t>(points_.size()) / D);
        const Given queries(context_, queries_, !points_on_device_);
        RowMemory<T, Index> memory(context_, expected_->row_count() * call_.k, rows_on_device_);
        call_.rows = memory.rows();
        index->search(context_, self_ ? nullptr : &queries.view(), call_);
        expect_same(memory.found(context_), "tree");

        if (!visits) {
            return;
        }
        visited_.indices.assign(static_cast<std::size_t>(expected_->row_count() * call_.k), -7);
        visited_.distances.assign(visited_.indices.size(), 0);
        const NeighborVisitor visitor = [this](const NeighborBlock& block) { take(block); };
        detail::DeviceKnnCall visit = call_;
        visit.rows = nullptr;
        visit.visitor = &visitor;
        next_ = 0;
        index->search(context_, self_ ? nullptr : &queries.view(), visit);
        EXPECT_EQ(next_, expected_->row_count());
        expect_same(visited_, "visitor");
    }

    void run_all_pairs() {
        const Given points(context_, points_, points_on_device_);
        const Given queries(context_, queries_, points_on_device_);
        RowMemory<T, std::int32_t> memory(context_, expected_->row_count() * call_.k, rows_on_device_);
        call_.rows = memory.rows();
        detail::search_all_pairs_on_device<T, D>(context_, points.view(), box_, self_ ? nullptr : &queries.view(),
                                                 call_);
        expect_same(memory.found(context_), "all pairs");
    }

private:
    /// Points on either side.
    class Given {
    public:
        Given(DeviceContext& context, const std::vector<T>& points, bool on_device) : view_(points, D) {
            if (on_device) {
                memory_ = context.buffer<T>(static_cast<std::int64_t>(points.size()));
                context.copy(memory_.data(), points.data(), memory_.size() * static_cast<std::int64_t>(sizeof(T)));
                view_ = {memory_.data(), dtype_of<T>, view_.count(), D, D, 1, Device{DeviceKind::cuda, 1}};
            }
        }
        [[nodiscard]] const PointsView& view() const { return view_; }

    private:
        DeviceBuffer<T> memory_;
        PointsView view_;
    };

    void take(const NeighborBlock& block) {
        EXPECT_EQ(block.device, (Device{DeviceKind::cuda, 1}));
        EXPECT_EQ(block.first, next_);
        next_ += static_cast<std::int64_t>(block.query_indices.size());
        const auto queries =
            context_.to_host(block.query_indices.data(), static_cast<std::int64_t>(block.query_indices.size()));
        const auto size = static_cast<std::int64_t>(block.indices.size());
        const auto indices = context_.to_host(block.indices.data(), size);
        const auto distances = context_.to_host(block.template distances<T>().data(), size);
        for (std::size_t row = 0; row < queries.size(); ++row) {
            const auto from = static_cast<std::ptrdiff_t>(row) * block.k;
            const auto to = static_cast<std::ptrdiff_t>(queries[row]) * block.k;
            std::copy_n(indices.begin() + from, block.k, visited_.indices.begin() + to);
            std::copy_n(distances.begin() + from, block.k, visited_.distances.begin() + to);
        }
    }

    void expect_same(const oracle::Rows<T>& found, const char* how) {
        EXPECT_TRUE(same_rows<T>(found, expected_->rows(call_.k, call_.options), call_.k))
            << how << ", k " << call_.k << ", self-search " << self_ << ", exclude_self " << call_.options.exclude_self
            << ", max_distance " << call_.options.max_distance << ", squared " << call_.options.squared
            << ", points on the device " << points_on_device_;
    }

    Box box_;
    bool self_;
    std::vector<T> points_;
    std::vector<T> queries_;
    std::optional<oracle::Neighbors<T>> expected_;
    DeviceContext context_;
    detail::DeviceKnnCall call_;
    bool points_on_device_ = false;
    bool rows_on_device_ = false;
    oracle::Rows<T> visited_;
    std::int64_t next_ = 0;
};

class KnnOnDevice : public testing::TestWithParam<Case> {};

TEST_P(KnnOnDevice, EqualsTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        with_tested_dimension(GetParam().dimension, [&]<int D>(std::integral_constant<int, D>) {
            const PointSet<T> set = point_set<T>(GetParam().set, D);
            Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{D}));
            for (const NamedBox& named : set.boxes) {
                SCOPED_TRACE(named.name);
                DeviceSearchTrial<T, D> trial(set, named, draw.integer(2) == 0, draw);
                trial.template run_kept_tree<std::int32_t>({.leaf_size = 6, .coarsening = 3, .top_size = 4},
                                                           draw.integer(3) == 0);
                if (draw.integer(2) == 0) {
                    trial.run_all_pairs();
                }
            }
            DeviceSearchTrial<T, D> wide(set, set.boxes.front(), true, draw);
            wide.template run_kept_tree<std::int64_t>({}, false);
        });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
}

INSTANTIATE_TEST_SUITE_P(EveryCase, KnnOnDevice, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
