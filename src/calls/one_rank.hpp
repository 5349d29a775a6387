// A call over ranks where there is but one: the call of one process.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>

#include "calls/device_calls.hpp"
#include "distributed/ranks.hpp"

#include <optional>
#include <utility>

namespace kith::detail {

/// One rank makes the call of one process. The work of another device is refused as on several ranks.
template <class Call>
auto alone(Ranks& ranks, const Execution& execution, const Call& call) {
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
