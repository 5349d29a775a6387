// The parser of the command line: CLI11's, whose header takes longer to compile than a command does and which is
// therefore read in two files only, parser.cpp and main.cpp. An option's text becomes a value where the option is
// added, with an error of kith's own (options.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace kith::cli {

class Option {
public:
    Option required() const;
    Option needs(const Option& other) const;
    Option excludes(const Option& other) const;

private:
    friend class Parser;
    explicit Option(CLI::Option* option) : option_(option) {}
    CLI::Option* option_;
};

/// Of the program or of one command. What options write to must live until the command line is parsed. Names are those
/// on the command line, "-o,--output", or of an argument, "POINTS"; types are what the help shows for the text.
class Parser {
public:
    explicit Parser(CLI::App& app) : app_(&app) {}

    /// A new command of this program.
    [[nodiscard]] Parser command(const char* name, const char* description) const;

    /// take(text) throws UsageError for a text that means nothing.
    Option text(const std::string& names, const std::string& type, const std::string& help,
                const std::function<void(const std::string&)>& take) const;
    /// The name of a file, which is not empty.
    Option file(const std::string& names, const std::string& help, std::string& path, const char* type = "OUT") const;
    Option files(const std::string& names, const std::string& help, std::vector<std::string>& paths) const;
    void flag(const std::string& names, const std::string& help, bool& is_given) const;
    void flag(const std::string& names, const std::string& help, std::function<void()> given) const;

    /// One that was added before.
    [[nodiscard]] Option option(const char* name) const;
    /// What the help ends with.
    void footer(const std::string& text) const;

    /// Of the program. Throws UsageError for arguments without a command that there is, and for an option that the
    /// command does not have, naming the nearest: before values are looked at, since that of such an option looks like
    /// a file.
    void refuse_unknown_names(const std::vector<std::string>& arguments) const;

    [[nodiscard]] bool parsed() const;
    [[nodiscard]] std::string name() const;

private:
    CLI::App* app_;
};

} // namespace kith::cli
