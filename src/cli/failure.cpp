#include "cli/failure.hpp"

#include "cli/interrupt.hpp"
#include "cli/rank_team.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <exception>
#include <new>

namespace kith::cli {

namespace {

int exit_code_of(const Error& error) {
    switch (error.kind()) {
    case ErrorKind::canceled:
        return interrupt_exit_code();
    case ErrorKind::invalid_argument:
        return wrong_usage;
    default:
        return failure;
    }
}

} // namespace

Failure current_failure() {
    try {
        throw;
    } catch (const AgreedFailure& agreed) {
        return agreed.failure;
    } catch (const UsageError& error) {
        return {wrong_usage, error.what()};
    } catch (const Error& error) {
        return {exit_code_of(error),
                error.kind() == ErrorKind::canceled ? "interrupted; nothing was written" : error.what()};
    } catch (const std::bad_alloc&) {
        return {failure, "out of memory; choose fewer particle types, or a smaller k or radius"};
    } catch (const std::exception& error) {
        return {failure, error.what()};
    }
}

} // namespace kith::cli
