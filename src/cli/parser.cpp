#include "cli/parser.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
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

/// A number among files to read is most often the second of an option's.
std::string flaw_of_input_name(const std::string& name) {
    double number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, number);
    const bool is_number = error == std::errc() && stop == end;
    std::error_code ignored;
    return is_number && !std::filesystem::exists(name, ignored)
               ? fmt::format("{}: there is no such file; numbers of one option have commas between them, no blanks",
                             name)
               : flaw_of_file_name(name);
}

CLI::Validator file_name(std::string (*flaw_of)(const std::string&) = flaw_of_file_name) {
    return {[flaw_of](std::string& name) { return flaw_of(name); }, ""};
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

bool Parser::parsed() const {
    return app_->parsed();
}

std::string Parser::name() const {
    return app_->get_name();
}

} // namespace kith::cli
