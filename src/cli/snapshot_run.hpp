// One run of a command on a snapshot: reads it, writes all outputs or none, reports.
//
//   find_snapshot(arguments, invocation, R"(kith ... "$file")");
//   SnapshotRun run(arguments, {"read", "tree", "write"});
//   run.outputs.plan(...);
//   run.read(options);
//   run.resolve_box(arguments.box);
//   ... compute, run.clock.add(stages) ...
//   run.write([&] { ... });
//   run.report(facts, [&] { print_line(...); });
//
// Over ranks each of them makes the same calls on its share of the rows; rank 0 writes and speaks.
#pragma once

#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_bar.hpp"
#include "cli/rank_team.hpp"
#include "cli/report.hpp"
#include "cli/shares.hpp"
#include "cli/try_out.hpp"

#include <kith/distributed.hpp>
#include <kith/error.hpp>
#include <kith/io.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {

/// Decides which snapshot the files of a command are (only_snapshot).
void find_snapshot(SnapshotArguments& arguments, const Invocation& invocation, std::string_view loop_body);

class SnapshotRun {
public:
    SnapshotRun(const SnapshotArguments& arguments, std::vector<std::string> stages, RankTeam* ranks = nullptr)
        : clock(std::move(stages)), bar(ranks != nullptr && !ranks->is_first()), input(arguments.snapshot),
          common_(arguments.common), ranks_(ranks) {}

    OutputFiles outputs; ///< to be planned before read()
    StageClock clock;
    ProgressBar bar;
    std::string input;     ///< the snapshot, as given
    io::Snapshot snapshot; ///< over ranks this rank's share
    ResolvedBox box;
    std::vector<std::string> warnings;
    Traffic traffic; ///< of this rank, in all calls
    void add_traffic(const std::optional<Distribution>& distribution);

    [[nodiscard]] const io::RealArray& positions() const { return snapshot.positions; }
    [[nodiscard]] std::string box_text() const { return describe(box.box, positions()); }
    [[nodiscard]] Execution execution();
    /// The same, over the ranks if there are several.
    [[nodiscard]] Execution execution_together() { return execution_over(ranks_, execution(), common_.rebalance); }

    [[nodiscard]] RankTeam* ranks() const noexcept { return ranks_; }
    [[nodiscard]] bool is_first() const noexcept { return ranks_ == nullptr || ranks_->is_first(); }
    /// The snapshot; over ranks one with the header, types and extent of all.
    [[nodiscard]] const io::Snapshot& overview() const { return shares_ ? shares_->overview() : snapshot; }
    /// Of this rank's share, and of all ranks.
    [[nodiscard]] PointsView points() const { return positions().view(); }
    [[nodiscard]] std::int64_t rows_in_all() const { return shares_ ? shares_->rows_in_all() : positions().rows(); }

    /// Runs what can fail on one rank alone, and what fails on all alike: all end with the same failure.
    template <class Body>
    void agreed(const Body& body) {
        agreed_over(ranks_, body);
    }

    /// Throws UsageError for options that do not work over ranks.
    void refuse_over_ranks(bool is_given, std::string_view option) const;
    /// The same for another engine than the tree, which is `named` so.
    void refuse_over_ranks(Engine engine, std::string_view named = "an --engine other than tree") const {
        refuse_over_ranks(engine != Engine::automatic && engine != Engine::tree, named);
    }

    /// Before anything is read (try_out.hpp). Over ranks there is one engine, and only the GPU of each is tried: when
    /// reading begins and each has one.
    void try_out(const CallOnNoPoints& call);

    /// Refuses outputs that would overwrite the input or cannot be written, then reads. Over ranks each reads its
    /// share.
    void read(const io::ReadOptions& options);

    /// Keeps rows drawn at random from those of all ranks (io::keep_sample).
    void keep_sample(std::int64_t count, std::uint64_t seed);

    /// Decides on the box, with its warnings.
    void resolve_box(const BoxChoice& choice);

    /// The library's refusal of the points, with the file.
    [[nodiscard]] Error of_points(const Error& error) const {
        return with_file_context(shares_ ? shares_->of_all_rows(error) : error, input, overview());
    }
    /// Calls the library, which over ranks fails on all of them or on none; context(error) is thrown for its errors.
    template <class Function, class Context>
    decltype(auto) in_context(const Function& function, const Context& context) {
        const auto call = [&]() -> decltype(auto) {
            try {
                return function();
            } catch (const Error& error) {
                throw context(error);
            }
        };
        return ranks_ != nullptr ? RankTeam::collective(call) : call();
    }
    /// The same; refusals of points name the file.
    template <class Function>
    decltype(auto) in_context(const Function& function) {
        return in_context(function, [this](const Error& error) { return of_points(error); });
    }

    /// The body writes the staged files, over ranks on rank 0, which may take from the funnel. Then all ranks write
    /// `together`, which is collective. Nothing is left of the files if anything fails.
    void write(const std::function<void()>& body, RankFunnel* funnel = nullptr,
               const std::function<void()>& together = {});

    /// Provenance of every output: the command, the box, the types, and the command's own parameters.
    [[nodiscard]] io::Provenance provenance(const Invocation& invocation,
                                            std::map<std::string, std::string> parameters) const;

    /// Prints warnings, and the facts and what every run reports as JSON, or as lines with those of `lines` among them.
    void report(Json facts, const std::function<void()>& lines);

private:
    [[nodiscard]] Json facts_of_ranks() const;
    /// Over ranks: collective, before anything is read.
    void take_gpu();

    CommonOptions common_;
    RankTeam* ranks_;
    CallOnNoPoints tried_on_gpu_;
    std::optional<Shares> shares_; ///< over ranks
};

} // namespace kith::cli
