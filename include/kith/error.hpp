// The exception that kith throws.
//
// The text of a kith::Error says what is wrong, which value and where, and what to do about it. The kind lets a program
// branch without parsing the text. Invalid arguments and points are rejected before work starts.
#pragma once

#include <stdexcept>
#include <string>

namespace kith {

enum class ErrorKind {
    invalid_argument, ///< an invalid option or argument: k < 1, a negative radius, mismatched types
    invalid_points,   ///< invalid points: NaN, infinite, extent over twice the period
    too_large,        ///< more points than an index can count
    out_of_memory,    ///< no memory for the result or the work; the text gives the bytes needed if they are known
    file,             ///< a file is missing, too short, or not what it claims to be
    unsupported,      ///< a valid request that this build or this version does not cover
    canceled,         ///< the progress callback asked to stop
    device,           ///< there is no such GPU, or it failed; the text says why
};

class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

} // namespace kith
