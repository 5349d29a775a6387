// Calls over ranks that each have a GPU, on emulated devices: ranks are threads, which take turns, since the emulated
// devices are not made for several threads at once.
#pragma once

#include "calls/device_calls.hpp"
#include "distributed/catalog.hpp"
#include "distributed/dbscan.hpp"
#include "distributed/fof.hpp"
#include "distributed/knn.hpp"
#include "distributed/radius.hpp"
#include "distributed/ranks.hpp"
#include "neighbors/radius_checks.hpp"
#include "points/transfer.hpp"
#include "support/cases.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/point_sets.hpp"

#include "cuda_emulation/cuda_runtime.hpp"

#include <kith/dbscan.hpp>
#include <kith/device_communicator.hpp>
#include <kith/distributed.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>
#include <kith/radius.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::test {

/// Who works holds the turn, and gives it away while it waits for others.
class TakingTurns final : public DeviceCommunicator {
public:
    TakingTurns(Communicator& inner, std::mutex& turn, bool is_direct = true)
        : inner_(dynamic_cast<DeviceCommunicator&>(inner)), turn_(turn), is_direct_(is_direct) {}

    [[nodiscard]] int rank() const noexcept override { return inner_.rank(); }
    [[nodiscard]] int size() const noexcept override { return inner_.size(); }
    void all_reduce(std::span<std::int64_t> values, Reduction reduction) override {
        const Away away(turn_);
        inner_.all_reduce(values, reduction);
    }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                    std::span<const std::int64_t> counts) override {
        const Away away(turn_);
        inner_.all_gather(mine, all, counts);
    }
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) override {
        const Away away(turn_);
        return inner_.exchange(std::move(messages));
    }
    [[nodiscard]] bool accepts_device_memory() const noexcept override { return is_direct_; }
    void exchange_buffers(std::span<const SendBuffer> sent, std::span<const ReceiveBuffer> received,
                          const CopyBytes& copy) override {
        const Away away(turn_);
        const auto copy_in_turn = [&](auto... bytes) {
            const std::lock_guard lock(turn_);
            copy(bytes...);
        };
        inner_.exchange_buffers(sent, received, copy ? CopyBytes(copy_in_turn) : CopyBytes());
    }
    void abort(const std::string& reason) noexcept override { inner_.abort(reason); }

private:
    class Away {
    public:
        explicit Away(std::mutex& turn) : turn_(turn) { turn_.unlock(); }
        Away(const Away&) = delete;
        Away& operator=(const Away&) = delete;
        ~Away() { turn_.lock(); }

    private:
        std::mutex& turn_;
    };

    DeviceCommunicator& inner_;
    std::mutex& turn_;
    bool is_direct_; ///< takes memory of GPUs
};

/// Which device each rank works on, in turn: a GPU, or -1 for its CPU.
using DeviceOfRank = std::vector<int>;

/// Calls body(ranks) on several ranks, and holds the bytes that it returns, those that results report, against those
/// that left the devices. `trees` is the number of trees that a rank builds at most. Fetched points travel between devices
/// if `is_direct`, else through the hosts.
template <class Body>
void run_ranks_on_devices(int count, std::int64_t trees, bool is_direct, const Body& body) {
    const std::int64_t before = emulation::requests().to_host_bytes;
    std::int64_t reported = 0;
    std::mutex turn;
    run_ranks(count, [&](Communicator& inner) {
        const std::unique_lock lock(turn);
        TakingTurns ranks(inner, turn, is_direct);
        reported += body(ranks);
    });
    // Beside them there are only counts: those of nodes, planes and blocks, at most 16 copies of 256 bytes a tree.
    const std::int64_t copied = emulation::requests().to_host_bytes - before;
    EXPECT_LE(reported, copied);
    EXPECT_LE(copied - reported, trees * count * 16 * 256);
}

template <class Body>
void run_ranks_on_devices(int count, std::int64_t trees, const Body& body) {
    run_ranks_on_devices(count, trees, true, body);
}

/// The execution of a rank on an emulated device.
inline Execution on_emulated_device(int device) {
    Execution execution = cuda(device);
    execution.threads = 1;
    return execution;
}

/// A function of PartCalls on the emulated device of a rank; the library, without a GPU here, refuses it. No function
/// for its CPU.
template <Coordinate T, class Made, class... Given>
std::function<Made(Given...)> maker_on(int device, Made (*detail::PartCalls<T>::*make)(const Execution&, Given...)) {
    if (device < 0) {
        return {};
    }
    return [on_device = on_emulated_device(device), make](Given... given) {
        return detail::part_maker(on_device, make)(given...);
    };
}

/// Which ranks have their points in memory of their GPU; a rank without one never does.
enum class OnGpu : std::uint8_t { none, every_other_rank, all };
inline constexpr OnGpu on_gpus[] = {OnGpu::none, OnGpu::every_other_rank, OnGpu::all};

/// Points of a rank, in memory of its device if they are to be there.
class PointsOfRank {
public:
    PointsOfRank(const PointsView& points, int rank, int device, OnGpu at) : view_(points) {
        if (device < 0 || at == OnGpu::none || (at == OnGpu::every_other_rank && rank % 2 == 1)) {
            return;
        }
        context_.emplace(on_emulated_device(device));
        there_.emplace(*context_, points);
        context_->wait();
        view_ = there_->view();
    }
    [[nodiscard]] const PointsView& view() const { return view_; }

private:
    std::optional<detail::DeviceContext> context_;
    std::optional<detail::PointsOnDevice> there_;
    PointsView view_;
};

// What a call of one rank does (calls/rank_calls.cpp), which the library, without a GPU here, refuses. Devices below 0 are
// the rank's CPU.

template <class T>
KnnResult neighbors_of_rank(Communicator& communicator, const PointsView& mine, const PointsView* queries,
                            std::int64_t k, const KnnOptions& options, const RankOptions& of_ranks, int device) {
    return detail::on_all_ranks(communicator, [&](detail::Ranks& ranks) {
        detail::Context context(cpu(1));
        KnnResult result((queries != nullptr ? *queries : mine).count(), k, IndexType::int64, dtype_of<T>);
        std::vector<float> work;
        detail::knn_over_ranks<T>(ranks, context, {mine, queries, k, options, of_ranks},
                                  maker_on(device, &detail::PartCalls<T>::search),
                                  maker_on(device, &detail::PartCalls<T>::read), result.rows_view(), result, work);
        result.distribution.emplace().traffic = ranks.traffic();
        return result;
    });
}

template <class T, class Search>
auto within_of_rank(Communicator& communicator, const PointsView& mine, const PointsView* queries, const Radii& radii,
                    const RadiusOptions& options, const RankOptions& of_ranks, int device, const Search& search) {
    return detail::on_all_ranks(communicator, [&](detail::Ranks& ranks) {
        detail::Context context(cpu(1));
        const std::int64_t rows = (queries != nullptr ? *queries : mine).count();
        RadiusOptions here = options;
        if (device >= 0) { // as a call over ranks names it
            here.execution = on_emulated_device(device);
        }
        auto result =
            search(ranks, context,
                   detail::RadiusOverRanks{mine, queries, radii, detail::check_radii(radii, rows), here, of_ranks},
                   maker_on(device, &detail::PartCalls<T>::search), maker_on(device, &detail::PartCalls<T>::read));
        result.distribution.emplace().traffic = ranks.traffic();
        return result;
    });
}
template <class T>
RadiusResult rows_within_of_rank(Communicator& communicator, const PointsView& mine, const PointsView* queries,
                                 const Radii& radii, const RadiusOptions& options, const RankOptions& of_ranks,
                                 int device) {
    return within_of_rank<T>(communicator, mine, queries, radii, options, of_ranks, device,
                             [](auto&&... arguments) { return detail::radius_over_ranks<T>(arguments...); });
}
template <class T>
RadiusCounts counts_within_of_rank(Communicator& communicator, const PointsView& mine, const PointsView* queries,
                                   const Radii& radii, const RadiusOptions& options, const RankOptions& of_ranks,
                                   int device) {
    return within_of_rank<T>(communicator, mine, queries, radii, options, of_ranks, device,
                             [](auto&&... arguments) { return detail::radius_counts_over_ranks<T>(arguments...); });
}

inline FofResult groups_of_rank(Communicator& communicator, const PointsView& mine, const LinkingLength& length,
                                const FofOptions& options, const RankOptions& of_ranks, int device) {
    return detail::on_all_ranks(communicator, [&](detail::Ranks& ranks) {
        detail::Context context(cpu(1));
        FofResult result;
        std::vector<float> work;
        detail::with_dtype(mine.dtype(), [&]<Coordinate T>(T) {
            detail::fof_over_ranks<T>(ranks, context, {mine, length, options, of_ranks},
                                      maker_on(device, &detail::PartCalls<T>::link),
                                      maker_on(device, &detail::PartCalls<T>::read), result, work);
        });
        result.distribution.emplace().traffic = ranks.traffic();
        return result;
    });
}

inline DbscanResult clusters_of_rank(Communicator& communicator, const PointsView& mine, double eps,
                                     std::int64_t min_samples, const DbscanOptions& options,
                                     const RankOptions& of_ranks, int device) {
    return detail::on_all_ranks(communicator, [&](detail::Ranks& ranks) {
        detail::Context context(cpu(1));
        DbscanResult result;
        detail::with_dtype(mine.dtype(), [&]<Coordinate T>(T) {
            detail::dbscan_over_ranks<T>(ranks, context, {mine, eps, min_samples, options, of_ranks},
                                         maker_on(device, &detail::PartCalls<T>::cluster),
                                         maker_on(device, &detail::PartCalls<T>::read), result);
        });
        (result.distribution ? *result.distribution : result.distribution.emplace()).traffic = ranks.traffic();
        return result;
    });
}

inline Catalog catalog_of_rank(Communicator& communicator, const FofResult& groups, const Particles& particles,
                               const CatalogOptions& options, int device, const RankOptions& of_ranks = {}) {
    return detail::on_all_ranks(communicator, [&](detail::Ranks& ranks) {
        detail::Context context(cpu(1));
        detail::halos::MakePartDescriber on_gpu;
        detail::MakePartVectors vectors_on_gpu;
        if (device >= 0) {
            on_gpu = [device] { return detail::on_gpu().describe_part(on_emulated_device(device)); };
            vectors_on_gpu = [device](detail::Context& host, int dimension) {
                return detail::PartVectors{maker_on(device, &detail::PartCalls<float>::read)(host, dimension),
                                           maker_on(device, &detail::PartCalls<double>::read)(host, dimension)};
            };
        }
        Catalog part =
            detail::catalog_over_ranks(ranks, context, {groups, particles, options, of_ranks}, on_gpu, vectors_on_gpu);
        part.distribution->traffic = ranks.traffic();
        return part;
    });
}

/// Coordinates of at most `count` points of a case.
template <class T>
std::vector<T> first_points(const Case& of, int count) {
    std::vector<T> points = point_set<T>(of.set, of.dimension).coordinates;
    points.resize(std::min(points.size(), static_cast<std::size_t>(count * of.dimension)));
    return points;
}

} // namespace kith::test
