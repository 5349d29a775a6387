// What kith throws.
//
// Every refusal is a kith::Error whose text says what was wrong, which value and where, and what to do about it. The
// kind lets a program branch without reading the text. Nothing is computed and nothing is written once one is thrown.
#pragma once

#include <stdexcept>
#include <string>

namespace kith {

enum class ErrorKind {
    invalid_argument, ///< an option or argument has no meaning: k < 1, a negative radius, mismatched types
    invalid_points,   ///< the points cannot be used: NaN, infinite, wider than twice the period
    too_large,        ///< more points than an index can count
    out_of_memory,    ///< the result or the work does not fit; the text gives the bytes needed
    file,             ///< a file is missing, too short, or not what it claims to be
    unsupported,      ///< a valid request that this build or this version does not cover
    canceled,         ///< the progress callback asked to stop
    device,           ///< there is no such GPU, or it failed; the text has what its runtime says
};

class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

} // namespace kith
