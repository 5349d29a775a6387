// A call over a single rank: the call of one process.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>

#include "calls/device_calls.hpp"
#include "distributed/ranks.hpp"

#include <optional>
#include <utility>

namespace kith::detail {

/// Returns call(). Refuses the GPU, as several ranks do.
template <class Call>
auto run_on_one_rank(Ranks& ranks, const Execution& execution, const Call& call) {
    std::optional<decltype(call())> result;
    ranks.agreed([&] {
        if (is_on_gpu(execution)) {
            throw Error(ErrorKind::unsupported, "calls over ranks run on the CPU only; use kith::cpu()");
        }
        result.emplace(call());
    });
    return std::move(*result);
}

} // namespace kith::detail
