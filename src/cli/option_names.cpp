#include "cli/option_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

namespace kith::cli {

namespace {

/// Words of other programs, and what kith calls the same.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> elsewhere = {{{"algorithm", "engine"},
                                                                                     {"method", "engine"},
                                                                                     {"route", "engine"},
                                                                                     {"njobs", "threads"},
                                                                                     {"workers", "threads"},
                                                                                     {"neighbors", "k"}}};

/// The letters and digits, in lower case.
std::string letters_of(std::string_view name) {
    std::string letters;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return letters;
}

/// Of the words between dashes: "ll" of "--linking-length".
std::string initials_of(std::string_view name) {
    std::string initials;
    for (std::size_t i = 1; i < name.size(); ++i) {
        if (name[i - 1] == '-' && name[i] != '-') {
            initials += name[i];
        }
    }
    return initials;
}

/// The least number of letters to insert, leave out, replace, or swap with their neighbor.
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

constexpr std::size_t far = 10'000;

/// 0 for the same letters; `far` if the names have nothing in common.
std::size_t distance(std::string_view given, std::string_view name) {
    const std::string wanted = letters_of(given);
    const std::string letters = letters_of(name);
    if (wanted == letters) {
        return 0;
    }
    const auto is_same = [&](const auto& pair) { return pair.first == wanted && pair.second == letters; };
    if (std::any_of(elsewhere.begin(), elsewhere.end(), is_same)) {
        return 1;
    }
    constexpr std::size_t few = 3;
    const bool begins = wanted.size() >= few && letters.starts_with(wanted);
    const bool is_begun = letters.size() >= few && wanted.starts_with(letters);
    if (begins || is_begun) { // the more of it the better
        return 100 + std::max(wanted.size(), letters.size()) - std::min(wanted.size(), letters.size());
    }
    if (wanted.size() > 1 && initials_of(name) == wanted) {
        return 100;
    }
    const std::size_t edits = edits_between(wanted, letters);
    return letters.size() >= few && 3 * edits <= wanted.size() ? 100 * (1 + edits) : far;
}

bool has(const CommandOptions& command, std::string_view name) {
    return std::find(command.names.begin(), command.names.end(), name) != command.names.end();
}

} // namespace

std::string nearest_option(std::string_view given, const std::vector<std::string>& names) {
    std::string nearest;
    std::size_t least = far;
    for (const std::string& name : names) {
        if (const std::size_t far_away = distance(given, name); far_away < least) {
            least = far_away;
            nearest = name;
        }
    }
    return nearest;
}

std::string unknown_option(std::string_view given, const CommandOptions& command,
                           const std::vector<CommandOptions>& others) {
    std::string text = fmt::format("{} has no option {}; ", command.command, given);
    std::string having;
    for (const CommandOptions& other : others) {
        if (has(other, given)) {
            having += (having.empty() ? "" : ", ") + other.command;
        }
    }
    if (!having.empty()) {
        return fmt::format("{}it is one of {}", text, having);
    }
    if (const std::string nearest = nearest_option(given, command.names); !nearest.empty()) {
        return fmt::format("{}did you mean {}?", text, nearest);
    }
    return fmt::format("{}'{} --help' lists those it has", text, command.command);
}

} // namespace kith::cli
