// What the program tells a user about an exception, and the exit code (docs/api/program.md): 2 for a command line that
// is wrong, by itself or for its files; 1 for bad data and failures; 128 plus the signal after an interrupt.
#pragma once

#include <string>

namespace kith::cli {

inline constexpr int success = 0;
inline constexpr int failure = 1;
inline constexpr int wrong_usage = 2;

struct Failure {
    int exit_code = failure;
    std::string text;
};

/// Of the exception that is being handled.
[[nodiscard]] Failure current_failure();

} // namespace kith::cli
