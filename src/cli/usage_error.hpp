// Wrong usage: the remedy lies in the command line. main() turns it into exit code 2; everything else that goes wrong
// (bad data, a full disk, no memory) ends with 1.
#pragma once

#include <stdexcept>

namespace kith::cli {

class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace kith::cli
