// Where a file's name ends and the name of a table in it begins.
#include "io/member_name.hpp"

#include "io/file_set.hpp"

#include <system_error>

namespace kith::io {

NamedInput split_input(const std::filesystem::path& given) {
    const std::filesystem::path whole = resolve_stem(given);
    std::error_code ignored;
    if (std::filesystem::exists(whole, ignored)) {
        return {whole, std::nullopt};
    }
    const std::string text = given.string();
    for (std::size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0;
         colon = text.rfind(':', colon - 1)) {
        const std::filesystem::path file = text.substr(0, colon);
        if (std::filesystem::is_regular_file(file, ignored)) {
            return {file, text.substr(colon + 1)};
        }
    }
    return {whole, std::nullopt};
}

} // namespace kith::io
