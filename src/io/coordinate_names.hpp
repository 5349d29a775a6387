// Which of a record's fields are its coordinates: x, y and z, or x and y; X, Y and Z; and halo_x, halo_y and halo_z, as
// halotools names them. The fields of structured .npy arrays, of HDF5 tables and of PLY vertices are chosen here.
#pragma once

#include <algorithm>
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

} // namespace kith::io
