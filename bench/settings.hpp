// Arguments of benchmarks that Python scripts start: NAME=VALUE, where a value may be a list with commas.
#pragma once

#include <cstddef>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

using Settings = std::map<std::string, std::string>;

/// Throws std::runtime_error for an argument of another form.
inline Settings settings_of(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos) {
            throw std::runtime_error("argument '" + argument + "' is not NAME=VALUE");
        }
        settings[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
    return settings;
}

inline std::vector<std::string> words(const std::string& list) {
    std::vector<std::string> found;
    std::istringstream text(list);
    for (std::string word; std::getline(text, word, ',');) {
        found.push_back(word);
    }
    return found;
}

} // namespace bench
