#include "cli/parser.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace kith::cli {

namespace {

CLI::Validator file_name() {
    return {[](std::string& name) {
                return name.empty() ? std::string("the file name is empty; give the name of a file") : std::string();
            },
            ""};
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
                    std::function<void(const std::string&)> take) const {
    return Option(app_->add_option_function(names, std::move(take), help)->type_name(type));
}

Option Parser::file(const std::string& names, const std::string& help, std::string& path, const char* type) const {
    return Option(app_->add_option(names, path, help)->type_name(type)->check(file_name()));
}

Option Parser::files(const std::string& names, const std::string& help, std::vector<std::string>& paths) const {
    return Option(app_->add_option(names, paths, help)->type_name("FILE")->check(file_name()));
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
