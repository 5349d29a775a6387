#include "cli/snapshot_run.hpp"

#include "cli/interrupt.hpp"
#include "cli/usage_error.hpp"

#include <kith/version.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kith::cli {

void find_snapshot(SnapshotArguments& arguments, const Invocation& invocation, std::string_view loop_body) {
    agreed_over(invocation.ranks, [&] { arguments.snapshot = only_snapshot(arguments.files, loop_body); });
}

Execution SnapshotRun::execution() {
    CommonOptions options = common_;
    if (ranks_ != nullptr && options.threads == 0) {
        options.threads = ranks_->communicator().threads();
    }
    return execution_of(options, bar.callback());
}

void SnapshotRun::add_traffic(const std::optional<Distribution>& distribution) {
    const Traffic of_call = distribution ? distribution->traffic : Traffic();
    traffic.bytes_received += of_call.bytes_received;
    traffic.messages_sent += of_call.messages_sent;
    traffic.bytes_migrated += of_call.bytes_migrated;
    traffic.bytes_from_device += of_call.bytes_from_device;
}

void SnapshotRun::refuse_over_ranks(bool is_given, std::string_view option) const {
    if (ranks_ != nullptr && is_given) {
        throw UsageError(
            fmt::format("{} does not work over ranks; leave it out, or start kith without mpirun", option));
    }
}

void SnapshotRun::try_out(const CallOnNoPoints& call) {
    if (ranks_ == nullptr) {
        cli::try_out(common_, call);
    } else if (common_.device.kind != DeviceKind::cpu) {
        tried_on_gpu_ = call;
    }
}

void SnapshotRun::take_gpu() {
    if (common_.any_gpu && ranks_->sum(has_cuda() ? 1 : 0) > 0) { // else the try-out says what is missing
        common_.device.index = RankTeam::collective([&] { return gpu_of_rank(ranks_->communicator()); });
    }
    if (tried_on_gpu_) {
        agreed([&] { cli::try_out(common_, tried_on_gpu_); });
    }
}

void SnapshotRun::read(const io::ReadOptions& options) {
    if (ranks_ != nullptr) {
        take_gpu();
    }
    agreed([&] {
        outputs.reject_overwrite_of(input);
        if (is_first()) {
            outputs.probe_directories();
        }
        bar.announce("reading");
        io::ReadOptions mine = options;
        if (ranks_ != nullptr) {
            mine.share = {ranks_->rank(), ranks_->size()};
        }
        snapshot = clock.time("read", [&] { return read_points(input, mine); });
        stop_if_interrupted();
        outputs.reject_overwrite_of_all(snapshot.header.files);
    });
    warnings = snapshot.header.warnings;
    if (ranks_ != nullptr) {
        shares_.emplace(*ranks_, snapshot);
        warnings = shares_->warnings();
    }
}

void SnapshotRun::keep_sample(std::int64_t count, std::uint64_t seed) {
    io::keep_sample(snapshot, count, seed, ranks_ != nullptr ? &ranks_->communicator() : nullptr);
    if (ranks_ != nullptr) {
        shares_.emplace(*ranks_, snapshot);
    }
}

void SnapshotRun::resolve_box(const BoxChoice& choice) {
    agreed([&] {
        box = cli::resolve_box(choice, snapshot.header);
        add_box_warnings(warnings, choice, overview());
    });
}

void SnapshotRun::write(const std::function<void()>& body, RankFunnel* funnel, const std::function<void()>& together) {
    agreed([] { stop_if_interrupted(); });
    bar.announce("writing");
    const WritingSection writing;
    agreed([&] {
        const auto finish = [&] {
            if (funnel != nullptr) {
                funnel->finish();
            }
        };
        try {
            if (is_first()) {
                outputs.write(body);
            }
        } catch (...) {
            finish();
            throw;
        }
        finish();
    });
    if (together && ranks_ != nullptr) {
        RankTeam::collective([&] { outputs.write(together); });
    } else if (together) {
        outputs.write(together);
    }
    agreed([&] {
        stop_if_interrupted();
        if (is_first()) {
            outputs.commit();
        }
    });
}

io::Provenance SnapshotRun::provenance(const Invocation& invocation,
                                       std::map<std::string, std::string> parameters) const {
    parameters["box"] = box_text();
    parameters["types"] = describe_types(overview());
    return {"kith " KITH_VERSION, invocation.command, input, std::move(parameters)};
}

/// What the ranks report beside what rank 0 does.
Json SnapshotRun::facts_of_ranks() const {
    Json slowest = Json::object();
    for (const std::string& text : ranks_->gather(clock.json().dump())) {
        const Json of_rank = Json::parse(text);
        for (const auto& [stage, seconds] : of_rank.items()) {
            slowest[stage] = std::max(slowest.value(stage, 0.0), seconds.get<double>());
        }
    }
    Json facts;
    facts["count"] = ranks_->size();
    facts["bytes_received"] = ranks_->sum(traffic.bytes_received);
    facts["most_bytes_received"] = ranks_->max(traffic.bytes_received);
    facts["messages"] = ranks_->sum(traffic.messages_sent);
    facts["bytes_migrated"] = ranks_->sum(traffic.bytes_migrated);
    facts["bytes_from_device"] = ranks_->sum(traffic.bytes_from_device);
    facts["devices"] = ranks_->gather(name_of(common_.device));
    facts["most_seconds"] = slowest;
    facts["most_peak_rss_bytes"] = ranks_->max(peak_rss_bytes());
    return facts;
}

void SnapshotRun::report(Json facts, const std::function<void()>& lines) {
    bar.erase();
    const Json of_ranks = ranks_ != nullptr ? facts_of_ranks() : Json();
    if (!is_first()) {
        return;
    }
    print_warnings(warnings);
    const io::RealArray& points = snapshot.positions;
    const std::string types = describe_types(overview());
    if (common_.json) {
        if (ranks_ != nullptr) {
            facts["ranks"] = of_ranks;
        }
        facts["dimension"] = points.columns;
        facts["dtype"] = name_of(points.dtype());
        facts["box"] = box_text();
        facts["input"] = input;
        facts["format"] = snapshot.header.format;
        facts["types"] = types;
        facts["outputs"] = outputs.names();
        facts["warnings"] = warnings;
        facts["seconds"] = clock.json();
        facts["stage_peak_bytes"] = clock.peaks_json();
        facts["peak_rss_bytes"] = peak_rss_bytes();
        print_json(facts);
        return;
    }
    print_line("input", fmt::format("{}, {}", input, snapshot.header.format));
    print_line("points", fmt::format("{}{} in {} dimensions, {}", format_count(rows_in_all()),
                                     types.empty() ? "" : " of " + types, points.columns, name_of(points.dtype())));
    print_line("box", fmt::format("{} ({})", box_text(), box.origin));
    lines();
    if (const std::vector<std::string> written = outputs.names(); !written.empty()) {
        print_line("wrote", fmt::format("{}", fmt::join(written, ", ")));
    }
    if (ranks_ != nullptr) {
        const auto migrated = of_ranks["bytes_migrated"].get<std::int64_t>();
        print_line("ranks",
                   fmt::format("{}; {} received in {} messages, {} at most by one{}", ranks_->size(),
                               format_bytes(of_ranks["bytes_received"].get<std::int64_t>()),
                               format_count(of_ranks["messages"].get<std::int64_t>()),
                               format_bytes(of_ranks["most_bytes_received"].get<std::int64_t>()),
                               migrated > 0 ? fmt::format("; points of {} moved", format_bytes(migrated)) : ""));
    }
    print_line("time", clock.text());
    print_line("memory", memory_text(clock));
}

} // namespace kith::cli
