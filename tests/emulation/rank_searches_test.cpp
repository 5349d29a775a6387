// Nearest neighbors, and those within a radius, over ranks that each have a GPU of their own, on two and on four emulated
// devices: the rows of one process.
#include "cuda/instances.hpp"
#include "emulation/ranks_on_devices.hpp"

#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/knn.hpp>
#include <kith/radius.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

/// A search, and how its points and queries are distributed.
struct Search {
    PointsView points;
    RankFirsts firsts;
    const PointsView* queries = nullptr; ///< null: a self-search
    RankFirsts query_firsts;
    DeviceOfRank devices;
    RankOptions of_ranks;
    OnGpu points_at = OnGpu::none;
    OnGpu queries_at = OnGpu::none;
    bool is_direct = true;

    /// Part of a rank, where it is to be.
    [[nodiscard]] PointsOfRank points_of(int rank) const {
        return {part_of(points, firsts, rank), rank, device_of(rank), points_at};
    }
    [[nodiscard]] PointsOfRank queries_of(int rank) const {
        return {part_of(receivers(), queries != nullptr ? query_firsts : firsts, rank), rank, device_of(rank),
                queries != nullptr ? queries_at : OnGpu::none};
    }
    [[nodiscard]] int device_of(int rank) const { return devices[static_cast<std::size_t>(rank) % devices.size()]; }
    [[nodiscard]] int ranks() const { return static_cast<int>(firsts.size()) - 1; }
    [[nodiscard]] const PointsView& receivers() const { return queries != nullptr ? *queries : points; }
    /// Rows of the receivers of a rank.
    [[nodiscard]] std::int64_t first_row(int rank) const {
        return (queries != nullptr ? query_firsts : firsts)[static_cast<std::size_t>(rank)];
    }
};

/// Holds every rank's rows, and the bytes from the devices that it reports, against one process and the devices.
template <class T>
void expect_neighbors_of_one_process(const Search& search, std::int64_t k, KnnOptions options) {
    options.index_type = IndexType::int64;
    options.execution = cpu(1);
    const KnnResult expected =
        search.queries != nullptr ? knn(search.points, *search.queries, k, options) : knn(search.points, k, options);
    run_ranks_on_devices(search.ranks(), 5, search.is_direct, [&](Communicator& ranks) {
        const int rank = ranks.rank();
        const int device = search.device_of(rank);
        const PointsOfRank points = search.points_of(rank);
        const PointsOfRank receivers = search.queries_of(rank);
        const PointsView& queries = receivers.view();
        const KnnResult found = neighbors_of_rank<T>(
            ranks, points.view(), search.queries != nullptr ? &queries : nullptr, k, options, search.of_ranks, device);
        const auto from = static_cast<std::size_t>(search.first_row(rank) * k);
        const auto size = static_cast<std::size_t>(queries.count() * k);
        EXPECT_TRUE(std::ranges::equal(found.indices64(), expected.indices64().subspan(from, size)))
            << "rank " << rank << " of " << search.ranks() << ", k = " << k;
        EXPECT_TRUE(size == 0 || std::memcmp(found.distances<T>().data(), expected.distances<T>().data() + from,
                                             size * sizeof(T)) == 0)
            << "rank " << rank << " of " << search.ranks() << ", k = " << k;
        EXPECT_EQ(found.box, expected.box);
        EXPECT_EQ(found.wrapped_points, expected.wrapped_points);
        EXPECT_EQ(found.unresolved.warning(), expected.unresolved.warning());
        const std::int64_t from_device = found.distribution->traffic.bytes_from_device;
        EXPECT_TRUE(device >= 0 || from_device == 0);
        return from_device;
    });
}

/// The same of neighbors within radii, and of their numbers.
template <class T>
void expect_neighbors_within(const Search& search, const std::vector<double>& radii, RadiusOptions options) {
    const auto radii_of = [&](std::int64_t first, std::int64_t count) {
        return radii.size() == 1
                   ? Radii(radii[0])
                   : Radii(std::span(radii).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    };
    options.index_type = IndexType::int64;
    options.execution = cpu(1);
    const Radii all = radii_of(0, search.receivers().count());
    const RadiusResult expected = search.queries != nullptr
                                      ? radius_search(search.points, *search.queries, all, options)
                                      : radius_search(search.points, all, options);
    run_ranks_on_devices(search.ranks(), 10, search.is_direct, [&](Communicator& ranks) {
        const int rank = ranks.rank();
        const int device = search.device_of(rank);
        const PointsOfRank points = search.points_of(rank);
        const PointsView& mine = points.view();
        const PointsOfRank receivers = search.queries_of(rank);
        const PointsView& queries = receivers.view();
        const PointsView* const separate = search.queries != nullptr ? &queries : nullptr;
        const Radii here = radii_of(search.first_row(rank), queries.count());
        const RadiusResult found =
            rows_within_of_rank<T>(ranks, mine, separate, here, options, search.of_ranks, device);
        const RadiusCounts counts =
            counts_within_of_rank<T>(ranks, mine, separate, here, options, search.of_ranks, device);
        const auto first = static_cast<std::size_t>(search.first_row(rank));
        const std::int64_t begin = expected.offsets()[first];
        const auto size =
            static_cast<std::size_t>(expected.offsets()[first + static_cast<std::size_t>(queries.count())] - begin);
        const auto from = static_cast<std::size_t>(begin);
        bool are_same = std::ranges::equal(found.indices64(), expected.indices64().subspan(from, size)) &&
                        std::ranges::equal(found.distances<T>(), expected.distances<T>().subspan(from, size)) &&
                        std::ssize(counts.counts) == queries.count() && found.rows() == queries.count();
        for (std::size_t row = 0; are_same && row < counts.counts.size(); ++row) {
            are_same = found.offsets()[row] == expected.offsets()[first + row] - begin &&
                       counts.counts[row] == found.offsets()[row + 1] - found.offsets()[row];
        }
        EXPECT_TRUE(are_same) << "rank " << rank << " of " << search.ranks();
        EXPECT_EQ(found.box, expected.box);
        EXPECT_EQ(found.wrapped_points, expected.wrapped_points);
        EXPECT_EQ(found.unresolved.warning(), expected.unresolved.warning());
        for (const StageReports* stages : {&found.stages, &counts.stages}) { // also without points
            EXPECT_EQ(std::ranges::count(*stages, "download", &StageReport::name) > 0, device >= 0);
        }
        const std::int64_t from_device =
            found.distribution->traffic.bytes_from_device + counts.distribution->traffic.bytes_from_device;
        EXPECT_TRUE(device >= 0 || from_device == 0);
        return from_device;
    });
}

class SearchesOverGpus : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Sets, SearchesOverGpus,
                         testing::ValuesIn(cases_of({"empty", "two", "clustered", "lattice", "coincident",
                                                     "slightly_outside", "subnormal"})),
                         case_name);

TEST_P(SearchesOverGpus, HaveTheRowsOfOneProcess) {
    if (!detail::dimension_is_on_device(GetParam().dimension)) {
        GTEST_SKIP() << "dimension " << GetParam().dimension << " is not emulated";
    }
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> points = first_points<T>(GetParam(), 150);
        const std::vector<T> slabs = along_the_first_axis(points, set.dimension);
        const PointsView view(slabs, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 31 + sizeof(T));
        for (const NamedBox& named : set.boxes) {
            for (const bool separate : {false, true}) {
                SCOPED_TRACE(std::string(named.name) + (separate ? ", separate queries" : ""));
                const std::vector<T> queries = queries_for(set, named.box, draw.integer(2) == 0 ? 9 : 120);
                const PointsView queries_view(queries, set.dimension);
                const int ranks = static_cast<int>(1 + draw.integer(4));
                const std::int64_t some[] = {1, 3, 16, 40, 70, view.count() + 2};
                KnnOptions options{.box = named.box, .exclude_self = !separate && draw.integer(2) == 0};
                options.squared = draw.integer(2) == 0;
                if (draw.integer(3) == 0) {
                    options.max_distance = set.extent() * 0.05;
                }
                const Search search{view,
                                    drawn_distribution(view.count(), ranks, draw),
                                    separate ? &queries_view : nullptr,
                                    drawn_distribution(queries_view.count(), ranks, draw),
                                    draw.integer(2) == 0 ? DeviceOfRank{0, 1} : DeviceOfRank{3, -1, 2, 1},
                                    {.rebalance = draw.integer(3) == 0},
                                    on_gpus[draw.integer(3)],
                                    on_gpus[draw.integer(3)],
                                    draw.integer(3) > 0};
                expect_neighbors_of_one_process<T>(search, some[draw.integer(std::size(some))], options);
            }
        }
    });
}

TEST_P(SearchesOverGpus, HaveTheRowsWithinARadiusOfOneProcess) {
    if (!detail::dimension_is_on_device(GetParam().dimension)) {
        GTEST_SKIP() << "dimension " << GetParam().dimension << " is not emulated";
    }
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> points = first_points<T>(GetParam(), 150);
        const std::vector<T> slabs = along_the_first_axis(points, set.dimension);
        const PointsView view(slabs, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 17 + sizeof(T));
        for (const NamedBox& named : set.boxes) {
            for (const bool separate : {false, true}) {
                SCOPED_TRACE(std::string(named.name) + (separate ? ", separate queries" : ""));
                const std::vector<T> queries = queries_for(set, named.box, 60);
                const PointsView queries_view(queries, set.dimension);
                const std::int64_t rows = separate ? queries_view.count() : view.count();
                std::vector<double> radii(draw.integer(2) == 0 ? 1 : static_cast<std::size_t>(rows));
                for (double& radius : radii) {
                    radius = set.extent() * (draw.integer(2) == 0 ? 0.05 : 0.15);
                }
                const int ranks = static_cast<int>(1 + draw.integer(4));
                RadiusOptions options{.box = named.box, .exclude_self = !separate && draw.integer(2) == 0};
                options.squared = draw.integer(2) == 0;
                options.order = draw.integer(2) == 0 ? RowOrder::distance : RowOrder::index;
                const Search search{view,
                                    drawn_distribution(view.count(), ranks, draw),
                                    separate ? &queries_view : nullptr,
                                    drawn_distribution(queries_view.count(), ranks, draw),
                                    draw.integer(2) == 0 ? DeviceOfRank{0, 1} : DeviceOfRank{3, -1, 2, 1},
                                    {.rebalance = draw.integer(3) == 0},
                                    on_gpus[draw.integer(3)],
                                    on_gpus[draw.integer(3)],
                                    draw.integer(3) > 0};
                expect_neighbors_within<T>(search, radii, options);
            }
        }
    });
}

class SearchesOverGpusIn3D : public NeedsDimension<3> {};

TEST_F(SearchesOverGpusIn3D, OfEveryNumberOfRanks) {
    const std::vector<float> slabs =
        along_the_first_axis(first_points<float>({DType::float32, 3, "clustered"}, 150), 3);
    const PointsView points(slabs, 3);
    for (const int ranks : {1, 2, 3, 4, 5}) {
        for (const RankFirsts& firsts : {evenly(points.count(), ranks), all_on(ranks / 2, points.count(), ranks),
                                         unevenly(points.count(), ranks)}) {
            for (const DeviceOfRank& devices : {DeviceOfRank{0, 1, 2, 3}, DeviceOfRank{1, -1}}) { // and a CPU
                const OnGpu at = ranks % 2 == 0 ? OnGpu::all : OnGpu::none;
                expect_neighbors_of_one_process<float>({points, firsts, nullptr, {}, devices, {}, at}, 8, {});
            }
        }
    }
}

TEST_F(SearchesOverGpusIn3D, OfPointsWithIds) {
    const std::vector<float> points = first_points<float>({DType::float32, 3, "lattice"}, 150);
    const PointsView view(points, 3);
    std::vector<std::int64_t> ids; // descending
    std::vector<float> by_id;
    for (std::int64_t i = view.count() - 1; i >= 0; --i) {
        ids.push_back(i);
        by_id.insert(by_id.end(), points.begin() + 3 * i, points.begin() + 3 * (i + 1));
    }
    const KnnOptions options{.exclude_self = true};
    const KnnResult expected = knn(PointsView(by_id, 3), 6, {.exclude_self = true, .execution = cpu(1)});
    const RankFirsts halves = evenly(view.count(), 2);
    run_ranks_on_devices(2, 5, [&](Communicator& ranks) {
        const PointsOfRank mine(part_of(view, halves, ranks.rank()), ranks.rank(), ranks.rank(),
                                OnGpu::every_other_rank);
        const auto my_ids =
            std::span(ids).subspan(static_cast<std::size_t>(halves[static_cast<std::size_t>(ranks.rank())]),
                                   static_cast<std::size_t>(mine.view().count()));
        const KnnResult found =
            neighbors_of_rank<float>(ranks, mine.view(), nullptr, 6, options, {.ids = my_ids}, ranks.rank());
        for (std::size_t i = 0; i < my_ids.size(); ++i) {
            const auto row = static_cast<std::size_t>(my_ids[i]);
            EXPECT_TRUE(
                std::ranges::equal(found.indices64().subspan(6 * i, 6), expected.indices().subspan(6 * row, 6)));
        }
        return found.distribution->traffic.bytes_from_device;
    });
}

// What leaves a device: nodes, 4 bytes for each point and each row, and the neighbors; no coordinates of points.
TEST_F(SearchesOverGpusIn3D, BringRowsAndNodesToTheHost) {
    constexpr std::int64_t count = 4000;
    constexpr std::int64_t k = 4;
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(count, 3, 0, 1, 82), 3);
    const RankFirsts firsts = evenly(count, 2);
    run_ranks_on_devices(2, 5, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        const KnnResult found = neighbors_of_rank<float>(ranks, mine, nullptr, k, {}, {}, ranks.rank());
        const std::int64_t bytes = found.distribution->traffic.bytes_from_device;
        EXPECT_GE(bytes, mine.count() * (4 + 4 + 8 * k));
        EXPECT_LE(bytes, mine.count() * (4 + 2 * (4 + 8 * k) + 12)); // few rows are searched a second time
        return bytes;
    });
}

// Of points in memory of GPUs only squared distances of those in leaves that requests reach come to the host. Those that
// travel, which are the same as from the host, do so between devices, or through the hosts if the ranks cannot.
TEST_F(SearchesOverGpusIn3D, BringNoPointsToTheHost) {
    const std::vector<float> uniform = along_the_first_axis(uniform_points<float>(4000, 3, 0, 1, 84), 3);
    const std::vector<float> coincident(3 * 1000, 0.5F);
    std::vector<float> outliers; // leaves of one point each on rank 0, which reach all points of rank 1
    for (int i = 12; i > 0; --i) {
        outliers.insert(outliers.end(), {-1000.0F * static_cast<float>(i), 0, 0});
    }
    const std::vector<float> clustered = first_points<float>({DType::float32, 3, "clustered"}, 600);
    outliers.insert(outliers.end(), clustered.begin(), clustered.end());
    for (const std::vector<float>* const points : {&uniform, &coincident, &std::as_const(outliers)}) {
        const PointsView view(*points, 3);
        const RankFirsts firsts = points == &outliers ? RankFirsts{0, 12, view.count()} : evenly(view.count(), 2);
        const std::int64_t searches = points == &outliers ? 12 : 1; // of one leaf, at most
        const auto traffic_of = [&](OnGpu at, bool is_direct) {
            std::array<Traffic, 2> of_ranks;
            run_ranks_on_devices(2, 5, is_direct, [&](Communicator& ranks) {
                const int rank = ranks.rank();
                const PointsOfRank mine(part_of(view, firsts, rank), rank, rank, at);
                Traffic& traffic = of_ranks[static_cast<std::size_t>(rank)];
                traffic = neighbors_of_rank<float>(ranks, mine.view(), nullptr, 4, {}, {}, rank).distribution->traffic;
                return traffic.bytes_from_device;
            });
            return of_ranks;
        };
        const std::array<Traffic, 2> from_host = traffic_of(OnGpu::none, true);
        const std::array<Traffic, 2> staged = traffic_of(OnGpu::all, false);
        const std::array<Traffic, 2> direct = traffic_of(OnGpu::all, true);
        for (const std::size_t rank : {0U, 1U}) {
            EXPECT_EQ(staged[rank].bytes_sent, from_host[rank].bytes_sent);
            EXPECT_EQ(direct[rank].bytes_sent, from_host[rank].bytes_sent);
            EXPECT_EQ(direct[rank].bytes_received, from_host[rank].bytes_received);
            const std::int64_t squares = direct[rank].bytes_from_device - from_host[rank].bytes_from_device;
            const std::int64_t coordinates = staged[rank].bytes_from_device - direct[rank].bytes_from_device;
            const std::int64_t count = firsts[rank + 1] - firsts[rank];
            EXPECT_GE(squares, 0);
            EXPECT_LE(squares, searches * 4 * count);
            EXPECT_GE(coordinates, points == &uniform ? 12 * 100 : 0); // of a slab's surface
            EXPECT_EQ(coordinates % 12, 0);
            EXPECT_LE(coordinates, points == &uniform ? 12 * count / 2 : staged[rank].bytes_sent);
        }
    }
}

/// Between GPUs they touch no host. To or from a rank without a GPU they go through its host once.
TEST_F(SearchesOverGpusIn3D, FetchPointsStraightToTheGpu) {
    const std::vector<float> slabs = along_the_first_axis(uniform_points<float>(4000, 3, 0, 1, 85), 3);
    const PointsView view(slabs, 3);
    const RankFirsts firsts = evenly(view.count(), 2);
    for (const DeviceOfRank& devices : {DeviceOfRank{0, 1}, DeviceOfRank{2, -1}}) {
        struct Bytes {
            std::int64_t reported = 0; ///< to the host
            std::int64_t copied = 0;   ///< from or to the host
        };
        const auto bytes_of = [&](bool is_direct) {
            Bytes bytes;
            const std::int64_t before = emulation::requests().host_bytes;
            run_ranks_on_devices(2, 5, is_direct, [&](Communicator& ranks) {
                const int rank = ranks.rank();
                const int device = devices[static_cast<std::size_t>(rank)];
                const PointsOfRank mine(part_of(view, firsts, rank), rank, device, OnGpu::all);
                const KnnResult found = neighbors_of_rank<float>(ranks, mine.view(), nullptr, 4, {}, {}, device);
                const std::int64_t from_device = found.distribution->traffic.bytes_from_device;
                bytes.reported += from_device;
                return from_device;
            });
            bytes.copied = emulation::requests().host_bytes - before;
            return bytes;
        };
        const Bytes staged = bytes_of(false);
        const Bytes direct = bytes_of(true);
        const std::int64_t coordinates = staged.reported - direct.reported; // that did not come to the host
        constexpr std::int64_t bounds = 2 * 1024;                           // of those that were fetched, by blocks
        EXPECT_TRUE(devices[1] >= 0 ? coordinates > 2 * bounds : coordinates == 0);
        EXPECT_LE(direct.copied, staged.copied - 2 * coordinates + bounds);
    }
}

TEST_F(SearchesOverGpusIn3D, FailOnAllRanksWhereOneGpuIsMissing) {
    const std::vector<float> coordinates = first_points<float>({DType::float32, 3, "clustered"}, 150);
    const PointsView points(coordinates, 3);
    const RankFirsts firsts = evenly(points.count(), 2);
    run_ranks_on_devices(2, 5, [&](Communicator& ranks) {
        const auto call = [&](int device) {
            return neighbors_of_rank<float>(ranks, part_of(points, firsts, ranks.rank()), nullptr, 3, {}, {}, device);
        };
        EXPECT_TRUE(is_refused(ErrorKind::device, {"rank 1"}, [&] { (void)call(ranks.rank() == 0 ? 0 : 9); }));
        return call(ranks.rank()).distribution->traffic.bytes_from_device;
    });
}

} // namespace
} // namespace kith::test
