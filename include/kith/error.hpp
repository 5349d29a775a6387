// The exception that kith throws.
//
// The text of a kith::Error says what is wrong, which value and where, and what to do about it. The kind lets a program
// branch without parsing the text. Invalid arguments and points are rejected before work starts.
#pragma once

#include <cstdint>
#include <optional>
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
    other_rank,       ///< code of the program threw on another rank, not a kith::Error; the text is its what()
};

/// What the text of an error says about one element, for programs that handle it. Members that do not apply are empty.
struct ErrorDetails {
    std::optional<std::int64_t> point = {}; ///< row of the first invalid point, query, velocity, mass, type or id
    std::optional<int> axis = {};           ///< of the value
    std::optional<double> value = {};       ///< the invalid value: a coordinate, an extent, a length, a mass, k, an id
    std::optional<double> limit = {};       ///< what it exceeds: a period, the largest value of the points' type
    std::optional<int> rank = {};           ///< over several ranks: the rank on which the error occurred
};

class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& text, const ErrorDetails& details = {})
        : std::runtime_error(text), kind_(kind), details_(details) {}
    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
    [[nodiscard]] const ErrorDetails& details() const noexcept { return details_; }

private:
    ErrorKind kind_;
    ErrorDetails details_;
};

} // namespace kith
