#include <kith/catalog.hpp>
#include <kith/error.hpp>

#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace kith {

void gather_rows(std::span<const std::int32_t> members, const void* rows, std::size_t row_bytes, void* out) {
    const auto negative = std::find_if(members.begin(), members.end(), [](std::int32_t row) { return row < 0; });
    if (negative != members.end()) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(*negative), "members[",
                            negative - members.begin(), "] is ", *negative,
                            "; rows are counted from 0, so pass the members of a catalog");
    }
    const auto* from = static_cast<const std::byte*>(rows);
    auto* to = static_cast<std::byte*>(out);
    detail::parallel_each(std::ssize(members), 1 << 14, [&](std::int64_t i) {
        std::memcpy(to + static_cast<std::size_t>(i) * row_bytes,
                    from + static_cast<std::size_t>(members[i]) * row_bytes, row_bytes);
    });
}

} // namespace kith
