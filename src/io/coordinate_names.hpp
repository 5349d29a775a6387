// Which of a record's fields are its coordinates: x, y and z, or x and y; X, Y and Z; and halo_x, halo_y and halo_z, as
// halotools names them. The fields of structured .npy arrays, of HDF5 tables and of PLY vertices are chosen here.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::io {

/// Indices of the coordinates among `names`, in the order of the axes; empty if there are none.
[[nodiscard]] inline std::vector<std::size_t> coordinate_fields(const std::vector<std::string>& names) {
    for (const auto& [prefix, axes] :
         {std::pair<std::string_view, std::string_view>{"", "xyz"}, {"", "XYZ"}, {"halo_", "xyz"}}) {
        std::vector<std::size_t> found;
        for (const char axis : axes) {
            const auto at = std::find(names.begin(), names.end(), std::string(prefix) + axis);
            if (at == names.end()) {
                break;
            }
            found.push_back(static_cast<std::size_t>(at - names.begin()));
        }
        if (found.size() >= 2) {
            return found;
        }
    }
    return {};
}

/// A coordinate and another of the names that may be meant as well: the same, or X beside x, y and z. (An x beside X, Y
/// and Z is none, as there is no y.) Empty if there are none.
[[nodiscard]] inline std::string repeated_coordinate(const std::vector<std::string>& names) {
    for (const std::size_t field : coordinate_fields(names)) {
        std::string upper = names[field];
        upper.back() = static_cast<char>(std::toupper(static_cast<unsigned char>(upper.back())));
        for (std::size_t other = 0; other < names.size(); ++other) {
            if (other != field && (names[other] == names[field] || names[other] == upper)) {
                return names[field] + " and " + names[other];
            }
        }
    }
    return "";
}

} // namespace kith::io
