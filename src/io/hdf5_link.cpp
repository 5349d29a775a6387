// Following a path name by name (see hdf5_link.hpp).
#include "io/hdf5_link.hpp"

#include "io/hdf5_handle.hpp"

#include "support/message.hpp"

#include <algorithm>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace kith::io::hdf5 {

using detail::message;

namespace {

// Whether the library would find that file: by its own path, or beside the file that has the link.
bool is_there(hid_t place, const std::string& linked) {
    const std::filesystem::path folder = std::filesystem::path(file_of(place)).parent_path();
    std::error_code ignored;
    return std::filesystem::exists(linked, ignored) || std::filesystem::exists(folder / linked, ignored) ||
           std::filesystem::exists(folder / std::filesystem::path(linked).filename(), ignored);
}

std::string describe_link(hid_t place, const std::string& path) {
    H5L_info_t link{};
    if (H5Lget_info(place, path.c_str(), &link, H5P_DEFAULT) < 0 || link.type == H5L_TYPE_HARD) {
        return "";
    }
    std::vector<char> value(link.u.val_size + 1, '\0');
    if (H5Lget_val(place, path.c_str(), value.data(), link.u.val_size, H5P_DEFAULT) < 0) {
        return message(path, " is a link that cannot be read");
    }
    if (link.type == H5L_TYPE_SOFT) {
        return message(path, " is a link to ", std::string_view(value.data()),
                       ", which is missing; write what it stands for into the file, or remove the link");
    }
    const char* file = nullptr;
    const char* object = nullptr;
    unsigned flags = 0;
    if (link.type != H5L_TYPE_EXTERNAL ||
        H5Lunpack_elink_val(value.data(), link.u.val_size, &flags, &file, &object) < 0) {
        return message(path, " is a link of a kind that is not read");
    }
    return is_there(place, file)
               ? message(path, " is a link to ", object, " of ", file, ", which cannot be opened or has no such object")
               : message(path, " is a link to ", object, " of ", file,
                         ", and that file is missing; put it beside this one");
}

} // namespace

std::string describe_dangling(hid_t place, const std::string& path) {
    std::string description;
    for (std::size_t end = 0; end < path.size() && description.empty();) {
        end = std::min(path.find('/', end + 1), path.size());
        const std::string part = path.substr(0, end);
        if (part == "/" || part.ends_with('/')) {
            continue;
        }
        const bool is_linked = H5Lexists(place, part.c_str(), H5P_DEFAULT) > 0;
        if (is_linked && H5Oexists_by_name(place, part.c_str(), H5P_DEFAULT) <= 0) {
            description = describe_link(place, part);
        }
        if (!is_linked) {
            break;
        }
    }
    H5Eclear2(H5E_DEFAULT);
    return description;
}

} // namespace kith::io::hdf5
