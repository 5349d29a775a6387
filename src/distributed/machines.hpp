// The machines that ranks run on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kith::detail {

/// The number of lower ranks on the machine of a rank, of names by rank.
template <class Name>
std::int64_t rank_on_machine(std::span<const Name> machine_of_rank, int rank) {
    const auto lower = machine_of_rank.first(static_cast<std::size_t>(rank));
    return std::ranges::count(lower, machine_of_rank[static_cast<std::size_t>(rank)]);
}

} // namespace kith::detail
