#include "distributed/joined_columns.hpp"

#include "distributed/gather.hpp"

#include <cstring>

namespace kith::detail {

JoinedColumns::JoinedColumns(const GivenIds& ids, const Ownership& ownership, const JoinedNumbers& numbers,
                             std::int64_t count)
    : ids_(ids) {
    const PointNumbers own = ids.sorted_numbers(ownership);
    rows_.reserve(count);
    for (std::int64_t joined = 0; joined < count; ++joined) {
        const std::int64_t number = numbers[joined];
        const std::int64_t row = own.row_of(number);
        rows_.push_back(static_cast<std::int32_t>(row >= 0 && !ids.order().empty() ? ids.order()[row] : row));
        if (row < 0) {
            numbers_.push_back(number);
        }
    }
}

std::vector<JoinedColumns::Column> JoinedColumns::join(Ranks& ranks, std::span<const ScalarsView> own) const {
    std::vector<Column> joined;
    std::vector<std::vector<std::byte>> of_ghosts;
    std::vector<GatherColumn> gathered;
    ranks.agreed([&] {
        for (const ScalarsView& column : own) {
            const std::int64_t width = joined.emplace_back(column.dtype(), std::ssize(rows_)).width();
            std::vector<std::byte>& bytes = of_ghosts.emplace_back(numbers_.size() * width);
            gathered.emplace_back(column.data(), column.count(), width, column.stride(), bytes.data(),
                                  std::ssize(numbers_));
        }
    });
    gather_rows(ranks, ids_, numbers_, gathered);
    for (std::size_t i = 0; i < joined.size(); ++i) {
        const std::int64_t width = joined[i].width();
        std::byte* to = joined[i].bytes_.data();
        const std::byte* ghost = of_ghosts[i].data();
        for (const std::int32_t row : rows_) {
            if (row >= 0) {
                std::memcpy(to, gathered[i].row(row), width);
            } else {
                std::memcpy(to, ghost, width);
                ghost += width;
            }
            to += width;
        }
    }
    return joined;
}

} // namespace kith::detail
