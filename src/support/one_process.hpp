// Calls that one process makes alone.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>

namespace kith::detail {

/// Throws unsupported for an execution over ranks. Whatever runs here asks first, so that a call without a way over
/// ranks never gives a local answer.
inline void require_one_process(const Execution& execution) {
    if (execution.team != nullptr) {
        throw Error(ErrorKind::unsupported,
                    "this call does not run over ranks; leave kith::over() out of its execution, "
                    "and each process makes it alone");
    }
}

} // namespace kith::detail
