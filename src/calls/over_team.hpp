// A call over ranks: what all of them share.
#pragma once

#include <kith/distributed.hpp>
#include <kith/error.hpp>
#include <kith/execution.hpp>

#include "distributed/ownership.hpp"
#include "distributed/ranks.hpp"
#include "distributed/team.hpp"
#include "support/context.hpp"
#include "support/message.hpp"

#include <optional>
#include <type_traits>
#include <utility>

namespace kith::detail {

inline void require_imbalance(double imbalance) {
    if (!(imbalance >= 0 && imbalance <= 1)) {
        throw error(ErrorKind::invalid_argument, of_value(imbalance), "imbalance is ", imbalance,
                    "; it must be 0 to 1, a fraction of the mean number of points of a rank");
    }
}

/// For calls that no row of the table of engines is about.
inline void require_host(const Execution& execution, const char* function) {
    if (execution.device.kind != DeviceKind::cpu) {
        throw error(ErrorKind::unsupported, function, " over ranks run on the CPU only; leave the GPU out");
    }
}

/// Runs run(ranks, context, options, of_ranks), or alone(options), unless it is null, if there is one rank without ids.
/// The options are those for this process alone. check() is part of what may fail on one rank; items(result) counts the
/// rows, labels or groups of this rank.
template <class Options, class Check, class Alone, class Run, class Items>
auto over_team(const Options& options, const Check& check, const Alone& alone, const Run& run, const Items& items) {
    const Team& team = *options.execution.team;
    return on_all_ranks(team.communicator, [&](Ranks& ranks) {
        Options here = options;
        here.execution.team = nullptr;
        if (here.execution.threads == 0) {
            here.execution.threads = team.communicator.threads();
        }
        std::optional<Context> context;
        std::optional<decltype(run(ranks, *context, here, team.options))> result;
        ranks.agreed([&] {
            require_imbalance(team.options.imbalance);
            check();
            if constexpr (!std::is_null_pointer_v<Alone>) {
                if (ranks.size() == 1 && team.options.ids.empty()) {
                    result.emplace(alone(here));
                    return;
                }
            }
            Execution of_host = here.execution;
            of_host.device = Device();
            context.emplace(of_host);
        });
        if (!result) {
            result.emplace(run(ranks, *context, here, team.options));
        }
        Distribution& part = result->distribution ? *result->distribution : result->distribution.emplace();
        const Ownership ownership(ranks, items(*result));
        part.ranks = ranks.size();
        part.first = ownership.first();
        part.total = ownership.total();
        part.traffic = ranks.traffic();
        return std::move(*result);
    });
}

} // namespace kith::detail
