#include "cli/failure.hpp"

#include "cli/interrupt.hpp"
#include "cli/rank_team.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <exception>
#include <new>
#include <string>

namespace kith::cli {

namespace {

constexpr const char* remedy_for_memory = "; choose fewer particle types, or a smaller k or radius";

/// A text that has a remedy of its own keeps it.
std::string with_remedy(std::string text) {
    return text.find("; ") == std::string::npos ? text + remedy_for_memory : text;
}

Failure failure_of(const Error& error) {
    switch (error.kind()) {
    case ErrorKind::canceled:
        return {interrupt_exit_code(), "interrupted; nothing was written"};
    case ErrorKind::invalid_argument:
        return {wrong_usage, error.what()};
    case ErrorKind::out_of_memory:
        return {failure, with_remedy(error.what())};
    default:
        return {failure, error.what()};
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
        return failure_of(error);
    } catch (const std::bad_alloc&) {
        return {failure, std::string("out of memory") + remedy_for_memory};
    } catch (const std::exception& error) {
        return {failure, error.what()};
    }
}

} // namespace kith::cli
