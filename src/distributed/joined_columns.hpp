// Columns of a rank's own points and of its ghost points, by row of their joined numbers (joined_points.hpp): what sums
// over neighbors read beside the rows.
#pragma once

#include "distributed/given_ids.hpp"
#include "distributed/joined_points.hpp"
#include "distributed/ranks.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

class JoinedColumns {
public:
    /// Of `count` joined rows. The ids are those of this rank's points, and must outlive this.
    JoinedColumns(const GivenIds& ids, const Ownership& ownership, const JoinedNumbers& numbers, std::int64_t count);

    /// A column with a row for each joined one.
    class Column {
    public:
        Column(DType dtype, std::int64_t count) : dtype_(dtype), count_(count), bytes_(count * width()) {}
        [[nodiscard]] ScalarsView view() const { return {bytes_.data(), dtype_, count_, width()}; }

    private:
        friend class JoinedColumns;
        [[nodiscard]] std::int64_t width() const { return dtype_ == DType::float32 ? sizeof(float) : sizeof(double); }

        DType dtype_;
        std::int64_t count_;
        std::vector<std::byte> bytes_;
    };

    /// Collective. `own` are one or more columns of this rank's points as they were passed; all ranks pass as many, of
    /// the same types.
    [[nodiscard]] std::vector<Column> join(Ranks& ranks, std::span<const ScalarsView> own) const;

private:
    const GivenIds& ids_;
    std::vector<std::int32_t> rows_;    ///< by joined row: the row of an own point as passed, or -1
    std::vector<std::int64_t> numbers_; ///< of the ghost points, in the order of their joined rows
};

} // namespace kith::detail
