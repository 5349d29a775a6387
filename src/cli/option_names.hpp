// Which option a user may have meant: for a name that a command does not have, the nearest that it has.
//
// Names are compared without dashes, underscores and case. From near to far: the same letters (--linking_length), the
// word of another program for the same thing (--n-jobs), a beginning (--link), initials (--ll), few letters changed
// (--min-member). A name that another command has exactly is reported with that command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

struct CommandOptions {
    std::string command;            ///< "kith fof"
    std::vector<std::string> names; ///< "-b", "--linking-length"
};

/// The nearest of the names, which may be those of commands, or "" if none is near.
[[nodiscard]] std::string nearest_option(std::string_view given, const std::vector<std::string>& names);

/// "kith mst has no option --psi-sigma; kith fof has one", or the nearest, or how to list all.
[[nodiscard]] std::string unknown_option(std::string_view given, const CommandOptions& command,
                                         const std::vector<CommandOptions>& others);

} // namespace kith::cli
