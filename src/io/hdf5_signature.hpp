// Recognizing HDF5: its signature is at the start, or after a user block whose length is 512 or a larger power of two.
#pragma once

#include "io/reader.hpp"

#include <string_view>

namespace kith::io {

inline bool is_hdf5(const FileStart& start) {
    constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
    for (std::size_t at = 0; at + signature.size() <= start.bytes.size(); at = at == 0 ? 512 : 2 * at) {
        if (start.text().substr(at, signature.size()) == signature) {
            return true;
        }
    }
    return false;
}

} // namespace kith::io
