#include "cli/rank_costs.hpp"

#include "cli/options.hpp"
#include "cli/sample_points.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {

namespace {

constexpr int rounds = 3; ///< of which the fastest counts

/// Counts the collective calls of a rank.
class CountingCommunicator final : public Communicator {
public:
    explicit CountingCommunicator(Communicator& ranks) : ranks_(ranks) {}
    [[nodiscard]] int rank() const noexcept override { return ranks_.rank(); }
    [[nodiscard]] int size() const noexcept override { return ranks_.size(); }
    [[nodiscard]] int threads() const noexcept override { return ranks_.threads(); }
    void all_reduce(std::span<std::int64_t> values, Reduction reduction) override {
        ++calls_;
        ranks_.all_reduce(values, reduction);
    }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                    std::span<const std::int64_t> counts) override {
        ++calls_;
        ranks_.all_gather(mine, all, counts);
    }
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) override {
        ++calls_;
        return ranks_.exchange(std::move(messages));
    }
    void abort(const std::string& reason) noexcept override { ranks_.abort(reason); }
    [[nodiscard]] double calls() const noexcept { return calls_; }

private:
    Communicator& ranks_;
    double calls_ = 0;
};

double seconds_of(const StageReports& reports, std::string_view stage) {
    double sum = 0;
    for (const StageReport& report : reports) {
        sum += report.name == stage ? report.seconds : 0;
    }
    return sum;
}

/// The fastest of some rounds, after one that touches the memory.
StageReports fastest(const std::function<StageReports()>& call) {
    StageReports best;
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round <= rounds; ++round) {
        StageReports reports = call();
        double sum = 0;
        for (const StageReport& report : reports) {
            sum += report.seconds;
        }
        if (round > 0 && sum < least) {
            least = sum;
            best = std::move(reports);
        }
    }
    return best;
}

/// One call over ranks: the means of what a rank received, and of its collective calls; and the stages of all ranks, of
/// each its part in the mean.
struct OverRanks {
    double bytes = 0;
    double collective_calls = 0;
    StageReports stages;
};

/// call(communicator, points): stages and traffic.
OverRanks over_ranks(const std::vector<io::RealArray>& blocks,
                     const std::function<std::pair<StageReports, Traffic>(Communicator&, const PointsView&)>& call) {
    std::vector<std::pair<StageReports, Traffic>> found(blocks.size());
    OverRanks mean;
    run_ranks(static_cast<int>(blocks.size()), [&](Communicator& ranks) {
        CountingCommunicator counting(ranks);
        const auto rank = static_cast<std::size_t>(ranks.rank());
        found[rank] = call(counting, blocks[rank].view());
        if (rank == 0) { // all make the same
            mean.collective_calls = counting.calls();
        }
    });
    const auto size = static_cast<double>(blocks.size());
    for (const auto& [stages, traffic] : found) {
        mean.bytes += static_cast<double>(traffic.bytes_received) / size;
        for (const StageReport& stage : stages) {
            mean.stages.push_back({stage.name, stage.seconds / size});
        }
    }
    return mean;
}

/// The cost of a call whose stage `own` works on a rank's own points.
CallCost cost_of(const StageReports& alone, const OverRanks& together, const OverRanks& nothing_in_reach,
                 const OverRanks& no_points, const char* own, const char* pieces, double result_bytes,
                 const RankConstants& constants) {
    const auto per_rank = static_cast<double>(constants.points_per_rank);
    const double in_all = per_rank * constants.ranks;
    CallCost cost;
    cost.result_bytes = result_bytes;
    cost.collective_calls = together.collective_calls;
    cost.rank_bytes = no_points.bytes / (constants.ranks - 1);
    for (const char* stage : {"order", "tree", own}) {
        cost.per_point.emplace_back(stage, seconds_of(alone, stage) / in_all);
    }
    for (const StageReport& report : alone) {
        cost.working_bytes = std::max(cost.working_bytes, static_cast<double>(report.peak_bytes) / in_all);
    }
    const double layer_points = std::max(0.0, together.bytes - nothing_in_reach.bytes) / constants.point_bytes();
    cost.layer = layer_of(layer_points, per_rank, blocks_of(constants.ranks, constants.dimension));
    // Seconds of ranks that share the cores, in seconds of a rank that has them to itself.
    const auto share_of = [&](const OverRanks& of, const char* stage, double alone_per_point) {
        const double seconds = seconds_of(of.stages, stage);
        return seconds > 0 ? alone_per_point * per_rank / seconds : 0;
    };
    const double share = share_of(together, own, cost.per_point.back().second);
    const double share_of_nothing = share_of(nothing_in_reach, "order", cost.per_point.front().second);
    const double own_ask = seconds_of(nothing_in_reach.stages, "ask") * share_of_nothing;
    cost.ask_seconds = own_ask / per_rank;
    for (const char* stage : {"ask", "select", pieces}) {
        const double seconds = std::max(0.0, seconds_of(together.stages, stage) * share -
                                                 (std::string_view(stage) == "ask" ? own_ask : 0));
        cost.per_layer_point.emplace_back(stage, layer_points > 0 ? seconds / layer_points : 0);
    }
    return cost;
}

} // namespace

io::RealArray points_of_block(const io::RealArray& points, int rank, const std::vector<int>& blocks) {
    io::RealArray block;
    block.columns = points.columns;
    std::visit(
        [&]<class T>(const std::vector<T>& all) {
            std::vector<T> mine;
            for (auto row = all.begin(); row != all.end(); row += points.columns) {
                int owner = 0;
                for (std::size_t axis = 0; axis < blocks.size(); ++axis) {
                    const auto cell = row[static_cast<std::ptrdiff_t>(axis)] * static_cast<T>(blocks[axis]);
                    owner = owner * blocks[axis] + static_cast<int>(cell);
                }
                if (owner == rank) {
                    mine.insert(mine.end(), row, row + points.columns);
                }
            }
            block.values = std::move(mine);
        },
        points.values);
    return block;
}

void add_rank_options(const Parser& command, RankConstants& wanted) {
    add_value(command, "-k", "K", "Neighbors of each point; 16 by default", wanted.k, parse_whole, 1,
              std::numeric_limits<std::int32_t>::max());
    add_value(command, "-b", "B", "Linking length in mean separations; 0.2 by default", wanted.b, parse_length);
    add_value(command, "-d", "D", "Dimension; 3 by default", wanted.dimension, parse_whole, 2, max_dimension);
    command.flag("--float64", "Points in float64, not float32", [&wanted] { wanted.dtype = DType::float64; });
}

RankConstants measure_rank_constants(RankConstants wanted, const Execution& execution) {
    wanted.ranks = 1 << std::min(wanted.dimension, 3);
    const io::RealArray points =
        sample_points(SampleSet::uniform, wanted.points_per_rank * wanted.ranks, wanted.dimension, wanted.dtype);
    std::vector<io::RealArray> blocks;
    for (int rank = 0; rank < wanted.ranks; ++rank) {
        blocks.push_back(points_of_block(points, rank, blocks_of(wanted.ranks, wanted.dimension)));
    }
    const Box box = Box::periodic(1);
    const auto neighbors_alone = fastest([&] {
        return knn(points.view(), wanted.k, {.box = box, .engine = Engine::tree, .execution = execution}).stages;
    });
    const LinkingLength length = LinkingLength::relative(wanted.b);
    const auto groups_alone = fastest([&] {
        return fof(points.view(), length, {.box = box, .engine = Engine::tree, .execution = execution}).stages;
    });
    const auto groups_of = [&](const std::vector<io::RealArray>& shares, LinkingLength reach) {
        return over_ranks(shares, [&](Communicator& ranks, const PointsView& mine) {
            FofResult found = fof(mine, reach, {.box = box, .execution = over(ranks, cpu(1))});
            return std::pair(std::move(found.stages), found.distribution->traffic);
        });
    };
    const auto neighbors_of = [&](const std::vector<io::RealArray>& shares, double reach) {
        return over_ranks(shares, [&](Communicator& ranks, const PointsView& mine) {
            KnnResult found =
                knn(mine, wanted.k, {.box = box, .max_distance = reach, .execution = over(ranks, cpu(1))});
            return std::pair(std::move(found.stages), found.distribution->traffic);
        });
    };
    const std::vector<io::RealArray> no_points(blocks.size(),
                                               sample_points(SampleSet::uniform, 0, wanted.dimension, wanted.dtype));
    wanted.knn = cost_of(neighbors_alone, neighbors_of(blocks, std::numeric_limits<double>::infinity()),
                         neighbors_of(blocks, 0), neighbors_of(no_points, 0), "search", "search pieces",
                         static_cast<double>(wanted.k) * (8 + wanted.scalar_bytes()), wanted);
    const LinkingLength nothing = LinkingLength::absolute(0);
    wanted.fof = cost_of(groups_alone, groups_of(blocks, length), groups_of(blocks, nothing),
                         groups_of(no_points, nothing), "link", "link pieces", 8, wanted);
    return wanted;
}

} // namespace kith::cli
