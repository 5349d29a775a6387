#include "cli/parser.hpp"

#include "cli/option_names.hpp"
#include "cli/usage_error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace kith::cli {

namespace {

std::string flaw_of_file_name(const std::string& name) {
    if (name.empty()) {
        return "the file name is empty; give the name of a file";
    }
    if (name.starts_with('-')) {
        return fmt::format("a file name was expected before '{0}'; write ./{0} if that is the name", name);
    }
    return "";
}

bool is_number(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end;
}

/// What comes before the first character that a shell would match names with, without the dot there: the stem of
/// "snap_002.*".
std::string stem_of_pattern(const std::string& name) {
    std::string stem = name.substr(0, name.find_first_of("*?["));
    while (stem.ends_with('.')) {
        stem.pop_back();
    }
    return stem;
}

/// A number among files to read is most often the second of an option's.
std::string flaw_of_input_name(const std::string& name) {
    std::error_code ignored;
    if (std::filesystem::exists(name, ignored)) {
        return flaw_of_file_name(name);
    }
    if (is_number(name)) {
        return fmt::format("{}: there is no such file; numbers of one option have commas between them, no blanks",
                           name);
    }
    if (name.find_first_of("*?[") != std::string::npos) {
        const std::string stem = stem_of_pattern(name);
        return fmt::format(
            "{}: there is no such file; in quotes a shell does not expand the name: leave them out{}", name,
            stem.empty() ? "" : fmt::format(", or give the stem, {}, for a snapshot in several files", stem));
    }
    return flaw_of_file_name(name);
}

CLI::Validator file_name(std::string (*flaw_of)(const std::string&) = flaw_of_file_name) {
    return {[flaw_of](std::string& name) { return flaw_of(name); }, ""};
}

/// The option of an argument, "--box" of "--box=1"; "" if it is none.
std::string option_in(const std::string& argument) {
    const bool is_option = argument.size() > 1 && argument[0] == '-' && argument != "--" &&
                           std::isdigit(static_cast<unsigned char>(argument[1])) == 0 && argument[1] != '.' &&
                           !is_number(argument);
    return is_option ? argument.substr(0, argument.find('=')) : "";
}

/// The option of a command that an argument gives, if it has such a one. One letter may be followed by its value: -k16.
const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
    const bool is_short = !name.starts_with("--");
    return command.get_option_no_throw(is_short ? name.substr(0, 2) : name);
}

CommandOptions options_of(const CLI::App& command) {
    CommandOptions found{command.get_parent() == nullptr ? command.get_name() : "kith " + command.get_name(), {}};
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_snames()) {
            found.names.push_back("-" + name);
        }
        for (const std::string& name : option->get_lnames()) {
            found.names.push_back("--" + name);
        }
    }
    return found;
}

std::vector<std::string> names_of_commands(const CLI::App& program) {
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(command->get_name());
    }
    return names;
}

[[noreturn]] void refuse_command(const CLI::App& program, const std::string& flaw) {
    throw UsageError(fmt::format("{}; choose one of {}", flaw, fmt::join(names_of_commands(program), ", ")));
}

[[noreturn]] void refuse_option(const CLI::App& program, const CLI::App& command, const std::string& name) {
    std::vector<CommandOptions> others;
    for (const CLI::App* other : program.get_subcommands([](const CLI::App*) { return true; })) {
        if (other != &command) {
            others.push_back(options_of(*other));
        }
    }
    throw UsageError(unknown_option(name, options_of(command), others));
}

} // namespace

Option Option::required() const {
    return Option(option_->required());
}

Option Option::needs(const Option& other) const {
    return Option(option_->needs(other.option_));
}

Option Option::excludes(const Option& other) const {
    return Option(option_->excludes(other.option_));
}

Parser Parser::command(const char* name, const char* description) const {
    return Parser(*app_->add_subcommand(name, description));
}

Option Parser::text(const std::string& names, const std::string& type, const std::string& help,
                    const std::function<void(const std::string&)>& take) const {
    return Option(app_->add_option_function(names, take, help)->type_name(type));
}

Option Parser::file(const std::string& names, const std::string& help, std::string& path, const char* type) const {
    return Option(app_->add_option(names, path, help)->type_name(type)->check(file_name()));
}

Option Parser::files(const std::string& names, const std::string& help, std::vector<std::string>& paths) const {
    return Option(app_->add_option(names, paths, help)->type_name("FILE")->check(file_name(flaw_of_input_name)));
}

void Parser::flag(const std::string& names, const std::string& help, bool& is_given) const {
    app_->add_flag(names, is_given, help);
}

void Parser::flag(const std::string& names, const std::string& help, std::function<void()> given) const {
    app_->add_flag_callback(names, std::move(given), help);
}

Option Parser::option(const char* name) const {
    return Option(app_->get_option(name));
}

void Parser::footer(const std::string& text) const {
    app_->footer(text);
}

void Parser::refuse_unknown_names(const std::vector<std::string>& arguments) const {
    if (arguments.empty()) {
        refuse_command(*app_, "no subcommand given");
    }
    const CLI::App* command = app_;
    std::vector<const CLI::Option*> given;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--") {
            return;
        }
        const std::string name = option_in(argument);
        if (name.empty()) {
            if (command == app_) {
                const auto named =
                    app_->get_subcommands([&](const CLI::App* one) { return one->check_name(argument); });
                if (named.empty()) {
                    const std::string flaw = fmt::format("'{}' is not a subcommand", argument);
                    const std::string nearest = nearest_option(argument, names_of_commands(*app_));
                    if (!nearest.empty()) {
                        throw UsageError(fmt::format("{}; did you mean {}?", flaw, nearest));
                    }
                    refuse_command(*app_, flaw);
                }
                command = named.front();
            }
            continue;
        }
        const CLI::Option* const option = find_option(*command, name);
        if (option == nullptr) {
            refuse_option(*app_, *command, name);
        }
        const bool takes_value = option->get_items_expected_min() > 0;
        if (takes_value && std::find(given.begin(), given.end(), option) != given.end()) {
            throw UsageError(fmt::format("{} is given more than once; give it once", name));
        }
        given.push_back(option);
        const bool has_value = name != argument || (!name.starts_with("--") && name.size() > 2);
        i += !has_value && takes_value ? 1 : 0; // the next argument is its value
    }
}

bool Parser::parsed() const {
    return app_->parsed();
}

std::string Parser::name() const {
    return app_->get_name();
}

} // namespace kith::cli
